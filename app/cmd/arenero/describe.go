package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A summary is a sandbox in a list, for programs. The first six are those of
// the MCP tool list_sandboxes.
type summary struct {
	SandboxID       string  `json:"sandbox_id"`
	State           string  `json:"state"`
	Template        string  `json:"template"`
	TemplateVersion string  `json:"template_version"`
	StartedAt       string  `json:"started_at"`
	Current         bool    `json:"current"`
	Name            *string `json:"name"`
	Profile         string  `json:"profile"`
	Host            *string `json:"host"` // the app that it was made for
	Idle            *int    `json:"idle"` // seconds since it was last used, as far as the engine knows
	Life            *int    `json:"life"` // seconds that it has left at the most
}

func summaryOf(b sandbox.Sandbox, now time.Time) summary {
	s := summary{
		SandboxID: b.ID, State: string(b.State), Template: b.Template, TemplateVersion: b.Version, StartedAt: stamp(b.StartedAt),
		Current: b.Current, Name: orNull(b.Name), Profile: b.Profile, Host: orNull(b.Host),
	}
	if d, ok := idleOf(b, now); ok {
		s.Idle = seconds(d)
	}
	if d, ok := lifeOf(b, now); ok {
		s.Life = seconds(d)
	}
	return s
}

// A description is all about one sandbox, for programs: what the MCP tool
// get_sandbox has, and more.
type description struct {
	summary
	IdleAfter int     `json:"idle_seconds"` // of silence, until it is suspended; 0 is never
	EndsAt    *string `json:"ends_at"`
	EndedAt   *string `json:"ended_at"`
	EndReason *string `json:"end_reason"`
	Keep      bool    `json:"keep"`
	Orphan    bool    `json:"orphan"`
	Running   int     `json:"running"`
	spending
	PerHour *sandbox.Micro `json:"per_hour_micro"` // while it runs, as it is booked; null: not known
	Grant   *string        `json:"grant"`          // id of who pays
}

// A spending is what a sandbox costs, for programs: null is not known.
type spending struct {
	Cost  *sandbox.Micro `json:"cost_micro"`  // so far
	Hold  sandbox.Micro  `json:"hold_micro"`  // for what it may still cost
	Would *sandbox.Micro `json:"would_micro"` // of one on this computer: so far, in AWS
}

func spendingOf(b sandbox.Sandbox) spending {
	s := spending{Hold: b.Hold}
	cost := &b.Cost.Total
	if b.PerHour == 0 && *cost == 0 {
		cost = nil
	}
	if b.Profile == sandbox.ProfileLocal {
		s.Cost, s.Would = new(sandbox.Micro), cost
	} else {
		s.Cost = cost
	}
	return s
}

// A listed is a sandbox in a list with what it costs, for programs.
type listed struct {
	summary
	spending
}

func describe(b sandbox.Sandbox, now time.Time) description {
	d := description{
		summary: summaryOf(b, now), IdleAfter: int(b.Idle / time.Second), EndsAt: orNull(stamp(b.EndsAt)), EndedAt: orNull(stamp(b.EndedAt)),
		EndReason: orNull(string(b.EndReason)), Keep: b.Keep, Orphan: b.Orphan, Running: b.Running,
		spending: spendingOf(b), Grant: orNull(b.Grant),
	}
	if b.PerHour > 0 {
		d.PerHour = &b.PerHour
	}
	return d
}

// details are the same for people, as lines of two columns.
func details(b sandbox.Sandbox, now time.Time) [][]string {
	rows := [][]string{{say("cli.show.id"), b.ID}}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{say("cli.show." + name), value})
		}
	}
	add("name", b.Name)
	add("state", stateText(b))
	add("template", templateText(b))
	add("runs-on", placeText(b.Profile))
	add("made-for", b.Host)
	if b.Orphan {
		add("made-by", say("cli.show.made-by.others"))
	}
	add("started", timeText(b.StartedAt, now))
	if !b.EndedAt.IsZero() {
		add("ended", timeText(b.EndedAt, now)+": "+ending(b))
		return append(rows, costs(b)...)
	}
	add("ends", timeText(b.EndsAt, now))
	switch d, ok := idleOf(b, now); {
	case b.Running > 0:
		add("in-use", count(b.Running, "call"))
	case ok:
		add("last-used", say("cli.ago", "span", span(d)))
	}
	if b.Idle > 0 {
		add("suspended", say("cli.show.suspended.after", "span", span(b.Idle)))
	}
	return append(rows, costs(b)...)
}

