package fleet

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/sandbox"
)

const (
	runKept  = 2 * time.Minute // after its end, for a client that was cut off
	maxKept  = 1 << 20         // bytes of output kept for one that comes back
	overhead = 64              // bytes that an output counts beside its data
)

// A runRecord is what is kept of a call on disk, from before it starts. By it a
// call that is sent again is found, and not made twice.
type runRecord struct {
	ID        string    `json:"id"`
	Box       string    `json:"box"`
	Lease     string    `json:"lease,omitempty"`
	Cell      bool      `json:"cell,omitempty"`
	Job       bool      `json:"job,omitempty"`
	Place     Place     `json:"place"`
	StartedAt time.Time `json:"startedAt"`
}

// A run is a command or a cell as this engine follows it. Its output is kept
// for a while, so that whoever asks for it may be cut off and come back.
type run struct {
	runRecord
	fleet *Fleet
	box   *box
	left  bool // guarded by the fleet's mu: an earlier engine's, and not followed yet

	resumed bool // an earlier engine's: to let go of it does not end it

	call *loggedCall // set before it is pumped; nil: nobody remembers it

	mu        sync.Mutex // guards what follows
	kept      []sandbox.Output
	first     int // number of kept[0], counted from the start
	size      int
	last      uint64 // highest seq
	place     Place
	over      bool
	overAt    time.Time
	exit      sandbox.Exit
	err       error
	changed   chan struct{} // closed, and replaced, by every change
	followers int
	reading   int             // number up to which the followers have read
	timer     clockwork.Timer // kills it if no follower comes back
	cancel    context.CancelFunc
	killed    bool
	ended     *sandbox.Error // its sandbox did
}

func newRun(f *Fleet, rec runRecord) *run {
	return &run{runRecord: rec, fleet: f, changed: make(chan struct{}), place: rec.Place}
}

func (r *run) changedLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// saveRun writes a run down. f.mu need not be held: a run is written by the one
// that starts it and then by its pump alone.
func (f *Fleet) saveRun(rec runRecord) error {
	text, err := json.Marshal(rec)
	if err == nil {
		err = f.cfg.Store.Put(kindRun, rec.ID, text, false)
	}
	if err != nil {
		return &sandbox.Error{Code: sandbox.StoreDown, Msg: "the call can't be written down", Retryable: true, Err: err}
	}
	return nil
}

func (f *Fleet) dropRunLocked(id string) {
	delete(f.runs, id)
	if err := f.cfg.Store.Delete(kindRun, id); err != nil {
		f.log.Error("call not forgotten", "exec", id, "err", err)
	}
}

// emit takes in what the agent says. It waits while too much is unread, unless
// nobody need read it.
func (r *run) emit(ctx context.Context, ev Event) error {
	if ev.Place != nil {
		r.mu.Lock()
		r.place = *ev.Place
		r.mu.Unlock()
		rec := r.runRecord
		rec.Place = *ev.Place
		if err := r.fleet.saveRun(rec); err != nil {
			r.fleet.log.Error("place of a call not written down", "exec", r.ID, "err", err)
		}
	}
	r.fleet.moved(r.box)
	for {
		r.mu.Lock()
		r.trimLocked()
		if r.size < maxKept || r.Job || r.killed {
			break
		}
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer r.call.hear(ev.Output)
	defer r.mu.Unlock()
	ev.Output.Sandbox = r.sandboxOf(ev.Output)
	r.kept = append(r.kept, ev.Output)
	r.size += weight(ev.Output)
	r.last = max(r.last, ev.Seq)
	r.trimLocked()
	r.changedLocked()
	return nil
}

// sandboxOf names the sandbox in notices.
func (r *run) sandboxOf(o sandbox.Output) string {
	if o.Notice == "" {
		return ""
	}
	return r.exit.Sandbox
}

// trimLocked drops what is too old: of a job the oldest, of others what has
// been read.
func (r *run) trimLocked() {
	for r.size >= maxKept && len(r.kept) > 1 && (r.Job || r.killed || r.first < r.reading) {
		r.size -= weight(r.kept[0])
		r.kept[0] = sandbox.Output{}
		r.kept = r.kept[1:]
		r.first++
	}
}

func weight(o sandbox.Output) int {
	n := overhead + len(o.Data) + len(o.Text)
	if o.Result != nil {
		for _, v := range o.Result.Data {
			n += len(v)
		}
	}
	return n
}

// finish takes in how the call ended.
func (r *run) finish(exit sandbox.Exit, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	exit.Sandbox = r.exit.Sandbox
	r.over, r.overAt, r.exit, r.err = true, r.fleet.clock.Now(), exit, err
	if r.ended != nil && err != nil {
		r.err = r.ended
	}
	r.call.end(r.exit, r.err, r.overAt)
	r.changedLocked()
}

func (r *run) overSince(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over || r.followers > 0 {
		return 0
	}
	return now.Sub(r.overAt)
}

// boxEnded has a call whose sandbox is gone end too.
func (r *run) boxEnded(why *sandbox.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = why
	if r.cancel != nil {
		r.cancel()
	}
}

// follow passes output on, from seq next on, until the call ends. When ctx is
// done the call goes on for a while, for the client may be back.
func (r *run) follow(ctx context.Context, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	at := r.join(next)
	defer r.leave()
	for {
		r.mu.Lock()
		if at < r.first {
			at = r.first
			r.mu.Unlock()
			if err := emit(sandbox.Output{Notice: sandbox.NoticeLost}); err != nil {
				return sandbox.Exit{}, err
			}
			continue
		}
		batch := r.kept[at-r.first:]
		over, exit, err, changed := r.over, r.exit, r.err, r.changed
		r.mu.Unlock()
		for _, o := range batch {
			if err := emit(o); err != nil {
				return sandbox.Exit{}, err
			}
		}
		at += len(batch)
		r.read(at)
		if over {
			r.told(at)
			return exit, err
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return sandbox.Exit{}, ctx.Err()
		}
	}
}

// told drops the output of a call that is over when its follower has it all.
func (r *run) told(at int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.Job && at == r.first+len(r.kept) {
		r.first, r.kept, r.size = at, nil, 0
	}
}

// join counts a follower in, and returns the number of its first output.
func (r *run) join(next uint64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followers++
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	if next == 0 {
		return 0
	}
	at := slices.IndexFunc(r.kept, func(o sandbox.Output) bool { return o.Seq >= next })
	if at < 0 {
		at = len(r.kept)
	}
	// That a call is followed again has no number, and goes with what comes next.
	for at > 0 && r.kept[at-1].Notice == sandbox.NoticeAgain {
		at--
	}
	return r.first + at
}

// read notes how far a follower is.
func (r *run) read(at int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at > r.reading {
		r.reading = at
		r.changedLocked()
	}
}

// leave counts a follower out. A call that nobody follows is killed, unless it
// may run on its own.
func (r *run) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followers--
	if r.followers > 0 || r.over || r.Job {
		return
	}
	r.abandonLocked()
}

// abandonLocked kills r unless somebody follows it soon.
func (r *run) abandonLocked() {
	r.timer = r.fleet.clock.AfterFunc(grace, func() {
		r.mu.Lock()
		alone := r.followers == 0
		r.mu.Unlock()
		if alone {
			r.kill()
		}
	})
}
