// Package tools is what a model can do with sandboxes: the tools of an MCP
// server, each a thin layer over an engine. The toolset core has the names,
// arguments and results of rayito-mcp, to the letter.
package tools

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/bridge"
)

// A Toolset is a set of tools that is served or not as a whole.
type Toolset string

// The toolsets.
const (
	Core  Toolset = "core"  // run_code, run_command, read_file, write_file, list_files, list_sandboxes
	Fleet Toolset = "fleet" // more sandboxes than one; core's tools then take a sandbox_id
	Jobs  Toolset = "jobs"  // commands that run on; core's long calls then become jobs
)

// Toolsets are all there are, in the order in which they are listed.
func Toolsets() []Toolset { return []Toolset{Core, Fleet, Jobs} }

// A Who is whom a call is made for.
type Who struct {
	Caller sandbox.Caller
	Owner  string // of what this process keeps of it; the grant, where there are several
	Lease  string // whose sandbox is meant by a call that names none
}

// A Config says what tools work with. Engine, Who, Spec, Texts and Toolsets are
// required.
type Config struct {
	Engine Engine
	// Who tells whom the call of ctx is made for.
	Who func(ctx context.Context) Who
	// Authorize returns the grant of the call of ctx, or why there is none, and
	// starts no engine. It is asked where a call comes to its end without having
	// met the engine. Nil: then nobody is asked.
	Authorize func(ctx context.Context) (sandbox.Grant, error)
	// Lend is called before each call that needs the sandbox of its lease. Nil:
	// the lease is there.
	Lend func(ctx context.Context)
	// Failed is told what a call has failed with, before that is put in words. Nil:
	// nobody is.
	Failed func(ctx context.Context, err error)
	// Alerts says how answers tell of what went wrong in the last day.
	Alerts Alerts
	// Spec is what a new sandbox is, where a call says nothing else.
	Spec     sandbox.Spec
	Texts    assets.Texts
	Toolsets []Toolset
	Clock    clockwork.Clock
	// Log gets a line for each call. It holds sizes, ids, times and codes, and
	// never what was sent or answered.
	Log *slog.Logger
}

// patience is how long a call may take before it becomes a job. Many hosts give
// up at a minute.
const patience = 50 * time.Second

// A set is what the tools of one server share.
type set struct {
	Config
	jobs *jobs
	told told
}

// A Set is the tools of one server.
type Set struct{ s *set }

// New makes the tools of cfg.
func New(cfg Config) (*Set, error) {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	for _, t := range cfg.Toolsets {
		if !slices.Contains(Toolsets(), t) {
			return nil, fmt.Errorf("there is no toolset %q", t)
		}
	}
	return &Set{&set{Config: cfg, jobs: newJobs()}}, nil
}

// Refused is for [bridge.Config.Refused]: who may not call a tool hears that
// before what is wrong with the arguments.
func (t *Set) Refused(ctx context.Context, tool string) error { return t.s.refused(ctx, tool) }

// Explain makes of an error of the engine what a caller is told.
func (t *Set) Explain(err error) error { return t.s.explain(err) }

// Close is for the end of the server: it ends the calls that have become jobs.
func (t *Set) Close() { t.s.jobs.close() }

// Add puts the tools on a server, and what there is to read about them.
func (t *Set) Add(srv *bridge.Server) error {
	s := t.s
	for _, part := range []struct {
		set Toolset
		add func(*bridge.Server) error
	}{{Core, s.addCore}, {Fleet, s.addFleet}, {Jobs, s.addJobs}} {
		if !s.has(part.set) {
			continue
		}
		if err := part.add(srv); err != nil {
			return err
		}
	}
	return addPages(srv, s.Texts)
}

// addPages adds what there is to read for agents.
func addPages(srv *bridge.Server, tx assets.Texts) error {
	for _, name := range []string{assets.DocAgents, assets.DocFirstPrompt} {
		err := srv.AddPage(bridge.Page{
			URI: "docs://" + name, Name: name, Title: tx.Get("page." + name + ".title"), Description: tx.Get("page." + name + ".description"),
			MIMEType: "text/markdown", Text: assets.Doc(name, tx.Language),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *set) has(t Toolset) bool { return slices.Contains(s.Toolsets, t) }

// addCore adds the six, in the order of rayito-mcp. Their schemas differ with
// the other toolsets: where there are more sandboxes than one a call may name
// one, and where there are jobs it may become one.
func (s *set) addCore(srv *bridge.Server) error {
	code := bridge.Hints{OpenWorld: true}
	look := bridge.Hints{ReadOnly: true, Idempotent: true}
	write := bridge.Hints{Destructive: true, Idempotent: true}
	var errs []error
	if s.has(Fleet) {
		errs = append(errs,
			add(s, srv, "run_code", code, s.runCodeAt),
			s.addRunCommandAt(srv, code),
			add(s, srv, "read_file", look, s.readFileAt),
			add(s, srv, "write_file", write, s.writeFileAt),
			add(s, srv, "list_files", look, s.listFilesAt),
		)
	} else {
		errs = append(errs,
			add(s, srv, "run_code", code, s.runCodeHere),
			s.addRunCommand(srv, code),
			add(s, srv, "read_file", look, s.readFileHere),
			add(s, srv, "write_file", write, s.writeFileHere),
			add(s, srv, "list_files", look, s.listFilesHere),
		)
	}
	errs = append(errs, add(s, srv, "list_sandboxes", look, s.listSandboxes))
	return first(errs)
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sized is met by arguments that say how large they are, for the log.
type sized interface{ sizes() []slog.Attr }

// naming is met by arguments that may name a sandbox.
type naming interface{ named() string }

// plain is met by results that are content alone.
type plain interface{ plain() }

// add puts one tool on a server, with its texts, its log lines, and its errors
// explained.
func add[In sized, Out any](s *set, srv *bridge.Server, name string, hints bridge.Hints, do func(context.Context, *trace, In) (Out, error)) error {
	var out Out
	_, isPlain := any(out).(plain)
	return bridge.Add(srv, bridge.Tool[In, Out]{
		Name:        name,
		Title:       s.Texts.Get("tool." + name + ".title"),
		Description: s.Texts.Get("tool." + name + ".description"),
		Hints:       hints,
		Fields:      s.fields(name, fieldsOf[In](), fieldsOf[Out]()),
		Plain:       isPlain,
		Call: func(ctx context.Context, in In) (Out, error) {
			begun := s.Clock.Now()
			s.Log.LogAttrs(ctx, slog.LevelDebug, "call begins", append([]slog.Attr{slog.String("tool", name)}, in.sizes()...)...)
			ctx, call := s.begin(ctx, name)
			defer func() { s.alert(ctx, call) }() // of a call that panics, too
			tr := s.trace(ctx)
			out, err := do(ctx, tr, in)
			tr.close()
			if err != nil {
				err = s.inTurn(ctx, call, err)
				if s.Failed != nil {
					s.Failed(ctx, err)
				}
			}
			if in, ok := any(in).(naming); ok && in.named() != "" {
				err = s.goneByName(err)
			}
			if err != nil {
				err = s.explain(err)
			}
			tr.log(ctx, name, s.Clock.Since(begun), err)
			return out, err
		},
	})
}
