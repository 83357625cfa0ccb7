package window

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// A rig is an app without a display, and a client of an engine that a test plays
// behind a real socket. What other goroutines have for the toolkit is done by the
// goroutine of the test, in [rig.until] and [rig.pump].
type rig struct {
	t      *testing.T
	app    fyne.App
	win    fyne.Window
	core   *core
	path   string // of the socket
	todo   chan func()
	stop   func() // ends the engine
	copied string
	toasts []string
	fails  []error
	went   []string // "page/subject" of what pages led to
}

// A queued app has what others ask of it done when the test says so.
type queuedApp struct {
	fyne.App
	driver *queuedDriver
	set    *systemSettings
}

func (a *queuedApp) Settings() fyne.Settings { return a.set }

// Settings of a system that a test has become light or dark.
type systemSettings struct {
	fyne.Settings
	shade *fyne.ThemeVariant
	told  []func(fyne.Settings)
}

func (s *systemSettings) ThemeVariant() fyne.ThemeVariant {
	if s.shade != nil {
		return *s.shade
	}
	return s.Settings.ThemeVariant()
}

func (s *systemSettings) AddListener(told func(fyne.Settings)) { s.told = append(s.told, told) }

func (s *systemSettings) turn(shade fyne.ThemeVariant) {
	s.shade = &shade
	for _, told := range s.told {
		told(s)
	}
}

func (a *queuedApp) Driver() fyne.Driver { return a.driver }

type queuedDriver struct {
	fyne.Driver
	todo chan func()
}

func (d *queuedDriver) DoFromGoroutine(do func(), wait bool) {
	if !wait {
		d.todo <- do
		return
	}
	done := make(chan struct{})
	d.todo <- func() {
		do()
		close(done)
	}
	<-done
}

// newRig plays e, in a language. What e does not define is not to be called.
func newRig(t *testing.T, language string, e control.Engine) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "win") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := &rig{t: t, path: filepath.Join(dir, "run", "s"), todo: make(chan func(), 1024)}
	plain := test.NewApp()
	r.app = &queuedApp{plain, &queuedDriver{plain.Driver(), r.todo}, &systemSettings{Settings: plain.Settings()}}
	fyne.SetCurrentApp(r.app)
	r.app.Settings().SetTheme(view.NewTheme("light"))
	t.Cleanup(func() { test.NewApp() })
	r.win = test.NewWindow(nil)
	t.Cleanup(r.win.Close)
	r.win.Resize(fyne.NewSize(960, 640))
	r.serve(e)
	client := control.NewClient(r.path)
	client.Patience = time.Millisecond
	t.Cleanup(client.Close)
	tx := assets.Load(language, parts...)
	r.core = &core{
		client: client,
		env: view.Env{
			Texts: tx, Window: r.win, Now: time.Now,
			Explain: func(err error) string { return ui.Explain(tx, err) },
			Copy:    func(text string) { r.copied = text },
			Browse:  func(string) {},
		},
		goTo:    func(page, subject string) { r.went = append(r.went, page+"/"+subject) },
		toast:   func(text string) { r.toasts = append(r.toasts, text) },
		fail:    func(err error) { r.fails = append(r.fails, err) },
		changed: func() {},
	}
	return r
}

// serve has an engine listen where the client looks for one.
func (r *rig) serve(e control.Engine) {
	r.t.Helper()
	ln, err := control.Listen(r.t.Context(), r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	server := control.NewServer(control.NewHandler(e, log), log)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			r.t.Errorf("engine: %v", err)
		}
	}()
	stopped := false
	r.stop = func() {
		if !stopped {
			stopped = true
			server.Close()
			<-ended
		}
	}
	r.t.Cleanup(func() { r.stop() })
}

// show opens a page as the window does, and enters it.
func (r *rig) show(p page, s sandbox.Snapshot) {
	r.t.Helper()
	r.win.SetContent(p.open())
	r.win.Resize(fyne.NewSize(960, 640))
	p.show(s)
	ctx, cancel := context.WithCancel(r.t.Context())
	r.t.Cleanup(cancel)
	p.enter(ctx)
}

// pump does what is waiting for the toolkit.
func (r *rig) pump() {
	for {
		select {
		case do := <-r.todo:
			do()
		default:
			return
		}
	}
}

// until does what there is for the toolkit until something is so.
func (r *rig) until(what string, so func() bool) {
	r.t.Helper()
	limit := time.After(4 * time.Minute) // to lock a vault takes one where the race detector shares a processor
	for !so() {
		select {
		case do := <-r.todo:
			do()
		case <-time.After(5 * time.Millisecond):
		case <-limit:
			r.t.Fatalf("never came: %s", what)
		}
	}
}
