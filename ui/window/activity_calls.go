package window

import (
	"context"
	"errors"
	"slices"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// mostFollowed is in how many sandboxes calls are followed at once.
const mostFollowed = 32

// mostEnded is of how many sandboxes that have ended calls are learnt at once.
const mostEnded = 4

// mostCalls is of how many calls it is known how they stand.
const mostCalls = 2000

// calls are those of the sandboxes that live or ended lately, as far as they are
// followed.
type calls struct {
	page    *activity
	ctx     context.Context // nil while the page is not seen
	snap    sandbox.Snapshot
	streams map[string]*stream // by id of a sandbox
	crowded bool               // not all are followed
	byID    map[string]*call
	order   []string // ids, the oldest first
}

// A stream is what tells of the calls of one sandbox. It ends when that does,
// after the last of them.
type stream struct {
	stop context.CancelFunc
	over bool
}

// A call is one of them, and where it is.
type call struct {
	ui.Call

	sandbox, host string
}

// enter begins anew: what was followed before has ended with its page.
func (c *calls) enter(ctx context.Context) {
	c.ctx, c.streams = ctx, map[string]*stream{}
	if c.byID == nil {
		c.byID = map[string]*call{}
	}
	c.see(c.snap)
}

// see follows the calls of what lives, and learns those of what ended lately.
func (c *calls) see(s sandbox.Snapshot) {
	c.snap = s
	if c.ctx == nil || c.ctx.Err() != nil {
		return
	}
	var all, ended []sandbox.Sandbox
	lives := map[string]bool{}
	for _, b := range s.Sandboxes {
		switch {
		case b.ID == "" || b.Orphan:
		case b.State.Alive():
			all = append(all, b)
			lives[b.ID] = true
		default:
			ended = append(ended, b)
		}
	}
	was := c.crowded
	if c.crowded = len(all) > mostFollowed; c.crowded {
		all = newest(all)[:mostFollowed]
	}
	wanted := map[string]bool{}
	for _, b := range all {
		wanted[b.ID] = true
		if c.streams[b.ID] == nil {
			c.follow(b.ID)
		}
	}
	open := len(wanted)
	for id, f := range c.streams {
		if !lives[id] && !f.over {
			open++
		}
	}
	slices.SortFunc(ended, func(a, b sandbox.Sandbox) int { return b.EndedAt.Compare(a.EndedAt) })
	for _, b := range ended { // what is known of each is told at once, and then the next has its turn
		wanted[b.ID] = true
		if c.streams[b.ID] == nil && open < mostFollowed+mostEnded {
			c.follow(b.ID)
			open++
		}
	}
	for id, f := range c.streams {
		if !wanted[id] && (lives[id] || f.over) {
			delete(c.streams, id)
			f.stop()
		}
	}
	for id, k := range c.byID { // of which nobody will tell the end
		if k.Runs() && !lives[k.sandbox] && c.streams[k.sandbox] == nil {
			c.over(id, k)
		}
	}
	if was != c.crowded {
		c.page.soon()
	}
}

func (c *calls) follow(id string) {
	ctx, stop := context.WithCancel(c.ctx)
	f := &stream{stop: stop}
	c.streams[id] = f
	p := c.page
	follow(ctx, func(ctx context.Context, emit func(control.CallNews) error) error {
		return p.c.client.FollowCalls(ctx, id, emit)
	}, c.hear, func(err error) {
		stop()
		f.over = true
		for call, k := range c.byID {
			if k.sandbox == id && k.Runs() && err == nil {
				c.over(call, k)
			}
		}
		switch sandbox.CodeOf(err) {
		case "", sandbox.NotFound, sandbox.Gone, sandbox.Canceled: // it has ended
			c.see(c.snap)
			return
		}
		if errors.Is(err, context.Canceled) {
			return
		}
		name := ui.Name(p.known.Sandboxes[id])
		p.view.Banner().Error(p.c.env.Texts.Get("activity.calls.lost", "sandbox", name, "why", p.c.env.Explain(err)), func() {
			p.view.Banner().Clear()
			delete(c.streams, id)
			c.see(c.snap)
		}, p.c.env.Texts.Get("activity.retry"))
	})
}

// hear takes in news of a call.
func (c *calls) hear(n control.CallNews) {
	k := c.byID[n.ID]
	first := n.Kind != ""
	switch {
	case k == nil && !first:
		return // its beginning is not known any more
	case k == nil:
		k = &call{sandbox: n.Sandbox, host: n.Host}
		k.Kind, k.Text, k.Began = n.Kind, n.Text, n.StartedAt
		c.byID[n.ID] = k
		c.order = append(c.order, n.ID)
		c.forget()
	case first: // all comes again, from another engine
		k.Output, k.Cut = "", false
	}
	if len(n.Data) > 0 || n.Cut {
		k.Say(n.Data, n.Cut)
	}
	if n.Exit != nil {
		k.Code, k.Timeout, k.Raised = new(n.Exit.Code), n.Exit.TimedOut, n.Raised
	}
	if n.Failed != nil {
		k.Failed = n.Failed
	}
	if !n.EndedAt.IsZero() {
		k.Ended = n.EndedAt
	}
	c.put(n.ID, k)
}

// over takes in that a call has ended, though it is not known how.
func (c *calls) over(id string, k *call) {
	k.Ended = c.snap.At
	if k.Ended.Before(k.Began) {
		k.Ended = k.Began
	}
	c.put(id, k)
}

// put has the page show a call as it is now.
func (c *calls) put(id string, k *call) {
	c.page.log.Put(c.entry(id, k))
	c.page.soon()
}

// entry is what there is to say of a call.
func (c *calls) entry(id string, k *call) ui.Entry {
	p := c.page
	b, ok := p.known.Sandboxes[k.sandbox]
	if !ok {
		b = sandbox.Sandbox{ID: k.sandbox}
	}
	said := k.Call // as it is now: an entry does not change
	return ui.CallEntry(p.c.env.Texts, id, b, k.host, said, p.known)
}

// forget drops the oldest calls beyond what is kept. Their entries stay.
func (c *calls) forget() {
	for len(c.order) > mostCalls {
		delete(c.byID, c.order[0])
		c.order = c.order[1:]
	}
}
