package window

import (
	"context"
	"slices"
	"sync"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// mostEvents is how many events of one sandbox are looked for, and listed.
const mostEvents = 100

// A boxDetail follows what is seen of the sandbox that is selected, and no more.
type boxDetail struct {
	p      *sandboxes
	id     string // that is followed
	part   string
	asleep bool // when it was begun
	stop   context.CancelFunc

	calls  *ui.LiveCalls
	events []ui.Entry
	files  *boxFiles
}

func newBoxDetail(p *sandboxes) *boxDetail {
	d := &boxDetail{p: p, stop: func() {}, calls: &ui.LiveCalls{}}
	d.files = newBoxFiles(p)
	return d
}

// open joins the views, which are new ones.
func (d *boxDetail) open() {
	d.left()
	d.files.open()
	d.p.view.Ports.OnAgain = func() {
		d.part = ""
		d.follow()
	}
}

// left is for when nobody sees the page any more, or somebody does again: what
// was followed is not.
func (d *boxDetail) left() {
	d.stop()
	d.stop = func() {}
	d.part = ""
}

// follow follows what is seen now, if it is not that already.
func (d *boxDetail) follow() {
	if d.p.view == nil || d.p.ctx.Err() != nil || d.p.shown.Lost {
		return
	}
	_, b := d.p.view.Selected()
	part := d.p.view.ShownPart()
	sleeps := !ui.FilesAwake(b)
	minds := part == view.SandboxFiles || part == view.SandboxPorts
	if b.ID == d.id && part == d.part && (sleeps == d.asleep || !minds) {
		return
	}
	if b.ID != d.id {
		d.calls, d.events = &ui.LiveCalls{}, nil
	}
	fresh := b.ID != d.id || part != d.part
	d.stop()
	ctx, cancel := context.WithCancel(d.p.ctx)
	d.id, d.part, d.asleep, d.stop = b.ID, part, sleeps, cancel
	if b.ID == "" {
		return
	}
	switch part {
	case view.SandboxCalls:
		d.followCalls(ctx, b)
	case view.SandboxFiles:
		d.files.enter(b, fresh)
	case view.SandboxPorts:
		d.ports(ctx, b)
	case view.SandboxEvents:
		d.followEvents(ctx, b)
	}
}

// draw draws what time changes.
func (d *boxDetail) draw() {
	switch d.p.view.ShownPart() {
	case view.SandboxCalls:
		d.p.view.Calls.Show(d.calls, d.p.c.env.Now())
	case view.SandboxFiles:
		d.files.draw()
	}
}

// followCalls shows what runs, as it comes. What comes faster than it can be
// drawn is drawn together.
func (d *boxDetail) followCalls(ctx context.Context, b sandbox.Sandbox) {
	v, calls := d.p.view.Calls, &ui.LiveCalls{} // the engine tells of the last ones again
	v.Banner().Clear()
	switch tx := d.p.c.env.Texts; {
	case b.Orphan:
		v.Explain(tx.Get("sandboxes.calls.orphan"))
	case !b.State.Alive():
		v.Explain(tx.Get("sandboxes.calls.ended"))
	default:
		v.Explain("")
	}
	d.calls = calls
	v.Show(calls, d.p.c.env.Now())
	if b.Orphan {
		return
	}
	var mu sync.Mutex
	var waiting []control.CallNews
	follow(ctx, func(ctx context.Context, emit func(struct{}) error) error {
		return d.p.c.client.FollowCalls(ctx, b.ID, func(n control.CallNews) error {
			mu.Lock()
			waiting = append(waiting, n)
			first := len(waiting) == 1
			mu.Unlock()
			if first {
				return emit(struct{}{})
			}
			return nil
		})
	}, func(struct{}) {
		mu.Lock()
		news := waiting
		waiting = nil
		mu.Unlock()
		for _, n := range news {
			calls.Add(n)
		}
		v.Show(calls, d.p.c.env.Now())
	}, func(err error) {
		if err != nil && sandbox.CodeOf(err) != sandbox.Gone && sandbox.CodeOf(err) != sandbox.NotFound {
			v.Banner().Error(d.p.c.env.Explain(err), d.again, d.p.c.env.Texts.Get("sandboxes.retry"))
		}
	})
}

// again follows what is seen once more.
func (d *boxDetail) again() {
	d.part = ""
	d.follow()
}

// ports shows what listens. It wakes nothing.
func (d *boxDetail) ports(ctx context.Context, b sandbox.Sandbox) {
	v, tx := d.p.view.Ports, d.p.c.env.Texts
	v.Banner().Clear()
	if !ui.FilesAwake(b) {
		v.Tell(tx.Get("sandboxes.ports.asleep"))
		return
	}
	fetch(ctx, func(ctx context.Context) ([]control.Port, error) { return d.p.c.client.Ports(ctx, b.ID) }, func(all []control.Port, err error) {
		if err != nil {
			v.Banner().Error(d.p.c.env.Explain(err), d.again, tx.Get("sandboxes.retry"))
			return
		}
		v.Show(all)
	})
}

// followEvents shows what happened to b, and what does.
func (d *boxDetail) followEvents(ctx context.Context, b sandbox.Sandbox) {
	v, tx := d.p.view.Events, d.p.c.env.Texts
	v.Banner().Clear()
	known := ui.Known{Sandboxes: map[string]sandbox.Sandbox{b.ID: b}}
	for i, e := range d.events { // what is known is told in the language of now
		d.events[i] = ui.EventEntry(tx, *e.Event, known)
	}
	take := func(all ...sandbox.Event) {
		for _, e := range all {
			about := e.Subject == b.ID || b.Key != "" && e.Subject == b.Key
			if about && !slices.ContainsFunc(d.events, func(old ui.Entry) bool { return old.Event.ID == e.ID }) {
				d.events = append(d.events, ui.EventEntry(tx, e, known))
			}
		}
		slices.SortStableFunc(d.events, func(a, b ui.Entry) int { return b.At.Compare(a.At) })
		d.events = d.events[:min(len(d.events), mostEvents)]
		v.Show(d.events, d.p.c.env.Now())
	}
	take()
	fetch(ctx, func(ctx context.Context) ([]sandbox.Event, error) {
		return eventsOf(ctx, d.p.c.client, b)
	}, func(all []sandbox.Event, err error) {
		if err != nil {
			v.Banner().Error(d.p.c.env.Explain(err), d.again, tx.Get("sandboxes.retry"))
			return
		}
		take(all...)
	})
	follow(ctx, d.p.c.client.FollowEvents, func(e sandbox.Event) { take(e) }, func(error) {}) // without an engine the whole window says so
}

// eventsOf looks for the events of b among those of all, back to its beginning.
func eventsOf(ctx context.Context, client *control.Client, b sandbox.Sandbox) ([]sandbox.Event, error) {
	const pages = 20 // which is 2,000 events: what is older is on the page of activity
	var out []sandbox.Event
	q := sandbox.EventQuery{Since: b.StartedAt, Limit: 100}
	for range pages {
		page, err := client.Events(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			if e.Subject == b.ID || b.Key != "" && e.Subject == b.Key {
				out = append(out, e)
			}
		}
		if page.Next == "" || len(out) >= mostEvents {
			break
		}
		q.Cursor = page.Next
	}
	return out, nil
}
