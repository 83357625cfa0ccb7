package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// mostListed is how many sandboxes the menu has: a longer one fits no screen,
// and the window lists all.
const mostListed = 15

// Tray makes the model of a state.
func Tray(s State, tx assets.Texts, now time.Time) Model {
	t := &tray{state: s, tx: tx, now: now}
	for _, b := range s.Snapshot.Sandboxes {
		if b.State.Alive() {
			t.alive = append(t.alive, b)
		}
	}
	m := Model{Icon: t.icon()}
	status := t.status()
	m.Items = slices.Concat(
		[]Item{{ID: "status", Label: status, Disabled: true}},
		t.alerts(),
		[]Item{separator("1")},
		t.sandboxes(),
		t.rest(),
	)
	m.Tooltip = tx.Get("tray.name") + ": " + status
	m.Until = t.until
	return m
}

// A tray makes one model.
type tray struct {
	state State
	tx    assets.Texts
	now   time.Time
	alive []sandbox.Sandbox
	until time.Time
}

func separator(id string) Item { return Item{ID: "separator/" + id, Separator: true} }

func (t *tray) lost() bool { return t.state.Link != Linked }

// told puts down that a text changes at a moment.
func (t *tray) told(text string, until time.Time) string {
	t.until = sooner(t.until, until)
	return text
}

// working reports whether something goes on in b that the user waits for.
func working(b sandbox.Sandbox) bool {
	return b.Running > 0 || b.State == sandbox.Creating || b.State == sandbox.Pending
}

func asleep(b sandbox.Sandbox) bool {
	return b.State == sandbox.Suspended || b.State == sandbox.Suspending
}

func (t *tray) icon() Icon {
	switch {
	case t.state.Link == Lost:
		return IconLost
	case slices.ContainsFunc(t.state.Notes, func(n Note) bool { return n.Alert }),
		slices.ContainsFunc(t.state.Snapshot.Profiles, refused),
		slices.ContainsFunc(t.alive, func(b sandbox.Sandbox) bool { return b.State == sandbox.InDoubt }):
		return IconAttention
	case slices.ContainsFunc(t.alive, working):
		return IconWorking
	case len(t.alive) == 0:
		return IconNone
	case !slices.ContainsFunc(t.alive, func(b sandbox.Sandbox) bool { return !asleep(b) }):
		return IconSuspended
	}
	return IconRunning
}

// refused reports whether a profile can't be used until somebody does something.
func refused(r sandbox.Reach) bool { return r.Error != nil && !r.Error.Retryable }

// status is how things are, in a line.
func (t *tray) status() string {
	switch t.state.Link {
	case Starting:
		return t.tx.Get("tray.status.starting")
	case Lost:
		return t.tx.Get("tray.status.lost")
	}
	var parts []string
	works, runs, sleeps := 0, 0, 0
	for _, b := range t.alive {
		switch {
		case working(b):
			works++
		case asleep(b):
			sleeps++
		default:
			runs++
		}
	}
	for _, c := range []struct {
		n   int
		key string
	}{{works, "tray.count.working"}, {runs, "tray.count.running"}, {sleeps, "tray.count.suspended"}} {
		if c.n > 0 {
			parts = append(parts, count(t.tx, c.n, c.key))
		}
	}
	if len(parts) == 0 {
		parts = []string{t.tx.Get("tray.status.none")}
	}
	text := strings.Join(parts, ", ")
	if spent, ok := t.spent(); ok {
		text += " · " + t.tx.Get("tray.status.spend", "amount", Money(t.tx, spent))
	}
	if t.state.Snapshot.Paused {
		text += " · " + t.tx.Get("tray.status.paused")
	}
	return text
}

// spent is what today has cost: what ended today, and what runs. That of another
// day counts on the day on which it ends, as the account has it.
func (t *tray) spent() (sandbox.Micro, bool) {
	if t.state.Settled == nil {
		return 0, false
	}
	sum := *t.state.Settled
	for _, b := range t.alive {
		if b.Profile != sandbox.ProfileLocal && !b.Orphan {
			sum = sum.Plus(CostNow(b, t.state.Snapshot.At, t.now))
			if b.State == sandbox.Running && b.PerHour > 0 {
				t.until = sooner(t.until, t.now.Add(time.Minute))
			}
		}
	}
	return sum, true
}

