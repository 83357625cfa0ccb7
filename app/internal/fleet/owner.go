package fleet

import (
	"cmp"
	"context"

	"github.com/arenero/arenero/app/sandbox"
)

// GrantOf returns who pays for the sandbox with an id, and whether it is ours.
func (f *Fleet) GrantOf(id string) (grant string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.byIDLocked(id)
	if b == nil {
		return "", false
	}
	return cmp.Or(b.Grant, sandbox.GrantOwner), true
}

// GrantOfRun returns who pays for the sandbox in which a command, a cell or a
// job runs, and whether there is such a one.
func (f *Fleet) GrantOfRun(id string) (grant string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[id]
	if r == nil {
		return "", false
	}
	return cmp.Or(r.box.Grant, sandbox.GrantOwner), true
}

// GrantOfLease returns who pays for what a lease makes, and whether it is held.
func (f *Fleet) GrantOfLease(id string) (l sandbox.Lease, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.leases[id]; l != nil {
		return l.Lease, true
	}
	return sandbox.Lease{}, false
}

// Regrant has what a lease makes from now on paid for by another grant.
func (f *Fleet) Regrant(lease, grant string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.leases[lease]; l != nil {
		l.Spec.Grant = grant
	}
}

// Keyed waits until the sandbox of a key is made, and describes it as it is now,
// be it ended. It reports whether there is one.
func (f *Fleet) Keyed(ctx context.Context, key string) (s sandbox.Sandbox, ok bool, err error) {
	f.mu.Lock()
	b := f.boxes[key]
	var made chan struct{}
	if b != nil {
		made = b.made
	}
	f.mu.Unlock()
	if b == nil {
		return sandbox.Sandbox{}, false, nil
	}
	select {
	case <-made:
	case <-ctx.Done():
		return sandbox.Sandbox{}, true, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.makeErr != nil {
		return sandbox.Sandbox{}, true, b.makeErr
	}
	return f.nounLocked(b), true, nil
}

// EndGrant ends all that a grant pays for.
func (f *Fleet) EndGrant(grant string, why sandbox.EndReason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.boxes {
		if cmp.Or(b.Grant, sandbox.GrantOwner) != grant || b.EndReason != "" {
			continue
		}
		f.partLocked(b, why, "")
		f.endLocked(b, why)
	}
}

// Has reports whether there is a sandbox of a key, or one is being made.
func (f *Fleet) Has(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.boxes[key] != nil
}
