package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// bothPages runs a test with the texts of the screen of sandboxes.
func bothPages(t *testing.T, test func(t *testing.T, tx assets.Texts)) {
	t.Helper()
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) { test(t, assets.Load(language, ui.Texts, ui.SpendTexts, ui.SandboxTexts)) })
	}
}

func named(name string, edits ...func(*sandbox.Sandbox)) sandbox.Sandbox {
	b := awake(edits...)
	b.ID, b.Key, b.Name = "microvm-"+name, "key-"+name, name
	return b
}

func names(rows []ui.SandboxRow) string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Sandbox.Name)
	}
	return strings.Join(out, " ")
}

func TestSandboxRows(t *testing.T) {
	all := []sandbox.Sandbox{
		named("old", func(b *sandbox.Sandbox) {
			b.StartedAt, b.EndsAt, b.Host, b.Profile = noon.Add(-5*time.Hour), noon.Add(3*time.Hour), "cursor", "work"
			b.Cost.Total = 2_000_000
		}),
		named("sleeper", func(b *sandbox.Sandbox) { b.State, b.StartedAt = sandbox.Suspended, noon.Add(-time.Hour) }),
		named("gone", func(b *sandbox.Sandbox) {
			b.State, b.EndedAt, b.StartedAt = sandbox.Terminated, noon.Add(-time.Minute), noon.Add(-time.Minute)
		}),
		named("Árbol", func(b *sandbox.Sandbox) {
			b.Running, b.Host, b.Template = 1, "claude", "arn:aws:lambda:us-east-1:1:microvm-image:python-ml"
		}),
	}
	tests := []struct {
		name       string
		filter     string
		by         ui.SandboxColumn
		descending bool
		want       string
	}{
		{"the newest first", "", ui.SandboxAge, false, "Árbol sleeper old gone"},
		{"the oldest first, and what has ended last", "", ui.SandboxAge, true, "old sleeper Árbol gone"},
		{"by name, whatever the accents", "", ui.SandboxName, false, "Árbol old sleeper gone"},
		{"what works first", "", ui.SandboxState, false, "Árbol old sleeper gone"},
		{"by app", "", ui.SandboxHost, true, "old Árbol sleeper gone"},
		{"what sleeps soonest first", "", ui.SandboxSleep, false, "sleeper old Árbol gone"},
		{"what ends soonest first", "", ui.SandboxLife, false, "Árbol sleeper old gone"},
		{"what cost most first", "", ui.SandboxSpend, true, "old Árbol sleeper gone"},
		{"by template", "", ui.SandboxTemplate, true, "Árbol sleeper old gone"},
		{"a filter of a name without its accent", "arbol", ui.SandboxAge, false, "Árbol"},
		{"a filter of two words", "work cursor", ui.SandboxAge, false, "old"},
		{"a filter of an id", "microvm-sl", ui.SandboxAge, false, "sleeper"},
		{"a filter of nothing there", "zebra", ui.SandboxAge, false, ""},
	}
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			s := ui.Sandboxes{Snapshot: sandbox.Snapshot{At: noon, Sandboxes: slices.Clone(all)}, Filter: tt.filter, By: tt.by, Descending: tt.descending}
			if got := names(s.Rows(tx, noon)); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		}
		s := ui.Sandboxes{Snapshot: sandbox.Snapshot{At: noon, Sandboxes: all}, Filter: in(tx, "asleep", "dormido")}
		if got := names(s.Rows(tx, noon)); got != "sleeper" {
			t.Errorf("a filter of a state: %q", got)
		}
	})
}

