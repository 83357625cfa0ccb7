package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/coldstart"
	"github.com/arenero/arenero/app/internal/filelock"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/start"
	"github.com/arenero/arenero/ui/tray"
)

type trayCommand struct {
	QuietHours *quietHours `name:"quiet-hours" placeholder:"HH:MM-HH:MM" env:"ARENERO_QUIET_HOURS"`
	Verbose    bool        `short:"v"`
}

// quietHoursVariable is the flag's in the environment.
const quietHoursVariable = "ARENERO_QUIET_HOURS"

// quietHours are hours on a command line.
type quietHours struct{ ui.Hours }

// Decode reads the flag.
func (q *quietHours) Decode(ctx *kong.DecodeContext) error {
	s := fmt.Sprint(ctx.Scan.Pop().Value)
	h, err := ui.ParseHours(s)
	if err != nil {
		return failure("cli.tray.hours", "value", s)
	}
	q.Hours = h
	return nil
}

// Run is "arenero tray".
func (c *trayCommand) Run() error {
	ctx, stop := interruptible()
	defer stop()
	window, err := control.Beside("arenero-window")
	if err != nil {
		return err
	}
	lock, err := alone()
	if errors.Is(err, filelock.ErrTaken) {
		if start.Window(window) != nil {
			fmt.Println(say("cli.tray.runs"))
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	file, err := app.OpenLog("tray.log")
	if err != nil {
		return err
	}
	defer file.Close()
	if err := app.KeepCrashes(); err != nil {
		return err
	}
	var handler slog.Handler = slog.NewTextHandler(file, nil)
	if c.Verbose {
		handler = slog.NewMultiHandler(handler, slog.NewTextHandler(os.Stderr, nil))
	}
	log := slog.New(handler)
	slog.SetDefault(log.With("part", "panel")) // of libraries that have no logger
	if !c.Verbose {
		leaveConsole()
	}
	// Whoever reads standard error may go, and that ends nothing.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return c.serve(ctx, log, window)
}

// alone takes the place of the one tray of this user.
func alone() (*filelock.Lock, error) {
	dirs, err := paths.Find()
	if err != nil {
		return nil, err
	}
	if err := paths.Private(dirs.State); err != nil {
		return nil, err
	}
	return filelock.Try(filepath.Join(dirs.State, "tray.lock"))
}

// iconWithin is how long an engine waits for the icon to be there. It is not to
// wait for a desktop that does not answer.
const iconWithin = 2 * time.Second

// serve shows the icon, and is the engine too unless one runs. The icon goes
// first: an engine that starts beside it would have it take twice as long.
func (c *trayCommand) serve(ctx context.Context, log *slog.Logger, window string) error {
	path, err := control.Path()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began, ready, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		select {
		case <-began:
		case <-time.After(iconWithin):
		case <-ctx.Done():
			ended <- nil
			return
		}
		err := c.engine(ctx, log, ready)
		if err != nil {
			cancel() // nor would the next one start
		}
		ended <- err
	}()
	client := control.NewClient(path)
	client.Patience = tray.Patience
	defer client.Close()
	words := &trayWords{}
	cfg := tray.Config{
		Client: client, Ready: ready, Began: func() { coldstart.Over(); close(began) }, Texts: words.menu, Explain: words.explain, Hosts: trayHosts{}, Launch: control.Launcher(),
		Program: program, Window: window, Settle: settle, Log: log,
	}
	if c.QuietHours != nil {
		cfg.Quiet = &c.QuietHours.Hours
	}
	err = tray.Run(ctx, cfg)
	client.Close()
	if errors.Is(err, tray.ErrSessionOver) {
		// Without a session an engine goes on, and ends once nobody needs it.
		log.Info("the session is over: there is no icon any more")
		err = nil
	} else {
		cancel()
	}
	return cmp.Or(err, <-ended)
}

// engine is one, in this process, and closes ready when one can be asked. If one
// runs already, that one is. Its error is that there can be none.
func (c *trayCommand) engine(ctx context.Context, log *slog.Logger, ready chan<- struct{}) error {
	file, err := app.OpenLog("engine.log")
	if err != nil {
		return err
	}
	defer file.Close()
	engine, err := (&engineCommand{Started: true, IdleExit: idleExit(defaultIdle)}).open(ctx, slog.New(slog.NewTextHandler(file, nil)))
	if errors.Is(err, app.ErrRunning) {
		close(ready)
		return nil
	}
	if err != nil {
		log.Error("engine does not start", "err", err)
		return err
	}
	close(ready)
	if err := engine.Run(ctx); err != nil { // the tray sees it end, and starts another
		log.Error("engine failed", "err", err)
	}
	return nil
}

// trayWords are the texts of the tray, in the language that the user has chosen
// now: it may be another one while the tray runs.
type trayWords struct {
	mu     sync.Mutex // guards what follows
	items  assets.Texts
	errors assets.Texts // read once something has gone wrong
}

// menu are the texts of the menu and of notices.
func (w *trayWords) menu() assets.Texts {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := language(); w.items.Language != l {
		w.items = assets.Load(l, ui.Texts)
	}
	return w.items
}

// explain says what went wrong.
func (w *trayWords) explain(err error) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.items.Language; w.errors.Language != l {
		w.errors = assets.Load(l, ui.MessageTexts, ui.KeychainTexts)
	}
	return ui.Explain(w.errors, err)
}

// trayHosts are the apps of this computer, for the menu.
type trayHosts struct{}

const hostsWithin = time.Minute

// List finds those that are installed, or have an entry of ours.
func (trayHosts) List(ctx context.Context) ([]ui.Host, error) {
	ctx, cancel := context.WithTimeout(ctx, hostsWithin)
	defer cancel()
	s, err := openHosts(ctx, false)
	if err != nil {
		return nil, err
	}
	var out []ui.Host
	for _, h := range s.All() {
		status, err := s.Status(ctx, h, "")
		if err != nil {
			return out, s.explain(h.ID, err)
		}
		if row := s.row(status); row.Installed || len(row.Entries) > 0 {
			out = append(out, ui.Host{ID: h.ID, Title: h.Title, Connected: row.Connected})
		}
	}
	return out, nil
}

// Connect gives a host its usual entry.
func (trayHosts) Connect(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, hostsWithin)
	defer cancel()
	s, err := openHosts(ctx, false)
	if err != nil {
		return err
	}
	h, err := hostconf.ByID(id)
	if err == nil {
		var done app.HostChange
		if done, err = s.Install(ctx, h, app.HostEntry{}, false); err == nil {
			s.note(h, done)
		}
	}
	return s.explain(id, err)
}
