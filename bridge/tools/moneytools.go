package tools

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

type templatesOut struct {
	Templates []template `json:"templates"`
}

// A template is an image in a list.
type template struct {
	Name     string   `json:"name"`
	ARN      string   `json:"arn"`
	Version  *string  `json:"version"`
	Versions []string `json:"versions"`
	SizeMiB  *int     `json:"size_mib"`
	State    *string  `json:"state"`
	Default  bool     `json:"default"`
	Used     int      `json:"used"`
	PerHour  *money   `json:"per_hour"`
	Why      string   `json:"why"`
}

// listTemplates leaves the order to the engine, which knows what is used.
func (s *set) listTemplates(ctx context.Context, tr *trace, _ none) (templatesOut, error) {
	all, err := s.Engine.Templates(ctx, s.Spec.Profile)
	if err != nil {
		return templatesOut{}, err
	}
	var out templatesOut
	for _, t := range all {
		out.Templates = append(out.Templates, template{
			Name: t.Name, ARN: t.ARN, Version: orNull(t.Version), Versions: t.Versions, SizeMiB: countOrNull(t.SizeMiB), State: orNull(t.State),
			Default: t.Default, Used: t.Used, PerHour: moneyOrNull(t.PerHour), Why: s.reasons(t.Why),
		})
	}
	tr.add(slog.Int("templates", len(out.Templates)))
	return out, nil
}

// reasons are why a template stands where it does, in a line.
func (s *set) reasons(keys []string) string {
	var all []string
	for _, k := range keys {
		if key := "template.why." + k; s.Texts.Has(key) {
			all = append(all, s.Texts.Get(key))
		}
	}
	if len(all) == 0 {
		return s.Texts.Get("template.why.none")
	}
	return strings.Join(all, "; ")
}

type quoteIn struct {
	Template *string  `json:"template"`
	Hours    *float64 `json:"hours" min:"0.02" max:"8"`
	Idle     *int     `json:"idle_seconds" min:"0" max:"28799"`
}

func (quoteIn) sizes() []slog.Attr { return nil }

type quoteOut struct {
	Profile   string   `json:"profile"`
	Region    *string  `json:"region"`
	Template  string   `json:"template"`
	Version   string   `json:"template_version"`
	SizeMiB   *int     `json:"size_mib"`
	Hours     float64  `json:"hours"`
	Idle      int      `json:"idle_seconds"`
	Local     bool     `json:"local"`
	Priced    bool     `json:"priced"`
	Hold      money    `json:"hold"`
	Expected  money    `json:"expected"`
	Would     *money   `json:"would"`
	Fits      bool     `json:"fits"`
	LimitedBy *string  `json:"limited_by"`
	Longest   *float64 `json:"longest_hours"`
	Hint      *string  `json:"hint"`
	Prices    *string  `json:"prices_version"`
	Sourced   *string  `json:"prices_day"`
}

func (s *set) quote(ctx context.Context, _ *trace, in quoteIn) (quoteOut, error) {
	spec, err := s.specOf(in.Template, nil, in.Hours, in.Idle)
	if err != nil {
		return quoteOut{}, err
	}
	q, err := s.Engine.Quote(ctx, spec)
	if err != nil {
		return quoteOut{}, err
	}
	out := quoteOut{
		Profile: q.Profile, Region: orNull(q.Region), Template: q.Template, Version: q.Version, SizeMiB: countOrNull(q.SizeMiB),
		Hours: hours(q.Life), Idle: int(q.Idle), Local: q.Local, Priced: !q.Unpriced, Hold: moneyOf(q.Hold), Expected: moneyOf(q.Expected),
		Fits: q.Fits, LimitedBy: orNull(q.Level), Longest: new(hours(q.Longest)), Prices: orNull(q.Prices), Sourced: orNull(q.Sourced),
	}
	if q.Local {
		out.Would, out.Hold, out.Expected = new(moneyOf(q.Hold)), moneyOf(0), moneyOf(0)
	}
	if key := "quote.hint." + q.Hint; s.Texts.Has(key) {
		out.Hint = new(s.Texts.Get(key))
	}
	return out, nil
}

