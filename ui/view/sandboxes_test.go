package view

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

var boxNoon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// boxes are as many sandboxes of all kinds as are wanted.
func boxes(n int) (out []sandbox.Sandbox) {
	names := []string{"quarterly-report", "train-lighthouse", "night-tests", "web", "scratch", "migración-de-datos", "pdf", "demo"}
	hosts := []string{"Claude Desktop", "Cursor", "VS Code", ""}
	for i := range n {
		b := sandbox.Sandbox{
			ID: fmt.Sprintf("microvm-0123456789abcdef%02d", i), Key: fmt.Sprint("key-", i), Name: names[i%len(names)], State: sandbox.Running,
			Profile: sandbox.ProfileLocal, Host: hosts[i%len(hosts)], Template: "arn:aws:lambda:us-east-1:123456789012:microvm-image:python-ml", Version: "3.0",
			Lease: "lease", Idle: 5 * time.Minute, StartedAt: boxNoon.Add(-time.Duration(7*i+3) * time.Minute), UsedAt: boxNoon.Add(-time.Duration(20*i) * time.Second),
			EndsAt: boxNoon.Add(time.Duration(57-5*i) * time.Minute), SizeMiB: 2048,
		}
		switch i % 6 {
		case 1:
			b.Running, b.Profile, b.Cost, b.PerHour, b.Hold = 2, "work-aws", sandbox.Cost{Compute: 250_000, Launch: 9_000, Total: 259_000}, 130_000, 900_000
		case 2:
			b.State = sandbox.Suspended
		case 3:
			b.Profile, b.Extendable = "work-aws", b.EndsAt.Add(2*time.Hour)
			b.EndsAt = boxNoon.Add(3 * time.Minute)
		case 4:
			b.State = sandbox.Pending
		case 5:
			b.State, b.EndedAt, b.EndReason = sandbox.Terminated, boxNoon.Add(-2*time.Minute), sandbox.EndExpired
		}
		out = append(out, b)
	}
	return out
}

// screen is the screen of sandboxes in a window.
func screen(t testing.TB, language, theme string, size fyne.Size) (*Sandboxes, fyne.Window) {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(NewTheme(theme))
	w := test.NewTempWindow(t, nil)
	w.Resize(size)
	tx := assets.Load(language, "window", ui.Texts, ui.SpendTexts, ui.ActivityTexts, ui.MessageTexts, ui.SandboxTexts)
	v := NewSandboxes(Env{Texts: tx, Window: w, Now: func() time.Time { return boxNoon }, Explain: func(err error) string { return ui.Explain(tx, err) }, Copy: func(string) {}})
	w.SetContent(v.Object())
	w.Resize(size)
	return v, w
}

func someCalls() *ui.LiveCalls {
	calls := &ui.LiveCalls{}
	add := func(n control.CallNews) { calls.Add(n) }
	add(control.CallNews{ID: "1", Kind: "command", Text: "ls -la data", Host: "Cursor", StartedAt: boxNoon.Add(-9 * time.Minute), EndedAt: boxNoon.Add(-9*time.Minute + 40*time.Millisecond), Exit: &sandbox.Exit{}})
	add(control.CallNews{ID: "2", Kind: "code", Text: "import pandas\npandas.read_csv('x')", StartedAt: boxNoon.Add(-6 * time.Minute), EndedAt: boxNoon.Add(-6*time.Minute + time.Second), Exit: &sandbox.Exit{Code: 1}})
	add(control.CallNews{ID: "3", Kind: "job", Text: "python train.py --epochs 40", Host: "Claude Desktop", StartedAt: boxNoon.Add(-40 * time.Second)})
	for i := range 30 {
		add(control.CallNews{ID: "3", Stream: "stdout", Data: fmt.Appendf(nil, "epoch %d: loss %.3f\n", i, 1/float64(i+1))})
	}
	add(control.CallNews{ID: "3", Stream: "stderr", Data: []byte("warning: the learning rate is high, and this line is a long one so that it has to go on in the next line of the screen\n")})
	return calls
}