// alerts are what somebody has to look at.
func (t *tray) alerts() []Item {
	var out []Item
	if t.state.Link == Lost {
		why := t.tx.Get("tray.lost.why")
		if t.state.Why != nil {
			why = t.explain(t.state.Why)
		}
		out = append(out, Item{ID: "lost", Label: why, Disabled: true})
	}
	for _, r := range t.state.Snapshot.Profiles {
		if !refused(r) || t.lost() {
			continue
		}
		// What an app's own variables describe can't be signed in to from here.
		if r.Error.Code == sandbox.SignIn && !strings.HasPrefix(r.Profile, sandbox.ProfileDescribed) {
			out = append(out, Item{ID: "sign-in/" + r.Profile, Label: t.tx.Get("tray.signin", "profile", r.Profile), Action: Action{Verb: SignIn, Subject: r.Profile}})
			continue
		}
		out = append(out, Item{
			ID: "profile/" + r.Profile, Label: t.tx.Get("tray.profile", "profile", r.Profile, "why", t.explain(r.Error)),
			Action: Action{Open, r.Profile, PageProfiles},
		})
	}
	for _, b := range t.alive {
		if b.State == sandbox.InDoubt && !t.lost() {
			out = append(out, Item{ID: "doubt/" + key(b), Label: t.tx.Get("tray.doubt", "sandbox", Name(b)), Action: Action{Open, b.ID, PageSandboxes}})
		}
	}
	out = append(out, t.serving()...)
	for _, n := range t.state.Notes {
		out = append(out, Item{ID: "note/" + n.ID, Label: t.tx.Get("tray.dismiss", "text", n.Text), Action: Action{Verb: Hide, Subject: n.ID}})
	}
	return out
}

// serving says that the tools are served over HTTP, and to whom, for as long as the
// owner has them served.
func (t *tray) serving() []Item {
	h := t.state.Serving
	if !h.On || t.lost() {
		return nil
	}
	args := []string{"address", h.Address}
	label := t.tx.Get("tray.http.token", args...)
	switch {
	case h.State == control.ServingFailed:
		label = t.tx.Get("tray.http.failed", args...)
	case h.State == control.ServingStarting:
		label = t.tx.Get("tray.http.starting", args...)
	case h.Auth == control.AuthNone && h.Open:
		label = t.tx.Get("tray.http.open", args...)
	case h.Auth == control.AuthNone:
		label = t.tx.Get("tray.http.none", args...)
	}
	return []Item{{ID: "http", Label: label, Action: Action{Verb: Open, Page: PageSettings}}}
}

func (t *tray) explain(e *sandbox.Error) string {
	if t.state.Explain == nil {
		return sandbox.Message(e)
	}
	return t.state.Explain(e)
}

// sandboxes are the living ones, and what can be done with all of them.
func (t *tray) sandboxes() []Item {
	if len(t.alive) == 0 {
		return nil
	}
	var out []Item
	for _, b := range t.alive[:min(len(t.alive), mostListed)] {
		out = append(out, t.sandbox(b))
	}
	if more := len(t.alive) - mostListed; more > 0 {
		out = append(out, Item{ID: "more", Label: t.tx.Get("tray.more", "n", strconv.Itoa(more)), Action: Action{Verb: Open, Page: PageSandboxes}})
	}
	awake, ours := Awake(t.alive), Ours(t.alive)
	killAll := Item{ID: "kill-all", Label: t.tx.Get("tray.kill-all"), Disabled: t.lost() || len(ours) == 0}
	if !killAll.Disabled { // one click more, which says how many
		killAll.Items = []Item{{
			ID: "kill-all/yes", Label: t.tx.Get("tray.kill-all.yes", "sandboxes", count(t.tx, len(ours), "tray.count.sandbox")), Action: Action{Verb: KillAll},
		}}
	}
	return append(out,
		separator("2"),
		Item{ID: "suspend-all", Label: t.tx.Get("tray.suspend-all"), Disabled: t.lost() || len(awake) == 0, Action: Action{Verb: SuspendAll}},
		killAll,
		separator("3"),
	)
}