func TestSandboxCells(t *testing.T) {
	cell := func(c ui.SandboxCell) string {
		if c.Meter != nil {
			return c.Meter.Text + "|" + string(c.Meter.Tone)
		}
		return c.Text
	}
	aws := func(b *sandbox.Sandbox) { b.Profile, b.Cost.Total, b.PerHour = "work", 1_230_000, 0 }
	tests := []struct {
		name   string
		b      sandbox.Sandbox
		doing  ui.Verb
		lost   bool
		column ui.SandboxColumn
		en, es string
	}{
		{"awake", awake(), "", false, ui.SandboxState, "running", "en marcha"},
		{"working", awake(func(b *sandbox.Sandbox) { b.Running = 2 }), "", false, ui.SandboxState, "working", "trabajando"},
		{"being put to sleep", awake(), ui.Suspend, false, ui.SandboxState, "falling asleep", "durmiéndose"},
		{"being killed", awake(), ui.Kill, false, ui.SandboxState, "ending", "terminando"},
		{"asleep, as was asked", awake(func(b *sandbox.Sandbox) { b.State = sandbox.Suspended }), ui.Suspend, false, ui.SandboxState, "asleep", "dormido"},
		{"lost", awake(), "", true, ui.SandboxState, "not known", "se ignora"},
		{"a state of a newer engine", awake(func(b *sandbox.Sandbox) { b.State = "MELTING" }), "", false, ui.SandboxState, "melting", "melting"},
		{"ended", awake(func(b *sandbox.Sandbox) { b.State = sandbox.Terminated }), "", false, ui.SandboxState, "ended", "terminado"},
		{"age", awake(), "", false, ui.SandboxAge, "12 min", "12 min"},
		{"age at its end", awake(func(b *sandbox.Sandbox) { b.EndedAt = b.StartedAt.Add(2 * time.Minute) }), "", false, ui.SandboxAge, "2 min", "2 min"},
		{"falls asleep", awake(), "", false, ui.SandboxSleep, "1 min|good", "1 min|good"},
		{"falls asleep in seconds", awake(func(b *sandbox.Sandbox) { b.UsedAt = noon.Add(-275 * time.Second) }), "", false, ui.SandboxSleep, "25 s|good", "25 s|good"},
		{"was not used yet", awake(func(b *sandbox.Sandbox) { b.UsedAt, b.StartedAt = time.Time{}, noon.Add(-2*time.Minute) }), "", false, ui.SandboxSleep, "3 min|good", "3 min|good"},
		{"was not used since nobody knows when", awake(func(b *sandbox.Sandbox) { b.UsedAt = time.Time{} }), "", false, ui.SandboxSleep, "", ""},
		{"is new", awake(func(b *sandbox.Sandbox) { b.StartedAt = noon.Add(-2 * time.Second) }), "", false, ui.SandboxAge, "< 1 min", "< 1 min"},
		{"never falls asleep", awake(func(b *sandbox.Sandbox) { b.Idle = 0 }), "", false, ui.SandboxSleep, "never", "nunca"},
		{"is in use", awake(func(b *sandbox.Sandbox) { b.Running, b.UsedAt = 1, noon }), "", false, ui.SandboxSleep, "in use", "en uso"},
		{"is silent in use", awake(func(b *sandbox.Sandbox) { b.Running = 1 }), "", false, ui.SandboxSleep, "silent|warn", "en silencio|warn"},
		{"ends", awake(), "", false, ui.SandboxLife, "48 min|good", "48 min|good"},
		{"ends soon", awake(func(b *sandbox.Sandbox) { b.EndsAt = noon.Add(4 * time.Minute) }), "", false, ui.SandboxLife, "4 min|warn", "4 min|warn"},
		{"ends at once", awake(func(b *sandbox.Sandbox) { b.EndsAt = noon.Add(9 * time.Second) }), "", false, ui.SandboxLife, "9 s|bad", "9 s|bad"},
		{"ended, and ends no more", awake(func(b *sandbox.Sandbox) { b.State = sandbox.Terminated }), "", false, ui.SandboxLife, "", ""},
		{"costs nothing here", awake(func(b *sandbox.Sandbox) { b.Cost.Total = 99 }), "", false, ui.SandboxSpend, "free", "gratis"},
		{"costs in AWS", awake(aws), "", false, ui.SandboxSpend, "$1.23", "1,23 US$"},
		{"others' costs", awake(aws, func(b *sandbox.Sandbox) { b.Orphan = true }), "", false, ui.SandboxSpend, "not known", "no se sabe"},
		{"no price is known", awake(aws, func(b *sandbox.Sandbox) { b.Cost.Total = 0 }), "", false, ui.SandboxSpend, "not known", "no se sabe"},
		{"not made yet", awake(aws, func(b *sandbox.Sandbox) { b.State, b.Cost.Total = sandbox.Creating, 0 }), "", false, ui.SandboxSpend, "$0.00", "0,00 US$"},
		{"where", awake(), "", false, ui.SandboxProfile, "This computer", "Este equipo"},
		{"what of", awake(func(b *sandbox.Sandbox) { b.Template = "arn:aws:x:image/ml" }), "", false, ui.SandboxTemplate, "ml", "ml"},
	}
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			s := ui.Sandboxes{Snapshot: sandbox.Snapshot{At: noon, Sandboxes: []sandbox.Sandbox{tt.b}}, Lost: tt.lost, Doing: map[string]ui.Verb{tt.b.ID: tt.doing}}
			if got, want := cell(s.Rows(tx, noon)[0].Cells[tt.column]), in(tx, tt.en, tt.es); got != want {
				t.Errorf("%s: %q, want %q", tt.name, got, want)
			}
		}
		if got := len(ui.SandboxTitles(tx)); got != len(ui.Sandboxes{Snapshot: sandbox.Snapshot{Sandboxes: []sandbox.Sandbox{{}}}}.Rows(tx, noon)[0].Cells) {
			t.Errorf("%d titles", got)
		}
	})
}

