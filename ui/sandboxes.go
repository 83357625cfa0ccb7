package ui

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// SandboxTexts is the part of assets/translation that the screen of sandboxes is
// in. It needs [Texts] and [SpendTexts] too.
const SandboxTexts = "window-sandboxes"

// A SandboxColumn is one of the list of sandboxes.
type SandboxColumn int

// The columns, in their order.
const (
	SandboxState SandboxColumn = iota
	SandboxName
	SandboxHost
	SandboxProfile
	SandboxTemplate
	SandboxAge
	SandboxSleep
	SandboxLife
	SandboxSpend
	sandboxColumns
)

// SandboxTitles are the titles of the columns.
func SandboxTitles(tx assets.Texts) []string {
	return []string{
		tx.Get("sandboxes.column.state"), tx.Get("sandboxes.column.name"), tx.Get("sandboxes.column.host"),
		tx.Get("sandboxes.column.profile"), tx.Get("sandboxes.column.template"), tx.Get("sandboxes.column.age"),
		tx.Get("sandboxes.column.sleep"), tx.Get("sandboxes.column.life"), tx.Get("sandboxes.column.spend"),
	}
}

// A Look is a state of a sandbox as a picture, which is told apart by its shape
// and not by its color alone.
type Look string

// The looks.
const (
	LookWorking Look = "working"
	LookRunning Look = "running"
	LookMoving  Look = "moving" // it is being made, wakes up, or falls asleep
	LookAsleep  Look = "asleep"
	LookDoubt   Look = "doubt"
	LookEnding  Look = "ending"
	LookEnded   Look = "ended"
	LookUnknown Look = "unknown" // the engine is away
)

// Sandboxes is what the list of them goes by.
type Sandboxes struct {
	Snapshot   sandbox.Snapshot
	Lost       bool            // the engine is away: what there was
	Doing      map[string]Verb // what the user has asked for, by the id of a sandbox
	Filter     string
	By         SandboxColumn
	Descending bool
}

// A Meter is what is left of something, from 0 to 1.
type Meter struct {
	Left float64
	Tone Tone
	Text string
}

// A SandboxCell is one of the list.
type SandboxCell struct {
	Text  string
	Look  Look   // "" is no picture
	Meter *Meter // in place of Text
	Muted bool
}

// A SandboxRow is one of the list. Its ID stays the same from before the sandbox
// has one of its own.
type SandboxRow struct {
	ID      string
	Sandbox sandbox.Sandbox
	Cells   []SandboxCell
}

// SandboxKey is what the rows of a sandbox go by.
func SandboxKey(b sandbox.Sandbox) string { return key(b) }

// Rows are those of the list, in order. What has ended comes last in any order.
func (s Sandboxes) Rows(tx assets.Texts, now time.Time) []SandboxRow {
	words := strings.Fields(fold(s.Filter))
	all := make([]SandboxRow, 0, len(s.Snapshot.Sandboxes))
	for _, b := range s.Snapshot.Sandboxes {
		if boxHas(words, b, s.Word(tx, b)) {
			all = append(all, SandboxRow{ID: key(b), Sandbox: b})
		}
	}
	slices.SortStableFunc(all, func(x, y SandboxRow) int {
		a, b := x.Sandbox, y.Sandbox
		if a.State.Alive() != b.State.Alive() {
			if a.State.Alive() {
				return -1
			}
			return 1
		}
		order := s.compare(tx, a, b, now)
		if s.Descending {
			order = -order
		}
		return cmp.Or(order, b.StartedAt.Compare(a.StartedAt), strings.Compare(x.ID, y.ID))
	})
	for i := range all {
		all[i].Cells = s.cells(tx, all[i].Sandbox, now)
	}
	return all
}

