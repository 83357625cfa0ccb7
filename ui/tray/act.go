package tray

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/start"
)

// act does what a click asks for. What takes time is done elsewhere, and comes
// back to the loop.
func (t *tray) act(ctx context.Context, a ui.Action) {
	client := t.cfg.Client
	switch a.Verb {
	case ui.Suspend:
		t.call(ctx, a, t.tx.Get("tray.suspend"), func() error { _, err := client.Suspend(ctx, a.Subject); return err })
	case ui.Resume:
		t.call(ctx, a, t.tx.Get("tray.resume"), func() error { _, err := client.Resume(ctx, a.Subject); return err })
	case ui.Kill:
		t.call(ctx, a, t.tx.Get("tray.kill"), func() error { return client.Terminate(ctx, a.Subject, "") })
	case ui.Extend:
		t.extend(ctx, a)
	case ui.Pause:
		t.pauseNew(ctx, a)
	case ui.SuspendAll:
		t.all(ctx, a, nil)
	case ui.KillAll:
		t.all(ctx, a, nil)
	case ui.QuitSuspend:
		t.all(ctx, ui.Action{Verb: ui.SuspendAll}, t.quit)
	case ui.QuitKill:
		t.all(ctx, ui.Action{Verb: ui.KillAll}, t.quit)
	case ui.Quit:
		t.quit()
	case ui.Terminal:
		t.terminal(a, "tray.terminal", "shell", a.Subject)
	case ui.SignIn:
		t.terminal(a, "", "profiles", "login", a.Subject)
	case ui.Copy:
		t.copy(ctx, a)
	case ui.Connect:
		t.connect(ctx, a)
	case ui.Open:
		t.open(a.Page, a.Subject)
	case ui.Hide:
		t.hide(a.Subject)
	}
}

// call does something with a sandbox, and shows meanwhile that it is being done.
func (t *tray) call(ctx context.Context, a ui.Action, label string, do func() error) {
	if _, busy := t.state.Doing[a.Subject]; busy {
		return // a second click
	}
	t.hide(string(a.Verb) + "/" + a.Subject)
	done := t.doing(a.Verb, a.Subject)
	name := t.nameOf(a.Subject)
	go func() {
		err := do()
		t.post(ctx, func() {
			done()
			if err != nil {
				t.failed(a, label+" "+name, err)
			}
		})
	}()
}

// extend has a sandbox end later than was asked for before.
func (t *tray) extend(ctx context.Context, a ui.Action) {
	for _, b := range t.state.Snapshot.Sandboxes {
		if b.ID != a.Subject {
			continue
		}
		if later := ui.LaterEnd(b); later.After(b.EndsAt) {
			t.call(ctx, a, t.tx.Get("tray.extend", "span", ui.Span(t.tx, later.Sub(b.EndsAt))), func() error {
				_, err := t.cfg.Client.ScheduleRemoval(ctx, a.Subject, later)
				return err
			})
		}
		return
	}
}

// pauseNew has requests for new sandboxes refused, or taken again.
func (t *tray) pauseNew(ctx context.Context, a ui.Action) {
	if _, busy := t.state.Doing[ui.PauseKey]; busy {
		return
	}
	paused := a.Subject == ui.Paused
	t.hide(string(a.Verb) + "/" + a.Subject)
	done := t.doing(a.Verb, ui.PauseKey)
	go func() {
		err := t.cfg.Client.Pause(ctx, paused)
		t.post(ctx, func() {
			done()
			if err != nil {
				t.failed(a, t.tx.Get("tray.pause"), err)
				return
			}
			t.state.Snapshot.Paused = paused // as the next snapshot says
		})
	}()
}

