package window

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"fyne.io/fyne/v2"
	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui/view"
)

// Exit codes of the program.
const (
	exitFailed = 1 // there can be no window
	exitUsage  = 2 // the command line can't be understood
)

// A Config is what a window is made from.
type Config struct {
	Place    control.Place // what to show first
	Language string        // "en" or "es" in place of the preferences'
	Theme    string        // "light" or "dark", the same
	Version  string
	Clock    clockwork.Clock
	// Launch starts an engine; again says that the last one came to nothing. It calls
	// failed, from any goroutine, if that one comes to nothing after it has returned.
	Launch func(ctx context.Context, again bool, failed func(err error)) error
}

// Main is the program: it reads the command line, and shows a window until the
// user closes it, or has the one that is open already show what is asked for.
// newApp is called once there is a display. It returns the exit code.
func Main(args []string, version string, stdout, stderr io.Writer, newApp func() fyne.App) int {
	cfg := Config{Version: version, Clock: clockwork.NewRealClock(), Launch: launcher()}
	tx := textsOf(languageOf(""))
	done, err := cfg.parse(args, tx, stdout)
	if cfg.Language != "" {
		tx = textsOf(cfg.Language)
	}
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "arenero-window: %v\n%s\n", err, tx.Get("window.cli.more"))
		return exitUsage
	case done:
		return 0
	}
	if err := cfg.run(tx, newApp); err != nil {
		fmt.Fprintln(stderr, "arenero-window:", explain(tx, err))
		return exitFailed
	}
	return 0
}

// parse reads the command line. It reports whether all that was asked for is done.
func (cfg *Config) parse(args []string, tx assets.Texts, stdout io.Writer) (done bool, err error) {
	f := flag.NewFlagSet("arenero-window", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&cfg.Place.Page, "page", "", "")
	f.StringVar(&cfg.Place.Subject, "place", "", "")
	f.BoolVar(&cfg.Place.NoIcon, "no-icon", false, "") // for the tray
	language := f.String("lang", "", "")
	look := f.String("theme", "", "")
	told := f.Bool("version", false, "")
	err = f.Parse(args)
	if cfg.Language = assets.Language(*language); cfg.Language != "" {
		tx = textsOf(cfg.Language)
	}
	names := strings.Join(pageNames, ", ")
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, tx.Get("window.cli.help", "pages", names))
		return true, nil
	case err != nil:
		return false, errors.New(tx.Get("window.cli.wrong", "why", err.Error()))
	case *told:
		fmt.Fprintf(stdout, "arenero-window %s %s/%s %s\n", cfg.Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
		return true, nil
	case f.NArg() > 0:
		return false, errors.New(tx.Get("window.cli.extra", "word", f.Arg(0)))
	case cfg.Place.Page != "" && !slices.Contains(pageNames, cfg.Place.Page):
		return false, errors.New(tx.Get("window.cli.page", "page", cfg.Place.Page, "pages", names))
	case *language != "" && assets.Language(*language) == "":
		return false, errors.New(tx.Get("window.cli.lang", "lang", *language))
	case *look != "" && *look != "light" && *look != "dark":
		return false, errors.New(tx.Get("window.cli.theme", "theme", *look))
	}
	cfg.Theme = *look
	return false, nil
}

// run shows the window, or the one of another program of this kind.
func (cfg *Config) run(tx assets.Texts, newApp func() fyne.App) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path, err := control.Path()
	if err != nil {
		return err
	}
	door, err := control.DoorPath()
	if err != nil {
		return err
	}
	asked := make(chan control.Place, 1)
	opened, err := control.OpenDoor(ctx, door, func(p control.Place) {
		select {
		case asked <- p:
		case <-ctx.Done():
		}
	})
	if errors.Is(err, control.ErrTaken) {
		return control.Knock(ctx, door, cfg.Place)
	}
	if err != nil {
		return err
	}
	defer opened.Close()
	// The toolkit would end the program in its own way.
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" {
		return errors.New(tx.Get("window.cli.display"))
	}
	client := control.NewClient(path)
	client.Patience = patience
	defer client.Close()
	app := newApp()
	begun := newBeginning(ctx, client)
	win, err := firstWindow(app)
	if err != nil {
		return errors.New(tx.Get("window.cli.screen", "display", os.Getenv("DISPLAY"), "why", err.Error()))
	}
	return cfg.show(ctx, app, win, client, asked, begun, func() {
		opened.Close() // whoever asks for a window from now on gets one of its own
		time.Sleep(leaveWithin)
		os.Exit(0)
	})
}

// leaveWithin is how long the toolkit may take to end, once the window is closed
// and nothing is left to do. Now and then it never does (Fyne 2.7.1): what it
// queues while its loop ends is waited for and done by nobody.
const leaveWithin = 2 * time.Second

// firstWindow makes a window. The toolkit panics where the display can't be used,
// as one that is named and not there.
func firstWindow(app fyne.App) (win fyne.Window, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("make a window: %v", p)
		}
	}()
	return app.NewWindow("Arenero"), nil
}

// patience is what the client of a window is to have: the window shows at once
// that an engine is gone, and looks for it by itself.
const patience = time.Millisecond

