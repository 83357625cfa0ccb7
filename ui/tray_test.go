package ui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

func state(s sandbox.State) func(*sandbox.Sandbox) {
	return func(b *sandbox.Sandbox) { b.State = s }
}

func busy(n int) func(*sandbox.Sandbox) {
	return func(b *sandbox.Sandbox) { b.Running = n }
}

func inAWS(total, perHour sandbox.Micro) func(*sandbox.Sandbox) {
	return func(b *sandbox.Sandbox) { b.Profile, b.Cost.Total, b.PerHour = "prod", total, perHour }
}

func reach(code sandbox.Code, retryable bool) []sandbox.Reach {
	return []sandbox.Reach{{Profile: "prod", Error: &sandbox.Error{Code: code, Msg: "it can't", Retryable: retryable}}}
}

func TestIconAndTooltip(t *testing.T) {
	settled := func(m sandbox.Micro, all ...sandbox.Sandbox) ui.State {
		s := linked(all...)
		s.Settled = &m
		return s
	}
	refused := func(code sandbox.Code, retryable bool) ui.State {
		s := linked(awake())
		s.Snapshot.Profiles = reach(code, retryable)
		return s
	}
	noted := func(alert bool) ui.State {
		s := linked()
		s.Notes = []ui.Note{{ID: "1", Text: "x", Alert: alert}}
		return s
	}
	tests := []struct {
		name   string
		state  ui.State
		icon   ui.Icon
		en, es string
	}{
		{"before an answer", ui.State{Link: ui.Starting}, ui.IconNone, "Starting…", "Arrancando…"},
		{"nothing", linked(), ui.IconNone, "No sandboxes", "Ningún sandbox"},
		{"one that has ended", linked(awake(state(sandbox.Terminated))), ui.IconNone, "No sandboxes", "Ningún sandbox"},
		{"one awake", linked(awake()), ui.IconRunning, "1 running", "1 en marcha"},
		{"one in use", linked(awake(busy(2)), awake()), ui.IconWorking, "1 working, 1 running", "1 trabajando, 1 en marcha"},
		{"one being made", linked(awake(state(sandbox.Creating))), ui.IconWorking, "1 working", "1 trabajando"},
		{"all asleep", linked(awake(state(sandbox.Suspended)), awake(state(sandbox.Suspending))), ui.IconSuspended, "2 asleep", "2 dormidos"},
		{"one of each", linked(awake(), awake(state(sandbox.Suspended))), ui.IconRunning, "1 running, 1 asleep", "1 en marcha, 1 dormido"},
		{"in doubt", linked(awake(state(sandbox.InDoubt))), ui.IconAttention, "1 running", "1 en marcha"},
		{"to sign in", refused(sandbox.SignIn, false), ui.IconAttention, "1 running", "1 en marcha"},
		{"slowed down for a while", refused(sandbox.RateLimited, true), ui.IconRunning, "1 running", "1 en marcha"},
		{"something failed", noted(true), ui.IconAttention, "No sandboxes", "Ningún sandbox"},
		{"something was done", noted(false), ui.IconNone, "No sandboxes", "Ningún sandbox"},
		{"no engine", ui.State{Link: ui.Lost, Snapshot: linked(awake(busy(1))).Snapshot}, ui.IconLost, "The engine is not running", "El motor no está en marcha"},
		{"local costs nothing", settled(0, awake(func(b *sandbox.Sandbox) { b.Cost.Total = 99_000_000 })), ui.IconRunning, "1 running · $0.00 today", "1 en marcha · 0,00 US$ hoy"},
		{"spent today", settled(1_230_000), ui.IconNone, "No sandboxes · $1.23 today", "Ningún sandbox · 1,23 US$ hoy"},
		{"and being spent", settled(1_000_000, awake(inAWS(500_000, 36_000_000))), ui.IconRunning, "1 running · $1.50 today", "1 en marcha · 1,50 US$ hoy"},
	}
	both(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			m := ui.Tray(tt.state, tx, noon)
			want := in(tx, tt.en, tt.es)
			if m.Icon != tt.icon || m.Tooltip != "Arenero: "+want || m.Items[0].Label != want || !m.Items[0].Disabled {
				t.Errorf("%s: %q, tooltip %q, status %+v; want %q, %q", tt.name, m.Icon, m.Tooltip, m.Items[0], tt.icon, want)
			}
		}
	})
}

