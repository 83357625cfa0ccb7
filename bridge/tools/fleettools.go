package tools

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

type none struct{}

func (none) sizes() []slog.Attr { return nil }

type sandboxesOut struct {
	Sandboxes []summary `json:"sandboxes"`
}

// A summary is a sandbox in a list.
type summary struct {
	SandboxID       string `json:"sandbox_id"`
	State           string `json:"state"`
	Template        string `json:"template"`
	TemplateVersion string `json:"template_version"`
	StartedAt       string `json:"started_at"`
	Current         bool   `json:"current"`
}

func summaryOf(b sandbox.Sandbox) summary {
	return summary{b.ID, string(b.State), b.Template, b.Version, stamp(b.StartedAt), b.Current}
}

func (s *set) listRequest() sandbox.ListRequest {
	return sandbox.ListRequest{Profile: s.Spec.Profile, Template: s.Spec.Template, Lease: s.Lease}
}

// listSandboxes lists those of the image that is configured. Unlike rayito-mcp it
// needs none, since it touches no sandbox: without one it lists all that we know.
func (s *set) listSandboxes(ctx context.Context, tr *trace, _ none) (sandboxesOut, error) {
	all, err := s.Engine.List(ctx, s.listRequest())
	if err != nil {
		return sandboxesOut{}, err
	}
	out := sandboxesOut{Sandboxes: []summary{}}
	for _, b := range all {
		if b.State.Alive() {
			out.Sandboxes = append(out.Sandboxes, summaryOf(b))
		}
	}
	tr.add(slog.Int("sandboxes", len(out.Sandboxes)))
	return out, nil
}

// A sandboxOut is all there is to say of one sandbox.
type sandboxOut struct {
	summary
	Name      *string `json:"name"`
	Profile   string  `json:"profile"`
	IdleAfter int     `json:"idle_seconds"`
	EndsAt    *string `json:"ends_at"`
	EndedAt   *string `json:"ended_at"`
	EndReason *string `json:"end_reason"`
}

func sandboxOf(b sandbox.Sandbox) sandboxOut {
	return sandboxOut{
		summary: summaryOf(b), Name: orNull(b.Name), Profile: b.Profile, IdleAfter: int(b.Idle / time.Second),
		EndsAt: stampOrNull(b.EndsAt), EndedAt: stampOrNull(b.EndedAt), EndReason: orNull(string(b.EndReason)),
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(stamp(t))
}

type createIn struct {
	Name     *string  `json:"name" min:"1" max:"64"`
	Template *string  `json:"template"`
	Version  *string  `json:"template_version"`
	Hours    *float64 `json:"hours" min:"0.02" max:"8"`
	Idle     *int     `json:"idle_seconds" min:"0" max:"28799"`
}

func (createIn) sizes() []slog.Attr { return nil }

type oneIn struct {
	SandboxID string `json:"sandbox_id"`
}

func (oneIn) sizes() []slog.Attr { return nil }

func (s *set) addFleet(srv *bridge.Server) error {
	return first([]error{
		add(s, srv, "create_sandbox", bridge.Hints{OpenWorld: true}, s.createSandbox),
		add(s, srv, "get_sandbox", bridge.Hints{ReadOnly: true, Idempotent: true}, s.one(s.Engine.Get)),
		add(s, srv, "suspend_sandbox", bridge.Hints{Idempotent: true}, s.one(s.Engine.Suspend)),
		add(s, srv, "resume_sandbox", bridge.Hints{Idempotent: true}, s.one(s.Engine.Resume)),
		add(s, srv, "terminate_sandbox", bridge.Hints{Destructive: true, Idempotent: true}, s.one(s.terminate)),
	})
}

// one makes a tool of what is done to one sandbox.
func (s *set) one(do func(context.Context, string) (sandbox.Sandbox, error)) func(context.Context, *trace, oneIn) (sandboxOut, error) {
	return func(ctx context.Context, tr *trace, in oneIn) (sandboxOut, error) {
		b, err := do(ctx, in.SandboxID)
		if err != nil {
			return sandboxOut{}, err
		}
		tr.in(b.ID) // not what was asked for, which may be anything
		b.Current = b.Current || b.Lease == s.Lease
		return sandboxOf(b), nil
	}
}

func (s *set) terminate(ctx context.Context, id string) (sandbox.Sandbox, error) {
	if err := s.Engine.Terminate(ctx, id, s.Lease); err != nil {
		return sandbox.Sandbox{}, err
	}
	return s.Engine.Get(ctx, id)
}

func (s *set) createSandbox(ctx context.Context, tr *trace, in createIn) (sandboxOut, error) {
	spec := s.Spec
	if in.Template != nil {
		spec.Template, spec.Version = *in.Template, ""
	}
	if in.Version != nil {
		spec.Version = *in.Version
	}
	if in.Name != nil {
		spec.Name = *in.Name
	}
	life := cmp.Or(spec.Timeout, time.Hour)
	if in.Hours != nil {
		life = time.Duration(*in.Hours * float64(time.Hour)).Round(time.Second)
		spec.Timeout = life
	}
	switch {
	case in.Idle != nil && *in.Idle != 0 && *in.Idle < 60:
		return sandboxOut{}, s.invalid("error.idle_range")
	case in.Idle != nil && time.Duration(*in.Idle)*time.Second >= life:
		return sandboxOut{}, s.invalid("error.idle_life")
	case in.Idle != nil:
		spec.Idle = time.Duration(*in.Idle) * time.Second
	case spec.Idle >= life:
		spec.Idle = 0 // it would never come to it
	}
	if !s.local() && spec.Template == "" {
		return sandboxOut{}, s.noTemplate()
	}
	b, err := s.Engine.Create(ctx, spec)
	if err != nil {
		return sandboxOut{}, err
	}
	tr.in(b.ID)
	return sandboxOf(b), nil
}