// show works until the window is closed. It calls leave then, beside what the
// toolkit does to end.
func (cfg *Config) show(ctx context.Context, app fyne.App, win fyne.Window, client *control.Client, asked <-chan control.Place, begun *beginning, leave func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, leave)
	begun.fonts.Wait()
	s := newShell(ctx, *cfg, app, win, client)
	if p, ok := soon(begun.prefs); ok {
		s.prefs, s.known = p, true
	}
	s.at = cmp.Or(cfg.Place.Page, s.at)
	s.sized() // before it is laid out
	s.build()
	if cfg.Place.Subject != "" {
		s.open(s.at, cfg.Place.Subject)
	}
	s.frame.NextPart() // the keys begin at the side bar
	if snap, ok := soon(begun.snap); ok {
		s.saw(snap) // so that it is in the first picture
	}
	parts := s.background(asked)
	s.win.SetOnClosed(cancel)
	s.win.SetCloseIntercept(s.close)
	s.win.Show()
	app.Run()
	cancel()
	for range parts {
		<-s.ends
	}
	return nil
}

// background starts what goes on beside the toolkit until the program ends, and
// returns what that is.
func (s *shell) background(asked <-chan control.Place) []func() {
	watch := &engineWatch{
		client: s.client, clock: s.cfg.Clock, launch: s.cfg.Launch, restart: s.restart,
		saw: func(snap sandbox.Snapshot) {
			shown := make(chan struct{}) // so that the next one is the newest, however long this takes
			onUI(func() {
				s.saw(snap)
				close(shown)
			})
			select {
			case <-shown:
			case <-s.ctx.Done():
			}
		},
		lost:   func(err error, ended bool) { onUI(func() { s.lose(err, ended) }) },
		failed: func(err error) { onUI(func() { s.unstarted(err) }) },
	}
	parts := []func(){
		func() { watch.run(s.ctx) },
		s.clockwork,
		func() {
			for {
				select {
				case p := <-asked:
					onUI(func() { s.come(p) })
				case <-s.ctx.Done():
					onUI(s.app.Quit) // of a signal; otherwise it is over already
					return
				}
			}
		},
	}
	s.ends = make(chan struct{}, len(parts))
	for _, part := range parts {
		go func() {
			part()
			s.ends <- struct{}{}
		}()
	}
	return parts
}

// clockwork has the window see the time pass.
func (s *shell) clockwork() {
	ticker := s.cfg.Clock.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.Chan():
			onUI(s.tick)
		case <-s.ctx.Done():
			return
		}
	}
}

// come shows the window to a user who has asked for it once more.
func (s *shell) come(p control.Place) {
	if p.NoIcon { // nobody has asked for more than a word
		s.iconless = true
		s.say()
		return
	}
	if s.page(p.Page) != nil { // a program of another version may ask for one that there is not
		s.open(p.Page, p.Subject)
	}
	s.win.Show()
	s.win.RequestFocus()
}

// The size of a window that has had none, and the smallest.
var (
	usualSize = fyne.NewSize(1040, 680)
	leastSize = fyne.NewSize(480, 400)
)

// sized gives the window the size that it had the last time.
func (s *shell) sized() {
	size := usualSize
	var w, h float32
	if n, err := fmt.Sscanf(s.prefs.Window, "%gx%g", &w, &h); err == nil && n == 2 && w >= leastSize.Width && h >= leastSize.Height && w < 1e4 && h < 1e4 {
		size = fyne.NewSize(w, h)
	}
	s.win.Resize(size)
}

// close ends the program, and nothing else. The size is kept for the next time,
// if there is somebody to keep it.
func (s *shell) close() {
	size := s.win.Canvas().Size()
	text := fmt.Sprintf("%.0fx%.0f", size.Width, size.Height)
	if s.known && s.link == "linked" && text != s.prefs.Window {
		ctx, done := context.WithTimeout(s.ctx, time.Second)
		defer done()
		if _, err := s.client.EditPreferences(ctx, control.PreferencesEdit{Window: &text}); err != nil {
			fyne.LogError("size of the window", err)
		}
	}
	s.win.Close()
}

// browse opens a page in the user's browser.
func (s *shell) browse(page string) {
	u, err := url.Parse(page)
	if err == nil {
		err = s.app.OpenURL(u)
	}
	if err != nil {
		s.fail(err)
	}
}

// help lists the keys, and leads to the first steps.
func (s *shell) help() {
	tx := s.core.env.Texts
	var rows []view.Key
	for i, p := range s.side {
		rows = append(rows, view.Key{Keys: fmt.Sprintf("%s+%d", modifier(), i+1), Text: tx.Get("window.page." + p.name())})
	}
	for _, k := range []struct{ keys, text string }{
		{"F6", "window.key.part"},
		{"Tab", "window.key.next"},
		{"F5", "window.key.again"},
		{"Esc", "window.key.escape"},
		{modifier() + "+W", "window.key.close"},
		{"F1", "window.key.help"},
	} {
		rows = append(rows, view.Key{Keys: k.keys, Text: tx.Get(k.text)})
	}
	var actions []view.Action
	if s.page(guideName) != nil {
		actions = append(actions, view.Action{Label: tx.Get("window.guide"), Do: func() { s.goTo(guideName, "") }})
	}
	view.ShowKeys(s.core.env, rows, actions...)
}