// boxHas reports whether b has all words of a filter.
func boxHas(words []string, b sandbox.Sandbox, state string) bool {
	if len(words) == 0 {
		return true
	}
	text := fold(strings.Join([]string{Name(b), b.ID, b.Host, b.Profile, b.Template, state}, "\n"))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (s Sandboxes) compare(tx assets.Texts, a, b sandbox.Sandbox, now time.Time) int {
	word := func(f func(sandbox.Sandbox) string) int {
		return strings.Compare(fold(f(a)), fold(f(b)))
	}
	switch s.By {
	case SandboxState:
		return cmp.Compare(lookRank(s.Look(a)), lookRank(s.Look(b)))
	case SandboxName:
		return word(Name)
	case SandboxHost:
		return word(func(b sandbox.Sandbox) string { return b.Host })
	case SandboxProfile:
		return word(func(b sandbox.Sandbox) string { return boxPlace(tx, b) })
	case SandboxTemplate:
		return word(boxTemplate)
	case SandboxAge:
		return b.StartedAt.Compare(a.StartedAt)
	case SandboxSleep:
		return cmp.Compare(boxSleepsIn(a, now), boxSleepsIn(b, now))
	case SandboxLife:
		return cmp.Compare(boxEndsIn(a, now), boxEndsIn(b, now))
	case SandboxSpend:
		return cmp.Compare(boxPaid(a, s.Snapshot.At, now), boxPaid(b, s.Snapshot.At, now))
	}
	return 0
}

// lookRank puts first what somebody may have to look at.
func lookRank(l Look) int {
	return slices.Index([]Look{LookDoubt, LookWorking, LookRunning, LookMoving, LookAsleep, LookEnding, LookEnded, LookUnknown}, l)
}

const boxNever = time.Duration(math.MaxInt64)

func boxSleepsIn(b sandbox.Sandbox, now time.Time) time.Duration {
	at := sleepsAt(b, now)
	switch {
	case asleep(b):
		return -1
	case b.State != sandbox.Running || b.Running > 0 || at.IsZero() || b.Orphan:
		return boxNever
	}
	return max(0, at.Sub(now))
}

// sleepsAt is when b falls asleep unless it is used; zero is never, or not known:
// one that was not used yet may have been woken since it began.
func sleepsAt(b sandbox.Sandbox, now time.Time) time.Time {
	switch fresh := b.StartedAt.Add(b.Idle); {
	case b.Idle == 0, b.UsedAt.IsZero() && (b.StartedAt.IsZero() || fresh.Before(now)):
		return time.Time{}
	case b.UsedAt.IsZero():
		return fresh
	}
	return b.UsedAt.Add(b.Idle)
}

func boxEndsIn(b sandbox.Sandbox, now time.Time) time.Duration {
	if b.EndsAt.IsZero() {
		return boxNever
	}
	return max(0, b.EndsAt.Sub(now))
}

// boxPaid is what b has cost: nothing, where it runs on this computer.
func boxPaid(b sandbox.Sandbox, told, now time.Time) sandbox.Micro {
	if b.Profile == sandbox.ProfileLocal {
		return 0
	}
	return CostNow(b, told, now)
}

func (s Sandboxes) cells(tx assets.Texts, b sandbox.Sandbox, now time.Time) []SandboxCell {
	if s.Lost && !s.Snapshot.At.IsZero() {
		now = s.Snapshot.At // nothing is known of later
	}
	out := make([]SandboxCell, sandboxColumns)
	faint := s.Lost || !b.State.Alive()
	for i, text := range []string{
		SandboxState: s.Word(tx, b), SandboxName: Name(b), SandboxHost: boxHost(tx, b), SandboxProfile: boxPlace(tx, b), SandboxTemplate: boxTemplate(b), SandboxAge: "",
	} {
		out[i] = SandboxCell{Text: text, Muted: faint || i > int(SandboxName)}
	}
	out[SandboxState].Look, out[SandboxState].Muted = s.Look(b), faint
	if !b.StartedAt.IsZero() {
		until := now
		if !b.EndedAt.IsZero() {
			until = b.EndedAt
		}
		out[SandboxAge].Text = ageText(tx, b.StartedAt, until)
	}
	out[SandboxSleep] = meterCell(SleepMeter(tx, b, now), s.Lost)
	out[SandboxLife] = meterCell(LifeMeter(tx, b, now), s.Lost)
	out[SandboxSpend] = SandboxCell{Text: boxSpend(tx, b, s.Snapshot.At, now), Muted: faint || b.Profile == sandbox.ProfileLocal}
	return out
}

// ageText is how old something is, in few letters.
func ageText(tx assets.Texts, since, now time.Time) string {
	if now.Sub(since) < time.Minute {
		return tx.Get("sandboxes.age.fresh")
	}
	text, _ := Age(tx, since, now)
	return text
}

// meterCell is a meter, or its text alone if there is nothing to measure.
func meterCell(m Meter, lost bool) SandboxCell {
	if m.Left <= 0 || lost {
		return SandboxCell{Text: m.Text, Muted: true}
	}
	return SandboxCell{Meter: &m}
}

// Word is the state of b.
func (s Sandboxes) Word(tx assets.Texts, b sandbox.Sandbox) string {
	if s.Lost {
		return tx.Get("sandboxes.state.lost")
	}
	switch doing := s.doing(b); {
	case doing == Suspend:
		return tx.Get("tray.state.suspending")
	case doing == Resume:
		return tx.Get("tray.state.pending")
	case doing == Kill:
		return tx.Get("tray.state.terminating")
	case b.State == sandbox.Terminated:
		return tx.Get("sandboxes.state.ended")
	}
	state := strings.ReplaceAll(strings.ToLower(string(b.State)), "_", "-")
	if b.State == sandbox.Running && b.Running > 0 {
		state = "working"
	}
	if key := "tray.state." + state; tx.Has(key) {
		return tx.Get(key)
	}
	return printable(state)
}

// doing is what is asked of b, as long as it has not come to that.
func (s Sandboxes) doing(b sandbox.Sandbox) Verb {
	doing := s.Doing[b.ID]
	switch {
	case b.ID == "" || doing == Suspend && asleep(b) || doing == Resume && !asleep(b) || doing == Kill && !b.State.Alive():
		return ""
	}
	return doing
}

// Look is the state of b as a picture.
func (s Sandboxes) Look(b sandbox.Sandbox) Look {
	doing := s.doing(b)
	switch {
	case s.Lost:
		return LookUnknown
	case doing == Kill, b.State == sandbox.Terminating:
		return LookEnding
	case doing == Suspend, doing == Resume, b.State == sandbox.Creating, b.State == sandbox.Pending, b.State == sandbox.Suspending:
		return LookMoving
	case b.State == sandbox.InDoubt:
		return LookDoubt
	case b.State == sandbox.Suspended:
		return LookAsleep
	case b.State == sandbox.Terminated:
		return LookEnded
	case b.Running > 0:
		return LookWorking
	}
	return LookRunning
}

func boxHost(tx assets.Texts, b sandbox.Sandbox) string {
	if b.Orphan {
		return tx.Get("tray.orphan")
	}
	return printable(b.Host)
}

func boxPlace(tx assets.Texts, b sandbox.Sandbox) string {
	if b.Profile == sandbox.ProfileLocal {
		return tx.Get("sandboxes.local")
	}
	return printable(b.Profile)
}

// boxTemplate is the name of a template, of which AWS tells the ARN.
func boxTemplate(b sandbox.Sandbox) string {
	return printable(b.Template[strings.LastIndexAny(b.Template, ":/")+1:])
}

func boxSpend(tx assets.Texts, b sandbox.Sandbox, told, now time.Time) string {
	cost := boxPaid(b, told, now)
	switch {
	case b.Profile == sandbox.ProfileLocal:
		return tx.Get("sandboxes.free")
	case b.Orphan, unpriced(b) && cost == 0:
		return tx.Get("sandboxes.cost.unknown")
	}
	return Money(tx, cost)
}

// unpriced reports whether nobody knows what b costs: there is no price for its
// region and size.
func unpriced(b sandbox.Sandbox) bool {
	return b.Profile != sandbox.ProfileLocal && b.PerHour == 0 && (b.State == sandbox.Running || b.State == sandbox.Suspended)
}

// SleepMeter is how long b stays awake unless it is used.
func SleepMeter(tx assets.Texts, b sandbox.Sandbox, now time.Time) Meter {
	switch {
	case !b.State.Alive() || b.Orphan || b.State == sandbox.Terminating:
		return Meter{}
	case b.State == sandbox.Suspended:
		return Meter{Text: tx.Get("sandboxes.sleep.asleep")}
	case b.State != sandbox.Running:
		return Meter{}
	case b.Running > 0:
		if _, soon := b.Silence(now); soon {
			return Meter{Left: meterPart(b.UsedAt.Add(b.Idle).Sub(now), b.Idle), Tone: ToneWarn, Text: tx.Get("sandboxes.sleep.silent")}
		}
		return Meter{Text: tx.Get("sandboxes.sleep.busy")}
	case b.Idle == 0:
		return Meter{Text: tx.Get("sandboxes.sleep.never")}
	}
	at := sleepsAt(b, now)
	if at.IsZero() {
		return Meter{}
	}
	return Meter{Left: meterPart(at.Sub(now), b.Idle), Tone: ToneGood, Text: leftShort(tx, at, now)}
}

// LifeMeter is how long b lives at the most.
func LifeMeter(tx assets.Texts, b sandbox.Sandbox, now time.Time) Meter {
	if !b.State.Alive() || b.EndsAt.IsZero() {
		return Meter{}
	}
	left := b.EndsAt.Sub(now)
	tone := ToneGood
	switch {
	case left <= time.Minute:
		tone = ToneBad
	case left <= endsSoon:
		tone = ToneWarn
	}
	return Meter{Left: meterPart(left, b.EndsAt.Sub(b.StartedAt)), Tone: tone, Text: leftShort(tx, b.EndsAt, now)}
}

// leftShort is [Left] in few letters, also of what should be over.
func leftShort(tx assets.Texts, at, now time.Time) string {
	if !at.After(now) {
		return tx.Get("sandboxes.age.fresh")
	}
	return Left(tx, at, now)
}

// endsSoon is when what is not saved should be: a notice is given then, too.
const endsSoon = 5 * time.Minute

// meterPart is what d is of all, in steps that can be told apart in a short bar:
// finer ones would be drawn each second for nothing.
func meterPart(d, all time.Duration) float64 {
	if all <= 0 || d <= 0 {
		return 0
	}
	const steps = 60
	return min(1, math.Ceil(steps*float64(d)/float64(all))/steps)
}

// Left is how long it is until something: in seconds for the last minute, in
// which they matter.
func Left(tx assets.Texts, at, now time.Time) string {
	if d := at.Sub(now); d > 0 && d < time.Minute {
		return tx.Get("sandboxes.seconds", "s", strconv.Itoa(int((d+time.Second-1)/time.Second)))
	}
	text, _ := Countdown(tx, at, now)
	return text
}
