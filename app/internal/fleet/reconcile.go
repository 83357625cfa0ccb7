package fleet

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A reach is what is known of one profile's cloud.
type reach struct {
	profile sandbox.Profile
	asked   time.Time       // when it was last asked for a list
	every   time.Duration   // between two lists, while it refuses
	busy    bool            // being asked
	again   bool            // is to be asked once more after that
	err     *sandbox.Error  // of the last list
	orphans []VM            // that are not ours, of the images we use or were asked for
	wanted  map[string]bool // images that somebody listed, by name or ARN
}

// want has the lists of r show all that runs image, whoever made it.
func (r *reach) want(image string) {
	if image == "" {
		return
	}
	if r.wanted == nil {
		r.wanted = map[string]bool{}
	}
	r.wanted[image] = true
}

func (r *reach) wants(arn string) bool {
	for image := range r.wanted {
		if isImage(image, arn) {
			return true
		}
	}
	return false
}

// seeLocked takes in what a cloud says of b, and reports whether that is an
// end.
func (f *Fleet) seeLocked(b *box, vm VM) (e ending, over bool) {
	if b.EndReason != "" {
		return ending{}, false
	}
	b.missing = 0
	switch vm.State {
	case sandbox.Terminated:
		at := vm.EndedAt
		if at.IsZero() {
			at = f.clock.Now()
		}
		return ending{whyOf(b, vm, f.clock.Now()), vm.Reason, at}, true
	case sandbox.Terminating: // it is for the cloud to finish
	default:
		f.sawLocked(b, vm.State)
		if b.Ending != "" || b.State == vm.State {
			return ending{}, false
		}
		b.adoptLocked(vm)
		f.changedLocked()
	}
	return ending{}, false
}

// whyOf sorts the cloud's words for an end.
func whyOf(b *box, vm VM, now time.Time) sandbox.EndReason {
	reason := strings.ToLower(vm.Reason)
	switch {
	case b.Ending != "":
		return b.Ending
	case strings.Contains(reason, "exceeded maximum lifetime"):
		return sandbox.EndExpired
	case strings.Contains(reason, "cloud stopped"):
		return sandbox.EndCloud
	case strings.Contains(reason, "exit code"), strings.Contains(reason, "hook"):
		return sandbox.EndFailed
	case strings.HasPrefix(reason, "success"): // somebody terminated it behind our back
		return sandbox.EndAsked
	case !b.EndsAt.IsZero() && !now.Before(b.EndsAt):
		return sandbox.EndExpired
	}
	return sandbox.EndOther
}