// text is a menu as lines: what is disabled in brackets, what is beside it
// indented, and the action behind it.
func text(items []ui.Item, indent string) string {
	var b strings.Builder
	for _, i := range items {
		label := i.Label
		switch {
		case i.Separator:
			label = "---"
		case i.Disabled:
			label = "[" + label + "]"
		case i.Action.Verb != "":
			label += " => " + strings.Join(strings.Fields(string(i.Action.Verb)+" "+i.Action.Page+" "+i.Action.Subject), " ")
		}
		if i.On {
			label = "✓ " + label
		}
		b.WriteString(indent + label + "\n" + text(i.Items, indent+"  "))
	}
	return b.String()
}

func TestMenu(t *testing.T) {
	full := linked(
		awake(func(b *sandbox.Sandbox) { b.Cost.Total = 20_000 }),
		awake(inAWS(20_000, 0), busy(2), func(b *sandbox.Sandbox) { b.Name, b.Key, b.ID = "job", "j", "microvm-j" }),
		awake(state(sandbox.Suspended), func(b *sandbox.Sandbox) { b.Name, b.Host, b.Key, b.ID = "", "Cursor", "s", "microvm-s" }),
		awake(func(b *sandbox.Sandbox) {
			b.Name, b.Key, b.ID, b.Orphan, b.EndsAt, b.Idle = "", "", "microvm-deadbeef99", true, time.Time{}, 0
		}),
	)
	full.Looked, full.Hosts = true, []ui.Host{{"claude-code", "Claude Code", true}, {"cursor", "Cursor", false}}
	full.Snapshot.Profiles = reach(sandbox.SignIn, false)
	full.Notes = []ui.Note{{ID: "7", Text: "Suspend: it can't", Alert: true}}
	const en = `[1 working, 2 running, 1 asleep]
Sign in to prod => sign-in prod
Suspend: it can't (click to hide) => hide 7
---
web · running · 12 min
  [on this computer, started 12 min ago]
  [Sleeps in 1 min]
  [Ends in 48 min]
  [Free here; in AWS it would be $0.02]
  ---
  Suspend => suspend microvm-0123456789ab
  Open terminal => terminal microvm-0123456789ab
  Copy id => copy microvm-0123456789ab
  Kill => kill microvm-0123456789ab
job · working · 12 min
  [in AWS (prod), started 12 min ago]
  [Silent for 4 min: it may be put to sleep. Give the next one a longer idle time, or 0]
  [Ends in 48 min]
  [Cost so far: $0.02]
  ---
  Suspend => suspend microvm-j
  Open terminal => terminal microvm-j
  Copy id => copy microvm-j
  Kill => kill microvm-j
Cursor · asleep
  [on this computer, started 12 min ago]
  [The next call wakes it]
  [Ends in 48 min]
  ---
  Resume => resume microvm-s
  Open terminal => terminal microvm-s
  Copy id => copy microvm-s
  Kill => kill microvm-s
deadbeef · running · 12 min
  [on this computer, made by others, started 12 min ago]
  ---
  [Suspend]
  [Open terminal]
  Copy id => copy microvm-deadbeef99
  Kill => kill microvm-deadbeef99
---
Suspend all => suspend-all
Kill all
  Yes, kill 3 sandboxes => kill-all
---
AI apps
  [Claude Code: connected]
  Connect Cursor => connect cursor
Pause new sandboxes => pause on
Open Arenero => open
---
Quit
  Leave 3 sandboxes as they are => quit
  Suspend all and quit => quit-suspend
  Kill all and quit => quit-kill
`
	const es = `[1 trabajando, 2 en marcha, 1 dormido]
Iniciar sesión en prod => sign-in prod
Suspend: it can't (clic para ocultar) => hide 7
---
web · en marcha · 12 min
  [en este equipo, empezó hace 12 min]
  [Se duerme en 1 min]
  [Termina en 48 min]
  [Gratis aquí; en AWS serían 0,02 US$]
  ---
  Suspender => suspend microvm-0123456789ab
  Abrir terminal => terminal microvm-0123456789ab
  Copiar id => copy microvm-0123456789ab
  Terminar => kill microvm-0123456789ab
job · trabajando · 12 min
  [en AWS (prod), empezó hace 12 min]
  [En silencio desde hace 4 min: puede que se duerma. Dale al próximo más tiempo de inactividad, o 0]
  [Termina en 48 min]
  [Coste hasta ahora: 0,02 US$]
  ---
  Suspender => suspend microvm-j
  Abrir terminal => terminal microvm-j
  Copiar id => copy microvm-j
  Terminar => kill microvm-j
Cursor · dormido
  [en este equipo, empezó hace 12 min]
  [La próxima llamada lo despierta]
  [Termina en 48 min]
  ---
  Reanudar => resume microvm-s
  Abrir terminal => terminal microvm-s
  Copiar id => copy microvm-s
  Terminar => kill microvm-s
deadbeef · en marcha · 12 min
  [en este equipo, creado por otros, empezó hace 12 min]
  ---
  [Suspender]
  [Abrir terminal]
  Copiar id => copy microvm-deadbeef99
  Terminar => kill microvm-deadbeef99
---
Suspender todos => suspend-all
Terminar todos
  Sí, terminar 3 sandboxes => kill-all
---
Apps de IA
  [Claude Code: conectada]
  Conectar Cursor => connect cursor
Pausar sandboxes nuevos => pause on
Abrir Arenero => open
---
Salir
  Dejar 3 sandboxes como están => quit
  Suspender todos y salir => quit-suspend
  Terminar todos y salir => quit-kill
`
	lost := full
	lost.Link, lost.Snapshot.Sandboxes, lost.Hosts = ui.Lost, full.Snapshot.Sandboxes[:1], nil
	lost.Snapshot.Paused = true
	const lostEN = `[The engine is not running]
[Off until the engine is back]
Suspend: it can't (click to hide) => hide 7
---
web · state not known
  [Off until the engine is back]
  ---
  [Suspend]
  [Open terminal]
  Copy id => copy microvm-0123456789ab
  [Kill]
---
[Suspend all]
[Kill all]
---
AI apps
  [None found on this computer]
✓ [Pause new sandboxes]
Open Arenero => open
---
Quit => quit
`
	const lostES = `[El motor no está en marcha]
[Desactivado hasta que vuelva el motor]
Suspend: it can't (clic para ocultar) => hide 7
---
web · estado desconocido
  [Desactivado hasta que vuelva el motor]
  ---
  [Suspender]
  [Abrir terminal]
  Copiar id => copy microvm-0123456789ab
  [Terminar]
---
[Suspender todos]
[Terminar todos]
---
Apps de IA
  [Ninguna en este equipo]
✓ [Pausar sandboxes nuevos]
Abrir Arenero => open
---
Salir => quit
`
	shut := linked()
	shut.Snapshot.Paused, shut.Snapshot.Profiles = true, reach(sandbox.Denied, false)
	tests := []struct {
		name   string
		state  ui.State
		en, es string
	}{
		{"all there is", full, en, es},
		{"no engine", lost, lostEN, lostES},
		{
			"paused, and a profile that is shut", shut,
			"[No sandboxes · new ones paused]\nprod: it can't => open profiles prod\n---\n✓ Pause new sandboxes => pause off\nOpen Arenero => open\n---\nQuit => quit\n",
			"[Ningún sandbox · nuevos en pausa]\nprod: it can't => open profiles prod\n---\n✓ Pausar sandboxes nuevos => pause off\nAbrir Arenero => open\n---\nSalir => quit\n",
		},
		{"nothing", linked(), "[No sandboxes]\n---\nPause new sandboxes => pause on\nOpen Arenero => open\n---\nQuit => quit\n", "[Ningún sandbox]\n---\nPausar sandboxes nuevos => pause on\nAbrir Arenero => open\n---\nSalir => quit\n"},
	}
	both(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			if got, want := text(ui.Tray(tt.state, tx, noon).Items, ""), in(tx, tt.en, tt.es); got != want {
				t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, want)
			}
		}
	})
}

