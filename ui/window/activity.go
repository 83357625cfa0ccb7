package window

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

const (
	activityPart    = 100 // events of one question
	activityCatchUp = 10  // parts, at most, that are read for what came meanwhile
	activityDraw    = 300 * time.Millisecond
	// activitySettle is how long it takes at the most until the engine tells what
	// comes. Then it is looked once more for what came before.
	activitySettle = 2 * time.Second
	activityOrders = 1000 // of which it is known where they ran
)

// longAgo is before any event: without it the engine tells of a month alone.
var longAgo = time.Unix(1, 0)

// activity is the page of what happened, and happens.
type activity struct {
	c    *core
	ctx  context.Context // done when the page is left
	view *view.Activity
	// choose lets the user name a file.
	choose func(env view.Env, name string, got func(path string))

	log     ui.Log
	known   ui.Known
	filter  ui.Filter
	days    string // range that its days are
	subject string // what was led to, until there is an entry of it

	loaded bool
	cursor string // of older events
	busy   bool
	began  time.Time // when it was listened for what comes; zero once that is sure
	drawn  time.Time
	dirty  bool
	lost   bool // nothing new comes in

	calls calls
}

func newActivity(c *core) page {
	p := &activity{c: c, ctx: left(), choose: chooseFile}
	p.known = ui.Known{Grants: map[string]string{}, Sandboxes: map[string]sandbox.Sandbox{}}
	p.calls.page = p
	return p
}

func (p *activity) name() string        { return ui.PageActivity }
func (p *activity) icon() fyne.Resource { return theme.HistoryIcon() }

// open makes the view.
func (p *activity) open() fyne.CanvasObject {
	v, selected := view.NewActivity(p.c.env), ""
	if p.view != nil {
		selected = p.view.Selected()
		p.translate()
	}
	p.view = v
	v.OnFilter = func(f ui.Filter, name string) {
		p.filter, p.days = f, name
		p.draw()
	}
	v.OnOlder = p.older
	v.OnExport = p.export
	v.OnGo = p.c.goTo
	v.OnClock = p.clock
	p.draw()
	if selected != "" {
		v.Select(selected)
	}
	return v.Object()
}

// translate says what happened in the language of now.
func (p *activity) translate() {
	for _, e := range p.log.Shown(ui.Filter{}) {
		switch {
		case e.Event != nil:
			p.log.Put(ui.EventEntry(p.c.env.Texts, *e.Event, p.known))
		case e.Call != nil: // which may be forgotten among those that are followed
			p.log.Put(p.calls.entry(strings.TrimPrefix(e.ID, "call/"), &call{Call: *e.Call, sandbox: e.Sandbox, host: e.Host}))
		}
	}
}

// show takes in what lives: the calls of that are followed.
func (p *activity) show(s sandbox.Snapshot) {
	for _, b := range s.Sandboxes {
		if b.ID != "" {
			p.known.Sandboxes[b.ID] = b
		}
		if b.Key != "" {
			p.known.Sandboxes[b.Key] = b
		}
	}
	p.calls.see(s)
}

// enter reads the last events, and listens for those that come.
func (p *activity) enter(ctx context.Context) {
	p.ctx = ctx
	p.busy, p.lost = false, false
	p.calls.enter(ctx)
	p.listen()
	p.catchUp(true)
}

// listen follows events.
func (p *activity) listen() {
	p.began = p.c.env.Now()
	p.lost = false
	follow(p.ctx, p.c.client.FollowEvents, func(e sandbox.Event) {
		p.put(e)
		p.soon()
	}, func(err error) {
		p.lost = true
		why := ""
		if err != nil {
			why = p.c.env.Explain(err)
		}
		p.view.Banner().Error(p.c.env.Texts.Get("activity.live.lost", "why", why), func() {
			p.view.Banner().Clear()
			p.listen()
			p.catchUp(false)
		}, p.c.env.Texts.Get("activity.retry"))
	})
}

// put takes in events.
func (p *activity) put(all ...sandbox.Event) (added int) {
	for _, e := range all {
		if name, _ := e.Data["name"].(string); name != "" && e.Kind == sandbox.EventCreated {
			p.known.Grants[e.Grant] = name
		}
		added += p.log.Put(ui.EventEntry(p.c.env.Texts, e, p.known))
	}
	return added
}

// An activityRead is what the engine tells of what was.
type activityRead struct {
	events []sandbox.Event // the newest first
	next   string          // cursor of older ones
	grants map[string]string
	orders []sandbox.Order
}

// catchUp reads the newest events, back to one that is known. With names it also
// learns whose and where they are.
func (p *activity) catchUp(names bool) {
	since := time.Time{}
	if p.loaded {
		if all := p.log.Shown(ui.Filter{}); len(all) > 0 {
			since = all[0].At.Add(-activitySettle)
		}
	}
	first, client := !p.loaded, p.c.client
	fetch(p.ctx, func(ctx context.Context) (r activityRead, err error) {
		if names {
			if r.grants, err = grantNames(ctx, client); err != nil {
				return r, err
			}
			page, err := client.Orders(ctx, sandbox.OrderQuery{Limit: activityOrders})
			if err != nil {
				return r, err
			}
			r.orders = page.Orders
		}
		q := sandbox.EventQuery{Limit: activityPart, Since: longAgo}
		if !since.IsZero() {
			q.Since = since
		}
		for range activityCatchUp {
			page, err := client.Events(ctx, q)
			if err != nil {
				return r, err
			}
			r.events, r.next, q.Cursor = append(r.events, page.Events...), page.Next, page.Next
			if page.Next == "" || first {
				break
			}
		}
		return r, nil
	}, func(r activityRead, err error) {
		if err != nil {
			p.view.Banner().Error(p.c.env.Explain(err), func() {
				p.view.Banner().Clear()
				p.catchUp(names)
			}, p.c.env.Texts.Get("activity.retry"))
			return
		}
		if !p.lost {
			p.view.Banner().Clear()
		}
		for id, name := range r.grants {
			p.known.Grants[id] = name
		}
		p.learn(r.orders)
		p.put(r.events...)
		if first {
			p.loaded, p.cursor = true, r.next
		}
		p.led()
		p.draw()
	})
}