// A meter moves by steps that can be seen: what looks the same is the same.
func TestMeterSteps(t *testing.T) {
	tx := assets.Load(assets.English, ui.Texts, ui.SandboxTexts)
	b := awake(func(b *sandbox.Sandbox) { b.Idle, b.UsedAt = time.Hour, noon })
	values := map[float64]bool{}
	for s := range 3600 {
		m := ui.SleepMeter(tx, b, noon.Add(time.Duration(s)*time.Second))
		if m.Left <= 0 || m.Left > 1 {
			t.Fatalf("after %d s %v is left", s, m.Left)
		}
		values[m.Left] = true
	}
	if len(values) != 60 {
		t.Errorf("%d values in an hour, want 60", len(values))
	}
}

func TestSandboxActions(t *testing.T) {
	told := func(s ui.Sandboxes, tx assets.Texts, b sandbox.Sandbox) string {
		var out []string
		for _, a := range s.Actions(tx, b) {
			if (a.Why == "") != a.Can {
				t.Errorf("%s: can is %v, and why %q", a.Verb, a.Can, a.Why)
			}
			if a.Can {
				out = append(out, string(a.Verb))
			}
		}
		return strings.Join(out, " ")
	}
	tests := []struct {
		name  string
		b     sandbox.Sandbox
		doing ui.Verb
		lost  bool
		want  string
	}{
		{"awake", awake(), "", false, "suspend terminal end-at copy kill"},
		{"its end was brought forward", awake(func(b *sandbox.Sandbox) { b.Extendable = b.EndsAt.Add(time.Hour) }), "", false, "suspend terminal extend end-at copy kill"},
		{"asleep", awake(func(b *sandbox.Sandbox) { b.State = sandbox.Suspended }), "", false, "resume terminal end-at copy kill"},
		{"falling asleep", awake(func(b *sandbox.Sandbox) { b.State = sandbox.Suspending }), "", false, "terminal end-at copy kill"},
		{"being made", awake(func(b *sandbox.Sandbox) { b.ID, b.State = "", sandbox.Creating }), "", false, ""},
		{"starting", awake(func(b *sandbox.Sandbox) { b.State = sandbox.Pending }), "", false, "terminal end-at copy kill"},
		{"of others", awake(func(b *sandbox.Sandbox) { b.Orphan = true }), "", false, "copy kill"},
		{"ended", awake(func(b *sandbox.Sandbox) { b.State = sandbox.Terminated }), "", false, "copy"},
		{"ending", awake(func(b *sandbox.Sandbox) { b.State = sandbox.Terminating }), "", false, "copy"},
		{"being put to sleep", awake(), ui.Suspend, false, "terminal copy"},
		{"without an engine", awake(), "", true, "copy"},
	}
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			s := ui.Sandboxes{Snapshot: sandbox.Snapshot{At: noon, Sandboxes: []sandbox.Sandbox{tt.b}}, Lost: tt.lost, Doing: map[string]ui.Verb{tt.b.ID: tt.doing}}
			if got := told(s, tx, tt.b); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		}
		var s ui.Sandboxes
		why := ui.WhyNot(tx, s.Actions(tx, awake(func(b *sandbox.Sandbox) { b.Orphan = true })))
		if want := in(tx, "Suspend, Open terminal: others made it, so it can only be ended", "Suspender, Abrir terminal: lo crearon otros: solo se puede terminar"); why != want {
			t.Errorf("why some can't be done: %q, want %q", why, want)
		}
		if why := ui.WhyNot(tx, s.Actions(tx, awake())); why != "" {
			t.Errorf("why all can be done: %q", why)
		}
	})
}