func TestR31_R70_SandboxLines(t *testing.T) {
	tests := []struct {
		name   string
		b      sandbox.Sandbox
		about  string
		en, es string
	}{
		{"never sleeps", awake(func(b *sandbox.Sandbox) { b.Idle = 0 }), "sleep", "Never sleeps by itself", "Nunca se duerme solo"},
		{"used a moment ago", awake(busy(1), func(b *sandbox.Sandbox) { b.UsedAt = noon }), "sleep", "In use: 1 call", "En uso: 1 llamada"},
		{
			"silent, and far from sleep", awake(busy(1), func(b *sandbox.Sandbox) { b.Idle = time.Hour }), "sleep",
			"In use: 1 call. Silent for 4 min", "En uso: 1 llamada. En silencio desde hace 4 min",
		},
		{"ends although it sleeps", awake(state(sandbox.Suspended)), "end", "Ends in 48 min", "Termina en 48 min"},
		{"its end is past", awake(func(b *sandbox.Sandbox) { b.EndsAt = noon.Add(-time.Second) }), "end", "Ends in under a minute", "Termina en menos de un minuto"},
	}
	both(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			item, _ := ui.Find(ui.Tray(linked(tt.b), tx, noon).Items, "sandbox/k/"+tt.about)
			if want := in(tx, tt.en, tt.es); item.Label != want {
				t.Errorf("%s: %q, want %q", tt.name, item.Label, want)
			}
		}
	})
}

