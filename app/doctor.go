package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/account"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
)

// Skip is the level of what could not be looked at, or need not be.
const Skip Level = "skip"

// DoctorTexts is the part of the translation that has the texts of a [Finding].
// Some are those of [Hosts.Doctor].
const DoctorTexts = "doctor"

// A DoctorConfig says what a [Doctor] looks at. Only Version has no default.
type DoctorConfig struct {
	Version  string
	Build    string
	Programs string            // folder of our programs; default that of this one
	Profile  string            // "" is the default profile
	Env      map[string]string // AWS_ and RAYITO_ variables of whoever asks
	Template string            // "" is that of the profile or of Env
	Launch   bool              // make a sandbox, and end it again
	Clock    clockwork.Clock
	Log      *slog.Logger
}

// A Doctor looks for what keeps sandboxes from working. It changes nothing, but
// for the sandbox that it may make.
type Doctor struct {
	cfg    DoctorConfig
	dirs   paths.Dirs
	file   *settings.File
	checks []check
}

// A Problem is why a check is not OK.
type Problem struct {
	Level  Level
	What   hostconf.Text
	Remedy hostconf.Text // what to do; an empty key is nothing
}

// A Finding is what one check came to.
type Finding struct {
	Name     string // of the check, for programs
	Level    Level
	What     hostconf.Text // the worst that was found, or that all is well
	Remedy   hostconf.Text // of that
	Problems []Problem     // all, the worst first
	Details  map[string]any
	Took     time.Duration
}

// A Diagnosis is what all checks came to.
type Diagnosis struct {
	Profile       string
	Region        string // "" is not known, and so below
	Account       string
	PrincipalKind string
	Programs      map[string]string // versions
	Launched      string            // id of the sandbox that was made
	Findings      []Finding
}

// Failed reports whether something does not work.
func (d Diagnosis) Failed() bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Level == Fail })
}

// A check is one of those that are made, in their order.
type check struct {
	name   string
	within time.Duration
	leave  time.Duration // to clear up after that; default a second
	run    func(ctx context.Context, x *exam)
}

// An exam is one check at work. It has its own copy of what is known, so that
// one that does not come back in time can spoil nothing.
type exam struct {
	facts
	finding Finding
}

// facts are what checks find out for those that follow.
type facts struct {
	profile  awsauth.Profile // its name is "local" for this computer
	local    bool
	own      bool // the profile is one of the owner's
	keys     bool // it has keys in our keychain
	borrowed bool // its credentials are of the engine
	auth     *awsauth.Auth
	clock    *dateReader
	api      *cloud          // nil: there is none to ask
	stands   bool            // what we call is not AWS, but stands for it
	account  *account.Client // nil: there is none to ask

	region, accountID, kind, arn string
	image, version, launched     string
	programs                     map[string]string
}

// NewDoctor returns a Doctor who has looked at nothing yet.
func NewDoctor(cfg DoctorConfig) (*Doctor, error) {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Programs == "" {
		var err error
		if cfg.Programs, err = programFolder(); err != nil {
			return nil, err
		}
	}
	dirs, err := paths.Find()
	if err != nil {
		return nil, err
	}
	d := &Doctor{cfg: cfg, dirs: dirs, file: settings.Open(dirs.Config)}
	d.checks = []check{
		{name: "programs", within: 30 * time.Second, run: d.programs},
		{name: "engine", within: 15 * time.Second, run: d.engine},
		{name: "ledger", within: time.Minute, run: d.ledger},
		{name: "tray", within: 10 * time.Second, run: d.tray},
		{name: "keychain", within: 15 * time.Second, run: d.keychain},
		{name: "profiles", within: time.Minute, run: d.profiles},
		{name: "region", within: time.Minute, run: d.region},
		{name: "quotas", within: 30 * time.Second, run: d.quotas},
		{name: "permissions", within: time.Minute, run: d.permissions},
		{name: "template", within: time.Minute, run: d.template},
		{name: "role", within: 30 * time.Second, run: d.role},
		{name: "agent", within: 4 * time.Minute, leave: endVMWithin + 5*time.Second, run: d.agent},
		{name: "hosts", within: 3 * time.Minute, run: d.hosts},
		{name: "jail", within: 30 * time.Second, run: d.jail},
		{name: "clock", within: 5 * time.Second, run: d.clock},
	}
	return d, nil
}

