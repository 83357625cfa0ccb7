package fleet

import (
	"context"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// The times of a sandbox in doubt.
const (
	firstReplay   = time.Second      // from one try to the next, and twice that each time
	replayWithin  = 2 * time.Minute  // of asking again with the same token
	matchWithin   = 25 * time.Minute // of looking for it in lists
	matchEvery    = 30 * time.Second
	matchDistance = 2 * time.Minute // between when it was asked for and when it started
)

// runAgain asks the cloud for a VM. Asking again with the same token makes no
// second one, so an answer that got lost is had that way. A refusal is final,
// but for one that only asks for patience.
func (f *Fleet) runAgain(ctx context.Context, b *box, req RunRequest) (VM, error) {
	limit := f.clock.Now().Add(replayWithin)
	doubt := false
	for delay := firstReplay; ; delay = min(2*delay, 30*time.Second) {
		vm, err := b.cloud.Run(ctx, req)
		if err == nil {
			return vm, nil
		}
		if sandbox.CodeOf(err) == sandbox.CloudDown { // a new one may be started meanwhile
			f.reopen(ctx, b)
		}
		if ctx.Err() != nil {
			return VM{}, err
		}
		code := sandbox.CodeOf(err)
		if code == sandbox.CreateInDoubt && !doubt {
			doubt = true
			f.mu.Lock()
			b.State = sandbox.InDoubt
			f.noteLocked(b)
			f.doubtLocked(b)
			f.mu.Unlock()
		}
		switch {
		case code != sandbox.CreateInDoubt && code != sandbox.RateLimited && code != sandbox.CloudDown:
			if doubt { // it refuses now, which says nothing of the first time
				return f.match(ctx, b)
			}
			return VM{}, notMade(err)
		case !f.clock.Now().Before(limit):
			if doubt {
				return f.match(ctx, b)
			}
			return VM{}, notMade(err)
		}
		if err := f.wait(ctx, delay); err != nil {
			return VM{}, err
		}
	}
}

func (f *Fleet) reopen(ctx context.Context, b *box) {
	cloud, err := f.cfg.Open(ctx, f.profileOf(b), true)
	if err != nil {
		f.log.Warn("cloud not open", "profile", b.Profile, "err", err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b.cloud = cloud
}

// match looks for the VM of b in lists, where it can be told by its image and
// its start alone. Several that fit are none, but what is held for it is not
// given back then. If it is not there at once, those
// who wait for b are told that it is in doubt.
func (f *Fleet) match(ctx context.Context, b *box) (VM, error) {
	limit := f.clock.Now().Add(matchWithin)
	for told := false; ; told = true {
		vm, n, err := f.candidates(ctx, b)
		switch {
		case err == nil && n == 1:
			return b.cloud.Get(ctx, vm.ID)
		case err == nil && n > 1:
			f.log.Error("several sandboxes may be the one in doubt", "key", b.Key, "profile", b.Profile, "found", n)
		}
		if !f.clock.Now().Before(limit) {
			f.mu.Lock()
			b.State, b.EndReason = sandbox.Terminated, sandbox.EndNeverWas
			b.unsure = err != nil || n > 0
			f.mu.Unlock()
			return VM{}, &sandbox.Error{Code: sandbox.CreateFailed, Msg: "the sandbox in doubt did not turn up", Retryable: true, Err: err}
		}
		if !told {
			f.mu.Lock()
			b.makeErr = errDoubt()
			close(b.made)
			b.made = make(chan struct{})
			f.changedLocked()
			f.mu.Unlock()
		}
		if err := f.wait(ctx, matchEvery); err != nil {
			return VM{}, err
		}
	}
}

// candidates counts the living VMs that may be b's, and returns the last.
func (f *Fleet) candidates(ctx context.Context, b *box) (found VM, n int, err error) {
	vms, err := b.cloud.List(ctx)
	if err != nil {
		return VM{}, 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, vm := range vms {
		distance := vm.StartedAt.Sub(b.AskedAt).Abs()
		if vm.State != sandbox.Terminated && vm.Image == b.Request.Image && distance <= matchDistance &&
			(b.Request.Version == "" || vm.Version == b.Request.Version) && f.byIDLocked(vm.ID) == nil {
			found = vm
			n++
		}
	}
	return found, n, nil
}
