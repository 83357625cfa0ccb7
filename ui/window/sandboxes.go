package window

import (
	"context"
	"errors"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/start"
	"github.com/arenero/arenero/ui/view"
)

// goneAfter is how long a sandbox may take to appear that somebody is led to.
const goneAfter = 2 * time.Second

// wokenWithin is how long after it was put to sleep it is said of a sandbox that
// it did not stay so.
const wokenWithin = 10 * time.Second

// sandboxes is the page of them.
type sandboxes struct {
	c     *core
	ctx   context.Context // done when the page is left
	view  *view.Sandboxes
	shown ui.Sandboxes
	row   string               // that is selected
	led   string               // id of one that is to be selected when it comes
	since time.Time            // of led
	gone  string               // id of one that was led to, and is not there; it is said so
	slept map[string]time.Time // when those were put to sleep that are to stay so, by id
	box   *boxDetail
	// terminal opens one with our command line in it.
	terminal func(args ...string) error
	choose   func(env view.Env, name string, got func(path string)) // where to save a file
	pick     func(env view.Env, got func(path string))              // a file to bring in
}

func newSandboxes(c *core) page {
	p := &sandboxes{
		c: c, ctx: context.Background(), shown: ui.Sandboxes{By: ui.SandboxAge, Doing: map[string]ui.Verb{}}, slept: map[string]time.Time{},
		terminal: openTerminal, choose: chooseFile, pick: pickFile,
	}
	p.box = newBoxDetail(p)
	return p
}

func (p *sandboxes) name() string        { return ui.PageSandboxes }
func (p *sandboxes) icon() fyne.Resource { return theme.ListIcon() }

// open makes the view.
func (p *sandboxes) open() fyne.CanvasObject {
	v := view.NewSandboxes(p.c.env)
	v.OnFilter = func(text string) {
		p.shown.Filter = text
		p.render()
	}
	v.OnSort = func(by ui.SandboxColumn, descending bool) {
		p.shown.By, p.shown.Descending = by, descending
		p.render()
	}
	v.OnSelect = func(row string) {
		p.row = row
		p.box.follow()
	}
	v.OnPart = func(part string) {
		p.box.files.went = part == view.SandboxFiles
		p.box.follow()
	}
	v.OnDo, v.OnAll = p.do, p.all
	v.OnNew = p.fresh
	v.OnConnect = func() { p.c.goTo("hosts", "") }
	if p.view != nil {
		v.Part(p.view.ShownPart())
	}
	v.Select(p.row)
	p.view = v
	p.box.open()
	p.missed(p.gone)
	p.render()
	return v.Object()
}

// show takes in what there is, and forgets what was asked of what has come to it.
func (p *sandboxes) show(s sandbox.Snapshot) {
	p.shown.Snapshot, p.shown.Lost = s, false
	p.woken()
	p.render()
}

// woken tells of those that were put to sleep and are awake again: who waits for a
// call wakes its sandbox, so that nothing would seem to have come of the button.
func (p *sandboxes) woken() {
	for id, at := range p.slept {
		b := p.find(id)
		if p.c.env.Now().Sub(at) > wokenWithin {
			delete(p.slept, id)
		} else if b.State == sandbox.Running && b.Running > 0 {
			delete(p.slept, id)
			p.view.Banner().Offer(p.c.env.Texts.Get("sandboxes.woken", "sandbox", ui.Name(b)), p.view.Banner().Clear, p.c.env.Texts.Get("sandboxes.dismiss"))
		}
	}
}

// lose shows what there was when the engine was there last.
func (p *sandboxes) lose() {
	p.shown.Lost = true
	p.render()
}

// enter begins to follow what is selected.
func (p *sandboxes) enter(ctx context.Context) {
	p.ctx = ctx
	p.shown.Lost = false
	p.box.left()
	p.render()
}

func (p *sandboxes) tick(time.Time) {
	p.woken()
	p.render()
}

// place selects the sandbox with an id.
func (p *sandboxes) place(subject string) {
	p.led, p.since = subject, p.c.env.Now()
	p.shown.Filter = ""
	p.missed("")
	p.render()
}

// render draws what there is now, and follows what is selected.
func (p *sandboxes) render() {
	if p.view == nil {
		return
	}
	for _, b := range p.shown.Snapshot.Sandboxes {
		if p.led != "" && (b.ID == p.led || b.Key == p.led) {
			p.row, p.led = ui.SandboxKey(b), ""
			p.view.Select(p.row)
		}
	}
	if p.led != "" && !p.shown.Lost && !p.shown.Snapshot.At.IsZero() && p.c.env.Now().Sub(p.since) >= goneAfter {
		p.missed(p.led)
		p.led = ""
	}
	p.view.Show(p.shown, p.c.env.Now())
	if row, _ := p.view.Selected(); row == "" && len(p.shown.Snapshot.Sandboxes) > 0 && p.row == "" {
		rows := p.shown.Rows(p.c.env.Texts, p.c.env.Now())
		if len(rows) > 0 { // somebody who comes here wants to see one
			p.row = rows[0].ID
			p.view.Select(p.row)
		}
	}
	p.box.follow()
	p.box.draw()
}

// missed says that a sandbox has ended that somebody was led to, and where to
// find it; "" says so no more.
func (p *sandboxes) missed(id string) {
	if p.gone != "" && id == "" {
		p.view.Banner().Clear()
	}
	if p.gone = id; id == "" {
		return
	}
	tx := p.c.env.Texts
	p.view.Banner().Offer(tx.Get("sandboxes.gone", "sandbox", ui.Name(sandbox.Sandbox{ID: id})), func() {
		p.missed("")
		p.c.goTo(ui.PageActivity, id)
	}, tx.Get("sandboxes.gone.activity"))
}