// watchTime does what is due until ctx is done.
func (f *Fleet) watchTime(ctx context.Context) {
	for {
		timer := f.clock.NewTimer(f.due())
		select {
		case <-timer.Chan():
		case <-f.poke:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// due does what is due, and returns when to come back.
func (f *Fleet) due() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	next := time.Hour
	soon := func(at time.Time) bool {
		if at.IsZero() || !now.Before(at) {
			return !at.IsZero()
		}
		next = min(next, at.Sub(now))
		return false
	}
	f.forgetLocked(now)
	lists := map[string]bool{} // profiles whose state is wanted now
	for _, b := range f.boxes {
		if b.EndReason != "" {
			continue
		}
		f.reachLocked(b.profile)
		if b.Ending == "" && soon(b.RemoveAt) {
			f.endLocked(b, sandbox.EndRemoval)
		}
		if b.ID != "" && !b.EndsAt.IsZero() && soon(b.EndsAt.Add(3*time.Second)) {
			lists[b.Profile] = true
		}
		if b.Ending == "" && soon(b.overdueLocked()) {
			f.log.Warn("sandbox outlives its time", "sandbox", b.ID)
			f.partLocked(b, sandbox.EndExpired, "")
			f.endLocked(b, sandbox.EndExpired)
		}
	}
	for name, r := range f.profiles {
		if r.busy || !f.wantedLocked(name) {
			continue
		}
		every := max(r.every, f.intervalLocked())
		if lists[name] {
			every = min(every, watchedEvery)
		}
		if soon(r.asked.Add(every)) || r.asked.IsZero() {
			r.busy, r.asked = true, now
			f.beginLocked(func(ctx context.Context) { f.reconcile(ctx, r) })
		}
	}
	return max(next, time.Millisecond)
}

// overdueLocked is when the cloud should have ended b long since. It goes by
// when we asked for it, if that makes it later: our clock need not be the
// cloud's.
func (b *box) overdueLocked() time.Time {
	if b.ID == "" || b.EndsAt.IsZero() {
		return time.Time{}
	}
	at := b.EndsAt
	if ours := b.AskedAt.Add(b.Request.Life); ours.After(at) {
		at = ours
	}
	return at.Add(overdue)
}

func (f *Fleet) intervalLocked() time.Duration {
	if f.watchers > 0 {
		return watchedEvery
	}
	return unseenEvery
}

// wantedLocked reports whether anything of a profile is worth asking for.
func (f *Fleet) wantedLocked(profile string) bool {
	if r := f.profiles[profile]; f.watchers > 0 || r != nil && r.signedOut() {
		return true
	}
	for _, b := range f.boxes {
		if b.Profile == profile && b.State.Alive() && b.ID != "" {
			return true
		}
	}
	return false
}

func (f *Fleet) reachLocked(p sandbox.Profile) *reach {
	r := f.profiles[p.Name]
	if r == nil {
		r = &reach{profile: p}
		f.profiles[p.Name] = r
	}
	if len(p.Env) > 0 || r.profile.Env == nil {
		r.profile = p
	}
	return r
}

// reconcile compares what we have with what the cloud has.
func (f *Fleet) reconcile(ctx context.Context, r *reach) {
	f.mu.Lock()
	profile := r.profile
	f.mu.Unlock()
	err := f.compare(ctx, profile)
	f.mu.Lock()
	defer f.mu.Unlock()
	r.busy, r.asked = false, f.clock.Now()
	if r.again {
		r.again, r.asked = false, time.Time{}
	}
	known := r.signedOut()
	r.err = nil
	if err != nil {
		r.err = sandbox.ToError(err)
		r.every = min(max(2*r.every, 2*f.intervalLocked()), slowestEvery)
		if r.signedOut() {
			r.every = signInEvery
		}
		if !known || !r.signedOut() {
			f.log.Warn("cloud not asked", "profile", profile.Name, "err", err)
		}
	} else {
		r.every = 0
	}
	f.changedLocked()
	f.pokeServe()
}

// compare asks a cloud for all it has, and takes that in.
func (f *Fleet) compare(ctx context.Context, p sandbox.Profile) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	began := f.clock.Now()
	cloud, err := f.cfg.Open(ctx, p, false)
	if err != nil {
		return err
	}
	var vms []VM
	if cloud != nil {
		if vms, err = cloud.List(ctx); err != nil {
			return err
		}
	}
	var doubtful []*box
	f.mu.Lock()
	known := map[string]*box{}
	images := map[string]bool{}
	for _, b := range f.boxes {
		if b.Profile == p.Name {
			known[b.ID] = b
			images[cmp.Or(b.Image, b.Request.Image)] = true
		}
	}
	r := f.reachLocked(p)
	r.orphans = nil
	seen := map[string]bool{}
	for _, vm := range vms {
		seen[vm.ID] = true
		b := known[vm.ID]
		switch {
		case b == nil && vm.State != sandbox.Terminated && (p.Name == sandbox.ProfileLocal || images[vm.Image] || r.wants(vm.Image)):
			r.orphans = append(r.orphans, vm)
			f.orphanLocked(p.Name, vm)
		case b == nil || b.EndReason != "":
		case vm.State == sandbox.Terminated:
			doubtful = append(doubtful, b) // lists tell no reason
		default:
			f.seeLocked(b, vm)
		}
	}
	for id, b := range known {
		if id == "" || seen[id] || b.EndReason != "" {
			continue
		}
		if cloud == nil {
			f.endedLocked(b, ending{why: cmp.Or(b.Ending, sandbox.EndCloud), at: f.clock.Now()}, b.Ending != "")
		} else if began.Sub(b.AskedAt) > settleTime {
			doubtful = append(doubtful, b)
		}
	}
	f.changedLocked()
	f.mu.Unlock()
	for _, b := range doubtful {
		if e, over := f.fate(ctx, b); over {
			f.mu.Lock()
			f.endedLocked(b, e, b.Ending != "")
			f.mu.Unlock()
		}
	}
	return nil
}

// forgetLocked drops what ended long ago.
func (f *Fleet) forgetLocked(now time.Time) {
	ended := 0
	for _, b := range f.boxes {
		if b.EndReason == "" || b.closing {
			continue
		}
		if ended++; now.Sub(b.EndedAt) > endedKept || ended > maxEnded {
			f.dropLocked(b)
		}
	}
	for id, r := range f.runs {
		if r.overSince(now) > runKept && !r.Job || f.boxes[r.Box] == nil {
			f.dropRunLocked(id)
		}
	}
}

// Reconcile compares what we have with what all clouds have that have any of it.
func (f *Fleet) Reconcile(ctx context.Context) {
	f.mu.Lock()
	var profiles []sandbox.Profile
	for name, r := range f.profiles {
		if f.wantedLocked(name) {
			profiles = append(profiles, r.profile)
		}
	}
	f.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range profiles { // at once: one that is slow is not to keep the others
		all.Go(func() {
			if err := f.compare(ctx, p); err != nil {
				f.log.Warn("cloud not asked", "profile", p.Name, "err", err)
			}
		})
	}
	all.Wait()
	f.pokeServe()
}