// all suspends or ends all of ours, a few at a time, and calls then unless
// something failed.
func (t *tray) all(ctx context.Context, a ui.Action, then func()) {
	targets, verb, label := ui.Ours(t.state.Snapshot.Sandboxes), ui.Kill, "tray.kill-all"
	do := func(id string) error { return t.cfg.Client.Terminate(ctx, id, "") }
	if a.Verb == ui.SuspendAll {
		targets, verb, label = ui.Awake(t.state.Snapshot.Sandboxes), ui.Suspend, "tray.suspend-all"
		do = func(id string) error { _, err := t.cfg.Client.Suspend(ctx, id); return err }
	}
	var ids []string
	for _, b := range targets {
		ids = append(ids, b.ID)
	}
	t.hide(string(a.Verb) + "/")
	done := t.doing(verb, ids...)
	go func() {
		errs := make([]error, len(ids))
		var work sync.WaitGroup
		room := make(chan struct{}, 8)
		for i, id := range ids {
			work.Go(func() {
				room <- struct{}{}
				defer func() { <-room }()
				if err := do(id); err != nil && sandbox.CodeOf(err) != sandbox.Gone && sandbox.CodeOf(err) != sandbox.NotFound {
					errs[i] = err
				}
			})
		}
		work.Wait()
		t.post(ctx, func() {
			done()
			for _, err := range errs {
				if err != nil {
					t.failed(a, t.tx.Get(label), err)
					return
				}
			}
			if then != nil {
				then()
			}
		})
	}()
}

// nameOf is what to call the sandbox with an id.
func (t *tray) nameOf(id string) string {
	for _, b := range t.state.Snapshot.Sandboxes {
		if b.ID == id {
			return ui.Name(b)
		}
	}
	return ui.Name(sandbox.Sandbox{ID: id})
}

// terminal opens a terminal in which our command line does something.
func (t *tray) terminal(a ui.Action, label string, args ...string) {
	err := start.Terminal(append([]string{t.cfg.Program}, args...))
	if errors.Is(err, start.ErrNoTerminal) {
		err = errors.New(t.tx.Get("tray.no-terminal", "command", "arenero "+strings.Join(args, " ")))
	}
	switch {
	case err == nil:
		t.hide(string(a.Verb) + "/" + a.Subject)
	case label == "":
		t.failed(a, t.tx.Get("tray.signin", "profile", a.Subject), err)
	default:
		t.failed(a, t.tx.Get(label), err)
	}
}

// copy puts an id where the user can paste it from.
func (t *tray) copy(ctx context.Context, a ui.Action) {
	t.hide(string(a.Verb) + "/" + a.Subject)
	go func() {
		err := start.Copy(ctx, a.Subject)
		t.post(ctx, func() {
			if errors.Is(err, start.ErrNoClipboard) {
				err = errors.New(t.tx.Get("tray.no-clipboard", "id", a.Subject))
			}
			if err != nil {
				t.failed(a, t.tx.Get("tray.copy"), err)
				return
			}
			t.answer(ctx, ui.Notice{ID: "copied", Title: t.tx.Get("tray.name"), Text: t.tx.Get("tray.copied", "id", a.Subject)})
		})
	}()
}

// connect gives a host an entry of ours.
func (t *tray) connect(ctx context.Context, a ui.Action) {
	title := a.Subject
	for _, h := range t.state.Hosts {
		if h.ID == a.Subject {
			title = h.Title
		}
	}
	t.hide(string(a.Verb) + "/" + a.Subject)
	go func() {
		err := t.cfg.Hosts.Connect(ctx, a.Subject)
		t.post(ctx, func() {
			if err != nil {
				t.failed(a, t.tx.Get("tray.host.connect", "host", title), err)
				return
			}
			t.clicked = true
			t.look(ctx)
			t.answer(ctx, ui.Notice{ID: "connected", Title: t.tx.Get("tray.name"), Text: t.tx.Get("tray.connected", "host", title)})
		})
	}()
}

// open shows the window, which sees to it that there is one alone, at a place on
// a page; "" is wherever it is.
func (t *tray) open(page, place string) {
	a := ui.Action{Verb: ui.Open}
	err := start.Window(t.cfg.Window, windowArgs(page, place)...)
	if errors.Is(err, start.ErrNoWindow) {
		err = errors.New(t.tx.Get("tray.no-window"))
	}
	if err != nil {
		t.failed(a, t.tx.Get("tray.open"), err)
		return
	}
	t.hide("open/")
}

// windowArgs are the arguments of the program with the windows that lead to a
// place on a page.
func windowArgs(page, place string) (args []string) {
	if page == "" {
		return nil
	}
	args = []string{"--page", page}
	if place != "" {
		args = append(args, "--place", place)
	}
	return args
}

// hide takes a note away.
func (t *tray) hide(id string) {
	var rest []ui.Note
	for _, n := range t.state.Notes {
		if n.ID != id {
			rest = append(rest, n)
		}
	}
	if len(rest) != len(t.state.Notes) {
		t.state.Notes, t.clicked = rest, true
	}
}