func TestSandboxesScreen(t *testing.T) {
	for _, look := range []string{"light", "dark"} {
		for _, language := range []string{assets.English, assets.Spanish} {
			for _, size := range []fyne.Size{{Width: 780, Height: 580}, {Width: 560, Height: 440}} {
				t.Run(fmt.Sprint(look, language, size.Width), func(t *testing.T) {
					v, w := screen(t, language, look, size)
					name := fmt.Sprintf("box-%s-%s-%v-", look, language, size.Width)
					s := ui.Sandboxes{By: ui.SandboxAge, Doing: map[string]ui.Verb{}}
					v.Show(s, boxNoon)
					snap(t, w, name+"loading")
					s.Snapshot.At = boxNoon
					v.Show(s, boxNoon)
					snap(t, w, name+"empty")
					s.Snapshot.Sandboxes = boxes(12)
					v.Show(s, boxNoon)
					v.Select("key-1")
					for _, want := range []string{"night-tests", "web"} {
						if !slices.Contains(textsOf(w), want) {
							t.Errorf("%q is not seen", want)
						}
					}
					snap(t, w, name+"overview")
					v.Part(SandboxCalls)
					v.Calls.Show(someCalls(), boxNoon)
					snap(t, w, name+"calls")
					v.Part(SandboxFiles)
					v.Files.Show(FilesShown{Dir: "/home/user/data", Files: []sandbox.File{
						{Name: "out", Path: "/home/user/data/out", Type: sandbox.TypeDir, Modified: boxNoon}, {Name: "sales.csv", Path: "/home/user/data/sales.csv", Type: sandbox.TypeFile, Size: 412_306, Modified: boxNoon.Add(-time.Hour)},
					}}, boxNoon)
					v.Files.Progress(ui.ProgressText(v.env.Texts, "sales.csv", 200_000, 412_306), 0.49)
					snap(t, w, name+"files")
					v.Files.Show(FilesShown{State: FilesAsleep}, boxNoon)
					snap(t, w, name+"asleep")
					v.Part(SandboxPorts)
					v.Ports.Show([]control.Port{{Number: 8000, Address: "127.0.0.1:8000"}})
					snap(t, w, name+"ports")
					v.Part(SandboxOverview)
					v.Select("key-3")
					v.Banner().Error("Suspend, web: the sandbox is still changing its state: try again", func() {}, "Hide")
					s.Lost = true
					v.Show(s, boxNoon)
					snap(t, w, name+"lost")
				})
			}
		}
	}
}

// A second in which no text changes draws nothing.
func TestSandboxesIdleTick(t *testing.T) {
	v, _ := screen(t, assets.English, "light", fyne.NewSize(780, 580))
	s := ui.Sandboxes{By: ui.SandboxAge, Snapshot: sandbox.Snapshot{At: boxNoon, Sandboxes: boxes(3)}, Doing: map[string]ui.Verb{}}
	v.Show(s, boxNoon)
	v.Select("key-0")
	mark := v.table.body.lines[0].cells[ui.SandboxName].text
	value := v.overview.values[0]
	mark.Text, value.Text = "as it was", value.Text+""
	v.Show(s, boxNoon.Add(time.Second))
	if mark.Text != "as it was" {
		t.Errorf("a cell was drawn again, as %q", mark.Text)
	}
	before := v.table.body.lines[0].cells[ui.SandboxLife].bar.bar
	v.Show(s, boxNoon.Add(5*time.Minute))
	if after := v.table.body.lines[0].cells[ui.SandboxLife].bar.bar; after == before || after.Text != "52 min" {
		t.Errorf("5 minutes later the bar is %+v, and was %+v", after, before)
	}
}

