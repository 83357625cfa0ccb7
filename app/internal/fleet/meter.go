package fleet

import (
	"cmp"
	"context"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A Meter keeps the account of what sandboxes may cost and have cost. A sandbox
// is known to it by its key. What it is told may be told it again, by this
// engine or the next one. Methods without a context are called with the fleet
// locked: they must be quick, and never call the fleet. All errors are
// [sandbox.Error]s.
type Meter interface {
	// Reserve holds what a sandbox may cost at most. Nothing is asked of a cloud
	// that makes one before that is on the disk, nor if it is refused.
	Reserve(ctx context.Context, a Ask) error
	// Creating takes down that the request for it is on the disk, and about to
	// be sent.
	Creating(key string) error
	// Doubt takes down that the answer to that was lost.
	Doubt(key string)
	// Running takes down which VM it is.
	Running(key string, vm VM)
	// Saw takes down a state that it was seen in, or that a call of ours has
	// brought about.
	Saw(key string, state sandbox.State, at time.Time)
	// Cycle holds what a suspend costs that nobody reckoned with.
	Cycle(ctx context.Context, key string) error
	// Uncycle gives that back for a suspend that did not come about.
	Uncycle(ctx context.Context, key string) error
	// Ended settles it as of the time at which its cloud stopped counting.
	Ended(key string, why sandbox.EndReason, at time.Time) error
	// Released gives back what is held for one that never was, for err.
	Released(key string, err error)
	// Lost takes down that one in doubt was given up, and may be there all the
	// same.
	Lost(key string)
	// TakeUp is called once, first, with all that the fleet knows of from
	// earlier: what is held for anything else has no sandbox.
	TakeUp(known []sandbox.Sandbox)
	// Orphan takes down a VM that is nobody's.
	Orphan(profile string, vm VM)
	// Describe fills in the money of s.
	Describe(s *sandbox.Sandbox)
}

// An Ask is what one sandbox is to be, as far as that costs something.
type Ask struct {
	Key        string
	Grant      string // who pays
	Profile    string
	Connection string // of the lease it is for
	Host       string
	Name       string
	Image      Image
	Life, Idle time.Duration
	At         time.Time
}

func (b *box) ask(image Image) Ask {
	return Ask{
		Key: b.Key, Grant: cmp.Or(b.Grant, sandbox.GrantOwner), Profile: b.Profile, Connection: b.Connection, Host: b.Host, Name: b.Name,
		Image: image, Life: b.Request.Life, Idle: b.Request.Idle, At: b.AskedAt,
	}
}

// reserve has what b may cost held.
func (f *Fleet) reserve(ctx context.Context, b *box, image Image) error {
	if f.cfg.Meter == nil {
		return nil
	}
	f.mu.Lock()
	a := b.ask(image)
	f.mu.Unlock()
	return f.cfg.Meter.Reserve(ctx, a)
}

// count has a sandbox counted that lives already: one that an earlier version
// made, which counted nothing. That can't be refused any more.
func (f *Fleet) count(ctx context.Context, b *box, cloud Cloud) {
	f.mu.Lock()
	counted := b.Size > 0
	image, version := cmp.Or(b.Image, b.Request.Image), cmp.Or(b.Version, b.Request.Version)
	f.mu.Unlock()
	if f.cfg.Meter == nil || counted {
		return
	}
	known, err := cloud.Image(ctx, image, version)
	if err == nil {
		err = f.reserve(ctx, b, known)
	}
	if err != nil {
		f.log.Warn("sandbox not counted", "key", b.Key, "err", err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b.Size = known.SizeMiB
	f.noteLocked(b)
}

func (f *Fleet) creating(b *box) error {
	if f.cfg.Meter == nil {
		return nil
	}
	return f.cfg.Meter.Creating(b.Key)
}

// cycle has what a suspend costs held, unless b sleeps already.
func (f *Fleet) cycle(ctx context.Context, b *box) (held bool, err error) {
	f.mu.Lock()
	asleep := b.State == sandbox.Suspended || b.State == sandbox.Suspending
	f.mu.Unlock()
	if f.cfg.Meter == nil || asleep {
		return false, nil
	}
	err = f.cfg.Meter.Cycle(ctx, b.Key)
	return err == nil, err
}

// uncycle gives back what cycle had held for a suspend that failed, if its cloud
// says that it did not come about. Else it may yet.
func (f *Fleet) uncycle(ctx context.Context, b *box) {
	f.mu.Lock()
	id := b.ID
	f.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	if vm, err := f.look(ctx, b, id); err != nil || vm.State != sandbox.Running {
		return
	}
	if err := f.cfg.Meter.Uncycle(ctx, b.Key); err != nil {
		f.log.Warn("what was held for a suspend is not given back before the end", "sandbox", id, "err", err)
	}
}

func (f *Fleet) doubtLocked(b *box) {
	if f.cfg.Meter != nil {
		f.cfg.Meter.Doubt(b.Key)
	}
}

// runningLocked tells the meter which VM b is, once that is known.
func (f *Fleet) runningLocked(b *box) {
	if f.cfg.Meter == nil || b.ID == "" {
		return
	}
	started := b.StartedAt
	if started.IsZero() {
		started = b.AskedAt
	}
	state := b.State
	if state == sandbox.Creating || state == sandbox.InDoubt { // its end was asked for first; the cloud has it, and counts
		state = sandbox.Pending
	}
	f.cfg.Meter.Running(b.Key, VM{
		ID: b.ID, Image: cmp.Or(b.Image, b.Request.Image), Version: b.Version, State: state, Life: b.Request.Life, Idle: b.Request.Idle, StartedAt: started,
	})
}

func (f *Fleet) sawLocked(b *box, state sandbox.State) {
	if f.cfg.Meter != nil && b.ID != "" && b.EndReason == "" {
		f.cfg.Meter.Saw(b.Key, state, f.clock.Now())
	}
}

func (f *Fleet) orphanLocked(profile string, vm VM) {
	if f.cfg.Meter != nil {
		f.cfg.Meter.Orphan(profile, vm)
	}
}

// releaseLocked gives back what is held for b, which never was as far as can be
// known.
func (f *Fleet) releaseLocked(b *box, err error) {
	switch {
	case f.cfg.Meter == nil:
	case b.unsure:
		f.cfg.Meter.Lost(b.Key)
	default:
		f.cfg.Meter.Released(b.Key, err)
	}
}

// nounLocked is b as others see it.
func (f *Fleet) nounLocked(b *box) sandbox.Sandbox {
	s := b.noun()
	if f.cfg.Meter != nil {
		f.cfg.Meter.Describe(&s)
	}
	return s
}

// settleLocked has b settled that has ended, at once if it is known when, and
// else as soon as the cloud tells. An end that was asked for is no end yet.
func (f *Fleet) settleLocked(b *box, at time.Time) {
	if f.cfg.Meter == nil || b.Settled || b.closing || b.EndReason == "" {
		return
	}
	if b.ID == "" {
		b.Settled = true
		return
	}
	if !at.IsZero() && f.settleAtLocked(b, at) {
		return
	}
	b.closing = f.beginLocked(func(ctx context.Context) { f.close(ctx, b, at) })
}

func (f *Fleet) settleAtLocked(b *box, at time.Time) bool {
	if err := f.cfg.Meter.Ended(b.Key, b.EndReason, at); err != nil {
		f.log.Error("end of a sandbox not settled", "sandbox", b.ID, "err", err)
		return false
	}
	b.Settled = true
	return true
}

// close settles b, however long that takes.
func (f *Fleet) close(ctx context.Context, b *box, at time.Time) {
	if at.IsZero() {
		if at = f.endOf(ctx, b); at.IsZero() {
			return // the next engine goes on
		}
	}
	for delay := time.Second; ; delay = min(2*delay, slowestEvery) {
		f.mu.Lock()
		done := f.settleAtLocked(b, at)
		if done {
			b.closing = false
			f.noteLocked(b)
		}
		f.mu.Unlock()
		if done || f.wait(ctx, delay) != nil {
			return
		}
	}
}

// endOf asks the cloud when b ended, until it says so or its time is up anyway.
func (f *Fleet) endOf(ctx context.Context, b *box) time.Time {
	f.mu.Lock()
	id, ended, last := b.ID, b.EndedAt, b.EndsAt
	f.mu.Unlock()
	for delay := 2 * time.Millisecond; ; delay = min(2*delay, time.Minute) {
		vm, err := f.look(ctx, b, id)
		switch code := sandbox.CodeOf(err); {
		case err == nil && vm.State == sandbox.Terminated && !vm.EndedAt.IsZero():
			return vm.EndedAt
		case err == nil && vm.State == sandbox.Terminated, code == sandbox.NotFound, code == sandbox.Gone:
			return ended
		case !last.IsZero() && f.clock.Now().After(last.Add(settleTime)): // the cloud's own limit has ended it
			return last
		}
		if f.wait(ctx, delay) != nil {
			return time.Time{}
		}
	}
}

// look asks the control plane for b's VM.
func (f *Fleet) look(ctx context.Context, b *box, id string) (VM, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cloud, err := f.cloudOf(ctx, b)
	if err != nil {
		return VM{}, err
	}
	if cloud == nil {
		return VM{State: sandbox.Terminated}, nil
	}
	return cloud.Get(ctx, id)
}
