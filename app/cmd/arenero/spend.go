package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

type spendCommand struct {
	asJSON
	By    string  `enum:"day,host,profile,template,token" default:"day" placeholder:"WHAT"`
	Since moment  `placeholder:"TIME"`
	Until moment  `placeholder:"TIME"`
	Token string  `placeholder:"NAME"`
	Bill  *string `placeholder:"PROFILE"`
	Yes   bool    `short:"y"`
}

const usualSpend = 30 * 24 * time.Hour // that is looked back

// Run is "arenero spend".
func (c *spendCommand) Run() error {
	now := time.Now()
	since := now.Add(-usualSpend).UTC().Truncate(24 * time.Hour)
	if c.Since.given { // days are those of UTC, as the budgets have them
		since = c.Since.ago(now, time.UTC)
	}
	var until time.Time
	if c.Until.given {
		if until = c.Until.agoWhole(now, time.UTC); !until.After(since) {
			return wrong("cli.spend.order")
		}
	}
	return withMoney(func(ctx context.Context, client *control.Client) error {
		if c.Bill != nil {
			if c.Token != "" {
				return wrong("cli.spend.bill.token")
			}
			return c.bill(ctx, client, since, until)
		}
		r, err := c.report(ctx, client, since, until)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(os.Stdout, r)
		}
		return r.print(os.Stdout, os.Stderr)
	})
}

// A spendReport is what was spent, for programs.
type spendReport struct {
	By       sandbox.SpendBy  `json:"by"`
	Since    time.Time        `json:"since"`
	Until    time.Time        `json:"until,omitzero"`
	Rows     []spendRow       `json:"rows"`
	Total    sandbox.SpendRow `json:"total"`
	Held     sandbox.Micro    `json:"held_micro"` // now, by what runs
	Unpriced []unpricedRow    `json:"unpriced"`
}

// A spendRow is what was spent under one heading, and the name of that where it
// is an id.
type spendRow struct {
	sandbox.SpendRow
	Name string `json:"name,omitempty"`
}

// An unpricedRow is a sandbox that no price is known for.
type unpricedRow struct {
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	Profile  string    `json:"profile"`
	Region   string    `json:"region,omitempty"`
	Template string    `json:"template,omitempty"`
	SizeMiB  int       `json:"size_mib,omitempty"`
	AskedAt  time.Time `json:"asked_at"`
}

func (c *spendCommand) report(ctx context.Context, client *control.Client, since, until time.Time) (spendReport, error) {
	r := spendReport{By: sandbox.SpendBy(c.By), Since: since, Until: until, Rows: []spendRow{}, Unpriced: []unpricedRow{}}
	q := sandbox.SpendQuery{By: r.By, Since: since, Until: until}
	if c.Token != "" {
		t, err := pastTokenOf(ctx, client, c.Token)
		if err != nil {
			return r, err
		}
		q.Grant = t.Grant.ID
	}
	rows, err := client.Spend(ctx, q)
	if err != nil {
		return r, err
	}
	names := map[string]string{}
	if r.By == sandbox.SpendByToken {
		if names, err = grantNames(ctx, client); err != nil {
			return r, err
		}
	}
	for _, row := range rows {
		r.Rows = append(r.Rows, spendRow{row, names[row.Key]})
		r.Total = plus(r.Total, row)
	}
	if r.Held, err = heldNow(ctx, client, q.Grant); err != nil {
		return r, err
	}
	if r.Total.Unpriced > 0 {
		r.Unpriced, err = unpriced(ctx, client, q)
	}
	return r, err
}

// plus adds up two rows.
func plus(a, b sandbox.SpendRow) sandbox.SpendRow {
	return sandbox.SpendRow{
		Cost: sandbox.Cost{
			Compute: a.Cost.Compute.Plus(b.Cost.Compute), Launch: a.Cost.Launch.Plus(b.Cost.Launch), Cycles: a.Cost.Cycles.Plus(b.Cost.Cycles),
			Storage: a.Cost.Storage.Plus(b.Cost.Storage), Total: a.Cost.Total.Plus(b.Cost.Total),
		},
		Held: a.Held.Plus(b.Held), Would: a.Would.Plus(b.Would), Sandboxes: a.Sandboxes + b.Sandboxes, Unpriced: a.Unpriced + b.Unpriced, Seconds: a.Seconds + b.Seconds,
	}
}

// heldNow is what is held at this moment, of one grant or of all.
func heldNow(ctx context.Context, client *control.Client, grantID string) (sandbox.Micro, error) {
	which := sandbox.Budget{Level: sandbox.LevelGlobal}
	if grantID != "" {
		which = sandbox.Budget{Level: sandbox.LevelGrant, Owner: grantID}
	}
	b, err := budgetOf(ctx, client, which)
	return b.Held, err
}

const (
	maxOrders   = 1000 // of one question
	maxUnpriced = 1000 // that are named
)