func TestExtend(t *testing.T) {
	until := func(d time.Duration) func(*sandbox.Sandbox) {
		return func(b *sandbox.Sandbox) { b.Extendable = b.EndsAt.Add(d) }
	}
	never := func(b *sandbox.Sandbox) { b.EndsAt = time.Time{} }
	orphan := func(b *sandbox.Sandbox) { b.Orphan = true }
	lost := linked(awake(until(time.Hour)))
	lost.Link = ui.Lost
	tests := []struct {
		name   string
		state  ui.State
		by     time.Duration
		en, es string
	}{
		{"its life is as long as it can be", linked(awake()), 0, "", ""},
		{"a day more", linked(awake(until(24 * time.Hour))), time.Hour, "Extend by 1 h", "Alargar 1 h"},
		{"a part of an hour", linked(awake(until(23*time.Minute + 40*time.Second))), 23*time.Minute + 40*time.Second, "Extend by 23 min", "Alargar 23 min"},
		{"seconds", linked(awake(until(59 * time.Second))), 59 * time.Second, "", ""},
		{"asleep", linked(awake(until(time.Hour), state(sandbox.Suspended))), time.Hour, "Extend by 1 h", "Alargar 1 h"},
		{"ending", linked(awake(until(time.Hour), state(sandbox.Terminating))), time.Hour, "", ""},
		{"of others", linked(awake(until(time.Hour), orphan)), 0, "", ""},
		{"without an end", linked(awake(until(time.Hour), never)), 0, "", ""},
		{"no engine", lost, time.Hour, "", ""},
	}
	both(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			b := tt.state.Snapshot.Sandboxes[0]
			if by := ui.LaterEnd(b).Sub(b.EndsAt); by != tt.by {
				t.Errorf("%s: later by %v, want %v", tt.name, by, tt.by)
			}
			item, ok := ui.Find(ui.Tray(tt.state, tx, noon).Items, "sandbox/k/extend")
			if want := in(tx, tt.en, tt.es); item.Label != want || ok != (want != "") || item.Disabled {
				t.Errorf("%s: %+v, want %q", tt.name, item, want)
			}
		}
	})
}

func TestWhatIsBeingDone(t *testing.T) {
	tx := assets.Load(assets.English, ui.Texts)
	s := linked(awake())
	s.Doing = map[string]ui.Verb{awake().ID: ui.Suspend, ui.PauseKey: ui.Pause}
	for id, want := range map[string]ui.Item{
		"sandbox/k/suspend":  {Label: "Suspend…", Disabled: true},
		"sandbox/k/kill":     {Label: "Kill", Disabled: true},
		"sandbox/k/terminal": {Label: "Open terminal"},
		"pause":              {Label: "Pause new sandboxes…", Disabled: true},
	} {
		if got, _ := ui.Find(ui.Tray(s, tx, noon).Items, id); got.Label != want.Label || got.Disabled != want.Disabled {
			t.Errorf("%s is %+v, want %+v", id, got, want)
		}
	}
}

// TestIDs holds that no two items have the same, and that what is still there
// keeps its own.
func TestIDs(t *testing.T) {
	tx := assets.Load(assets.English, ui.Texts)
	var all []sandbox.Sandbox
	for i := range 40 {
		all = append(all, awake(func(b *sandbox.Sandbox) { b.Key = fmt.Sprint(i) }))
	}
	ids := func(s ui.State) []string {
		var out []string
		var walk func(items []ui.Item)
		walk = func(items []ui.Item) {
			for _, i := range items {
				out = append(out, i.ID)
				walk(i.Items)
			}
		}
		walk(ui.Tray(s, tx, noon).Items)
		return out
	}
	got := ids(linked(all...))
	sorted := slices.Sorted(slices.Values(got))
	if n := len(slices.Compact(sorted)); n != len(got) || slices.Contains(got, "") {
		t.Errorf("%d of %d ids are there once", n, len(got))
	}
	if more, _ := ui.Find(ui.Tray(linked(all...), tx, noon).Items, "more"); more.Label != "25 more…" || more.Action != (ui.Action{Verb: ui.Open, Page: ui.PageSandboxes}) {
		t.Errorf("more is %+v", more)
	}
	fewer := ids(linked(all[1:]...))
	for _, id := range ids(linked(all[5])) {
		if !slices.Contains(fewer, id) {
			t.Errorf("%s is not there any more", id)
		}
	}
}

