package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// SpendTexts is the part of assets/translation that the screen of spending is
// in. It needs [Texts] too.
const SpendTexts = "window-spend"

// Dollars is an amount as the command line rounds it, with its currency. What is
// not nothing never looks like it.
func Dollars(tx assets.Texts, m sandbox.Micro) string { return dollars(tx, m.Short()) }

// DollarsBeside are dollars that are compared with other ones.
func DollarsBeside(tx assets.Texts, m, other sandbox.Micro) string {
	return dollars(tx, m.Beside(other))
}

// AllDollars is all of an amount, to the last millionth.
func AllDollars(tx assets.Texts, m sandbox.Micro) string { return dollars(tx, m.String()) }

func dollars(tx assets.Texts, number string) string {
	return tx.Get("tray.money", "amount", strings.Replace(number, ".", tx.Get("tray.money.point"), 1))
}

// A Sum is what sandboxes cost: what is paid, and apart from it what the
// sandboxes of this computer would have cost in AWS.
type Sum struct {
	Spent     sandbox.Micro // settled: what ended
	Running   sandbox.Micro // so far, by what lives: it settles on the day it ends
	Would     sandbox.Micro // of local ones that ended
	WouldRun  sandbox.Micro // so far, of local ones that live
	Held      sandbox.Micro // for what lives
	Cost      sandbox.Cost  // the parts of Spent
	Sandboxes int
	Unpriced  int // of them: what these cost is not known
	Seconds   int64
}

// SumOf adds up rows of the account.
func SumOf(rows []sandbox.SpendRow) Sum {
	var s Sum
	for _, r := range rows {
		s = s.Plus(sumOf(r))
	}
	return s
}

func sumOf(r sandbox.SpendRow) Sum {
	return Sum{Spent: r.Cost.Total, Would: r.Would, Held: r.Held, Cost: r.Cost, Sandboxes: r.Sandboxes, Unpriced: r.Unpriced, Seconds: r.Seconds}
}

// Plus adds up two sums.
func (s Sum) Plus(o Sum) Sum {
	return Sum{
		Spent: s.Spent.Plus(o.Spent), Running: s.Running.Plus(o.Running), Would: s.Would.Plus(o.Would), WouldRun: s.WouldRun.Plus(o.WouldRun), Held: s.Held.Plus(o.Held),
		Cost: sandbox.Cost{
			Compute: s.Cost.Compute.Plus(o.Cost.Compute), Launch: s.Cost.Launch.Plus(o.Cost.Launch), Cycles: s.Cost.Cycles.Plus(o.Cost.Cycles),
			Storage: s.Cost.Storage.Plus(o.Cost.Storage), Total: s.Cost.Total.Plus(o.Cost.Total),
		},
		Sandboxes: s.Sandboxes + o.Sandboxes, Unpriced: s.Unpriced + o.Unpriced, Seconds: s.Seconds + o.Seconds,
	}
}

// Total is what is spent in all, what lives included.
func (s Sum) Total() sandbox.Micro { return s.Spent.Plus(s.Running) }

// WouldTotal is what local sandboxes would have cost in all.
func (s Sum) WouldTotal() sandbox.Micro { return s.Would.Plus(s.WouldRun) }

// None reports whether there is nothing to tell of.
func (s Sum) None() bool { return s.Sandboxes == 0 && s.Total() == 0 && s.WouldTotal() == 0 }

// A Live is what a sandbox has cost so far that has not ended.
type Live struct {
	Host, Profile string
	Local         bool
	Cost          sandbox.Micro
}

// Lives are the sandboxes of a snapshot that cost something at now, or would.
// hosts knows by the key of a sandbox which app asked for it: one whose app let
// go of it counts as that app's all the same, as it will in the account.
func Lives(s sandbox.Snapshot, hosts map[string]string, now time.Time) []Live {
	var out []Live
	for _, b := range s.Sandboxes {
		cost := CostNow(b, s.At, now)
		if !b.State.Alive() || b.Orphan || cost == 0 {
			continue
		}
		host, ok := hosts[b.Key]
		if !ok {
			host = b.Host
		}
		out = append(out, Live{host, b.Profile, b.Profile == sandbox.ProfileLocal, cost})
	}
	return out
}

// WithLives is s and what lives.
func (s Sum) WithLives(all []Live) Sum {
	for _, l := range all {
		if l.Local {
			s.WouldRun = s.WouldRun.Plus(l.Cost)
		} else {
			s.Running = s.Running.Plus(l.Cost)
		}
	}
	return s
}

// A Part is what was spent under one heading.
type Part struct {
	Sum

	Key   string
	Label string
}

// Parts are the rows of the account by host or by profile, and what lives, the
// most expensive first.
func Parts(tx assets.Texts, by sandbox.SpendBy, rows []sandbox.SpendRow, lives []Live) []Part {
	found := map[string]*Part{}
	at := func(key string) *Part {
		if found[key] == nil {
			found[key] = &Part{Key: key, Label: partLabel(tx, by, key)}
		}
		return found[key]
	}
	for _, r := range rows {
		p := at(r.Key)
		p.Sum = p.Plus(sumOf(r))
	}
	for _, l := range lives {
		key := l.Profile
		if by == sandbox.SpendByHost {
			key = l.Host
		}
		p := at(key)
		p.Sum = p.WithLives([]Live{l})
	}
	out := make([]Part, 0, len(found))
	for _, p := range found {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(b.WouldTotal(), a.WouldTotal()), strings.Compare(a.Label, b.Label), strings.Compare(a.Key, b.Key))
	})
	return out
}

