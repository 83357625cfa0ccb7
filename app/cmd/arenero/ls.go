package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/sandbox"
)

type lsCommand struct {
	asJSON
	atProfile
	All   bool `short:"a"`
	Quiet bool `short:"q"`
}

// Run is "arenero ls".
func (c *lsCommand) Run() error {
	ctx, stop := interruptible()
	defer stop()
	all, failed, err := c.list(ctx)
	if err != nil {
		return err
	}
	if err := c.print(all); err != nil {
		return err
	}
	return failed
}

// lsWithin is how long a profile may take to say what it has, where there are
// others.
const lsWithin = 5 * time.Second

// list is what there is: the clouds of all profiles as they answer now, others as
// the engine has last seen them. failed is why a cloud did not answer, of those
// that were asked for by name, or else of all.
func (c *lsCommand) list(ctx context.Context) (all []sandbox.Sandbox, failed, err error) {
	client, err := look()
	if err != nil {
		return nil, nil, err
	}
	profiles := []sandbox.Profile{c.profile()}
	if c.Profile == "" {
		profiles = profilesThere()
	}
	errs := make([]error, len(profiles))
	var wg sync.WaitGroup
	for i, p := range profiles { // at once: one that is slow is not to keep the others
		wg.Go(func() {
			each := ctx
			if len(profiles) > 1 { // whoever asks for one waits for it
				var cancel context.CancelFunc
				each, cancel = context.WithTimeout(ctx, lsWithin)
				defer cancel()
			}
			if _, errs[i] = client.List(each, sandbox.ListRequest{Profile: p, Ended: c.All}); errs[i] != nil && each.Err() != nil && ctx.Err() == nil {
				errs[i] = &sandbox.Error{
					Code: sandbox.Timeout, Retryable: true, Details: map[string]any{"profile": p.Name},
					Msg: say("cli.ls.slow", "profile", p.Name, "time", span(lsWithin)), Hint: say("cli.ls.slow.do", "profile", p.Name),
				}
			}
		})
	}
	wg.Wait()
	snap, err := snapshot(ctx, client)
	if err != nil {
		return nil, nil, err
	}
	for i, e := range errs {
		if e == nil {
			continue
		}
		if failed != nil {
			tell(failed, c.JSON)
		}
		failed = e
		if len(profiles) > 1 {
			failed = ofProfile(profiles[i].Name, e)
		}
	}
	for _, b := range snap.Sandboxes {
		if b.State.Alive() || c.All {
			all = append(all, b)
		}
	}
	return all, failed, nil
}

// profilesThere are this computer, and the profiles of the owner.
func profilesThere() []sandbox.Profile {
	out := []sandbox.Profile{{Name: sandbox.ProfileLocal}}
	known, err := app.OpenProfiles()
	if err != nil {
		return out
	}
	all, _, err := known.All()
	if err != nil { // the engine says so
		return append(out, sandbox.Profile{})
	}
	for _, p := range all {
		out = append(out, sandbox.Profile{Name: p.Name})
	}
	return out
}

// ofProfile is err with the profile that it is about.
func ofProfile(name string, err error) error {
	e := *sandbox.ToError(err)
	if !strings.Contains(e.Msg, name) {
		e.Msg = name + ": " + e.Msg
	}
	return &e
}

func (c *lsCommand) print(all []sandbox.Sandbox) error {
	now := time.Now()
	switch {
	case c.JSON:
		out := []listed{}
		for _, b := range all {
			if b.ID != "" {
				out = append(out, listed{summaryOf(b, now), spendingOf(b)})
			}
		}
		return writeJSON(os.Stdout, out)
	case c.Quiet:
		var ids []string
		for _, b := range all {
			if b.ID != "" {
				ids = append(ids, b.ID+"\n")
			}
		}
		_, err := fmt.Print(strings.Join(ids, ""))
		return err
	case len(all) == 0:
		fmt.Fprintln(os.Stderr, say("cli.ls.none"))
		return nil
	}
	return writeTable(os.Stdout, table(all, now))
}

const columnProfile = 4

// brief is the name of an app, which says it of itself, as far as a row has room.
func brief(host string) string {
	const most = 32
	if r := []rune(host); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return host
}

// table is a list for people. A column that says nothing is left out.
func table(all []sandbox.Sandbox, now time.Time) [][]string {
	rows := [][]string{append(strings.Split(say("cli.ls.columns"), "|"), strings.Split(say("cli.ls.money"), "|")...)}
	for _, b := range all {
		row := []string{cmp.Or(b.ID, "-"), b.Name, stateText(b), brief(b.Host), b.Profile, "-", "-", "-", "", "", ""}
		if b.Orphan {
			row[3] = say("cli.ls.not-ours")
		}
		if !b.StartedAt.IsZero() {
			row[5] = span(now.Sub(b.StartedAt))
		}
		if d, ok := idleOf(b, now); ok {
			row[6] = span(d)
		}
		if d, ok := lifeOf(b, now); ok {
			row[7] = span(d)
		}
		if !b.State.Alive() {
			row[8] = ending(b)
		}
		if b.Profile != sandbox.ProfileLocal && b.Cost.Total > 0 {
			row[9] = usd(b.Cost.Total)
		}
		if b.Hold > 0 {
			row[10] = usd(b.Hold)
		}
		rows = append(rows, row)
	}
	for i := len(rows[0]) - 1; i > 0; i-- {
		boring := i == columnProfile
		for _, row := range rows[1:] {
			boring = boring && row[i] == sandbox.ProfileLocal
		}
		if boring || !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[i] != "" }) {
			for j := range rows {
				rows[j] = slices.Delete(rows[j], i, i+1)
			}
		}
	}
	for _, row := range rows {
		for i := range row {
			row[i] = cmp.Or(row[i], "-")
		}
	}
	return rows
}