// TestUntil holds that a menu without sandboxes asks for no tick, and one with
// them for none within the minute that changes nothing.
func TestUntil(t *testing.T) {
	tx := assets.Load(assets.English, ui.Texts)
	if until := ui.Tray(linked(), tx, noon).Until; !until.IsZero() {
		t.Errorf("with nothing it is %v", until)
	}
	for _, b := range []sandbox.Sandbox{awake(), awake(busy(1)), awake(state(sandbox.Suspended))} {
		m := ui.Tray(linked(b), tx, noon)
		if m.Until.IsZero() || m.Until.Before(noon.Add(30*time.Second)) {
			t.Errorf("%s with %d calls: until %v", b.State, b.Running, m.Until)
		}
		before := ui.Tray(linked(b), tx, m.Until.Add(-time.Second))
		if text(before.Items, "") != text(m.Items, "") || before.Tooltip != m.Tooltip {
			t.Errorf("%s: it changed before %v", b.State, m.Until)
		}
	}
}

func TestNamesOfOthersAreTamed(t *testing.T) {
	for name, want := range map[string]string{
		"a\nb\x1b[31m": "ab[31m", "x\u202egnp": "xgnp", strings.Repeat("ñ", 60): strings.Repeat("ñ", 39) + "…",
	} {
		if got := ui.Name(sandbox.Sandbox{Name: name}); got != want {
			t.Errorf("Name(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestR85_R90_TrayTellsOfHTTP has a line for as long as the tools are served over
// HTTP, and leads to where that is set.
func TestR85_R90_TrayTellsOfHTTP(t *testing.T) {
	for name, tt := range map[string]struct {
		is     control.Serving
		en, es string // "" is no line
	}{
		"off":        {control.Serving{Address: "a:1", State: control.ServingOff}, "", ""},
		"anyone":     {control.Serving{On: true, Address: "a:1", Auth: control.AuthNone, State: control.ServingOn}, "Serving over HTTP at a:1: anyone who reaches it can use it", "Se sirve por HTTP en a:1: quien llegue puede usarlo"},
		"anyone far": {control.Serving{On: true, Address: "a:1", Auth: control.AuthNone, Open: true, State: control.ServingOn}, "⚠ Open to other computers over HTTP at a:1: anyone can use it", "⚠ Abierto a otros equipos por HTTP en a:1: cualquiera puede usarlo"},
		"tokens":     {control.Serving{On: true, Address: "a:1", Auth: control.AuthToken, State: control.ServingOn}, "Serving over HTTP at a:1, for tokens", "Se sirve por HTTP en a:1, con tokens"},
		"starting":   {control.Serving{On: true, Address: "a:1", Auth: control.AuthToken, State: control.ServingStarting}, "Starting over HTTP at a:1…", "Empezando por HTTP en a:1…"},
		"failed":     {control.Serving{On: true, Address: "a:1", Auth: control.AuthNone, State: control.ServingFailed}, "Not served over HTTP at a:1: see Settings", "No se sirve por HTTP en a:1: mira los ajustes"},
	} {
		for language, want := range map[string]string{assets.English: tt.en, assets.Spanish: tt.es} {
			s := linked()
			s.Serving = tt.is
			m := ui.Tray(s, assets.Load(language, ui.Texts), time.Now())
			i := slices.IndexFunc(m.Items, func(i ui.Item) bool { return i.ID == "http" })
			switch {
			case i < 0 && want != "", i >= 0 && m.Items[i].Label != want:
				t.Errorf("%s, %s: %+v", name, language, m.Items)
			case i >= 0 && m.Items[i].Action != (ui.Action{Verb: ui.Open, Page: ui.PageSettings}):
				t.Errorf("%s: it leads to %+v", name, m.Items[i].Action)
			}
		}
	}
}