func TestSandboxesActions(t *testing.T) {
	v, w := screen(t, assets.English, "light", fyne.NewSize(780, 580))
	var done []string
	v.OnDo = func(verb ui.Verb, id string) { done = append(done, string(verb)+" "+id[len(id)-2:]) }
	v.OnAll = func(verb ui.Verb) { done = append(done, string(verb)) }
	s := ui.Sandboxes{By: ui.SandboxAge, Snapshot: sandbox.Snapshot{At: boxNoon, Sandboxes: boxes(6)}, Doing: map[string]ui.Verb{}}
	v.Show(s, boxNoon)
	v.Select("key-0")
	if v.actions[ui.Extend].Visible() || v.actions[ui.Resume].Visible() || v.actions[ui.Suspend].Disabled() {
		t.Error("the buttons of one that is awake are not right")
	}
	test.Tap(v.actions[ui.Suspend])
	v.Select("key-3")
	test.Tap(v.actions[ui.Extend])
	v.Select("key-5")
	if !v.actions[ui.Kill].Disabled() || !v.why.Visible() || !strings.Contains(v.why.Text, "it has ended") {
		t.Errorf("of one that has ended: %q", v.why.Text)
	}
	v.Select("key-2")
	test.Tap(v.actions[ui.Resume])
	test.Tap(v.suspendAll)
	menu := v.menu("key-1")
	menu.Items[0].Action()
	if want := []string{"suspend 00", "extend 03", "resume 02", "suspend-all", "suspend 01"}; !slices.Equal(done, want) {
		t.Errorf("done: %q, want %q", done, want)
	}
	v.Confirm(1, "web", func() { done = append(done, "yes") })
	if w.Canvas().Overlays().Top() == nil || !Escape(w.Canvas()) || slices.Contains(done, "yes") {
		t.Error("nobody is asked, or Escape is a yes")
	}
}

func TestFilesView(t *testing.T) {
	v, w := screen(t, assets.Spanish, "light", fyne.NewSize(780, 580))
	var done []string
	f := v.Files
	f.OnGo = func(dir string) { done = append(done, "go "+dir) }
	f.OnGet = func(file sandbox.File) { done = append(done, "get "+file.Path) }
	f.OnMove = func(from, to string) { done = append(done, "move "+from+" "+to) }
	f.OnRemove = func(file sandbox.File) { done = append(done, "remove "+file.Path) }
	f.OnWake = func() { done = append(done, "wake") }
	v.Part(SandboxFiles)
	f.Show(FilesShown{Dir: "/home/user", Files: []sandbox.File{
		{Name: "out", Path: "/home/user/out", Type: sandbox.TypeDir}, {Name: "a", Path: "/home/user/a", Type: sandbox.TypeFile}, {Name: "l", Path: "/home/user/l", Type: sandbox.TypeSymlink, Target: "out"},
	}}, boxNoon)
	for _, id := range []string{up, "/home/user/out", "/home/user/a", "/home/user/l"} {
		f.table.Select(id)
		f.open(id)
	}
	f.table.Select("/home/user/a")
	f.enable()
	test.Tap(f.rename)
	for _, text := range []string{"b/c", "b"} {
		e, ok := w.Canvas().Focused().(*Entry)
		if !ok {
			t.Fatalf("%T has the focus", w.Canvas().Focused())
		}
		e.SetText(text)
		press(e, fyne.KeyReturn)
	}
	if w.Canvas().Overlays().Top() != nil {
		t.Error("the dialog is still there")
	}
	if want := []string{"go /home", "go /home/user/out", "get /home/user/a", "go /home/user/out", "move /home/user/a /home/user/b"}; !slices.Equal(done, want) {
		t.Errorf("done: %q, want %q", done, want)
	}
	f.Show(FilesShown{State: FilesAsleep, Dir: "/home/user"}, boxNoon)
	if f.whole.Visible() {
		t.Error("files of one that sleeps are seen")
	}
}

// The output follows its end, unless the user looks at something above it.
func TestOutputFollows(t *testing.T) {
	v, _ := screen(t, assets.English, "light", fyne.NewSize(780, 580))
	v.Show(ui.Sandboxes{Snapshot: sandbox.Snapshot{At: boxNoon, Sandboxes: boxes(3)}}, boxNoon)
	v.Select("key-1")
	v.Part(SandboxCalls)
	calls := someCalls()
	v.Calls.Show(calls, boxNoon)
	out := v.Calls.out
	if !out.atEnd() || len(out.drawn) > 40 {
		t.Errorf("at the end: %v, with %d lines drawn", out.atEnd(), len(out.drawn))
	}
	more := func() {
		for range 20 {
			calls.Add(control.CallNews{ID: "3", Stream: "stdout", Data: []byte("more\n")})
		}
		v.Calls.Show(calls, boxNoon)
	}
	more()
	if !out.atEnd() {
		t.Error("the end is not followed")
	}
	v.env.Window.Resize(fyne.NewSize(780, 460)) // a line that comes above leaves less room for it, too
	if !out.atEnd() {
		t.Error("with less room, the end is out of sight")
	}
	more()
	if !out.atEnd() {
		t.Error("the end is not followed once there is less room")
	}
	out.scroll.Offset.Y = 0
	more()
	if out.scroll.Offset.Y != 0 {
		t.Error("the reader is taken to the end")
	}
}

