package scene

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

func noSandbox(id string) error {
	return &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no sandbox " + id, Hint: "\"arenero ls\" shows those there are"}
}

// boxLocked finds a sandbox by its id, key or name.
func (s *Scene) boxLocked(id string) (*box, error) {
	for _, b := range s.boxes {
		if id != "" && (b.ID == id || b.Key == id || b.Name == id) {
			return b, nil
		}
	}
	return nil, noSandbox(id)
}

// awakeLocked finds the sandbox that a request is for, and wakes it.
func (s *Scene) awakeLocked(t sandbox.Target) (*box, error) {
	id := t.Sandbox
	for _, l := range s.leases {
		if id == "" && l.ID == t.Lease {
			id = l.Sandbox
		}
	}
	if id == "" && t.Lease != "" {
		return s.makeLocked(sandbox.Spec{}, t.Lease)
	}
	b, err := s.boxLocked(id)
	switch {
	case err != nil:
		return nil, err
	case b.State == sandbox.Suspended:
		s.turnLocked(b, sandbox.Running)
	case b.State != sandbox.Running:
		return nil, &sandbox.Error{Code: sandbox.WrongState, Msg: fmt.Sprintf("the sandbox is %s", b.State)}
	}
	return b, nil
}

// turnLocked has b be in a state from now on.
func (s *Scene) turnLocked(b *box, state sandbox.State) {
	now := s.clock.Now().UTC()
	b.count(now)
	was := b.State
	b.State = state
	e := sandbox.Event{Severity: sandbox.SeverityInfo, Grant: b.Grant, Subject: cmp.Or(b.ID, b.Key), Data: map[string]any{"name": b.Name}}
	switch {
	case state == sandbox.Suspended:
		e.Kind, b.Running = sandbox.EventSuspended, 0
	case state == sandbox.Running && was == sandbox.Suspended:
		e.Kind, b.UsedAt = sandbox.EventResumed, now
	case state == sandbox.Running:
		e.Kind, b.UsedAt = sandbox.EventReady, now
	case state == sandbox.Terminated:
		e.Kind, b.EndedAt, b.Running = sandbox.EventEnded, now, 0
		b.EndReason = cmp.Or(b.EndReason, sandbox.EndAsked)
		e.Data["reason"], e.Data["settled_micro"] = string(b.EndReason), int64(b.Cost.Total)
		s.settleLocked(b, now)
	}
	s.tellLocked(e)
	s.changedLocked()
}

// Get describes a sandbox.
func (s *Scene) Get(_ context.Context, id string) (sandbox.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.boxLocked(id)
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	b.count(s.clock.Now().UTC())
	return b.Sandbox, nil
}

// List lists those of a profile.
func (s *Scene) List(_ context.Context, r sandbox.ListRequest) ([]sandbox.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away[r.Profile.Name] {
		return nil, unsigned(r.Profile.Name)
	}
	out := []sandbox.Sandbox{}
	for _, b := range s.boxes {
		if b.Profile == cmp.Or(r.Profile.Name, s.prefs.DefaultProfile) && (b.State.Alive() || r.Ended) && (r.Template == "" || r.Template == b.Template) {
			b.count(s.clock.Now().UTC())
			out = append(out, b.Sandbox)
		}
	}
	return out, nil
}

// Suspend puts one to sleep that is awake.
func (s *Scene) Suspend(_ context.Context, id string) (sandbox.Sandbox, error) {
	return s.move(id, sandbox.Suspended, sandbox.Running, sandbox.Suspending)
}

// Resume wakes one that sleeps.
func (s *Scene) Resume(_ context.Context, id string) (sandbox.Sandbox, error) {
	return s.move(id, sandbox.Running, sandbox.Suspended, sandbox.Pending)
}

func (s *Scene) move(id string, to sandbox.State, from ...sandbox.State) (sandbox.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.boxLocked(id)
	switch {
	case err != nil:
		return sandbox.Sandbox{}, err
	case s.away[b.Profile]:
		return sandbox.Sandbox{}, unsigned(b.Profile)
	case b.State == to:
		return b.Sandbox, nil
	case !slices.Contains(from, b.State):
		return sandbox.Sandbox{}, &sandbox.Error{Code: sandbox.WrongState, Msg: fmt.Sprintf("the sandbox is %s", b.State)}
	}
	s.turnLocked(b, to)
	return b.Sandbox, nil
}

// Terminate ends one.
func (s *Scene) Terminate(_ context.Context, id, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.boxLocked(id)
	if err != nil {
		return err
	}
	if s.away[b.Profile] {
		return unsigned(b.Profile)
	}
	if b.State.Alive() {
		s.endLocked(b, sandbox.EndAsked)
	}
	return nil
}

// endLocked ends a sandbox with all that runs in it.
func (s *Scene) endLocked(b *box, why sandbox.EndReason) {
	b.EndReason = why
	for _, c := range s.calls {
		if c.sandbox == b.ID {
			c.finishLocked(s, sandbox.Exit{Sandbox: b.ID, Code: 137, Signal: 9}, nil)
		}
	}
	for i := range s.leases {
		if s.leases[i].Sandbox == b.ID {
			s.leases[i].Sandbox = ""
		}
	}
	s.turnLocked(b, sandbox.Terminated)
}