func TestSandboxesAll(t *testing.T) {
	s := ui.Sandboxes{Snapshot: sandbox.Snapshot{At: noon, Sandboxes: []sandbox.Sandbox{
		named("a"), named("b", func(b *sandbox.Sandbox) { b.State = sandbox.Suspended }), named("c", func(b *sandbox.Sandbox) { b.Orphan = true }),
		named("d", func(b *sandbox.Sandbox) { b.State = sandbox.Terminated }), named("e"),
	}}, Doing: map[string]ui.Verb{"microvm-e": ui.Kill}}
	if got := strings.Join(s.ToSuspend(), " "); got != "microvm-a" {
		t.Errorf("to suspend: %s", got)
	}
	if got := strings.Join(s.ToKill(), " "); got != "microvm-a microvm-b microvm-c" {
		t.Errorf("to kill: %s", got)
	}
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		if got, want := s.Summary(tx, noon), in(tx, "3 running, 1 asleep", "3 en marcha, 1 dormido"); got != want {
			t.Errorf("summary %q, want %q", got, want)
		}
		lost := s
		lost.Lost = true
		if got, want := lost.Summary(tx, noon), in(tx, "last seen 12:00:00", "última vez a las 12:00:00"); !strings.HasSuffix(got, want) {
			t.Errorf("summary %q, want %q", got, want)
		}
		if lost.ToKill() != nil {
			t.Error("some are to be killed without an engine")
		}
		if title, _, _ := ui.KillText(tx, 1, "web"); title != in(tx, "Kill the sandbox web?", "¿Terminar el sandbox web?") {
			t.Errorf("title %q", title)
		}
		if _, text, verb := ui.KillText(tx, 3, ""); !strings.Contains(text, "3 sandboxes") || verb != in(tx, "Yes, kill 3 sandboxes", "Sí, terminar 3 sandboxes") {
			t.Errorf("%q, %q", text, verb)
		}
	})
}

// TestSandboxFactsOfTheUnusual has facts that are no numbers where others have them.
func TestSandboxFactsOfTheUnusual(t *testing.T) {
	silent := named("silent", func(b *sandbox.Sandbox) {
		b.Running, b.Idle, b.UsedAt = 1, 5*time.Minute, noon.Add(-3*time.Minute)
	})
	strange := named("strange", func(b *sandbox.Sandbox) { b.Profile, b.PerHour, b.Cost = "work", 0, sandbox.Cost{} })
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		for _, want := range []struct {
			b           sandbox.Sandbox
			about, text string
		}{
			{silent, "sleep", in(tx, "silent", "en silencio")},
			{strange, "cost", in(tx, "not known", "no se sabe")},
		} {
			facts := ui.Sandboxes{Snapshot: sandbox.Snapshot{At: noon}}.Facts(tx, want.b, noon)
			i := slices.IndexFunc(facts, func(f ui.SandboxFact) bool { return f.About == want.about })
			if i < 0 || facts[i].Value != want.text {
				t.Errorf("%s: want %s to be %q, of %+v", want.b.Name, want.about, want.text, facts)
			}
		}
	})
}

