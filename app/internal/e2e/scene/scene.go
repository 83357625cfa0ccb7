// Package scene is an engine that plays a part: it serves the control socket
// like the real one, over invented sandboxes, hosts, profiles and money that are
// the same each time. Screenshots are taken of it, and what a window has to
// bear is measured with it. What a client asks for happens in the scene: one
// that is suspended sleeps, and one that is ended is gone.
package scene

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// A Kind says what a scene has.
type Kind string

// The kinds.
const (
	Empty Kind = "empty" // a first day: nothing was ever made
	Busy  Kind = "busy"  // sandboxes in every state, five hosts, three profiles, a month of spending
	Error Kind = "error" // nobody signed in, budgets used up, files that others changed
	Down  Kind = "down"  // Busy, whose record of spending can't be used
	Many  Kind = "many"  // a thousand sandboxes of a hundred leases
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{Empty, Busy, Error, Down, Many} }

// version is that of the engine that is played.
const version = "0.9.0"

// A Config says which scene it is.
type Config struct {
	Kind  Kind
	Clock clockwork.Clock // nil is the system's; the scene begins at its full minute
	// Language is that of the preferences; "" is the system's.
	Language string
	Theme    string // the same
	Log      *slog.Logger
}

// A Scene is one that is played. It is an engine with a desk.
type Scene struct {
	kind  Kind
	clock clockwork.Clock
	began time.Time
	log   *slog.Logger
	table *price.Table
	stop  chan struct{}
	end   func()

	mu        sync.Mutex    // guards what follows
	changed   chan struct{} // is closed when something changes
	shown     chan struct{} // is closed when a snapshot has been sent
	seq       uint64
	made      int // ids that were given
	stirs     int
	settings  uint64 // changes of the preferences
	boxes     []*box
	leases    []sandbox.LeaseInfo
	reaches   []sandbox.Reach
	calls     []*call
	orders    []sandbox.Order
	events    []sandbox.Event
	tokens    []control.Token
	budgets   []sandbox.Budget
	hosts     []*host
	own       control.OwnProfiles
	away      map[string]bool // profiles that nobody is signed in to
	prompts   map[string]chan string
	prefs     control.Preferences
	locked    bool // the vault
	clients   int
	listeners map[chan sandbox.Event]bool
}

// A box is a sandbox of the scene with what is in it.
type box struct {
	sandbox.Sandbox
	counted time.Time // until when its cost is in Cost
	files   tree
	ports   []control.Port
}

var (
	_ control.Engine = (*Scene)(nil)
	_ control.Desk   = (*Scene)(nil)
)

// New sets a scene up.
func New(c Config) (*Scene, error) {
	if !slices.Contains(Kinds(), c.Kind) {
		return nil, fmt.Errorf("there is no scene %q: choose one of %v", c.Kind, Kinds())
	}
	if c.Clock == nil {
		c.Clock = clockwork.NewRealClock()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Scene{
		kind: c.Kind, clock: c.Clock, began: c.Clock.Now().UTC().Truncate(time.Minute), log: c.Log, table: price.Embedded(),
		stop: make(chan struct{}), changed: make(chan struct{}), shown: make(chan struct{}), away: map[string]bool{}, prompts: map[string]chan string{}, listeners: map[chan sandbox.Event]bool{},
	}
	s.end = sync.OnceFunc(func() { close(s.stop) })
	s.prefs = control.Preferences{
		Language: c.Language, Theme: c.Theme, DefaultProfile: sandbox.ProfileLocal, CanStart: true, GuideDone: c.Kind != Empty, Keychain: "system",
		Settings: "/home/ada/.config/arenero/settings.json", LogFolder: "/home/ada/.local/state/arenero/log", Version: version,
		Notices: control.Notices{Done: true},
	}
	s.own = control.OwnProfiles{Default: sandbox.ProfileLocal, Profiles: []control.OwnProfile{}}
	s.setHosts()
	s.setTokens()
	if c.Kind != Empty {
		s.setProfiles()
		s.setPast()
	}
	switch c.Kind {
	case Busy, Error, Down:
		s.setSandboxes()
		s.setCalls()
	case Many:
		s.setMany()
	}
	s.setReaches()
	s.setBudgets()
	s.setEvents()
	return s, nil
}

// random is a source of the same numbers for the same part of a scene.
func random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(0xa2e9e20, part)) }

