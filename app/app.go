// Package app is the engine: the one process of a user that owns what matters.
// It joins the fleet to the clouds, to the disk and to the control socket.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/sync/errgroup"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/desktop"
	"github.com/arenero/arenero/app/internal/filelock"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// A Config says what an engine is made of. Only Version has no default.
type Config struct {
	Version  string
	Build    string
	Program  string        // "arenero", to start the local cloud with; default this program
	Bridge   string        // arenero-bridge, for the apps' files; default beside this program
	Login    login         // starts the tray when the user signs in; default the system's
	IdleExit time.Duration // end after so long with no client and no sandbox; 0 is never
	Clock    clockwork.Clock
	Log      *slog.Logger
}

// ErrRunning means that this user's engine runs already.
var ErrRunning = errors.New("an engine is running already")

// An App is an engine.
type App struct {
	cfg    Config
	lock   *filelock.Lock
	books  *books
	clouds *clouds
	fleet  *fleet.Fleet
	ln     net.Listener
	server *http.Server
	since  time.Time
	stop   context.CancelFunc
	ended  context.Context // done when Stop was called

	connections connections
	accounts    *accounts
	http        *httpServer

	mu      sync.Mutex // guards what follows
	clients map[net.Conn]bool
	quiet   chan struct{} // gets a value when a client comes or goes
}

// New builds the engine and takes the control socket, but starts no work. It
// fails with ErrRunning if another has it.
func New(ctx context.Context, cfg Config) (*App, error) {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Program == "" {
		var err error
		if cfg.Program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find own program: %w", err)
		}
	}
	if cfg.Login == nil {
		cfg.Login = desktop.AutoStart()
	}
	a := &App{cfg: cfg, since: cfg.Clock.Now(), clients: map[net.Conn]bool{}, quiet: make(chan struct{}, 1)}
	a.ended, a.stop = context.WithCancel(context.Background())
	if err := a.take(ctx); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// take takes the lock, what is on the disk, and the socket.
func (a *App) take(ctx context.Context) error {
	dirs, err := paths.Find()
	if err != nil {
		return err
	}
	for _, dir := range []string{dirs.State, dirs.Runtime} {
		if err := paths.Private(dir); err != nil {
			return err
		}
	}
	a.lock, err = filelock.Try(filepath.Join(dirs.State, "engine.lock"))
	if errors.Is(err, filelock.ErrTaken) {
		return ErrRunning
	}
	if err != nil {
		return err
	}
	if err := a.join(ctx, dirs); err != nil {
		return err
	}
	path, err := control.Path()
	if err != nil {
		return err
	}
	if a.ln, err = control.Listen(ctx, path); err != nil {
		if errors.Is(err, control.ErrTaken) {
			err = ErrRunning
		}
		return err
	}
	a.server = control.NewServer(control.NewHandler(&gate{&engine{a.fleet, a}, a.books, a.clouds.get}, a.cfg.Log.With("part", "control")), a.cfg.Log)
	a.server.ConnState = a.count
	return nil
}

// join builds the fleet over what is on the disk.
func (a *App) join(ctx context.Context, dirs paths.Dirs) error {
	secrets, err := newSecretFiles(filepath.Join(dirs.State, "keys"))
	if err != nil {
		return err
	}
	logs, err := logDir()
	if err != nil {
		return err
	}
	a.books = openBooks(ctx, dirs, a.cfg.Clock, a.cfg.Log.With("part", "ledger"))
	store := a.books.store()
	a.connections = connections{settings.Open(dirs.Config)}
	if err := a.connections.file.Recover(); err != nil {
		a.cfg.Log.Warn("what a write of the settings left can't be removed", "err", err)
	}
	a.accounts = newAccounts(dirs, a.connections.file, a.cfg.Program, a.cfg.Log.With("part", "profiles"))
	ctx, cancel := context.WithTimeout(context.Background(), sweepWithin)
	defer cancel()
	if err := sweepMoves(ctx, a.accounts.scratch); err != nil {
		a.cfg.Log.Warn("what a move of a key left can't be removed", "err", err)
	}
	known := newImages(store, a.cfg.Clock, a.cfg.Log.With("part", "cloud"))
	a.clouds = &clouds{
		conns: a.connections, accounts: a.accounts, known: known, dated: a.books.dated,
		local: &local{
			program: a.cfg.Program, socket: filepath.Join(dirs.Runtime, "cloud.sock"), data: dirs.Cloud(),
			logFile: filepath.Join(logs, "cloud.log"), known: known, clock: a.cfg.Clock, log: a.cfg.Log.With("part", "cloud"),
		},
		clock: a.cfg.Clock, log: a.cfg.Log.With("part", "cloud"), open: map[string]*cloud{},
	}
	a.accounts.open = a.clouds.ofOwner
	chosen, err := a.connections.file.Read()
	if err != nil { // whatever needs them says so too
		a.cfg.Log.Warn("settings can't be read", "err", err)
	}
	a.fleet, err = fleet.New(fleet.Config{
		Open: a.clouds.get, Keeps: a.accounts.knows, Store: store, Secrets: secrets, Meter: a.books, Version: a.cfg.Version, Paused: chosen.Paused,
		Clock: a.cfg.Clock, Log: a.cfg.Log.With("part", "fleet"),
	})
	a.books.fleet = a.fleet
	if err != nil {
		return err
	}
	a.clouds.local.ended = func() { a.fleet.Ended(sandbox.ProfileLocal) }
	return a.joinHTTP(chosen)
}

