package jail

import "context"

// A Report says which kinds of jail this computer can make.
type Report struct {
	Best  Kind    // what Start uses by default; empty if nothing works
	Means []Means // every kind looked at, best first
}

// Means is one kind of isolation and whether it works here.
type Means struct {
	Kind   Kind
	Works  bool
	Why    string   // why not; empty if it works
	Remedy string   // what the user can do about it; empty if it works
	Notes  []string // limits that can't be held here, e.g. no memory controller
}

// Probe finds out what works by trying it, which takes a few milliseconds for
// namespaces and longer where a container engine has to be asked.
func Probe(ctx context.Context) Report { return probe(ctx) }

// newReport ranks what was found.
func newReport(means []Means) Report {
	r := Report{Means: means}
	for _, m := range means {
		if m.Works {
			r.Best = m.Kind
			break
		}
	}
	return r
}