// Language is the one that the user has chosen, "" if none.
func (d *Doctor) Language() string {
	s, err := d.file.Read()
	if err != nil {
		return "" // a check says so
	}
	return s.Language
}

// Run makes all checks. It calls begins with the name of each, and ends with
// what it came to. When ctx is done it clears up and makes no more of them.
func (d *Doctor) Run(ctx context.Context, begins func(name string), ends func(Finding)) (Diagnosis, error) {
	known := facts{clock: &dateReader{}, programs: map[string]string{}}
	var out Diagnosis
	for _, c := range d.checks {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		begins(c.name)
		x := d.one(ctx, c, known)
		known = x.facts
		out.Findings = append(out.Findings, x.finding)
		ends(x.finding)
	}
	out.Profile, out.Region, out.Account, out.PrincipalKind = known.profile.Name, known.region, known.accountID, known.kind
	out.Programs, out.Launched = known.programs, known.launched
	return out, ctx.Err()
}

// one makes one check, and is back in time whatever that does.
func (d *Doctor) one(ctx context.Context, c check, known facts) exam {
	begun := d.cfg.Clock.Now()
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	if c.leave == 0 {
		c.leave = time.Second
	}
	known.programs = maps.Clone(known.programs)
	done := make(chan exam, 1)
	go func() {
		x := exam{facts: known, finding: Finding{Name: c.name, Details: map[string]any{}}}
		defer func() {
			if r := recover(); r != nil {
				x = exam{facts: known, finding: Finding{Name: c.name, Details: map[string]any{}}}
				x.fail(text("doctor.broke", "what", redactText(fmt.Sprint(r))), text("doctor.broke.remedy"))
			}
			done <- x
		}()
		c.run(ctx, &x)
	}()
	x := exam{facts: known, finding: Finding{Name: c.name, Details: map[string]any{}}}
	select {
	case x = <-done:
	case <-ctx.Done():
		late := time.NewTimer(c.leave)
		defer late.Stop()
		select {
		case x = <-done:
		case <-late.C:
			x.late(c.within)
		}
	}
	if x.sum(); errors.Is(ctx.Err(), context.DeadlineExceeded) && x.finding.Level != Fail {
		x.late(c.within) // what it did not get to see may be bad
		x.sum()
	}
	x.finding.Took = d.cfg.Clock.Since(begun)
	return x
}

func (x *exam) late(within time.Duration) {
	x.fail(text("doctor.late", "seconds", fmt.Sprint(int(within.Seconds()))), text("doctor.late.remedy"))
}

// rank sorts levels, the worst first.
func rank(l Level) int { return slices.Index([]Level{Fail, Warn, Skip, OK}, l) }

// sum makes one finding of all problems.
func (x *exam) sum() {
	f := &x.finding
	slices.SortStableFunc(f.Problems, func(a, b Problem) int { return rank(a.Level) - rank(b.Level) })
	if len(f.Problems) > 0 {
		f.Level, f.What, f.Remedy = f.Problems[0].Level, f.Problems[0].What, f.Problems[0].Remedy
	}
	if f.Level == "" {
		f.Level = OK
	}
}

// ok says that all is well, unless a problem is told too.
func (x *exam) ok(what hostconf.Text) {
	if x.finding.Level == "" {
		x.finding.Level, x.finding.What = OK, what
	}
}

// skip says why there was nothing to look at.
func (x *exam) skip(what hostconf.Text) {
	if x.finding.Level == "" {
		x.finding.Level, x.finding.What = Skip, what
	}
}

func (x *exam) warn(what, remedy hostconf.Text) { x.problem(Warn, what, remedy) }
func (x *exam) fail(what, remedy hostconf.Text) { x.problem(Fail, what, remedy) }

func (x *exam) problem(level Level, what, remedy hostconf.Text) {
	x.finding.Problems = append(x.finding.Problems, Problem{level, what, remedy})
}

// detail tells programs more. It must hold no secret.
func (x *exam) detail(key string, value any) { x.finding.Details[key] = value }