type balanceOut struct {
	Grant     grantOut    `json:"grant"`
	Budgets   []budgetOut `json:"budgets"`
	Left      *money      `json:"left"`
	Running   int         `json:"running"`
	PerHour   money       `json:"per_hour"`
	Longest   *float64    `json:"longest_hours"`
	RunsOutAt *string     `json:"runs_out_at"`
	At        string      `json:"at"`
}

type grantOut struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Scopes        []string `json:"scopes"`
	MaxHours      *float64 `json:"max_hours"`
	MaxConcurrent *int     `json:"max_concurrent"`
	Templates     []string `json:"templates"`
	Profile       *string  `json:"profile"`
	ExpiresAt     *string  `json:"expires_at"`
}

type budgetOut struct {
	Level     string  `json:"level"`
	Owner     string  `json:"owner"`
	Limit     *money  `json:"limit"`
	Spent     *money  `json:"spent"`
	Held      *money  `json:"held"`
	Left      *money  `json:"left"`
	Period    string  `json:"period"`
	Since     *string `json:"since"`
	OverLimit bool    `json:"over_limit"`
}

func (s *set) getBalance(ctx context.Context, _ *trace, _ none) (balanceOut, error) {
	b, err := s.Engine.Balance(ctx, control.BalanceQuery{Profile: s.Spec.Profile, Template: s.Spec.Template})
	if err != nil {
		return balanceOut{}, err
	}
	g := b.Grant
	out := balanceOut{
		Grant: grantOut{
			ID: g.ID, Name: g.Name, MaxConcurrent: countOrNull(g.MaxConcurrent), Templates: g.Templates,
			Profile: orNull(g.Profile), ExpiresAt: stampOrNull(g.ExpiresAt),
		},
		Left: limitOf(b.Left), Running: b.Running, PerHour: moneyOf(b.PerHour), RunsOutAt: stampOrNull(b.RunsOutAt), At: stamp(b.At),
	}
	for _, scope := range g.Scopes {
		out.Grant.Scopes = append(out.Grant.Scopes, string(scope))
	}
	if g.MaxHours != 0 {
		out.Grant.MaxHours = &g.MaxHours
	}
	if b.Longest != nil {
		out.Longest = new(hours(*b.Longest))
	}
	for _, a := range b.Budgets {
		budget := budgetOut{
			Level: string(a.Level), Owner: a.Owner, Left: limitOf(a.Left()), Period: string(a.Period), Since: stampOrNull(a.Since), OverLimit: a.OverLimit,
		}
		if !a.LeftOnly {
			budget.Limit, budget.Spent, budget.Held = limitOf(a.Limit), new(moneyOf(a.Spent)), new(moneyOf(a.Held))
		}
		out.Budgets = append(out.Budgets, budget)
	}
	return out, nil
}

type eventsIn struct {
	Limit  int        `json:"limit" default:"20" min:"1" max:"100"`
	Since  *time.Time `json:"since"`
	Cursor *string    `json:"cursor"`
}

func (eventsIn) sizes() []slog.Attr { return nil }

type eventsOut struct {
	Events []eventOut `json:"events"`
	Next   *string    `json:"next_cursor"`
}

func (s *set) getEvents(ctx context.Context, tr *trace, in eventsIn) (eventsOut, error) {
	q := sandbox.EventQuery{Limit: in.Limit}
	if in.Since != nil {
		q.Since = *in.Since
	}
	if in.Cursor != nil {
		q.Cursor = *in.Cursor
	}
	page, err := s.Engine.Events(ctx, q)
	if err != nil {
		return eventsOut{}, err
	}
	out := eventsOut{Events: s.events(page.Events), Next: orNull(page.Next)}
	tr.add(slog.Int("events", len(out.Events)))
	return out, nil
}