func TestSandboxForm(t *testing.T) {
	v, w := screen(t, assets.English, "dark", fyne.NewSize(780, 580))
	var quoted, made []SandboxChoice
	var profiles []string
	f := NewSandboxForm(v.env, []string{"local", "work"}, "local", func(c SandboxChoice, done func(string)) {
		made = append(made, c)
		done("")
	}, nil)
	f.OnChange = func(c SandboxChoice) { quoted = append(quoted, c) }
	f.OnProfile = func(p string) { profiles = append(profiles, p) }
	f.Begin()
	f.Templates([]sandbox.Template{{Name: "python", Version: "1", SizeMiB: 2048}})
	if f.template.value() != "python" || !f.why.Visible() || f.filter.Visible() {
		t.Errorf("of one template %q is proposed, because %q", f.template.value(), f.why.Text)
	}
	f.life.entry.SetText("2,5")
	f.idle.entry.SetText("x")
	f.Quote("What it would cost", "", ui.QuoteFacts(v.env.Texts, sandbox.Quote{Profile: "local", Local: true, Fits: true, Life: 9000, Idle: 300, Hold: 400_000, Expected: 250_000})...)
	snap(t, w, "box-new")
	f.task.ok.OnTapped()
	if len(made) != 0 || f.idle.problem.Text == "" {
		t.Errorf("made %v with idle time x", made)
	}
	f.idle.entry.SetText("")
	f.profile.pick.SetSelectedIndex(1)
	f.name.entry.SetText("mine")
	f.task.ok.OnTapped()
	if want := (SandboxChoice{Name: "mine", Profile: "work", Life: 150 * time.Minute}); len(made) != 1 || made[0] != want {
		t.Errorf("made %+v, want %+v", made, want)
	}
	if !slices.Equal(profiles, []string{"local", "work"}) || len(quoted) < 4 || quoted[len(quoted)-1].Profile != "work" {
		t.Errorf("profiles %q, quotes %+v", profiles, quoted)
	}
	if w.Canvas().Overlays().Top() != nil {
		t.Error("the dialog is still there")
	}
}

// The best template is proposed, with why; filters leave those that are wanted.
func TestSandboxFormProposes(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		for _, look := range []string{"light", "dark"} {
			for _, size := range []fyne.Size{{Width: 1040, Height: 680}, {Width: 640, Height: 480}} {
				t.Run(fmt.Sprint(language, look, size.Width), func(t *testing.T) {
					v, w := screen(t, language, look, size)
					f := NewSandboxForm(v.env, []string{"local", "work"}, "work", func(SandboxChoice, func(string)) {}, nil)
					f.Begin()
					all := []sandbox.Template{
						{Name: "pizarra", Version: "7", SizeMiB: 4096, PerHour: 1_009_000, Used: 38},
						{Name: "taller-python", Version: "3", SizeMiB: 2048, PerHour: 504_000, Used: 9},
						{Name: "horno-grande", Version: "2", SizeMiB: 8192, PerHour: 2_018_000},
					}
					f.Templates(all)
					f.Prices([]control.SizePrice{{SizeMiB: 8192, MilliVCPU: 4000}, {SizeMiB: 4096, MilliVCPU: 2000}})
					f.Quote(f.say("new.quote"), "", ui.QuoteFacts(v.env.Texts, sandbox.Quote{Profile: "work", Region: "us-east-1", Fits: true, Life: 3600, Idle: 300, Hold: 400_000, Expected: 250_000})...)
					if c := f.Choice(); c.Template != "pizarra" || !strings.Contains(f.why.Text, "38") || !f.filter.Visible() || f.filters.Visible() {
						t.Errorf("%+v is proposed: %q", c, f.why.Text)
					}
					name := fmt.Sprintf("new-%s-%s-%v-", language, look, size.Width)
					snap(t, w, name+"first")
					test.Tap(f.filter)
					f.picks[1].SetSelectedIndex(1)
					if c := f.Choice(); c.Template != "taller-python" || f.picks[2].Visible() {
						t.Errorf("of those up to a price %+v is proposed", c)
					}
					snap(t, w, name+"filtered")
					f.picks[0].SetSelectedIndex(2)
					test.Tap(f.task.ok)
					if f.template.problem.Text == "" || f.task.done {
						t.Error("with no template left one is made")
					}
					snap(t, w, name+"none")
					f.picks[0].SetSelectedIndex(0)
					f.picks[1].SetSelectedIndex(0)
					if c := f.Choice(); c.Template != "pizarra" || f.template.problem.Text != "" {
						t.Errorf("without filters %+v is proposed: %q", c, f.template.problem.Text)
					}
					f.Templates([]sandbox.Template{{Name: "new"}})
					if c := f.Choice(); c.Template != "" {
						t.Errorf("one that can't be started is proposed: %+v", c)
					}
				})
			}
		}
	}
}