func TestSandboxFacts(t *testing.T) {
	b := named("web", func(b *sandbox.Sandbox) {
		b.Profile, b.Version, b.SizeMiB, b.Lease, b.Host, b.Hold = "work", "3.0", 2048, "lease-1", "cursor", 500_000
		b.Template, b.PerHour = "arn:aws:lambda:us-east-1:1:microvm-image:ml", 120_000
		b.Cost = sandbox.Cost{Compute: 200_000, Launch: 10_000, Total: 210_000}
		b.Extendable = b.EndsAt.Add(time.Hour)
	})
	ended := named("old", func(b *sandbox.Sandbox) {
		b.State, b.EndedAt, b.EndReason, b.EndText = sandbox.Terminated, noon.Add(-time.Minute), sandbox.EndExpired, "time\x1b[0m is up"
	})
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		s := ui.Sandboxes{Snapshot: sandbox.Snapshot{At: noon}}
		got := map[string]string{}
		for _, f := range append(s.Facts(tx, b, noon), s.Facts(tx, ended, noon)[1:]...) {
			if f.Name == "" || strings.Contains(f.Name, "sandboxes.") || strings.Contains(f.Value, "sandboxes.fact") {
				t.Errorf("%s has no text: %q, %q", f.About, f.Name, f.Value)
			}
			if _, ok := got[f.About]; !ok {
				got[f.About] = f.Value
			}
		}
		for about, want := range map[string]string{
			"state": in(tx, "running", "en marcha"), "cost": in(tx, "$0.21", "0,21 US$"), "id": "microvm-web", "template": "ml 3.0", "size": "2 GiB",
			"sleep": in(tx, "in 1 min, after 5 min without use", "en 1 min, tras 5 min sin uso"), "end": in(tx, "in 48 min · 12:48:00", "en 48 min · 12:48:00"),
			"extend": "13:48:00", "started": in(tx, "11:48:00 · 12 min ago", "11:48:00 · hace 12 min"), "ended": "11:59:00",
			"lease": in(tx, "an app, and ends when that closes", "una app, y termina cuando esta se cierra"),
			"arn":   "arn:aws:lambda:us-east-1:1:microvm-image:ml", "per-hour": in(tx, "$0.12 an hour", "0,12 US$ por hora"),
		} {
			if got[about] != want {
				t.Errorf("%s is %q, want %q", about, got[about], want)
			}
		}
		if strings.ContainsRune(got["words"], 0x1b) || got["words"] == "" || got["reason"] == "" {
			t.Errorf("words %q, reason %q", got["words"], got["reason"])
		}
	})
}

func TestLiveCalls(t *testing.T) {
	var calls ui.LiveCalls
	say := func(id, stream, text string) *ui.LiveCall {
		return calls.Add(control.CallNews{ID: id, Stream: stream, Data: []byte(text)})
	}
	calls.Add(control.CallNews{ID: "1", Kind: "command", Text: "\n make test\nmore", StartedAt: noon})
	say("1", "stdout", "a\tb\r\nhalf \xc3")
	say("1", "stderr", "no\n")
	c := say("1", "stdout", "\xb1and\x1b[31m red\x1b[0m\n10%\r20%\r100%\nend")
	var got []string
	for _, line := range c.Lines() {
		text := ""
		for _, s := range line {
			if s.Stderr {
				text += "!"
			}
			text += s.Text
		}
		got = append(got, text)
	}
	if want := []string{"a    b", "half !no", "ñand red", "100%", "end"}; !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
	if page := c.Page(); !page[1][0].Code || page[1][0].Text != " make test" || len(page) != len(c.Lines())+3 {
		t.Errorf("what runs is %v", page[:3])
	}
	if ui.CallTitle(c) != "make test" || !c.Runs() {
		t.Errorf("title %q, runs %v", ui.CallTitle(c), c.Runs())
	}
	for range 100 {
		say("1", "stdout", strings.Repeat("ñ", 3000)+"\n")
	}
	say("1", "stdout", strings.Repeat("x", 900_000))
	if !c.Cut || len(c.Whole()) > 140_000 {
		t.Errorf("%d bytes are kept, cut %v", len(c.Whole()), c.Cut)
	}
	if n := len([]rune(c.Lines()[0][0].Text)); n > 4001 {
		t.Errorf("a line of %d characters", n)
	}
	for i := range 150 {
		calls.Add(control.CallNews{ID: "n" + strings.Repeat("i", i), Kind: "job", StartedAt: noon, EndedAt: noon})
	}
	if n := len(calls.Newest()); n != 100 || calls.Get("1") == nil || calls.Newest()[0].ID != "n"+strings.Repeat("i", 149) {
		t.Errorf("%d calls are kept", n)
	}
}

// TestProgress has a line that goes back to its beginning show what it said last,
// also before the next is said, and wherever the pieces begin.
func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		name string
		says []string
		want string
	}{
		{"nothing follows", []string{"10%\r"}, "10%"},
		{"over it", []string{"10%\r", "20%\r"}, "20%"},
		{"in another piece", []string{strings.Repeat(".", 5000) + "\r", "20%\r"}, "20%"},
		{"a line of both", []string{strings.Repeat("a\n", 2500) + "b\r", "\nc"}, "c"},
		{"twice", []string{"a\r\r\nb\r\r"}, "b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls ui.LiveCalls
			for _, text := range tt.says {
				calls.Add(control.CallNews{ID: "1", Stream: "stdout", Data: []byte(text)})
			}
			lines := calls.Newest()[0].Lines()
			if len(lines) == 0 || len(lines[len(lines)-1]) != 1 || lines[len(lines)-1][0].Text != tt.want {
				t.Errorf("%d lines, want %q at the end of: %.300v", len(lines), tt.want, lines)
			}
		})
	}
}

