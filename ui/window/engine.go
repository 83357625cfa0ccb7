package window

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui/start"
)

const (
	retryFirst  = 100 * time.Millisecond // after an engine is lost
	retryLast   = time.Second
	launchAfter = 3 * time.Second // most that end have another in their place by then
	launchEvery = 10 * time.Second
	proveEvery  = 15 * time.Second // that a silent engine is asked whether it is there
	proveWithin = 20 * time.Second
)

// A launch starts an engine. again says that the last one came to nothing. It
// calls failed, from any goroutine, if that is known only after it has returned.
type launch func(ctx context.Context, again bool, failed func(err error)) error

// An engineWatch follows what the engine tells, over the end of any, and starts
// one where there is none. Each of its functions is called from its goroutine.
type engineWatch struct {
	client *control.Client
	clock  clockwork.Clock
	saw    func(sandbox.Snapshot) // returns when it has been taken in
	// lost tells that there is none, and whether somebody has ended it on purpose.
	// Such a one is not started again, unless the user says so.
	lost    func(err error, ended bool)
	launch  launch
	failed  func(err error) // tells why there is none though one was started; from any goroutine
	restart chan struct{}   // the user wants one started now
}

// run works until ctx is done.
func (w *engineWatch) run(ctx context.Context) {
	var since, launched time.Time // since when there is none
	known, asked, tries := false, false, 0
	for delay := retryFirst; ; delay = min(2*delay, retryLast) {
		err := w.watch(ctx, func(s sandbox.Snapshot) error {
			since, delay, known, asked, tries = time.Time{}, retryFirst, true, false, 0
			w.saw(s)
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		now := w.clock.Now()
		if since.IsZero() {
			since = now
		}
		wanted := false
		select {
		case <-w.restart:
			asked, wanted = true, true
		default:
		}
		ended := known && !asked && leftNothing(err)
		w.lost(err, ended)
		// The first time nobody has to wait: most likely nothing runs yet.
		due := !ended && now.Sub(launched) >= launchEvery && (!known || now.Sub(since) >= launchAfter)
		if wanted || due && refusedDial(err) {
			launched = now
			if lerr := w.launch(ctx, tries > 0, w.failed); lerr != nil {
				w.failed(lerr)
			}
			tries++
		}
		timer := w.clock.NewTimer(delay)
		select {
		case <-timer.Chan():
		case <-w.restart:
			select {
			case w.restart <- struct{}{}: // for the next turn
			default:
			}
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// watch is that of the client, which ends as well when the engine hangs: such a
// one keeps the connection, and what it told last would stand for ever.
func (w *engineWatch) watch(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go func() {
		for w.pause(ctx, proveEvery) {
			asking, stop := context.WithCancel(ctx)
			timer := w.clock.AfterFunc(proveWithin, stop)
			_, err := w.client.Status(asking)
			timer.Stop()
			stop()
			if ctx.Err() == nil && errors.Is(err, context.Canceled) {
				end(&sandbox.Error{
					Code: sandbox.Unreachable, Msg: "what listens at " + w.client.Path + " takes calls and answers none",
					Hint: "if Arenero hangs, end its processes and try again", Retryable: true,
				})
			}
		}
	}()
	err := w.client.Watch(ctx, emit)
	if hangs, ok := errors.AsType[*sandbox.Error](context.Cause(ctx)); ok {
		return hangs
	}
	return err
}

// pause lets time pass, and reports whether ctx goes on.
func (w *engineWatch) pause(ctx context.Context, d time.Duration) bool {
	timer := w.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return true
	case <-ctx.Done():
		return false
	}
}

// leftNothing reports whether an engine has taken its socket away, as one does
// that somebody has had end, and none that failed. Pipes tell nothing: they always
// go.
func leftNothing(err error) bool { return runtime.GOOS != "windows" && errors.Is(err, fs.ErrNotExist) }

// refusedDial reports whether err is that nothing is there, and not that what is
// there can't be used.
func refusedDial(err error) bool {
	e, ok := errors.AsType[*sandbox.Error](err)
	return ok && e.Code == sandbox.Unreachable && e.Err != nil
}

// launcher returns what starts an engine: the tray, which is one, or else the
// engine alone where there is no desktop to show a tray on.
func launcher() launch {
	return func(ctx context.Context, again bool, failed func(err error)) error {
		program, err := control.Beside("arenero")
		if err != nil {
			return err
		}
		alone := control.TellingLauncher(failed)
		if again || !hasDesktop() {
			return alone(ctx)
		}
		// A tray that ends at once leaves it to an engine alone to work, or to say why
		// none can.
		return start.Watched([]string{program, "tray"}, func(error) {
			if err := alone(ctx); err != nil {
				failed(err)
			}
		})
	}
}

// A startFailure is one of the ways in which no engine starts.
type startFailure string

const (
	startMissing   startFailure = "missing"   // there is no such program
	startForbidden startFailure = "forbidden" // it may not be run
	startForeign   startFailure = "foreign"   // it is none of this system
	startOther     startFailure = "other"     // it was started, and ended
)

// failureOf is which one err tells of.
func failureOf(err error) startFailure {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return startMissing
	case errors.Is(err, fs.ErrPermission):
		return startForbidden
	case errors.Is(err, errForeign):
		return startForeign
	}
	return startOther
}

// hasDesktop reports whether there may be a place for the icon of a tray.
func hasDesktop() bool {
	if runtime.GOOS != "linux" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
	return err == nil && os.Getenv("XDG_RUNTIME_DIR") != ""
}
