package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

type eventsCommand struct {
	asJSON
	Since  moment   `placeholder:"TIME"`
	Limit  int      `short:"n" default:"20" placeholder:"N"`
	Token  string   `placeholder:"NAME"`
	Kinds  []string `name:"kind" placeholder:"KIND"`
	Follow bool     `short:"f"`
}

const (
	maxEvents    = 10_000 // that are shown at once
	eventsAtOnce = 100    // of one question
)

// Run is "arenero events".
func (c *eventsCommand) Run() error {
	if c.Limit < 0 || c.Limit > maxEvents {
		return wrong("cli.events.limit", "most", fmt.Sprint(maxEvents))
	}
	for i, k := range c.Kinds {
		c.Kinds[i] = strings.ToLower(strings.TrimSpace(k))
		if !slices.ContainsFunc(eventKinds(), func(known sandbox.EventKind) bool { return isKind(known, c.Kinds[i]) }) {
			return wrong("cli.events.kind", "kind", printable(k), "known", strings.Join(kindNames(), ", "))
		}
	}
	return withMoney(func(ctx context.Context, client *control.Client) error {
		e := &eventsPrinter{c: c, seen: map[string]bool{}}
		q := sandbox.EventQuery{Limit: eventsAtOnce}
		if c.Since.given {
			q.Since = c.Since.ago(time.Now(), time.Local)
		}
		if c.Token != "" {
			t, err := pastTokenOf(ctx, client, c.Token)
			if err != nil {
				return err
			}
			q.Grant, e.grant = t.Grant.ID, t.Grant.ID
		}
		names, err := grantNames(ctx, client)
		if err != nil {
			return err
		}
		e.names = names
		if !c.Follow {
			return e.past(ctx, client, q)
		}
		err = e.follow(ctx, client, q)
		if ctx.Err() != nil {
			return nil // Ctrl-C is how this ends
		}
		return err
	})
}

// An eventsPrinter prints events, each once.
type eventsPrinter struct {
	c     *eventsCommand
	grant string            // whose they are to be; "" is anybody
	names map[string]string // of grants
	seen  map[string]bool
}

// past prints the last events, the newest at the end.
func (p *eventsPrinter) past(ctx context.Context, client *control.Client, q sandbox.EventQuery) error {
	var found []sandbox.Event
	for len(found) < p.c.Limit {
		page, err := client.Events(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			if p.wanted(e) && len(found) < p.c.Limit {
				found = append(found, e)
			}
		}
		if page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	for _, e := range slices.Backward(found) {
		if err := p.print(e); err != nil {
			return err
		}
	}
	if len(found) == 0 && !p.c.JSON && !p.c.Follow {
		fmt.Fprintln(os.Stderr, say("cli.events.none"))
	}
	return nil
}

// settling is how long it takes at the most until the engine tells what comes.
const settling = 2 * time.Second

// follow prints the last events and those that come, until ctx is done. When it
// listens for sure it looks back once more, so that none is missed in between.
func (p *eventsPrinter) follow(ctx context.Context, client *control.Client, q sandbox.EventQuery) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	begun := time.Now()
	came, ended := make(chan sandbox.Event), make(chan error, 1)
	go func() {
		ended <- client.FollowEvents(ctx, func(e sandbox.Event) error {
			select {
			case came <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	looked := make(chan error, 1)
	go func() { looked <- p.past(ctx, client, q) }()
	var early []sandbox.Event
	for looking := true; looking; {
		select {
		case e := <-came:
			early = append(early, e)
		case err := <-looked:
			if err != nil {
				return err
			}
			looking = false
		case err := <-ended:
			return err
		}
	}
	for _, e := range early {
		if err := p.printNew(e); err != nil {
			return err
		}
	}
	settled := time.After(settling)
	for {
		select {
		case e := <-came:
			if err := p.printNew(e); err != nil {
				return err
			}
		case <-settled:
			q.Since = begun
			page, err := client.Events(ctx, q)
			if err != nil {
				return err
			}
			for _, e := range slices.Backward(page.Events) {
				if err := p.printNew(e); err != nil {
					return err
				}
			}
		case err := <-ended:
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
	}
}

func (p *eventsPrinter) printNew(e sandbox.Event) error {
	if p.seen[e.ID] || p.grant != "" && e.Grant != p.grant || !p.wanted(e) {
		return nil
	}
	return p.print(e)
}

// wanted reports whether an event is of a kind that was asked for.
func (p *eventsPrinter) wanted(e sandbox.Event) bool {
	return len(p.c.Kinds) == 0 || slices.ContainsFunc(p.c.Kinds, func(k string) bool { return isKind(e.Kind, k) })
}

// isKind reports whether a kind is the one that a name stands for, or one of
// those that its first word does.
func isKind(kind sandbox.EventKind, name string) bool {
	return string(kind) == name || strings.HasPrefix(string(kind), name+".")
}

func (p *eventsPrinter) print(e sandbox.Event) error {
	p.seen[e.ID] = true
	if p.c.JSON {
		return writeJSON(os.Stdout, e)
	}
	if _, ok := p.names[e.Grant]; !ok { // it was made meanwhile
		if name, ok := e.Data["name"].(string); ok && strings.HasPrefix(string(e.Kind), "token.") {
			p.names[e.Grant] = name
		}
	}
	_, err := fmt.Println(eventLine(e, p.names))
	return err
}