// joinHTTP has the tools served over HTTP as the owner has chosen.
func (a *App) joinHTTP(chosen settings.Settings) error {
	program := a.cfg.Bridge
	if program == "" {
		var err error
		if program, err = control.Beside("arenero-bridge"); err != nil {
			return err
		}
	}
	child := &httpChild{program: program, log: a.cfg.Log.With("part", "http"), language: func() string {
		s, err := a.connections.file.Read()
		if err != nil {
			return ""
		}
		return s.Language
	}}
	a.http = newHTTPServer(httpOrderOf(chosen), a.cfg.Clock, a.fleet.Renew)
	a.http.serve = child.serve
	return nil
}

// Run works until ctx is done, Stop was called, nobody has needed the engine
// for long enough, or a part fails. Then it waits for every part. It leaves the
// sandboxes alone, for the next engine to find.
func (a *App) Run(ctx context.Context) error {
	defer a.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ended, cancel)()
	g, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, func() { a.server.Close() })
	a.cfg.Log.Info("engine starts", "version", a.cfg.Version, "pid", os.Getpid())
	g.Go(func() error { return a.fleet.Serve(ctx) })
	g.Go(func() error { return a.books.serve(ctx) })
	g.Go(func() error { return a.server.Serve(a.ln) })
	g.Go(func() error {
		a.http.run(ctx)
		return nil
	})
	if a.cfg.IdleExit > 0 {
		g.Go(func() error { return a.watchIdle(ctx, cancel) })
	}
	err := g.Wait()
	a.cfg.Log.Info("engine ends")
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// stopDelay lets the answer to a Stop out first.
const stopDelay = 50 * time.Millisecond

// close lets go of what New took.
func (a *App) close() {
	a.stop()
	if a.ln != nil {
		a.ln.Close()
	}
	if a.clouds != nil {
		a.clouds.close()
	}
	if a.books != nil {
		a.books.close()
	}
	if a.lock != nil {
		a.lock.Close()
	}
}

// count keeps track of clients.
func (a *App) count(conn net.Conn, state http.ConnState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch state {
	case http.StateNew:
		a.clients[conn] = true
	case http.StateClosed, http.StateHijacked:
		delete(a.clients, conn)
	default:
		return
	}
	select {
	case a.quiet <- struct{}{}:
	default:
	}
}

func (a *App) clientCount() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.clients)
}

// watchIdle ends the engine when it has had no client and no sandbox for long
// enough, and nobody may come over HTTP.
func (a *App) watchIdle(ctx context.Context, end func()) error {
	since := a.cfg.Clock.Now()
	for {
		timer := a.cfg.Clock.NewTimer(max(a.cfg.IdleExit/10, time.Millisecond))
		select {
		case <-timer.Chan():
		case <-a.quiet:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		now := a.cfg.Clock.Now()
		if a.clientCount() > 0 || a.fleet.Alive() > 0 || a.accounts.secrets.holds() || a.http.ordered().on {
			since = now
		}
		if now.Sub(since) >= a.cfg.IdleExit {
			a.cfg.Log.Info("engine is not needed")
			end()
			return nil
		}
	}
}