// unpriced finds the sandboxes that no price was known for.
func unpriced(ctx context.Context, client *control.Client, q sandbox.SpendQuery) ([]unpricedRow, error) {
	out := []unpricedRow{}
	ask := sandbox.OrderQuery{Grant: q.Grant, Limit: maxOrders}
	for {
		page, err := client.Orders(ctx, ask)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Orders {
			ended := !o.State.Open() && o.EndedAt.Before(q.Since) || !q.Until.IsZero() && !o.AskedAt.Before(q.Until)
			if o.Unpriced && o.State != sandbox.OrderReleased && !ended {
				out = append(out, unpricedRow{o.ID, o.Name, o.Profile, o.Region, o.Template, o.SizeMiB, o.AskedAt})
			}
			// No sandbox lives longer than a day, so that the older ones have ended before.
			if len(out) == maxUnpriced || o.AskedAt.Before(q.Since.Add(-24*time.Hour)) {
				return out, nil
			}
		}
		if page.Next == "" {
			return out, nil
		}
		ask.Cursor = page.Next
	}
}

// lines are a report for people.
func (r spendReport) lines(s style) []string {
	var bars []chartRow
	for _, row := range r.Rows {
		note := count(row.Sandboxes, "sandbox")
		if row.Held > 0 {
			note += say("cli.spend.row.held", "held", usd(row.Held))
		}
		if row.Would > 0 {
			note += say("cli.spend.row.would", "would", usd(row.Would))
		}
		bars = append(bars, chartRow{r.label(row), row.Cost.Total, note})
	}
	out := s.chart(bars)
	if len(out) > 0 {
		out = append(out, "")
	}
	total := r.Total
	out = append(out, say("cli.spend.total", "amount", usd(total.Cost.Total), "sandboxes", count(total.Sandboxes, "sandbox"), "time", span(time.Duration(total.Seconds)*time.Second)))
	if total.Cost.Total > 0 {
		out = append(out, say("cli.spend.parts", "compute", dollars(total.Cost.Compute), "launch", dollars(total.Cost.Launch),
			"cycles", dollars(total.Cost.Cycles), "storage", dollars(total.Cost.Storage)))
	}
	out = append(out, say("cli.spend.held", "held", usd(r.Held)))
	if total.Would > 0 {
		out = append(out, say("cli.spend.would", "would", usd(total.Would)))
	}
	if total.Unpriced > 0 {
		out = append(out, say("cli.spend.unpriced", "sandboxes", count(total.Unpriced, "sandbox")))
		for _, u := range r.Unpriced[:min(len(r.Unpriced), unpricedLines)] {
			out = append(out, "  "+u.text())
		}
		if more := total.Unpriced - unpricedLines; more > 0 {
			out = append(out, "  "+say("cli.spend.more", "n", strconv.Itoa(more)))
		}
	}
	return out
}

const unpricedLines = 10

func (u unpricedRow) text() string {
	name := u.ID
	if u.Name != "" {
		name = u.Name + " (" + u.ID + ")"
	}
	text := name + ": " + placeText(u.Profile)
	for _, more := range []string{u.Region, u.Template[strings.LastIndexByte(u.Template, ':')+1:]} {
		if more != "" {
			text += ", " + more
		}
	}
	if u.SizeMiB > 0 {
		text += ", " + strconv.Itoa(u.SizeMiB) + " MiB"
	}
	return printable(text)
}

// label is what a row is called.
func (r spendReport) label(row spendRow) string {
	switch {
	case row.Name != "":
		return row.Name
	case row.Key == "" && r.By == sandbox.SpendByHost:
		return say("cli.spend.no-host")
	case r.By == sandbox.SpendByTemplate:
		return row.Key[strings.LastIndexByte(row.Key, ':')+1:]
	}
	return row.Key
}

func (r spendReport) print(to, aside *os.File) error {
	for _, line := range r.lines(styleOf(to)) {
		if _, err := fmt.Fprintln(to, line); err != nil {
			return err
		}
	}
	fmt.Fprintln(aside, say("cli.spend.not-counted"))
	return nil
}

// A billRow is a day as AWS billed it and as we have it, for programs.
type billRow struct {
	sandbox.BillDay
	Difference sandbox.Micro `json:"difference_micro"` // billed less ours
}

// bill compares with what AWS billed.
func (c *spendCommand) bill(ctx context.Context, client *control.Client, since, until time.Time) error {
	if err := agree(ctx, c.Yes, "cli.bill.ask", "profile", *c.Bill, "price", usd(billQuestion)); err != nil {
		return err
	}
	p := newProgress(say("cli.progress.asking"))
	days, err := client.Bill(ctx, control.BillQuery{Profile: *c.Bill, Since: since, Until: until})
	p.end()
	if err != nil {
		return err
	}
	rows := []billRow{}
	for _, d := range days {
		rows = append(rows, billRow{d, d.Billed - d.Ours})
	}
	if c.JSON {
		return writeJSON(os.Stdout, rows)
	}
	return writeTable(os.Stdout, billTable(rows))
}

const billQuestion sandbox.Micro = 10_000 // what Cost Explorer takes

// billTable is the comparison for people.
func billTable(rows []billRow) [][]string {
	out := [][]string{strings.Split(say("cli.bill.columns"), "|")}
	var total billRow
	for _, r := range rows {
		out = append(out, []string{r.Day, dollars(r.Billed), dollars(r.Ours), dollars(r.Difference)})
		total.Billed, total.Ours = total.Billed.Plus(r.Billed), total.Ours.Plus(r.Ours)
	}
	return append(out, []string{say("cli.bill.total"), dollars(total.Billed), dollars(total.Ours), dollars(total.Billed - total.Ours)})
}