// Ours are those of all that the user has made, or an app on their behalf, and
// that can be ended.
func Ours(all []sandbox.Sandbox) []sandbox.Sandbox {
	return slices.DeleteFunc(slices.Clone(all), func(b sandbox.Sandbox) bool {
		return b.Orphan || b.ID == "" || !b.State.Alive() || b.State == sandbox.Terminating
	})
}

// Awake are those of ours that can be put to sleep.
func Awake(all []sandbox.Sandbox) []sandbox.Sandbox {
	return slices.DeleteFunc(Ours(all), func(b sandbox.Sandbox) bool { return b.State != sandbox.Running })
}

// Name is what to call a sandbox: its own name, else that of the app it is for,
// else a part of its id.
func Name(b sandbox.Sandbox) string {
	id := strings.TrimPrefix(b.ID, "microvm-")
	return printable(cmp.Or(b.Name, b.Host, id[:min(len(id), 8)], "…"))
}

// printable takes out what a name of others could upset a menu with.
func printable(s string) string {
	s = Visible(s)
	const most = 40
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most-1]) + "…"
	}
	return s
}

// key tells sandboxes apart from before they have an id until their end.
func key(b sandbox.Sandbox) string { return cmp.Or(b.Key, b.ID) }

// rest is what is there whatever runs.
func (t *tray) rest() []Item {
	var out []Item
	if t.state.Looked {
		hosts := Item{ID: "hosts", Label: t.tx.Get("tray.hosts")}
		for _, h := range t.state.Hosts {
			item := Item{ID: "host/" + h.ID, Label: t.tx.Get("tray.host.connect", "host", h.Title), Action: Action{Verb: Connect, Subject: h.ID}}
			if h.Connected {
				item = Item{ID: item.ID, Label: t.tx.Get("tray.host.connected", "host", h.Title), Disabled: true}
			}
			hosts.Items = append(hosts.Items, item)
		}
		if len(hosts.Items) == 0 {
			hosts.Items = []Item{{ID: "host", Label: t.tx.Get("tray.hosts.none"), Disabled: true}}
		}
		out = append(out, hosts)
	}
	return append(out,
		t.pause(),
		Item{ID: "open", Label: t.tx.Get("tray.open"), Action: Action{Verb: Open}},
		separator("4"),
		t.quit(),
	)
}

// pause has new sandboxes refused, or made again.
func (t *tray) pause() Item {
	paused := t.state.Snapshot.Paused
	i := Item{ID: "pause", Label: t.tx.Get("tray.pause"), Disabled: t.lost(), Toggle: true, On: paused, Action: Action{Verb: Pause, Subject: Paused}}
	if paused {
		i.Action.Subject = Unpaused
	}
	if _, busy := t.state.Doing[PauseKey]; busy {
		i.Label, i.Disabled = t.tx.Get("tray.doing", "action", i.Label), true
	}
	return i
}

// PauseKey stands for [Pause] in what is being done: no sandbox has that id.
const PauseKey = "*"

// quit asks what to do with what lives.
func (t *tray) quit() Item {
	quit := Item{ID: "quit", Label: t.tx.Get("tray.quit"), Action: Action{Verb: Quit}}
	ours := Ours(t.alive)
	if t.lost() || len(ours) == 0 {
		return quit
	}
	quit.Action = Action{}
	quit.Items = []Item{{ID: "quit/leave", Label: t.tx.Get("tray.quit.leave", "sandboxes", count(t.tx, len(ours), "tray.count.sandbox")), Action: Action{Verb: Quit}}}
	if len(Awake(t.alive)) > 0 {
		quit.Items = append(quit.Items, Item{ID: "quit/suspend", Label: t.tx.Get("tray.quit.suspend"), Action: Action{Verb: QuitSuspend}})
	}
	quit.Items = append(quit.Items, Item{ID: "quit/kill", Label: t.tx.Get("tray.quit.kill"), Action: Action{Verb: QuitKill}})
	return quit
}
