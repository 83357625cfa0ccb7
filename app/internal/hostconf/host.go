package hostconf

import (
	"slices"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// A Host is a program that starts MCP servers, as hosts.yaml knows it.
type Host struct {
	ID         string
	Title      string
	Aliases    []string
	Systems    []string   // it runs on, as in runtime.GOOS; none for one that we can only write snippets for
	Paths      Confidence // in where its files are
	Shape      Confidence // in what an entry looks like
	Scopes     []string   // the first is the usual one
	Grammar    edit.Grammar
	Key        []string // to the entries
	Write      WriteRule
	HTTP       bool // entries can have an address
	RejectsBOM bool
	Reserved   []string // names that mean something else to it
	Limits     Limits
	Notes      []Text // for whoever wonders

	row *row
}

// Confidence is how well a fact is known.
type Confidence string

// The confidences.
const (
	High   Confidence = "high"   // from the host's own source or documentation
	Medium Confidence = "medium" // two independent reports
	Low    Confidence = "low"    // one report, or they disagree
)

// A WriteRule says when a host's file may be written.
type WriteRule string

// The rules.
const (
	WriteFile   WriteRule = "file"
	WriteQuit   WriteRule = "file-quit" // only while the host does not run
	WriteDropIn WriteRule = "dropin"    // a file of our own in a folder of the host's
)

// Limits are what a host can take; zero is for those that are not known.
type Limits struct {
	NameAndTool  int // characters of the names of entry and tool together
	Tools        int // of all entries together
	StartSeconds int // until the server has answered for the first time
	CallSeconds  int // until a tool has answered
	MaxMiB       int // of a file that is still believable
}

// Hosts returns all hosts in the order of the table.
func Hosts() []Host { return slices.Clone(table().hosts) }

// ByID returns a host by its id or an alias.
func ByID(id string) (Host, error) {
	for _, h := range table().hosts {
		if h.ID == id || slices.Contains(h.Aliases, id) {
			return h, nil
		}
	}
	return Host{}, &Error{Code: UnknownHost, Text: text("hosts.err.unknown", "id", id)}
}

// longestClient is more than any name in the table has.
const longestClient = 64

// TitleOf is the title of the host that calls itself client, or has that id.
// Anybody can call themselves anything: what is not in the table comes back as it
// was.
func TitleOf(client string) string {
	if client == "" || len(client) > longestClient {
		return client
	}
	if title, ok := table().titles[asClient(client)]; ok {
		return title
	}
	return client
}

// In reports whether the host has the scope.
func (h Host) In(scope string) bool { return slices.Contains(h.Scopes, scope) }

// On reports whether the host runs on a system.
func (h Host) On(goos string) bool { return slices.Contains(h.Systems, goos) }
