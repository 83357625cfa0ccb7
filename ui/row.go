package ui

import (
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// sandbox is the item of one, with what is known of it and what can be done in
// the menu to its side.
func (t *tray) sandbox(b sandbox.Sandbox) Item {
	id := "sandbox/" + key(b)
	out := Item{ID: id, Label: Name(b) + " · " + t.stateText(b)}
	if t.lost() {
		out.Items = append(out.Items, Item{ID: id + "/lost", Label: t.tx.Get("tray.lost.why"), Disabled: true})
	} else {
		for _, line := range t.facts(b) {
			out.Items = append(out.Items, Item{ID: id + "/" + line.about, Label: line.text, Disabled: true})
		}
	}
	out.Items = append(out.Items, Item{ID: id + "/separator", Separator: true})
	doing, busy := t.state.Doing[b.ID]
	button := func(v Verb, text string, can bool, args ...string) {
		label := t.tx.Get(text, args...)
		if busy && doing == v {
			label = t.tx.Get("tray.doing", "action", label)
		}
		out.Items = append(out.Items, Item{ID: id + "/" + string(v), Label: label, Disabled: !can || busy && v != Copy && v != Terminal, Action: Action{Verb: v, Subject: b.ID}})
	}
	there := b.ID != "" && !t.lost()
	usable := there && b.State != sandbox.Terminating
	if asleep(b) {
		button(Resume, "tray.resume", usable && b.State == sandbox.Suspended && !b.Orphan)
	} else {
		button(Suspend, "tray.suspend", usable && b.State == sandbox.Running && !b.Orphan)
	}
	button(Terminal, "tray.terminal", usable && !b.Orphan)
	button(Copy, "tray.copy", b.ID != "")
	if by := LaterEnd(b).Sub(b.EndsAt); usable && by >= time.Minute { // where it can't be, there is nothing to say of it
		button(Extend, "tray.extend", true, "span", Span(t.tx, by))
	}
	button(Kill, "tray.kill", usable)
	return out
}

// LaterEnd is when b ends once it is extended: an hour later, or as late as it
// can. Where it can't be, it is when b ends anyway.
func LaterEnd(b sandbox.Sandbox) time.Time {
	later := b.EndsAt.Add(time.Hour)
	switch {
	case b.Orphan || b.EndsAt.IsZero() || !b.Extendable.After(b.EndsAt):
		return b.EndsAt
	case later.After(b.Extendable):
		return b.Extendable
	}
	return later
}

// stateText is how b is, with its age.
func (t *tray) stateText(b sandbox.Sandbox) string {
	if t.lost() {
		return t.tx.Get("tray.lost.state")
	}
	state := strings.ReplaceAll(strings.ToLower(string(b.State)), "_", "-")
	if b.State == sandbox.Running && b.Running > 0 {
		state = "working"
	}
	text := state
	if key := "tray.state." + state; t.tx.Has(key) {
		text = t.tx.Get(key)
	}
	if b.State == sandbox.Suspended || b.StartedAt.IsZero() {
		return text
	}
	return text + " · " + t.told(Age(t.tx, b.StartedAt, t.now))
}

// A fact is a line about a sandbox.
type fact struct{ about, text string }

func (t *tray) facts(b sandbox.Sandbox) (out []fact) {
	add := func(about, text string) { out = append(out, fact{about, text}) }
	place := t.tx.Get("tray.place.aws", "profile", printable(b.Profile))
	if b.Profile == sandbox.ProfileLocal {
		place = t.tx.Get("tray.place.local")
	}
	if b.Orphan {
		place += ", " + t.tx.Get("tray.orphan")
	}
	if !b.StartedAt.IsZero() {
		place += ", " + t.tx.Get("tray.age", "span", t.told(Age(t.tx, b.StartedAt, t.now)))
	}
	add("place", place)
	if text := t.sleepText(b); text != "" {
		add("sleep", text)
	}
	if !b.EndsAt.IsZero() {
		add("end", t.tx.Get("tray.ends", "span", t.told(Countdown(t.tx, b.EndsAt, t.now))))
	}
	cost := CostNow(b, t.state.Snapshot.At, t.now)
	if b.State == sandbox.Running && b.PerHour > 0 {
		t.until = sooner(t.until, t.now.Add(time.Minute))
	}
	switch {
	case cost <= 0:
	case b.Profile == sandbox.ProfileLocal:
		add("cost", t.tx.Get("tray.cost.local", "amount", Money(t.tx, cost)))
	default:
		add("cost", t.tx.Get("tray.cost", "amount", Money(t.tx, cost)))
	}
	return out
}

// sleepText says when b goes to sleep, or what keeps it from that.
func (t *tray) sleepText(b sandbox.Sandbox) string {
	switch {
	case b.Orphan:
		return ""
	case b.State == sandbox.Suspended:
		return t.tx.Get("tray.sleeps.wakes")
	case b.State != sandbox.Running:
		return ""
	case b.Running > 0:
		return t.busyText(b)
	case b.Idle == 0:
		return t.tx.Get("tray.sleeps.never")
	case b.UsedAt.IsZero():
		return ""
	}
	return t.tx.Get("tray.sleeps", "span", t.told(Countdown(t.tx, b.UsedAt.Add(b.Idle), t.now)))
}

// busyText tells of the calls in b, and of their silence once it is worth
// telling: a cloud may suspend b in the middle of them.
func (t *tray) busyText(b sandbox.Sandbox) string {
	text := t.tx.Get("tray.busy", "calls", count(t.tx, b.Running, "tray.count.call"))
	if b.UsedAt.IsZero() {
		return text
	}
	silence, soon := b.Silence(t.now)
	span, until := Age(t.tx, b.UsedAt, t.now)
	t.until = sooner(t.until, until)
	switch {
	case soon:
		return t.tx.Get("tray.silent.soon", "span", span)
	case silence >= stepOf(0):
		return text + ". " + t.tx.Get("tray.silent", "span", span)
	}
	if b.Idle > 0 {
		t.until = sooner(t.until, b.UsedAt.Add(b.Idle/2+1))
	}
	return text
}