// What is copied is what is shown: escape sequences and what was written over
// are in neither.
func TestWholeIsWhatIsShown(t *testing.T) {
	var calls ui.LiveCalls
	calls.Add(control.CallNews{ID: "1", Kind: "command", Text: "make"})
	calls.Add(control.CallNews{ID: "1", Stream: "stdout", Data: []byte("\x1b[31mred\x1b[0m\ta\n10%\r20%\r\n\x1b]0;title\x07end")})
	calls.Add(control.CallNews{ID: "1", Stream: "stderr", Data: []byte(" of it")})
	c := calls.Newest()[0]
	if got, want := c.Whole(), "red    a\n20%\nend of it\n"; got != want {
		t.Errorf("copied is %q, want %q", got, want)
	}
}

// TestTurns keeps as much of two streams that take turns as can be drawn.
func TestTurns(t *testing.T) {
	var calls ui.LiveCalls
	for range 2000 {
		calls.Add(control.CallNews{ID: "1", Stream: "stdout", Data: []byte("a")})
		calls.Add(control.CallNews{ID: "1", Stream: "stderr", Data: []byte("b")})
	}
	c := calls.Newest()[0]
	if n := len(c.Said); n > 1024 || n < 1000 || !c.Cut {
		t.Errorf("%d pieces are kept, cut %v", n, c.Cut)
	}
	if whole := c.Whole(); !strings.HasSuffix(whole, "abab\n") {
		t.Errorf("the end is lost: %.20q", whole)
	}
}

func TestWrap(t *testing.T) {
	lines := []ui.SaidLine{{{Text: "añb"}, {Text: "cde", Stderr: true}}, nil, {{Text: "12"}}}
	var got []string
	for _, line := range ui.Wrap(lines, 2) {
		text := ""
		for _, s := range line {
			text += s.Text + "|"
		}
		got = append(got, text)
	}
	if want := []string{"añ|", "b|c|", "de|", "", "12|"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCallWord(t *testing.T) {
	exit := func(e sandbox.Exit) ui.LiveCall {
		return ui.LiveCall{Kind: "command", StartedAt: noon, EndedAt: noon.Add(1500 * time.Millisecond), Exit: &e}
	}
	tests := []struct {
		name   string
		c      ui.LiveCall
		en, es string
		took   string
	}{
		{"runs", ui.LiveCall{StartedAt: noon.Add(-8 * time.Second)}, "running", "en marcha", "8 s"},
		{"well", exit(sandbox.Exit{}), "done", "hecha", "1.50 s"},
		{"raised", ui.LiveCall{Kind: "code", StartedAt: noon, EndedAt: noon.Add(1500 * time.Millisecond), Exit: &sandbox.Exit{}, Raised: "NameError"}, "failed: NameError", "falló: NameError", "1.50 s"},
		{"not well", exit(sandbox.Exit{Code: 7}), "exit code 7", "código de salida 7", "1.50 s"},
		{"killed", exit(sandbox.Exit{Code: 137, Signal: 9}), "killed by signal 9", "muerta: señal 9", "1.50 s"},
		{"late", exit(sandbox.Exit{Code: 137, Signal: 9, TimedOut: true}), "its time was up", "se acabó su tiempo", "1.50 s"},
		{"failed", ui.LiveCall{StartedAt: noon, EndedAt: noon.Add(3 * time.Minute), Failed: &sandbox.Error{Code: sandbox.Gone}}, "failed", "falló", "3 min"},
		{"cancelled", ui.LiveCall{Failed: &sandbox.Error{Code: sandbox.Canceled}}, "cancelled", "cancelada", ""},
	}
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			word, _ := ui.CallWord(tx, &tt.c)
			took := ui.CallTook(tx, &tt.c, noon)
			if want := in(tx, tt.en, tt.es); word != want || took != in(tx, tt.took, strings.Replace(tt.took, ".", ",", 1)) {
				t.Errorf("%s: %q, %q, want %q, %q", tt.name, word, took, want, tt.took)
			}
		}
	})
}