// Serve answers at path until ctx is done, or a client has it stop.
func (s *Scene) Serve(ctx context.Context, path string) error {
	ln, err := control.Listen(ctx, path)
	if err != nil {
		return err
	}
	server := control.NewServer(control.NewHandler(s, s.log), s.log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	select {
	case err = <-served:
	case <-ctx.Done():
	case <-s.stop:
	}
	s.end()
	server.Close()
	return err
}

// Hello says what engine this plays.
func (s *Scene) Hello() control.Hello {
	program, _ := os.Executable()
	return control.Hello{Protocol: control.Protocol, Version: version, PID: os.Getpid(), Program: program, Since: s.began}
}

// Status is how it is.
func (s *Scene) Status() control.Status {
	h := s.Hello()
	s.mu.Lock()
	defer s.mu.Unlock()
	alive := 0
	for _, b := range s.boxes {
		if b.State.Alive() {
			alive++
		}
	}
	return control.Status{Hello: h, Clients: max(1, s.clients), Sandboxes: alive, Leases: len(s.leases)}
}

// Stop ends it.
func (s *Scene) Stop() { s.end() }

// changedLocked has all that watch look again.
func (s *Scene) changedLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Watch emits the snapshot of now, and each that follows.
func (s *Scene) Watch(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	s.mu.Lock()
	s.clients++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.clients--
		s.mu.Unlock()
	}()
	for {
		snap, next := s.Snapshot()
		if err := emit(snap); err != nil {
			return err
		}
		s.mu.Lock()
		close(s.shown)
		s.shown = make(chan struct{})
		s.mu.Unlock()
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.stop:
			return &sandbox.Error{Code: sandbox.Unreachable, Msg: "the engine is ending", Retryable: true}
		}
	}
}

// Glance is Watch.
func (s *Scene) Glance(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	return s.Watch(ctx, emit)
}

// Snapshot is all there is to see now, and what is closed when there is more.
func (s *Scene) Snapshot() (sandbox.Snapshot, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now().UTC()
	s.seq++
	snap := sandbox.Snapshot{
		Seq: s.seq, At: now, Version: version, Paused: s.prefs.Paused, Settings: s.settings,
		Leases: slices.Clone(s.leases), Profiles: slices.Clone(s.reaches), Sandboxes: make([]sandbox.Sandbox, 0, len(s.boxes)),
	}
	for _, b := range s.boxes {
		b.count(now)
		snap.Sandboxes = append(snap.Sandboxes, b.Sandbox)
	}
	return snap, s.changed
}

// count has b cost what it has cost by now.
func (b *box) count(now time.Time) {
	if b.State == sandbox.Running && now.After(b.counted) {
		more := sandbox.Micro(float64(b.PerHour) * now.Sub(b.counted).Hours())
		b.Cost.Compute, b.Cost.Total = b.Cost.Compute.Plus(more), b.Cost.Total.Plus(more)
	}
	b.counted = now
}

// Stir changes something small, as an engine sees it happen all day: a sandbox
// that runs was used just now. It returns when whoever watches has been told.
func (s *Scene) Stir() {
	s.mu.Lock()
	s.stirs++
	for i := range s.boxes {
		if b := s.boxes[(s.stirs+i)%len(s.boxes)]; b.State == sandbox.Running {
			b.UsedAt = s.clock.Now().UTC()
			break
		}
	}
	shown, watched := s.shown, s.clients > 0
	s.changedLocked()
	s.mu.Unlock()
	if !watched {
		return
	}
	select {
	case <-shown:
	case <-s.stop:
	}
}
