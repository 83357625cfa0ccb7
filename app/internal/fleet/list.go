package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// Snapshot is all there is to see now.
func (f *Fleet) Snapshot() sandbox.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshotLocked()
}

func (f *Fleet) snapshotLocked() sandbox.Snapshot {
	s := sandbox.Snapshot{Seq: f.seq, At: f.clock.Now(), Version: f.cfg.Version, Sandboxes: []sandbox.Sandbox{}, Leases: []sandbox.LeaseInfo{}, Profiles: []sandbox.Reach{}, Paused: f.paused, Settings: f.settings}
	for _, b := range f.boxes {
		s.Sandboxes = append(s.Sandboxes, f.nounLocked(b))
	}
	for name, r := range f.profiles {
		s.Profiles = append(s.Profiles, sandbox.Reach{Profile: name, At: r.asked, Error: r.err})
		for _, vm := range r.orphans {
			s.Sandboxes = append(s.Sandboxes, orphan(name, vm))
		}
	}
	for _, l := range f.leases {
		s.Leases = append(s.Leases, l.info())
	}
	slices.SortFunc(s.Sandboxes, func(a, b sandbox.Sandbox) int {
		if c := a.StartedAt.Compare(b.StartedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID+a.Key, b.ID+b.Key)
	})
	slices.SortFunc(s.Leases, func(a, b sandbox.LeaseInfo) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	slices.SortFunc(s.Profiles, func(a, b sandbox.Reach) int { return strings.Compare(a.Profile, b.Profile) })
	return s
}

func orphan(profile string, vm VM) sandbox.Sandbox {
	return sandbox.Sandbox{ID: vm.ID, State: vm.State, Profile: profile, Template: vm.Image, Version: vm.Version, StartedAt: vm.StartedAt, Orphan: true}
}

func (l *lease) info() sandbox.LeaseInfo {
	info := sandbox.LeaseInfo{
		ID: l.ID, Connection: l.Connection, Host: l.Host, Profile: l.Spec.Profile.Name, Attached: l.attached > 0, Since: l.since,
	}
	if b := l.current(); b != nil {
		info.Sandbox = b.ID
	}
	if l.shares != nil {
		info.Shares = l.shares.ID
	}
	return info
}

// current is the box that a call of l would go to, if it has one.
func (l *lease) current() *box {
	if l.shares != nil {
		return l.shares.box
	}
	return l.box
}

// Watch calls emit with the present snapshot, and then with the newest whenever
// there is a newer one and emit has returned, until ctx is done or emit fails.
// While anybody watches, clouds are asked more often.
func (f *Fleet) Watch(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	f.mu.Lock()
	f.watchers++
	f.mu.Unlock()
	f.pokeServe()
	defer func() {
		f.mu.Lock()
		f.watchers--
		f.mu.Unlock()
	}()
	return f.Glance(ctx, emit)
}

// Glance is Watch for somebody who is there all day: clouds are asked no more
// often for it than if nobody watched.
func (f *Fleet) Glance(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	for {
		f.mu.Lock()
		snap, changed := f.snapshotLocked(), f.changed
		f.mu.Unlock()
		if err := emit(snap); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const listWithin = 30 * time.Second

// List asks the cloud what there is, and wakes nothing.
func (f *Fleet) List(ctx context.Context, r sandbox.ListRequest) ([]sandbox.Sandbox, error) {
	if r.Profile.Name == "" {
		r.Profile.Name = sandbox.ProfileLocal
	}
	f.mu.Lock()
	f.reachLocked(r.Profile).want(r.Template)
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	err := f.compare(ctx, r.Profile)
	f.heard(r.Profile, err)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var mine *box
	if l := f.leases[r.Lease]; l != nil {
		mine = l.current()
	}
	out := []sandbox.Sandbox{}
	for _, s := range f.snapshotLocked().Sandboxes {
		if s.Profile != r.Profile.Name || s.ID == "" || !r.Ended && !s.State.Alive() || !isImage(r.Template, s.Template) {
			continue
		}
		s.Current = mine != nil && s.Key == mine.Key
		out = append(out, s)
	}
	return out, nil
}

// isImage reports whether arn is the image that template names: by its ARN, by
// its name, or by nothing, which is all.
func isImage(template, arn string) bool {
	return template == "" || template == arn || strings.HasSuffix(arn, ":"+template)
}

// Get describes a sandbox, ours or not, as its cloud has it now.
func (f *Fleet) Get(ctx context.Context, id string) (sandbox.Sandbox, error) {
	f.mu.Lock()
	b := f.byIDLocked(id)
	f.mu.Unlock()
	if b == nil {
		cloud, err := f.orphanCloud(ctx, id)
		if err != nil {
			return sandbox.Sandbox{}, err
		}
		vm, err := cloud.Get(ctx, id)
		if err != nil {
			return sandbox.Sandbox{}, err
		}
		return orphan("", vm), nil
	}
	if e, over := f.fate(ctx, b); over {
		f.mu.Lock()
		f.endedLocked(b, e, b.Ending != "")
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nounLocked(b), nil
}

// orphanCloud returns the cloud that has a VM which is not ours.
func (f *Fleet) orphanCloud(ctx context.Context, id string) (Cloud, error) {
	f.mu.Lock()
	profiles := []sandbox.Profile{{Name: sandbox.ProfileLocal}}
	for name, r := range f.profiles {
		if name != sandbox.ProfileLocal {
			profiles = append(profiles, r.profile)
		}
	}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	found := make(chan Cloud, len(profiles))
	for _, p := range profiles { // at once: one that is slow is not to keep the others
		go func() {
			cloud, err := f.cfg.Open(ctx, p, false)
			if err == nil && cloud != nil {
				_, err = cloud.Get(ctx, id)
			}
			if err != nil {
				cloud = nil
			}
			found <- cloud
		}()
	}
	for range profiles {
		select {
		case cloud := <-found:
			if cloud != nil {
				return cloud, nil
			}
		case <-ctx.Done():
		}
	}
	return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no sandbox " + id}
}