func partLabel(tx assets.Texts, by sandbox.SpendBy, key string) string {
	switch {
	case by == sandbox.SpendByHost && key == "":
		return tx.Get("spend.no-host")
	case by == sandbox.SpendByProfile && key == sandbox.ProfileLocal:
		return tx.Get("spend.local")
	}
	return printable(key)
}

// A Bar is one of a chart.
type Bar struct {
	Bucket
	Sum
}

// Bars puts sums beside the parts of some days. What lives counts in the one in
// which now is.
func Bars(buckets []Bucket, sums []Sum, lives []Live, now time.Time) []Bar {
	out := make([]Bar, len(buckets))
	for i, b := range buckets {
		out[i] = Bar{b, sums[i]}
		if b.Now(now) {
			out[i].Sum = sums[i].WithLives(lives)
		}
	}
	return out
}

// Sentence tells a bar in words, for who can't see it or wants it exactly.
func (b Bar) Sentence(tx assets.Texts) string {
	if b.None() {
		return tx.Get("spend.bar.none", "day", b.Label(tx))
	}
	text := tx.Get("spend.bar", "day", b.Label(tx), "amount", Dollars(tx, b.Total()))
	if b.Running > 0 {
		text += tx.Get("spend.bar.running", "amount", Dollars(tx, b.Running))
	}
	if b.WouldTotal() > 0 {
		text += tx.Get("spend.bar.would", "amount", Dollars(tx, b.WouldTotal()))
	}
	return text + " · " + count(tx, b.Sandboxes, "tray.count.sandbox")
}

// A Scale is the amounts beside a chart: the topmost, and how far apart they
// are.
type Scale struct{ Top, Step sandbox.Micro }

// ScaleOf is a scale of round numbers on which most fits.
func ScaleOf(most sandbox.Micro) Scale {
	const lines = 4
	for unit := sandbox.Micro(1); ; unit *= 10 {
		for _, n := range []sandbox.Micro{1, 2, 5} {
			if step := n * unit; step*lines >= most {
				return Scale{(max(most, 1) + step - 1) / step * step, step}
			}
		}
	}
}

// Marks are the amounts of a scale from the lowest, all with as many decimals.
func (s Scale) Marks(tx assets.Texts) []string {
	_, fraction, _ := strings.Cut(s.Step.String(), ".")
	var out []string
	for at := sandbox.Micro(0); at <= s.Top; at += s.Step {
		whole, part, _ := strings.Cut(at.String(), ".")
		out = append(out, dollars(tx, whole+"."+part+strings.Repeat("0", max(0, len(fraction)-len(part)))))
	}
	return out
}

// RunningNote says that what lives is part of a sum, "" if nothing does.
func RunningNote(tx assets.Texts, s Sum) string {
	if s.Running == 0 {
		return ""
	}
	return tx.Get("spend.running", "amount", Dollars(tx, s.Running))
}

// WouldNote says what local sandboxes would have cost in AWS, "" if there were
// none.
func WouldNote(tx assets.Texts, s Sum) string {
	switch {
	case s.WouldTotal() == 0:
		return ""
	case s.WouldRun > 0:
		return tx.Get("spend.would.running", "amount", Dollars(tx, s.WouldTotal()), "running", Dollars(tx, s.WouldRun))
	}
	return tx.Get("spend.would", "amount", Dollars(tx, s.WouldTotal()))
}

// SumText tells what made up a sum: how many sandboxes, for how long, in which
// parts.
func SumText(tx assets.Texts, s Sum) string {
	text := tx.Get("spend.sum", "sandboxes", count(tx, s.Sandboxes, "tray.count.sandbox"), "span", Span(tx, time.Duration(s.Seconds)*time.Second))
	if s.Cost.Total > 0 {
		text += " " + tx.Get("spend.parts", "compute", Dollars(tx, s.Cost.Compute), "launch", Dollars(tx, s.Cost.Launch),
			"cycles", Dollars(tx, s.Cost.Cycles), "storage", Dollars(tx, s.Cost.Storage))
	}
	if s.Held > 0 {
		text += " " + tx.Get("spend.held", "amount", Dollars(tx, s.Held))
	}
	return text
}

// UnpricedNote says that some of what ran has no price, "" if all has.
func UnpricedNote(tx assets.Texts, s Sum) string {
	if s.Unpriced == 0 {
		return ""
	}
	return tx.Get("spend.unpriced", "sandboxes", count(tx, s.Unpriced, "tray.count.sandbox"))
}

// PricesNote says which prices are used.
func PricesNote(tx assets.Texts, version, sourced string, stale bool) string {
	which := tx.Get("spend.prices", "version", version, "day", sourced)
	if version == sourced {
		which = sourced
	}
	if stale {
		return tx.Get("spend.prices.stale", "which", which)
	}
	return which
}

// ZoneNote says of which clock the days are.
func ZoneNote(tx assets.Texts, now time.Time) string {
	_, offset := now.Zone()
	if offset == 0 {
		return tx.Get("spend.zone.utc")
	}
	sign := "+"
	if offset < 0 {
		sign, offset = "−", -offset
	}
	at := strconv.Itoa(offset / 3600)
	if rest := offset % 3600 / 60; rest > 0 {
		at += ":" + strconv.Itoa(rest/10) + strconv.Itoa(rest%10)
	}
	return tx.Get("spend.zone", "zone", "UTC"+sign+at)
}
