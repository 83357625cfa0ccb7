package fleet

import (
	"context"
	"encoding/json"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// load reads what an earlier engine left. A record that makes no sense keeps no
// engine from starting: its sandbox is then nobody's. It stays in the store, for
// it may be of a later version.
func (f *Fleet) load() {
	for key, text := range f.cfg.Store.All(kindBox) {
		b := &box{made: make(chan struct{})}
		if err := json.Unmarshal(text, &b.record); err != nil || b.Key != key {
			f.log.Error("record of a sandbox makes no sense", "key", key, "err", err)
			continue
		}
		b.profile, b.left = sandbox.Profile{Name: b.Profile}, true
		f.boxes[key] = b
		if b.Lease != "" && b.EndReason == "" && b.Ending == "" { // which may be back before Serve is called
			l := f.leases[b.Lease]
			if l == nil {
				l = &lease{since: f.clock.Now()}
				l.ID, l.Connection, l.Parent, l.Host = b.Lease, b.Connection, b.Parent, b.Host
				f.leases[l.ID] = l
			}
			l.box = b
		}
	}
	for id, text := range f.cfg.Store.All(kindRun) {
		r := newRun(f, runRecord{})
		if err := json.Unmarshal(text, &r.runRecord); err != nil || r.ID != id {
			f.log.Error("record of a call makes no sense", "id", id, "err", err)
			continue
		}
		if r.box = f.boxes[r.Box]; r.box == nil {
			f.dropRunLocked(id)
			continue
		}
		r.left, r.resumed = true, true
		r.exit.Sandbox = r.box.ID
		f.runs[id] = r
	}
}

// takeUpLocked goes on with every sandbox where the last engine stopped: what
// was to end ends, what was asked for is found out, and what has a lease waits
// for its bridge.
func (f *Fleet) takeUpLocked() {
	for _, b := range f.boxes {
		if !b.left {
			continue
		}
		b.left = false
		if b.EndReason != "" {
			close(b.made)
			f.settleLocked(b, time.Time{})
			continue
		}
		if b.Untold {
			f.awaitAskerLocked(b)
		}
		f.beginLocked(func(ctx context.Context) { f.takeUp(ctx, b) })
	}
	for _, l := range f.leases {
		if l.attached == 0 && l.timer == nil {
			f.awaitLocked(l)
		}
	}
	f.changedLocked()
}

func (f *Fleet) takeUp(ctx context.Context, b *box) {
	err := f.awaitOwner(ctx, b)
	if err == nil {
		err = f.find(ctx, b)
	}
	if ctx.Err() != nil {
		err = errClosing()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.madeLocked(b, err)
	if err != nil {
		f.log.Warn("sandbox not found again", "sandbox", b.ID, "key", b.Key, "err", b.unnamed(err))
		if b.ID != "" && !f.closed {
			f.endLocked(b, sandbox.EndFailed)
		}
		return
	}
	f.log.Info("sandbox found again", "sandbox", b.ID, "state", string(b.State))
	f.takeUpRunsLocked(b)
	if b.Ending != "" {
		f.endLocked(b, b.Ending)
	}
	f.pokeServe()
}

// awaitOwner waits for the credentials of a sandbox outside this computer,
// which its bridge brings along unless they are kept here.
func (f *Fleet) awaitOwner(ctx context.Context, b *box) error {
	if f.cfg.Keeps != nil && f.cfg.Keeps(b.Profile) {
		return nil
	}
	for {
		f.mu.Lock()
		there := b.profile.Name == sandbox.ProfileLocal || len(b.profile.Env) > 0 || b.Ending != ""
		changed := f.changed
		f.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// takeUpRunsLocked follows the jobs in b again, and waits for whoever followed
// its other calls.
func (f *Fleet) takeUpRunsLocked(b *box) {
	for _, r := range f.runs {
		if r.box != b || !r.left {
			continue
		}
		if r.Job {
			r.left = false
			r.trackAgainLocked()
			f.beginLocked(func(ctx context.Context) { r.pump(ctx, r.again(1)) })
			continue
		}
		r.mu.Lock()
		if r.followers == 0 {
			r.abandonLocked()
		}
		r.mu.Unlock()
	}
}

// find gets b's VM and its agent back.
func (f *Fleet) find(ctx context.Context, b *box) error {
	s, err := f.secretsOf(b)
	if err != nil {
		return err
	}
	f.mu.Lock()
	vm := VM{ID: b.ID, Endpoint: b.Endpoint}
	f.mu.Unlock()
	if vm.ID == "" {
		return f.findOut(ctx, b, s)
	}
	if s.Token == "" {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.endLocked(b, sandbox.EndOther)
		return &sandbox.Error{Code: sandbox.CreateFailed, Msg: "the key of the sandbox is lost"}
	}
	cloud, err := f.cloudOf(ctx, b)
	if err != nil { // reconcile finds out
		f.log.Warn("cloud of a sandbox not open", "sandbox", vm.ID, "err", err)
	}
	if err == nil {
		if e, over := f.fate(ctx, b); over {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.endedLocked(b, e, b.Ending != "")
			return nil
		}
	}
	if cloud == nil {
		if cloud, err = f.cfg.Open(ctx, f.profileOf(b), true); err != nil {
			return notMade(err)
		}
	}
	agent, err := cloud.Agent(vm, s.Token)
	if err != nil {
		return err
	}
	f.count(ctx, b, cloud)
	f.mu.Lock()
	defer f.mu.Unlock()
	b.cloud, b.agent = cloud, agent
	f.runningLocked(b)
	return nil
}

// findOut resolves a sandbox that was asked for by an engine that did not live
// to hear the answer: the same request again gets the same VM.
func (f *Fleet) findOut(ctx context.Context, b *box, s secrets) error {
	cloud, err := f.cfg.Open(ctx, f.profileOf(b), true)
	if err != nil {
		return notMade(err)
	}
	f.mu.Lock()
	b.cloud = cloud
	f.mu.Unlock()
	if s.Token == "" { // it was not asked for yet: the key is kept first
		return &sandbox.Error{Code: sandbox.CreateFailed, Msg: "the engine ended before the sandbox was asked for"}
	}
	if err := f.creating(b); err != nil {
		return err
	}
	if err := f.run(ctx, b, s); err != nil {
		return err
	}
	return f.settle(ctx, b)
}
