package ui

import (
	"fmt"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A Notice is what a desktop shows for a while beside its clock.
type Notice struct {
	ID    string // the same again takes its place
	Title string
	Text  string
	Alert bool   // more than an answer to something that was wanted
	Page  string // of the window that a click opens; "" is whatever is there
	Place string // on that page: the id of a sandbox, the name of a profile
}

// When notices are given.
const (
	noticeBefore = 5 * time.Minute  // the end of a sandbox that is in use
	noticeWork   = 30 * time.Second // and longer is worth telling when it is done
	noticeLost   = 30 * time.Second // an engine must be away, since most are only replaced
)

// Notices decides what is worth a notice: what failed, what is about to be lost,
// what took long and is done. The zero value is ready.
type Notices struct {
	lost   time.Time            // since when there is no engine
	told   bool                 // that it is lost
	busy   map[string]time.Time // since when there are calls in a sandbox, by key
	ending map[string]time.Time // the ends that were told of
	signIn map[string]bool      // the profiles that were told of
}

// See takes in a state, and returns what it gives cause to tell. until is when
// to ask again though nothing happens; zero is never.
func (n *Notices) See(s State, tx assets.Texts, now time.Time) (out []Notice, until time.Time) {
	if s.Link == Lost {
		if n.lost.IsZero() {
			n.lost = now
		}
		at := n.lost.Add(noticeLost)
		switch {
		case n.told:
		case now.Before(at):
			until = at
		default:
			n.told = true
			out = append(out, Notice{ID: "lost", Title: tx.Get("tray.notice.lost"), Text: tx.Get("tray.notice.lost.text"), Alert: true})
		}
		return out, until
	}
	n.lost, n.told = time.Time{}, false
	if s.Link != Linked {
		return nil, time.Time{}
	}
	busy, ending, signIn := map[string]time.Time{}, map[string]time.Time{}, map[string]bool{}
	for _, b := range s.Snapshot.Sandboxes {
		if !b.State.Alive() {
			continue
		}
		if since, ok := n.busy[key(b)]; b.Running > 0 {
			if !ok {
				since = now
			}
			busy[key(b)] = since
		} else if worked := now.Sub(since); ok && worked >= noticeWork && s.TellDone {
			out = append(out, Notice{
				ID: "done/" + key(b), Title: tx.Get("tray.notice.done", "sandbox", Name(b)),
				Text: tx.Get("tray.notice.done.text", "span", Span(tx, worked)), Page: PageSandboxes, Place: b.ID,
			})
		}
		if b.EndsAt.IsZero() || b.Running == 0 {
			continue
		}
		at := b.EndsAt.Add(-noticeBefore)
		switch {
		case now.Before(at):
			until = sooner(until, at)
		case n.ending[key(b)].Equal(b.EndsAt):
			ending[key(b)] = b.EndsAt
		default:
			ending[key(b)] = b.EndsAt
			span, _ := Countdown(tx, b.EndsAt, now)
			out = append(out, Notice{
				ID: "ending/" + key(b), Title: tx.Get("tray.notice.ending", "sandbox", Name(b), "span", span), Text: tx.Get("tray.notice.ending.text"),
				Alert: true, Page: PageSandboxes, Place: b.ID,
			})
		}
	}
	for _, r := range s.Snapshot.Profiles {
		if r.Error == nil || r.Error.Code != sandbox.SignIn {
			continue
		}
		if signIn[r.Profile] = true; !n.signIn[r.Profile] {
			out = append(out, Notice{
				ID: "sign-in/" + r.Profile, Title: tx.Get("tray.notice.signin", "profile", r.Profile), Text: tx.Get("tray.notice.signin.text"),
				Alert: true, Page: PageProfiles, Place: r.Profile,
			})
		}
	}
	n.busy, n.ending, n.signIn = busy, ending, signIn
	return out, until
}

// ofKind are the titles of notices about events of the kinds that have one of
// their own, and the pages that a click on them opens.
var ofKind = map[sandbox.EventKind]struct{ title, page string }{
	sandbox.EventEnded:      {"tray.notice.ended", PageSandboxes},
	sandbox.EventThreshold:  {"tray.notice.threshold", PageSpend},
	sandbox.EventOver:       {"tray.notice.over", PageSpend},
	sandbox.EventRefused:    {"tray.notice.refused", PageActivity},
	sandbox.EventDoubt:      {"tray.notice.in_doubt", PageSandboxes},
	sandbox.EventOrphan:     {"tray.notice.orphan", PageSandboxes},
	sandbox.EventExpiring:   {"tray.notice.token", PageTokens},
	sandbox.EventClock:      {"tray.notice.clock", PageActivity},
	sandbox.EventPriceStale: {"tray.notice.price", PageSpend},
}

// OfEvent is the notice about an event, if it is worth one: if it is an alert.
func OfEvent(e sandbox.Event, tx assets.Texts) (Notice, bool) {
	if e.Severity == sandbox.SeverityInfo {
		return Notice{}, false
	}
	kind, ok := ofKind[e.Kind]
	if !ok {
		kind.title, kind.page = "tray.notice.other", PageActivity
	}
	name, _ := e.Data["name"].(string)
	b := sandbox.Sandbox{ID: e.Subject, Name: name}
	n := Notice{
		ID: "event/" + e.ID, Title: tx.Get(kind.title, "sandbox", Name(b), "percent", number(e.Data["percent"])), Text: printable(name),
		Alert: true, Page: kind.page, Place: e.Subject,
	}
	switch e.Kind {
	case sandbox.EventEnded:
		reason, _ := e.Data["reason"].(string)
		n.Text = ""
		if key := "tray.reason." + reason; tx.Has(key) {
			n.Text = tx.Get(key)
		}
	case sandbox.EventThreshold, sandbox.EventOver:
		spent, limit := amount(e.Data["spent_micro"]), amount(e.Data["limit_micro"])
		n.Text = tx.Get("tray.notice.budget.text", "spent", Money(tx, spent), "limit", Money(tx, limit))
	}
	return n, true
}

// number is a number of an event, which comes as JSON has them, or as it was
// made.
func number(v any) string { return fmt.Sprint(int64(amount(v))) }

func amount(v any) sandbox.Micro {
	switch n := v.(type) {
	case int:
		return sandbox.Micro(n)
	case int64:
		return sandbox.Micro(n)
	case float64:
		return sandbox.Micro(n)
	}
	return 0
}

// Hours are a part of each day, from one time to another on the clock, and over
// midnight if the second is the earlier one.
type Hours struct{ From, To time.Duration }

// ParseHours reads hours such as "22:00-07:30".
func ParseHours(s string) (Hours, error) {
	var fromH, fromM, toH, toM int
	n, err := fmt.Sscanf(s, "%d:%d-%d:%d", &fromH, &fromM, &toH, &toM)
	h := Hours{clock(fromH, fromM), clock(toH, toM)}
	if err != nil || n != 4 || fromH < 0 || fromM < 0 || toH < 0 || toM < 0 || fromM > 59 || toM > 59 || h.From >= day || h.To > day || h.String() != s {
		return Hours{}, fmt.Errorf("%q is no span of hours, as in 22:00-07:30", s)
	}
	return h, nil
}

const day = 24 * time.Hour

func clock(h, m int) time.Duration { return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute }

func (h Hours) String() string {
	at := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", d/time.Hour, d%time.Hour/time.Minute) }
	return at(h.From) + "-" + at(h.To)
}

// Contain reports whether now is one of the hours.
func (h Hours) Contain(now time.Time) bool {
	at := clock(now.Hour(), now.Minute())
	if h.From <= h.To {
		return at >= h.From && at < h.To
	}
	return at >= h.From || at < h.To
}
