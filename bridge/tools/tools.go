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

// A Config says what tools work with. All but Clock and Log are required.
type Config struct {
	Engine Engine
	// Lease is whose sandbox is meant by a call that names none.
	Lease string
	// Lend is called before each call that needs the sandbox of the lease. Nil:
	// the lease is there.
	Lend func(ctx context.Context)
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

// A set is the tools of one server.
type set struct {
	Config
	jobs *jobs
}

// Add puts the tools of cfg on a server. Cleanup is to be called when the server
// ends: it ends the calls that have become jobs.
func Add(srv *bridge.Server, cfg Config) (cleanup func(), err error) {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &set{Config: cfg, jobs: newJobs()}
	for _, t := range cfg.Toolsets {
		if !slices.Contains(Toolsets(), t) {
			return nil, fmt.Errorf("there is no toolset %q", t)
		}
	}
	for _, part := range []struct {
		set Toolset
		add func(*bridge.Server) error
	}{{Core, s.addCore}, {Fleet, s.addFleet}, {Jobs, s.addJobs}} {
		if !s.has(part.set) {
			continue
		}
		if err := part.add(srv); err != nil {
			return nil, err
		}
	}
	return s.jobs.close, nil
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
			tr := s.trace(ctx)
			out, err := do(ctx, tr, in)
			tr.close()
			if err != nil {
				err = s.explain(err)
			}
			tr.log(ctx, name, s.Clock.Since(begun), err)
			return out, err
		},
	})
}