// BenchmarkSandboxes is from a snapshot of 1,000 sandboxes to a list that is
// drawn.
func BenchmarkSandboxes(b *testing.B) {
	v, w := screen(b, assets.English, "light", fyne.NewSize(960, 640))
	s := ui.Sandboxes{By: ui.SandboxAge, Snapshot: sandbox.Snapshot{At: boxNoon, Sandboxes: boxes(1000)}, Doing: map[string]ui.Verb{}}
	for i := 0; b.Loop(); i++ {
		v.Show(s, boxNoon.Add(time.Duration(i)*time.Minute))
		w.Canvas().Capture()
	}
}

// Each text of the screen is said somewhere, and each that is said is there.
func TestSandboxTextsAreSaid(t *testing.T) {
	said := map[string]bool{}
	for _, pattern := range []string{"sandboxes*.go", "../sandboxes*.go", "../window/sandboxes*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) < 4 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			prefix := map[string]string{"sandboxes.go": "sandboxes.", "sandboxes_new.go": "sandboxes."}[name]
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
					lit, isText := call.Args[0].(*ast.BasicLit)
					by := ""
					switch fun := call.Fun.(type) {
					case *ast.SelectorExpr:
						by = fun.Sel.Name
					case *ast.Ident:
						by = fun.Name
					}
					if isText && lit.Kind == token.STRING {
						key, _ := strconv.Unquote(lit.Value)
						switch {
						case strings.HasPrefix(key, "sandboxes."):
							said[key] = true
						case by == "say" && prefix != "":
							said[prefix+key] = true
						case by == "say" && name == "sandboxes_files.go":
							said["sandboxes.files."+key] = true
						case by == "say" && name == "sandboxes_end.go":
							said["sandboxes.end."+key] = true
						case by == "say" && name == "sandboxes_calls.go":
							said["sandboxes."+key] = true
						case by == "say" && name == "sandboxes_lists.go": // of two views
							said["sandboxes.ports."+key], said["sandboxes.events."+key] = true, true
						case by == "add":
							said["sandboxes.fact."+key] = true
						}
					}
				}
				if pair, ok := n.(*ast.KeyValueExpr); ok {
					if lit, ok := pair.Value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						key, _ := strconv.Unquote(lit.Value)
						if id, ok := pair.Key.(*ast.Ident); ok && id.Name == "About" {
							key = "sandboxes.fact." + key
						}
						said[key] = true
					}
				}
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if key, _ := strconv.Unquote(lit.Value); strings.HasPrefix(key, "sandboxes.") {
						said[key] = true
					}
				}
				return true
			})
		}
	}
	for _, language := range []string{assets.English, assets.Spanish} {
		tx := assets.Load(language, ui.SandboxTexts)
		for _, key := range tx.Keys() {
			if strings.HasPrefix(key, "sandboxes.") && !said[key] {
				t.Errorf("%s: nothing says %q", language, key)
			}
		}
		for key := range said {
			unsure := strings.HasPrefix(key, "sandboxes.ports.") || strings.HasPrefix(key, "sandboxes.events.") || strings.HasPrefix(key, "sandboxes.fact.")
			if strings.HasPrefix(key, "sandboxes.") && !strings.HasSuffix(key, ".") && !unsure && !tx.Has(key) {
				t.Errorf("%s: %q has no text", language, key)
			}
		}
	}
}