// ScheduleRemoval brings the end of one forward, or puts off one that was.
func (s *Scene) ScheduleRemoval(_ context.Context, id string, at time.Time) (sandbox.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.boxLocked(id)
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	if limit := b.limit(); at.After(limit) {
		return sandbox.Sandbox{}, &sandbox.Error{
			Code: sandbox.CannotExtend, Msg: "a sandbox can't live longer than it was made for", Hint: "make a new one with a longer life",
			Details: map[string]any{"ends_at": limit.Format(time.RFC3339)},
		}
	}
	if limit := b.limit(); at.Before(limit) {
		b.Extendable = limit
	} else {
		b.Extendable = time.Time{}
	}
	b.EndsAt = at.UTC()
	s.changedLocked()
	return b.Sandbox, nil
}

// limit is when a sandbox ends at the latest.
func (b *box) limit() time.Time {
	if !b.Extendable.IsZero() {
		return b.Extendable
	}
	return b.EndsAt
}

// Create makes one.
func (s *Scene) Create(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, err := s.boxLocked(spec.Key); err == nil && b.State.Alive() {
		again := b.Sandbox
		again.Replay = sandbox.ReplayKey
		return again, nil
	}
	b, err := s.makeLocked(spec, "")
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	return b.Sandbox, nil
}

// makeLocked makes a sandbox, for a lease or for nobody.
func (s *Scene) makeLocked(spec sandbox.Spec, lease string) (*box, error) {
	profile := cmp.Or(spec.Profile.Name, s.prefs.DefaultProfile)
	switch {
	case s.prefs.Paused:
		return nil, &sandbox.Error{Code: sandbox.CreateFailed, Msg: "new sandboxes are paused", Hint: "take the pause back in the tray or in the settings"}
	case s.kind == Down:
		return nil, s.down()
	case s.away[profile]:
		return nil, unsigned(profile)
	}
	for _, budget := range s.budgetsLocked() {
		if left := budget.Left(); left != nil && *left == 0 && profile != sandbox.ProfileLocal && (budget.Level == sandbox.LevelGlobal || budget.Owner == profile) {
			return nil, &sandbox.Error{
				Code: sandbox.BudgetExceeded, Msg: fmt.Sprintf("nothing is left of the budget of the %s", budget.Level), Hint: "raise the limit",
				Details: map[string]any{"level": string(budget.Level), "owner": budget.Owner, "left_micro": int64(0)},
			}
		}
	}
	s.made++
	life := cmp.Or(spec.Timeout, time.Hour)
	n := 10_000 + s.made
	s.add(n, part{
		name: spec.Name, profile: profile, state: sandbox.Pending, left: life.Minutes(), idle: int(spec.Idle.Minutes()), size: 2048, keep: spec.Keep,
	})
	b := s.boxes[len(s.boxes)-1]
	now := s.clock.Now().UTC()
	b.Key = cmp.Or(spec.Key, b.Key)
	b.StartedAt, b.EndsAt, b.UsedAt, b.counted, b.files = now, now.Add(life), now, now, tree{}
	if spec.Template != "" {
		b.Template = spec.Template
	}
	for i := range s.leases {
		if l := &s.leases[i]; l.ID == lease {
			l.Sandbox, b.Lease, b.Host, b.Connection = b.ID, l.ID, l.Host, l.Connection
		}
	}
	s.turnLocked(b, sandbox.Running)
	return b, nil
}

// Hold has a lease be there for as long as its bridge.
func (s *Scene) Hold(ctx context.Context, l sandbox.Lease, held func() error) error {
	s.mu.Lock()
	s.leases = append(s.leases, sandbox.LeaseInfo{
		ID: l.ID, Connection: l.Connection, Host: l.Host, Profile: cmp.Or(l.Spec.Profile.Name, sandbox.ProfileLocal), Attached: true, Since: s.clock.Now().UTC(),
	})
	s.changedLocked()
	s.mu.Unlock()
	if err := held(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-s.stop:
	}
	return ctx.Err()
}

// Release takes a lease away, and its sandbox with it.
func (s *Scene) Release(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.leases, func(l sandbox.LeaseInfo) bool { return l.ID == id })
	if i < 0 {
		return nil
	}
	if b, err := s.boxLocked(s.leases[i].Sandbox); err == nil && b.State.Alive() && !b.Keep {
		s.endLocked(b, sandbox.EndClosed)
	}
	s.leases = slices.DeleteFunc(s.leases, func(l sandbox.LeaseInfo) bool { return l.ID == id })
	s.changedLocked()
	return nil
}

// Ports are those of one that is awake.
func (s *Scene) Ports(_ context.Context, id string) ([]control.Port, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.boxLocked(id)
	if err != nil {
		return nil, err
	}
	if b.State != sandbox.Running {
		return []control.Port{}, nil
	}
	return append([]control.Port{}, b.ports...), nil
}