// costs are what there is to tell of a sandbox's costs, as lines of two columns.
func costs(b sandbox.Sandbox) (rows [][]string) {
	add := func(name string, m sandbox.Micro) {
		if m > 0 {
			rows = append(rows, []string{say("cli.show." + name), usd(m)})
		}
	}
	if b.Profile == sandbox.ProfileLocal {
		add("would", b.Cost.Total)
		return rows
	}
	add("cost", b.Cost.Total)
	add("hold", b.Hold)
	if b.State.Alive() {
		add("per-hour", b.PerHour)
	}
	return rows
}

func stateText(b sandbox.Sandbox) string {
	word := strings.ReplaceAll(strings.ToLower(string(b.State)), "_", "-")
	if key := "cli.state." + word; texts().Has(key) {
		return say(key)
	}
	return word
}

// templateText is the name of an image and its version; its ARN says no more to
// the owner of it.
func templateText(b sandbox.Sandbox) string {
	return strings.TrimSpace(b.Template[strings.LastIndexByte(b.Template, ':')+1:] + " " + b.Version)
}

func placeText(profile string) string {
	switch profile {
	case "":
		return ""
	case sandbox.ProfileLocal:
		return say("cli.place.local")
	}
	return say("cli.place.aws", "profile", profile)
}

// ending says why a sandbox ended.
func ending(b sandbox.Sandbox) string {
	if key := "cli.ending." + string(b.EndReason); texts().Has(key) {
		return say(key)
	}
	return cmp.Or(b.EndText, say("cli.ending.unknown"))
}

// idleOf is how long nobody has used b, if that is known.
func idleOf(b sandbox.Sandbox, now time.Time) (time.Duration, bool) {
	if b.Running > 0 {
		return 0, true
	}
	return max(0, now.Sub(b.UsedAt)), !b.UsedAt.IsZero() && b.State.Alive()
}

// lifeOf is how long b may still live, if that is known.
func lifeOf(b sandbox.Sandbox, now time.Time) (time.Duration, bool) {
	return max(0, b.EndsAt.Sub(now)), !b.EndsAt.IsZero() && b.State.Alive()
}

// span is a time in one or two units, as a person would say it.
func span(d time.Duration) string {
	d = max(0, d).Round(time.Second)
	switch s, m, h := int(d.Seconds()), int(d.Minutes()), int(d.Hours()); {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case h < 1:
		return fmt.Sprintf("%dm", m)
	case h < 24 && m%60 > 0:
		return fmt.Sprintf("%dh%02dm", h, m%60)
	case h < 24:
		return fmt.Sprintf("%dh", h)
	default:
		return fmt.Sprintf("%dd", h/24)
	}
}

// timeText is a moment on the clock of this computer, and how far it is.
func timeText(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	layout := time.TimeOnly
	if at := t.Local(); at.YearDay() != now.Local().YearDay() || at.Year() != now.Local().Year() {
		layout = time.DateTime
	}
	clock := t.Local().Format(layout)
	if t.After(now) {
		return clock + " (" + say("cli.in", "span", span(t.Sub(now))) + ")"
	}
	return clock + " (" + say("cli.ago", "span", span(now.Sub(t))) + ")"
}

// count is a number of things: the keys of cli.count say what they are called.
func count(n int, what string) string {
	if n == 1 {
		return say("cli.count." + what + ".one")
	}
	return say("cli.count."+what+".many", "n", strconv.Itoa(n))
}

// stamp is how JSON writes times, as the MCP tools do: ISO 8601 in UTC.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func seconds(d time.Duration) *int {
	n := int(d / time.Second)
	return &n
}