// grantNames are the names of all grants, by their ids.
func grantNames(ctx context.Context, client *control.Client) (map[string]string, error) {
	all, err := client.Tokens(ctx, "")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, t := range all {
		out[t.Grant.ID] = t.Grant.Name
	}
	return out, nil
}

// learn takes in where sandboxes ran that have ended since.
func (p *activity) learn(orders []sandbox.Order) {
	for _, o := range orders {
		for _, id := range []string{o.ID, o.Sandbox} {
			if _, ok := p.known.Sandboxes[id]; !ok && id != "" {
				p.known.Sandboxes[id] = sandbox.Sandbox{ID: cmp.Or(o.Sandbox, o.ID), Key: o.ID, Name: o.Name, Host: o.Host, Profile: o.Profile, Grant: o.Grant}
			}
		}
	}
}

// older reads more.
func (p *activity) older() {
	if p.busy || p.cursor == "" {
		return
	}
	p.busy = true
	p.draw()
	cursor := p.cursor
	fetch(p.ctx, func(ctx context.Context) (sandbox.EventPage, error) {
		return p.c.client.Events(ctx, sandbox.EventQuery{Limit: activityPart, Since: longAgo, Cursor: cursor})
	}, func(page sandbox.EventPage, err error) {
		p.busy = false
		if err != nil {
			p.c.fail(err)
		} else {
			p.cursor = page.Next
			p.put(page.Events...)
		}
		p.draw()
	})
}

// soon draws at once, or a little later if that was a moment ago.
func (p *activity) soon() {
	if p.c.env.Now().Sub(p.drawn) < activityDraw {
		p.dirty = true
		return
	}
	p.draw()
}

// tick draws what has waited, and looks once more for what came before it was
// listened for sure.
func (p *activity) tick(now time.Time) {
	if p.dirty {
		p.draw()
	}
	if !p.began.IsZero() && p.loaded && now.Sub(p.began) >= activitySettle {
		p.began = time.Time{}
		p.catchUp(false)
	}
}

// place leads to what the notice was about that was clicked, or to all of a
// sandbox.
func (p *activity) place(subject string) {
	p.subject = subject
	p.filter, p.days = ui.Filter{}, ""
	if _, ok := p.known.Sandboxes[subject]; ok {
		p.filter.Sandbox = subject
	}
	p.led()
	p.draw()
}

// led selects the newest entry of what was led to, once there is one.
func (p *activity) led() {
	if p.subject == "" || p.view == nil {
		return
	}
	for _, e := range p.log.Shown(ui.Filter{}) {
		if e.ID == p.subject || e.Sandbox == p.subject || e.Event != nil && e.Event.Subject == p.subject {
			p.subject = ""
			p.draw()
			p.view.Select(e.ID)
			return
		}
	}
}

// shown are the entries that are wanted, the newest first.
func (p *activity) shown() []ui.Entry { return p.log.Shown(p.filter) }

// draw draws all that is known.
func (p *activity) draw() {
	if p.view == nil {
		return
	}
	p.drawn, p.dirty = p.c.env.Now(), false
	names := map[string]string{}
	for id, b := range p.known.Sandboxes {
		names[id] = b.Name
	}
	p.view.Show(view.ActivityShown{
		Entries: p.shown(), All: p.log.Len(), Filter: p.filter, Range: p.days, Hosts: p.log.Hosts(), Sandboxes: p.log.Sandboxes(), Names: names,
		Loaded: p.loaded, More: p.cursor != "", Busy: p.busy, Note: p.calls.note(),
	})
}

// export writes what is shown into a file that the user names.
func (p *activity) export(format string) {
	env, all := p.c.env, p.shown()
	write := ui.WriteCSV
	if format == "jsonl" {
		write = ui.WriteJSONLines
	}
	p.choose(env, "arenero-"+env.Now().Format("2006-01-02")+"."+format, func(path string) {
		fetch(context.WithoutCancel(p.ctx), func(context.Context) (string, error) { // it goes on when the page is left
			return path, saveTo(path, func(w io.Writer) error { return write(w, all) })
		}, func(path string, err error) {
			if err != nil {
				p.c.fail(err)
				return
			}
			p.c.toast(env.Texts.Get("activity.exported", "file", path))
		})
	})
}

// clock tells the engine that the time of this computer is right.
func (p *activity) clock() {
	fetch(p.ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.c.client.ConfirmClock(ctx) }, func(_ struct{}, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		p.c.toast(p.c.env.Texts.Get("activity.clock.done"))
	})
}

// newest orders sandboxes by when they were used last.
func newest(all []sandbox.Sandbox) []sandbox.Sandbox {
	return slices.SortedFunc(slices.Values(all), func(a, b sandbox.Sandbox) int {
		return cmp.Or(cmp.Compare(min(1, b.Running), min(1, a.Running)), b.UsedAt.Compare(a.UsedAt), cmp.Compare(a.ID, b.ID))
	})
}

// note is a word on the calls that are not shown.
func (c *calls) note() string {
	if c.crowded {
		return c.page.c.env.Texts.Get("activity.crowded", "n", strconv.Itoa(mostFollowed))
	}
	if c.page.filter.Topic == ui.TopicCalls {
		return c.page.c.env.Texts.Get("activity.calls.note")
	}
	return ""
}