// find is the sandbox with an id.
func (p *sandboxes) find(id string) sandbox.Sandbox {
	for _, b := range p.shown.Snapshot.Sandboxes {
		if b.ID == id {
			return b
		}
	}
	return sandbox.Sandbox{ID: id}
}

// do does something to the sandbox with an id.
func (p *sandboxes) do(verb ui.Verb, id string) {
	b, client := p.find(id), p.c.client
	switch verb {
	case ui.Copy:
		p.c.env.Copy(id)
	case ui.Terminal:
		if err := p.terminal("shell", id); err != nil {
			if errors.Is(err, start.ErrNoTerminal) {
				err = errors.New(p.c.env.Texts.Get("tray.no-terminal", "command", "arenero shell "+id))
			}
			p.failed(b, verb, err)
		}
	case ui.Kill:
		p.view.Confirm(1, ui.Name(b), func() {
			p.ask(verb, []sandbox.Sandbox{b}, func(ctx context.Context, id string) error { return client.Terminate(ctx, id, "") })
		})
	case ui.Suspend:
		p.ask(verb, []sandbox.Sandbox{b}, p.suspend)
	case ui.Resume:
		p.ask(verb, []sandbox.Sandbox{b}, func(ctx context.Context, id string) error {
			_, err := client.Resume(ctx, id)
			return err
		})
	case ui.Extend:
		later := ui.LaterEnd(b)
		p.ask(verb, []sandbox.Sandbox{b}, func(ctx context.Context, id string) error {
			_, err := client.ScheduleRemoval(ctx, id, later)
			return err
		})
	case ui.EndAt:
		p.askEnd(b)
	}
}

// askEnd lets the user say when b is to end. What is refused is told in the
// dialog, where another time can be tried.
func (p *sandboxes) askEnd(b sandbox.Sandbox) {
	find := func() sandbox.Sandbox { return p.find(b.ID) } // its end may change meanwhile
	view.NewEndForm(p.c.env, find, func(at time.Time, done func(problem string)) {
		fetch(context.Background(), func(ctx context.Context) (sandbox.Sandbox, error) {
			return p.c.client.ScheduleRemoval(ctx, b.ID, at)
		}, func(ended sandbox.Sandbox, err error) {
			if err != nil {
				done(p.c.env.Explain(err))
				return
			}
			done("")
			tx, now := p.c.env.Texts, p.c.env.Now()
			span, _ := ui.Countdown(tx, ended.EndsAt, now)
			p.c.toast(tx.Get("sandboxes.end.done", "sandbox", ui.Name(b), "time", ui.MinuteStamp(ended.EndsAt, now), "span", span))
		})
	})
}

func (p *sandboxes) suspend(ctx context.Context, id string) error {
	_, err := p.c.client.Suspend(ctx, id)
	return err
}

// all does something to all sandboxes.
func (p *sandboxes) all(verb ui.Verb) {
	some := func(ids []string) (out []sandbox.Sandbox) {
		for _, id := range ids {
			out = append(out, p.find(id))
		}
		return out
	}
	if verb == ui.SuspendAll {
		p.ask(ui.Suspend, some(p.shown.ToSuspend()), p.suspend)
		return
	}
	boxes := some(p.shown.ToKill())
	name := ""
	if len(boxes) == 1 {
		name = ui.Name(boxes[0])
	}
	p.view.Confirm(len(boxes), name, func() {
		p.ask(ui.Kill, boxes, func(ctx context.Context, id string) error { return p.c.client.Terminate(ctx, id, "") })
	})
}

// ask asks the engine for something about sandboxes, which look as if it were on
// its way at once. It goes on when the page is left.
func (p *sandboxes) ask(verb ui.Verb, boxes []sandbox.Sandbox, do func(ctx context.Context, id string) error) {
	p.view.Banner().Clear()
	for _, b := range boxes {
		if p.shown.Doing[b.ID] != "" {
			continue
		}
		p.shown.Doing[b.ID] = verb
		fetch(context.Background(), func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx, b.ID) }, func(_ struct{}, err error) {
			delete(p.shown.Doing, b.ID)
			if err != nil && sandbox.CodeOf(err) != sandbox.Gone { // what has ended by itself is where it was to be
				p.failed(b, verb, err)
			}
			if delete(p.slept, b.ID); err == nil && verb == ui.Suspend {
				p.slept[b.ID] = p.c.env.Now()
			}
			p.render()
		})
	}
	p.render()
}

// failed tells at the head of the page what could not be done, and why.
func (p *sandboxes) failed(b sandbox.Sandbox, verb ui.Verb, err error) {
	tx := p.c.env.Texts
	action := map[ui.Verb]string{
		ui.Suspend: "tray.suspend", ui.Resume: "tray.resume", ui.Terminal: "tray.terminal", ui.Extend: "sandboxes.extend", ui.Kill: "tray.kill",
	}[verb]
	p.view.Banner().Error(tx.Get("sandboxes.failed", "action", tx.Get(action), "sandbox", ui.Name(b), "why", p.c.env.Explain(err)), p.view.Banner().Clear, tx.Get("sandboxes.dismiss"))
}

// openTerminal opens a terminal with our command line in it.
func openTerminal(args ...string) error {
	program, err := control.Beside("arenero")
	if err != nil {
		return err
	}
	return start.Terminal(append([]string{program}, args...))
}
