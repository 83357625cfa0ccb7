package ui

import (
	"slices"
	"strconv"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// GuideTexts is the part of assets/translation that the first steps are in.
const GuideTexts = "window-guide"

// A GuideStep is one of the first steps.
type GuideStep string

// The steps.
const (
	GuideTry     GuideStep = "try"     // see that sandboxes work here
	GuideConnect GuideStep = "connect" // give an app our tools
	GuideCall    GuideStep = "call"    // have it use them
)

// GuideSteps are all of them, in their order.
func GuideSteps() []GuideStep { return []GuideStep{GuideTry, GuideConnect, GuideCall} }

// GuideHead is what a step is called, and which of them it is.
func GuideHead(tx assets.Texts, s GuideStep) (title, place string) {
	all := GuideSteps()
	return tx.Get("window.guide.title." + string(s)),
		tx.Get("window.guide.place", "n", strconv.Itoa(slices.Index(all, s)+1), "of", strconv.Itoa(len(all)))
}

// A Trial is a first sandbox, made to see that it works.
type Trial struct {
	Stage   TrialStage
	Ready   time.Duration // until it could be used
	Answer  time.Duration // of a command in it
	Problem string        // of a failed one: why, and what to do
}

// A TrialStage is how far a trial is.
type TrialStage string

// The stages.
const (
	TrialNone    TrialStage = ""
	TrialMaking  TrialStage = "making"
	TrialRunning TrialStage = "running"
	TrialGood    TrialStage = "good"
	TrialBad     TrialStage = "bad"
)

// TrialText says how a trial goes.
func TrialText(tx assets.Texts, t Trial) (string, Tone) {
	switch t.Stage {
	case TrialNone:
		return "", ToneMuted
	case TrialGood:
		return tx.Get("window.guide.trial.good", "ready", Brief(tx, t.Ready), "answer", Brief(tx, t.Answer)), ToneGood
	case TrialBad:
		return Sentence(t.Problem), ToneBad
	}
	return tx.Get("window.guide.trial." + string(t.Stage)), ToneMuted
}

// Brief is a short time as it was measured: in milliseconds below a second, and
// in seconds with one decimal above.
func Brief(tx assets.Texts, d time.Duration) string {
	if d < time.Second {
		return tx.Get("window.guide.ms", "n", strconv.FormatInt(max(1, d.Milliseconds()), 10))
	}
	tenths := (d + 50*time.Millisecond) / (100 * time.Millisecond)
	return tx.Get("window.guide.seconds", "n", strconv.FormatInt(int64(tenths/10), 10)+tx.Get("tray.money.point")+strconv.FormatInt(int64(tenths%10), 10))
}

// GuideHosts are the apps to offer: those that are here, or perhaps are, and can
// be connected, or are. The first is the one to begin with.
func GuideHosts(all []control.Host) []control.Host {
	out := slices.DeleteFunc(SortHosts(all), func(h control.Host) bool {
		return !h.Installed && !perhaps(h) && len(h.Entries) == 0 || !writable(h) || h.Managed != nil || h.Lacks != nil
	})
	slices.SortStableFunc(out, func(a, b control.Host) int { return guideRank(a) - guideRank(b) })
	return out
}

// guideRank puts those first that only have to be connected.
func guideRank(h control.Host) int {
	switch {
	case len(h.Entries) == 0 && perhaps(h):
		return 4
	case len(h.Entries) == 0 && !h.Running:
		return 0
	case len(h.Entries) == 0:
		return 1
	case HostConnected(h):
		return 2
	}
	return 3
}

// HostConnected reports whether a host has an entry of ours that is as it should
// be.
func HostConnected(h control.Host) bool {
	_, ok := HostEntryInUse(h)
	return ok
}

// HostEntryInUse is the entry by which a host reaches us.
func HostEntryInUse(h control.Host) (control.HostEntry, bool) {
	i := slices.IndexFunc(h.Entries, func(e control.HostEntry) bool {
		return e.State == control.EntryAsWritten || e.State == control.EntryByHost
	})
	if i < 0 {
		return control.HostEntry{}, false
	}
	return h.Entries[i], true
}

// An Arrival is how far an app has come that was given our tools.
type Arrival string

// The arrivals, in their order.
const (
	ArrivalNone    Arrival = "none"
	ArrivalStarted Arrival = "started" // it has started our server
	ArrivalCalled  Arrival = "called"  // and made its first call
)

// Arrived is how far an app has come, and the sandbox that its call had. The
// app is known by its connection; "" is any that has none of the leases known
// before.
func Arrived(s sandbox.Snapshot, connection string, before map[string]bool) (a Arrival, id, host string) {
	a = ArrivalNone
	for _, l := range s.Leases {
		if connection != "" && l.Connection != connection || connection == "" && before[l.ID] {
			continue
		}
		switch {
		case l.Sandbox != "":
			return ArrivalCalled, l.Sandbox, Visible(l.Host)
		case l.Attached && a == ArrivalNone:
			a, host = ArrivalStarted, Visible(l.Host)
		}
	}
	for _, b := range s.Sandboxes {
		if connection != "" && b.Connection == connection && b.ID != "" {
			return ArrivalCalled, b.ID, Visible(b.Host)
		}
	}
	return a, "", host
}

// ArrivalText tells how far an app has come. title is "" for one that is not
// known.
func ArrivalText(tx assets.Texts, a Arrival, title string) (string, Tone) {
	if title == "" {
		title = tx.Get("window.guide.app")
	}
	tone := ToneMuted
	if a == ArrivalCalled {
		tone = ToneGood
	}
	return Sentence(tx.Get("window.guide.arrival."+string(a), "title", Visible(title))), tone
}

// GuideConnectLabel is what the button says that connects an app. A long title
// would leave no room for others.
func GuideConnectLabel(tx assets.Texts, title string) string {
	const most = 16
	if title = Visible(title); len([]rune(title)) > most {
		return tx.Get("window.hosts.do.connect")
	}
	return tx.Get("window.guide.connect", "title", title)
}

// CallText is what a call ran, short enough for a line or two.
func CallText(text string) string {
	const most = 160
	runes := []rune(Visible(text))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}
