package ui

import (
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A SandboxAction is something that the user can do to a sandbox, or why not.
type SandboxAction struct {
	Verb  Verb
	Label string
	Can   bool
	Why   string // it can't be done
}

// WhyNot says why some actions can't be done, in a line; "" if all can.
func WhyNot(tx assets.Texts, all []SandboxAction) string {
	var reasons []string
	of := map[string][]string{} // labels, by reason
	for _, a := range all {
		if !a.Can {
			if of[a.Why] == nil {
				reasons = append(reasons, a.Why)
			}
			of[a.Why] = append(of[a.Why], strings.TrimSuffix(a.Label, "…"))
		}
	}
	for i, why := range reasons {
		reasons[i] = tx.Get("sandboxes.why", "action", strings.Join(of[why], ", "), "why", why)
	}
	return strings.Join(reasons, " · ")
}

// Actions are what can be done to b, in the order of their buttons. Of Suspend
// and Resume there is the one that makes sense.
func (s Sandboxes) Actions(tx assets.Texts, b sandbox.Sandbox) []SandboxAction {
	var out []SandboxAction
	add := func(v Verb, label, why string) {
		doing := s.doing(b)
		if doing == v {
			label = tx.Get("tray.doing", "action", label)
		}
		if why == "" && doing != "" && v != Copy && v != Terminal {
			why = tx.Get("sandboxes.why.busy")
		}
		out = append(out, SandboxAction{Verb: v, Label: label, Can: why == "", Why: why})
	}
	general := ""
	switch {
	case s.Lost:
		general = tx.Get("tray.lost.why")
	case b.State == sandbox.Terminated:
		general = tx.Get("sandboxes.why.ended")
	case b.State == sandbox.Terminating:
		general = tx.Get("sandboxes.why.ending")
	case b.ID == "":
		general = tx.Get("sandboxes.why.no-id")
	}
	ours := general
	if ours == "" && b.Orphan {
		ours = tx.Get("sandboxes.why.orphan")
	}
	moving := ours
	if moving == "" && (b.State == sandbox.Pending || b.State == sandbox.Creating || b.State == sandbox.InDoubt) {
		moving = tx.Get("sandboxes.why.waking")
	}
	if asleep(b) && s.doing(b) != Resume || s.doing(b) == Suspend {
		if moving == "" && b.State == sandbox.Suspending {
			moving = tx.Get("sandboxes.why.suspending")
		}
		add(Resume, tx.Get("tray.resume"), moving)
	} else {
		add(Suspend, tx.Get("tray.suspend"), moving)
	}
	add(Terminal, tx.Get("tray.terminal"), ours)
	if by := LaterEnd(b).Sub(b.EndsAt); by >= time.Minute { // where it can't be, there is nothing to say of it
		add(Extend, tx.Get("tray.extend", "span", Span(tx, by)), ours)
	}
	if b.State.Alive() && !b.Orphan && !b.EndsAt.IsZero() { // of others' it is not known, and what is over has none
		add(EndAt, tx.Get("sandboxes.end"), ours)
	}
	copied := ""
	if b.ID == "" {
		copied = tx.Get("sandboxes.why.no-id")
	}
	add(Copy, tx.Get("tray.copy"), copied)
	add(Kill, tx.Get("tray.kill"), general)
	return out
}

// ToSuspend are the ids of those that "suspend all" is about, and ToKill those
// of "kill all".
func (s Sandboxes) ToSuspend() (ids []string) {
	for _, b := range s.Snapshot.Sandboxes {
		if !s.Lost && b.ID != "" && b.State == sandbox.Running && !b.Orphan && s.doing(b) == "" {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// ToKill is described at [Sandboxes.ToSuspend].
func (s Sandboxes) ToKill() (ids []string) {
	for _, b := range s.Snapshot.Sandboxes {
		if !s.Lost && b.ID != "" && b.State.Alive() && b.State != sandbox.Terminating && s.doing(b) != Kill {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// Summary is how many there are, in a line.
func (s Sandboxes) Summary(tx assets.Texts, now time.Time) string {
	if s.Lost {
		if s.Snapshot.At.IsZero() {
			return tx.Get("tray.status.lost")
		}
		return tx.Get("sandboxes.lost", "time", Stamp(s.Snapshot.At, now))
	}
	t := &tray{state: State{Link: Linked, Snapshot: s.Snapshot}, tx: tx, now: now}
	for _, b := range s.Snapshot.Sandboxes {
		if b.State.Alive() {
			t.alive = append(t.alive, b)
		}
	}
	return t.status()
}

// KillText is what somebody agrees to who ends n sandboxes, of which the only
// one may have a name.
func KillText(tx assets.Texts, n int, name string) (title, text, verb string) {
	if n == 1 && name != "" {
		return tx.Get("sandboxes.kill.title", "sandbox", name), tx.Get("sandboxes.kill.text"), tx.Get("tray.kill")
	}
	all := count(tx, n, "tray.count.sandbox")
	return tx.Get("tray.kill-all"), tx.Get("sandboxes.kill-all.text", "sandboxes", all), tx.Get("tray.kill-all.yes", "sandboxes", all)
}

// A SandboxFact is something that is known of a sandbox.
type SandboxFact struct {
	About       string // the same for as long as it is the same fact
	Name, Value string
	Copy        bool // it is one to paste elsewhere
	Tone        Tone // "" is the usual one
}

// Facts are all that is known of b.
func (s Sandboxes) Facts(tx assets.Texts, b sandbox.Sandbox, now time.Time) (out []SandboxFact) {
	if s.Lost && !s.Snapshot.At.IsZero() {
		now = s.Snapshot.At
	}
	put := func(f SandboxFact) {
		if f.Value != "" {
			f.Name = tx.Get("sandboxes.fact." + f.About)
			out = append(out, f)
		}
	}
	add := func(about, value string) { put(SandboxFact{About: about, Value: value}) }
	add("state", s.Word(tx, b))
	if b.Running > 0 && b.State == sandbox.Running {
		t := &tray{tx: tx, now: now}
		add("calls", t.busyText(b))
	}
	if b.State == sandbox.InDoubt {
		put(SandboxFact{About: "doubt", Value: tx.Get("sandboxes.doubt"), Tone: ToneWarn})
	}
	if !b.EndedAt.IsZero() || b.State == sandbox.Terminated {
		add("ended", Stamp(b.EndedAt, now))
		add("reason", EndText(tx, b.EndReason))
		put(SandboxFact{About: "words", Value: printableTo(b.EndText, 400), Copy: true})
	}
	if m := SleepMeter(tx, b, now); m.Text != "" {
		value := m.Text
		if m.Left > 0 && b.Running == 0 { // else it says how it is
			value = tx.Get("sandboxes.in", "span", m.Text)
		}
		if b.State == sandbox.Running && b.Running == 0 && b.Idle > 0 {
			value += tx.Get("sandboxes.idle", "span", spanTo(tx, b.Idle))
		}
		put(SandboxFact{About: "sleep", Value: value, Tone: warnOnly(m.Tone)})
	}
	if m := LifeMeter(tx, b, now); m.Text != "" {
		put(SandboxFact{About: "end", Value: tx.Get("sandboxes.in", "span", m.Text) + " · " + Stamp(b.EndsAt, now), Tone: warnOnly(m.Tone)})
		if LaterEnd(b).After(b.EndsAt) {
			add("extend", Stamp(b.Extendable, now))
		}
	}
	s.money(tx, b, now, add)
	add("host", boxHost(tx, b))
	add("profile", boxPlace(tx, b))
	template := boxTemplate(b)
	if template != "" && b.Version != "" {
		template += " " + printable(b.Version)
	}
	add("template", template)
	if b.SizeMiB > 0 {
		add("size", SizeText(b.SizeMiB))
	}
	if !b.StartedAt.IsZero() {
		value := Stamp(b.StartedAt, now)
		if b.EndedAt.IsZero() {
			age, _ := Age(tx, b.StartedAt, now)
			value += " · " + tx.Get("sandboxes.ago", "span", age)
		}
		add("started", value)
	}
	if !b.UsedAt.IsZero() {
		add("used", Stamp(b.UsedAt, now))
	}
	switch {
	case b.Orphan, !b.State.Alive():
	case b.Lease == "":
		add("lease", tx.Get("sandboxes.lease.none"))
	case b.Keep:
		add("lease", tx.Get("sandboxes.lease.keep"))
	default:
		add("lease", tx.Get("sandboxes.lease.ends"))
	}
	if b.Grant != "" && b.Grant != sandbox.GrantOwner {
		put(SandboxFact{About: "grant", Value: printable(b.Grant), Copy: true})
	}
	put(SandboxFact{About: "id", Value: b.ID, Copy: true})
	put(SandboxFact{About: "key", Value: printableTo(b.Key, 300), Copy: true})
	put(SandboxFact{About: "connection", Value: printable(b.Connection), Copy: true})
	put(SandboxFact{About: "arn", Value: arn(b), Copy: true})
	return out
}

// money tells of b what it costs, and of what.
func (s Sandboxes) money(tx assets.Texts, b sandbox.Sandbox, now time.Time, add func(about, value string)) {
	cost := CostNow(b, s.Snapshot.At, now)
	switch {
	case b.Orphan:
		return
	case b.Profile == sandbox.ProfileLocal && cost > 0:
		add("cost", tx.Get("tray.cost.local", "amount", Money(tx, cost)))
		return
	case b.Profile == sandbox.ProfileLocal:
		add("cost", tx.Get("sandboxes.free"))
		return
	case unpriced(b) && cost == 0:
		add("cost", tx.Get("sandboxes.cost.unknown"))
		return
	}
	add("cost", Money(tx, cost))
	if b.Cost.Total > 0 {
		add("parts", tx.Get("sandboxes.parts", "compute", Dollars(tx, b.Cost.Compute), "launch", Dollars(tx, b.Cost.Launch),
			"cycles", Dollars(tx, b.Cost.Cycles), "storage", Dollars(tx, b.Cost.Storage)))
	}
	if b.PerHour > 0 && b.State.Alive() {
		add("per-hour", tx.Get("sandboxes.per-hour", "amount", Dollars(tx, b.PerHour)))
	}
	if b.Hold > 0 && b.State.Alive() {
		add("hold", tx.Get("sandboxes.hold", "amount", Dollars(tx, b.Hold)))
	}
}

// arn is that of the template of b, if it has one.
func arn(b sandbox.Sandbox) string {
	if boxTemplate(b) == b.Template {
		return ""
	}
	return printableTo(b.Template, 300)
}

func warnOnly(t Tone) Tone {
	if t == ToneGood {
		return ""
	}
	return t
}

// spanTo is a span that may be shorter than a minute, to the second.
func spanTo(tx assets.Texts, d time.Duration) string {
	if d < time.Minute {
		return tx.Get("sandboxes.seconds", "s", strconv.Itoa(int(d/time.Second)))
	}
	return Span(tx, d)
}

// Stamp is a moment on the clock of now: without the day, if that is today.
func Stamp(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	at = at.In(now.Location())
	if Today(at).Equal(Today(now)) {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04")
}
