package fleet

import (
	"context"
	"maps"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// endLocked begins to end b for why, and does not stop before it has ended. One
// that is still being made ends when its id is known.
func (f *Fleet) endLocked(b *box, why sandbox.EndReason) {
	if b.EndReason != "" || b.ending {
		return
	}
	if b.Ending == "" {
		b.Ending = why
	}
	if b.ID == "" {
		f.noteLocked(b)
		return
	}
	b.State = sandbox.Terminating
	f.noteLocked(b)
	hurry := make(chan struct{}, 1)
	b.hurry = hurry
	b.ending = f.beginLocked(func(ctx context.Context) { f.terminate(ctx, b, hurry) })
}

// terminate asks the cloud until it says that b has ended, and at once when there is
// something in hurry.
func (f *Fleet) terminate(ctx context.Context, b *box, hurry <-chan struct{}) {
	for delay := 250 * time.Millisecond; ; delay = min(max(2*delay, 250*time.Millisecond), slowestEvery) {
		err := f.terminateOnce(ctx, b)
		if err == nil {
			f.mu.Lock()
			f.endedLocked(b, ending{why: b.Ending}, true)
			f.mu.Unlock()
			return
		}
		f.mu.Lock()
		expired := !b.EndsAt.IsZero() && f.clock.Now().After(b.EndsAt.Add(settleTime))
		if expired { // the cloud's own limit has ended it
			f.endedLocked(b, ending{why: b.Ending, at: b.EndsAt}, true)
		}
		b.tries, b.tryErr = b.tries+1, err
		f.changedLocked()
		f.mu.Unlock()
		if expired {
			return
		}
		f.log.Warn("sandbox not ended yet", "sandbox", b.ID, "err", err)
		timer := f.clock.NewTimer(delay)
		select {
		case <-timer.Chan():
		case <-hurry:
			delay = 0 // somebody waits
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

func (f *Fleet) terminateOnce(ctx context.Context, b *box) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cloud, err := f.cloudOf(ctx, b)
	if err != nil || cloud == nil { // a cloud that is not there has no sandboxes
		return err
	}
	err = cloud.Terminate(ctx, b.ID)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

// profileOf is where b is, with the credentials that its bridge brought last.
func (f *Fleet) profileOf(b *box) sandbox.Profile {
	f.mu.Lock()
	defer f.mu.Unlock()
	return b.profile
}

// cloudOf returns the cloud of b, or nil if that has ended with all it had.
func (f *Fleet) cloudOf(ctx context.Context, b *box) (Cloud, error) {
	cloud, err := f.cfg.Open(ctx, f.profileOf(b), false)
	if err != nil || cloud == nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b.cloud = cloud
	return cloud, nil
}

// An ending is how a sandbox ended.
type ending struct {
	why  sandbox.EndReason
	text string    // the cloud's words for it
	at   time.Time // when the cloud stopped counting; zero is not known yet
}

// endedLocked takes in that b has ended. Unless told, the next call of its
// lease is told that the sandbox is gone.
func (f *Fleet) endedLocked(b *box, e ending, told bool) {
	if b.EndReason != "" {
		return
	}
	b.State, b.EndReason, b.EndText, b.EndedAt = sandbox.Terminated, e.why, e.text, f.clock.Now()
	f.log.Info("sandbox ended", "sandbox", b.ID, "reason", string(e.why), "lease", b.Lease)
	for _, l := range f.leases {
		if l.box != b {
			continue
		}
		l.box, l.lost = nil, b.ID
		if !told {
			l.gone, l.goneKey = b.goneLocked(), b.Key
		}
	}
	for _, r := range f.runs {
		if r.box == b {
			r.boxEnded(b.goneLocked())
		}
	}
	b.calls.close()
	f.fitEndedLocked(b)
	if err := f.cfg.Secrets.Delete(b.Key); err != nil {
		f.log.Error("key not forgotten", "sandbox", b.ID, "err", err)
	}
	if agent := b.agent; agent != nil {
		b.agent = nil
		f.beginLocked(func(context.Context) { agent.Close() })
	}
	f.settleLocked(b, e.at)
	f.noteLocked(b)
	f.pokeServe()
}

// endWithin is how long whoever ends a sandbox waits for a cloud that does not say
// that it has ended.
const endWithin = 30 * time.Second

// Terminate ends a sandbox by its id, ours or not, and returns when the cloud
// has agreed. If it can't be asked, or does not agree in time, that is an error, and
// it is tried on behind the back of whoever asked. The lease that asks is told
// nothing of it by its next call; by is "" for a person.
func (f *Fleet) Terminate(ctx context.Context, id, by string) error {
	f.mu.Lock()
	b := f.byIDLocked(id)
	f.mu.Unlock()
	if b == nil {
		cloud, err := f.orphanCloud(ctx, id)
		if err != nil {
			return err
		}
		return cloud.Terminate(ctx, id)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.partLocked(b, sandbox.EndAsked, by)
	before := b.tries
	f.endLocked(b, sandbox.EndAsked)
	select {
	case b.hurry <- struct{}{}:
	default: // there is one, or nothing that could be hurried
	}
	late := f.clock.NewTimer(endWithin)
	defer late.Stop()
	for b.EndReason == "" && !f.closed {
		if b.tries > before && !sandbox.ToError(b.tryErr).Retryable {
			return notEnded(b, b.tryErr)
		}
		changed := f.changed
		f.mu.Unlock()
		over := false
		select {
		case <-changed:
		case <-late.Chan():
			over = true
		case <-ctx.Done():
		}
		f.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if over && b.EndReason == "" {
			return notEnded(b, b.tryErr)
		}
	}
	f.awaitSettledLocked(ctx, b)
	return nil
}

// notEnded says why b lives on. A nil err is a cloud that has not answered yet.
func notEnded(b *box, err error) error {
	e := sandbox.Error{Code: sandbox.CloudDown, Msg: "the cloud does not answer", Hint: "check the network and the profile", Retryable: true, Err: err}
	if err != nil && sandbox.CodeOf(err) != sandbox.Canceled {
		e = *sandbox.ToError(err)
	}
	e.Msg = "the sandbox has not ended yet, and is tried again and again: " + e.Msg
	details := map[string]any{"sandbox_id": b.ID, "profile": b.Profile}
	maps.Copy(details, e.Details)
	e.Details = details
	return &e
}

// settledWithin is how long whoever ends a sandbox waits for its account.
const settledWithin = 2 * time.Second

// awaitSettledLocked gives the account of b a moment, so that who ended it finds
// what was held given back.
func (f *Fleet) awaitSettledLocked(ctx context.Context, b *box) {
	timer := f.clock.NewTimer(settledWithin)
	defer timer.Stop()
	for b.closing && !f.closed {
		changed := f.changed
		f.mu.Unlock()
		over := false
		select {
		case <-changed:
		case <-timer.Chan():
			over = true
		case <-ctx.Done():
			over = true
		}
		f.mu.Lock()
		if over {
			return
		}
	}
}

// partLocked takes b from its leases. All but that of by are told so by their
// next call.
func (f *Fleet) partLocked(b *box, why sandbox.EndReason, by string) {
	for _, l := range f.leases {
		if l.box != b {
			continue
		}
		l.box = nil
		if l.ID != by {
			l.lost, l.gone, l.goneKey = b.ID, b.goneWithLocked(why), b.Key
		}
	}
}

func (b *box) goneWithLocked(why sandbox.EndReason) *sandbox.Error {
	e := b.goneLocked()
	e.Details["reason"] = string(why)
	return e
}

// judge is err of a call to b in view of what the control plane says: a
// sandbox that is gone is told so, and replaced by the next call.
func (f *Fleet) judge(ctx context.Context, b *box, err error) error {
	switch sandbox.CodeOf(err) {
	case sandbox.InTransition, sandbox.Gone, sandbox.Access, sandbox.CloudDown, sandbox.ExecInDoubt, sandbox.OutputLost, sandbox.Internal:
	default:
		return err
	}
	if ctx.Err() != nil {
		return err
	}
	e, over := f.fate(ctx, b)
	f.mu.Lock()
	defer f.mu.Unlock()
	if over {
		f.endedLocked(b, e, true)
	}
	if b.EndReason == "" && b.Ending == "" {
		return err
	}
	for _, l := range f.leases {
		if l.goneKey == b.Key { // this call tells it
			l.gone, l.goneKey = nil, ""
		}
	}
	return b.goneLocked()
}

// fate asks whether b has ended.
func (f *Fleet) fate(ctx context.Context, b *box) (e ending, over bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cloud, err := f.cloudOf(ctx, b)
	if err != nil {
		return ending{}, false
	}
	if cloud == nil {
		return ending{why: sandbox.EndCloud, at: f.clock.Now()}, true
	}
	f.mu.Lock()
	id := b.ID
	f.mu.Unlock()
	vm, err := cloud.Get(ctx, id)
	switch {
	case sandbox.CodeOf(err) == sandbox.NotFound:
		return ending{why: sandbox.EndVanished, at: f.clock.Now()}, true
	case sandbox.CodeOf(err) == sandbox.Gone: // the cloud itself
		return ending{why: sandbox.EndCloud, at: f.clock.Now()}, true
	case err != nil:
		return ending{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seeLocked(b, vm)
}
