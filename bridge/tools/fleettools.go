package tools

import (
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

func (s *set) listRequest(ctx context.Context) sandbox.ListRequest {
	return sandbox.ListRequest{Profile: s.Spec.Profile, Template: s.Spec.Template, Lease: s.Who(ctx).Lease}
}

// listSandboxes lists those of the image that is configured. Unlike rayito-mcp it
// needs none, since it touches no sandbox: without one it lists all that we know.
func (s *set) listSandboxes(ctx context.Context, tr *trace, _ none) (sandboxesOut, error) {
	all, err := s.Engine.List(ctx, s.listRequest(ctx))
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
	SizeMiB   *int    `json:"size_mib"`
	IdleAfter int     `json:"idle_seconds"`
	EndsAt    *string `json:"ends_at"`
	EndedAt   *string `json:"ended_at"`
	EndReason *string `json:"end_reason"`
	Hold      money   `json:"hold"`
	Cost      money   `json:"cost"`
	Would     *money  `json:"would"`
	PerHour   *money  `json:"per_hour"`
}

func sandboxOf(b sandbox.Sandbox) sandboxOut {
	out := sandboxOut{
		summary: summaryOf(b), Name: orNull(b.Name), Profile: b.Profile, SizeMiB: countOrNull(b.SizeMiB), IdleAfter: int(b.Idle / time.Second),
		EndsAt: stampOrNull(b.EndsAt), EndedAt: stampOrNull(b.EndedAt), EndReason: orNull(string(b.EndReason)),
		Hold: moneyOf(b.Hold), Cost: moneyOf(b.Cost.Total), PerHour: moneyOrNull(b.PerHour),
	}
	if b.Profile == sandbox.ProfileLocal {
		out.Cost, out.Would = moneyOf(0), new(moneyOf(b.Cost.Total))
	}
	return out
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func countOrNull(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(stamp(t))
}

type oneIn struct {
	SandboxID string `json:"sandbox_id"`
}

func (oneIn) sizes() []slog.Attr { return nil }

func (in oneIn) named() string { return in.SandboxID }

func (s *set) addFleet(srv *bridge.Server) error {
	look := bridge.Hints{ReadOnly: true, Idempotent: true}
	return first([]error{
		add(s, srv, "create_sandbox", bridge.Hints{OpenWorld: true}, s.createSandbox),
		add(s, srv, "get_sandbox", look, s.one(s.Engine.Get)),
		add(s, srv, "suspend_sandbox", bridge.Hints{Idempotent: true}, s.one(s.Engine.Suspend)),
		add(s, srv, "resume_sandbox", bridge.Hints{Idempotent: true}, s.one(s.Engine.Resume)),
		add(s, srv, "terminate_sandbox", bridge.Hints{Destructive: true, Idempotent: true}, s.one(s.terminate)),
		add(s, srv, "schedule_removal", bridge.Hints{Destructive: true, Idempotent: true}, s.scheduleRemoval),
		add(s, srv, "list_templates", look, s.listTemplates),
		add(s, srv, "quote", look, s.quote),
		add(s, srv, "get_balance", look, s.getBalance),
		add(s, srv, "get_events", look, s.getEvents),
	})
}

// one makes a tool of what is done to one sandbox.
func (s *set) one(do func(context.Context, string) (sandbox.Sandbox, error)) func(context.Context, *trace, oneIn) (sandboxOut, error) {
	return func(ctx context.Context, tr *trace, in oneIn) (sandboxOut, error) {
		b, err := do(ctx, in.SandboxID)
		if err != nil {
			return sandboxOut{}, err
		}
		return s.shown(ctx, tr, b), nil
	}
}

// shown is b as whoever calls sees it.
func (s *set) shown(ctx context.Context, tr *trace, b sandbox.Sandbox) sandboxOut {
	tr.in(b.ID) // not what was asked for, which may be anything
	b.Current = b.Current || b.Lease != "" && b.Lease == s.Who(ctx).Lease
	return sandboxOf(b)
}

func (s *set) terminate(ctx context.Context, id string) (sandbox.Sandbox, error) {
	if err := s.Engine.Terminate(ctx, id, s.Who(ctx).Lease); err != nil {
		return sandbox.Sandbox{}, err
	}
	return s.Engine.Get(ctx, id)
}

type removalIn struct {
	SandboxID string    `json:"sandbox_id"`
	At        time.Time `json:"at"`
}

func (removalIn) sizes() []slog.Attr { return nil }

func (in removalIn) named() string { return in.SandboxID }

// scheduleRemoval brings the end of a sandbox forward. The end that it was made
// with stays the latest there is.
func (s *set) scheduleRemoval(ctx context.Context, tr *trace, in removalIn) (sandboxOut, error) {
	b, err := s.Engine.ScheduleRemoval(ctx, in.SandboxID, in.At)
	if err != nil {
		return sandboxOut{}, err
	}
	return s.shown(ctx, tr, b), nil
}
