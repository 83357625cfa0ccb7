package window

import (
	"context"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// A boxEngine is an engine with two sandboxes, one of which sleeps, and with
// files in them. It counts how often files are asked for.
type boxEngine struct {
	control.Engine

	mu     sync.Mutex
	boxes  map[string]sandbox.Sandbox
	files  map[string]string // texts, by path; a folder ends in a slash
	asked  []string
	refuse error
	news   chan control.CallNews
	events chan sandbox.Event
	block  chan struct{} // what is closed lets reads go on
}

func newBoxEngine() *boxEngine {
	now := time.Now()
	e := &boxEngine{
		boxes: map[string]sandbox.Sandbox{}, files: map[string]string{"/home/user/": "", "/home/user/a.txt": "hello", "/home/user/sub/": ""},
		news: make(chan control.CallNews, 100), events: make(chan sandbox.Event, 10), block: make(chan struct{}),
	}
	close(e.block)
	for _, b := range []sandbox.Sandbox{
		{ID: "microvm-one", Key: "k1", Name: "one", State: sandbox.Running, StartedAt: now.Add(-time.Minute)},
		{ID: "microvm-two", Key: "k2", Name: "two", State: sandbox.Suspended, StartedAt: now.Add(-time.Hour)},
	} {
		b.Profile, b.EndsAt, b.Idle, b.UsedAt, b.Extendable = sandbox.ProfileLocal, now.Add(time.Hour), 5*time.Minute, now, now.Add(90*time.Minute)
		e.boxes[b.ID] = b
	}
	return e
}

func (e *boxEngine) Hello() control.Hello { return control.Hello{Protocol: control.Protocol} }

func (e *boxEngine) Status() control.Status { return control.Status{Hello: e.Hello()} }

func (e *boxEngine) snapshot() sandbox.Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := sandbox.Snapshot{At: time.Now()}
	for _, id := range slices.Sorted(maps.Keys(e.boxes)) {
		s.Sandboxes = append(s.Sandboxes, e.boxes[id])
	}
	return s
}

// change changes a sandbox, unless all is refused.
func (e *boxEngine) change(what, id string, edit func(*sandbox.Sandbox)) (sandbox.Sandbox, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, what+" "+id)
	if e.refuse != nil {
		return sandbox.Sandbox{}, e.refuse
	}
	b := e.boxes[id]
	edit(&b)
	e.boxes[id] = b
	return b, nil
}

func (e *boxEngine) Suspend(_ context.Context, id string) (sandbox.Sandbox, error) {
	return e.change("suspend", id, func(b *sandbox.Sandbox) { b.State = sandbox.Suspended })
}

func (e *boxEngine) Resume(_ context.Context, id string) (sandbox.Sandbox, error) {
	return e.change("resume", id, func(b *sandbox.Sandbox) { b.State = sandbox.Running })
}

func (e *boxEngine) Terminate(_ context.Context, id, _ string) error {
	_, err := e.change("terminate", id, func(b *sandbox.Sandbox) { b.State, b.EndedAt = sandbox.Terminated, time.Now() })
	return err
}

func (e *boxEngine) ScheduleRemoval(_ context.Context, id string, at time.Time) (sandbox.Sandbox, error) {
	return e.change("removal", id, func(b *sandbox.Sandbox) { b.EndsAt = at })
}

func (e *boxEngine) ListFiles(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error) ([]sandbox.File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, "list "+r.Sandbox)
	if _, ok := e.files[strings.TrimSuffix(r.Path, "/")+"/"]; !ok {
		return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no " + r.Path}
	}
	var out []sandbox.File
	for p, text := range e.files {
		name, isDir := strings.CutSuffix(p, "/")
		f := sandbox.File{Name: path.Base(name), Path: name, Type: sandbox.TypeFile, Size: int64(len(text))}
		if isDir {
			f.Type = sandbox.TypeDir
		}
		if path.Dir(name) == r.Path && name != r.Path {
			out = append(out, f)
		}
	}
	return out, nil
}

func (e *boxEngine) WriteFile(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error, content io.Reader) (sandbox.File, error) {
	<-e.block
	text, err := io.ReadAll(content)
	if err != nil {
		return sandbox.File{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[r.Path] = string(text)
	return sandbox.File{Path: r.Path}, nil
}

func (e *boxEngine) ReadFile(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error, w io.Writer) error {
	e.mu.Lock()
	text := e.files[r.Path]
	e.mu.Unlock()
	_, err := io.WriteString(w, text)
	return err
}

func (e *boxEngine) MakeDir(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error) (sandbox.File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[r.Path+"/"] = ""
	return sandbox.File{Path: r.Path}, nil
}

func (e *boxEngine) MoveFile(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error) (sandbox.File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[r.To] = e.files[r.Path]
	delete(e.files, r.Path)
	return sandbox.File{Path: r.To}, nil
}

func (e *boxEngine) RemoveFile(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.files, r.Path)
	return nil
}

func (e *boxEngine) FollowCalls(ctx context.Context, _ string, emit func(control.CallNews) error) error {
	for {
		select {
		case n := <-e.news:
			if err := emit(n); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (e *boxEngine) Ports(context.Context, string) ([]control.Port, error) {
	return []control.Port{{Number: 8000, Address: "127.0.0.1:8000"}}, nil
}

func (e *boxEngine) Events(_ context.Context, q sandbox.EventQuery) (sandbox.EventPage, error) {
	if q.Cursor == "" {
		return sandbox.EventPage{Events: []sandbox.Event{{ID: "e2", At: time.Now(), Kind: sandbox.EventReady, Subject: "microvm-two"}}, Next: "more"}, nil
	}
	return sandbox.EventPage{Events: []sandbox.Event{{ID: "e1", At: time.Now(), Kind: sandbox.EventReady, Subject: "microvm-one"}}}, nil
}

func (e *boxEngine) FollowEvents(ctx context.Context, emit func(sandbox.Event) error) error {
	for {
		select {
		case ev := <-e.events:
			if err := emit(ev); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (e *boxEngine) OwnProfiles(context.Context, struct{}) (control.OwnProfiles, error) {
	return control.OwnProfiles{Default: sandbox.ProfileLocal, Profiles: []control.OwnProfile{{Name: "work"}}}, nil
}

func (e *boxEngine) Templates(context.Context, sandbox.Profile) ([]sandbox.Template, error) {
	return []sandbox.Template{{Name: "python", SizeMiB: 2048}}, nil
}

func (e *boxEngine) Quote(_ context.Context, s sandbox.Spec) (sandbox.Quote, error) {
	return sandbox.Quote{Profile: s.Profile.Name, Local: true, Fits: true, Life: sandbox.Seconds(s.Timeout / time.Second), Idle: sandbox.Seconds(s.Idle / time.Second)}, nil
}

func (e *boxEngine) Create(_ context.Context, s sandbox.Spec) (sandbox.Sandbox, error) {
	return e.change("create "+s.Profile.Name+" "+s.Timeout.String()+" "+s.Idle.String(), "microvm-new", func(b *sandbox.Sandbox) {
		*b = sandbox.Sandbox{ID: "microvm-new", Key: s.Key, Name: s.Name, State: sandbox.Running, Profile: s.Profile.Name, StartedAt: time.Now(), EndsAt: time.Now().Add(s.Timeout)}
	})
}

func (e *boxEngine) did(what string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.asked, what)
}

func (e *boxEngine) file(p string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text, ok := e.files[p]
	return text, ok
}

// boxPage is the page of sandboxes over e, seen.
func boxPage(t *testing.T, language string, e *boxEngine) (*rig, *sandboxes) {
	t.Helper()
	r := newRig(t, language, e)
	p, _ := newSandboxes(r.core).(*sandboxes)
	r.show(p, e.snapshot())
	return r, p
}

// reads reports whether a text is seen.
func (r *rig) reads(part string) bool {
	for _, o := range test.LaidOutObjects(r.win.Content()) {
		if text, ok := o.(*canvas.Text); ok && strings.Contains(text.Text, part) {
			return true
		}
	}
	return false
}

func TestSandboxesPageActs(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) {
			e := newBoxEngine()
			r, p := boxPage(t, language, e)
			if p.row != "k1" || !r.reads("one") {
				t.Errorf("row %q is selected", p.row)
			}
			p.do(ui.Suspend, "microvm-one")
			if got := p.shown.Word(r.core.env.Texts, e.snapshot().Sandboxes[0]); p.shown.Doing["microvm-one"] != ui.Suspend || got == "" {
				t.Error("it does not look as if it were put to sleep")
			}
			r.until("it sleeps", func() bool { return e.did("suspend microvm-one") && p.shown.Doing["microvm-one"] == "" })
			p.show(e.snapshot())
			p.do(ui.Resume, "microvm-one")
			r.until("it is awake", func() bool { return e.did("resume microvm-one") && len(p.shown.Doing) == 0 })
			p.show(e.snapshot())
			p.do(ui.Extend, "microvm-one")
			r.until("its end is put off", func() bool { return e.did("removal microvm-one") && len(p.shown.Doing) == 0 })
			p.do(ui.Copy, "microvm-two")
			if r.copied != "microvm-two" {
				t.Errorf("copied %q", r.copied)
			}
			var opened []string
			p.terminal = func(args ...string) error {
				opened = args
				return nil
			}
			p.do(ui.Terminal, "microvm-one")
			if strings.Join(opened, " ") != "shell microvm-one" {
				t.Errorf("a terminal with %q", opened)
			}
			p.do(ui.Kill, "microvm-one")
			if e.did("terminate microvm-one") {
				t.Error("it is killed before anybody agreed to it")
			}
			if !view.Escape(r.win.Canvas()) {
				t.Fatal("nobody is asked")
			}
			e.mu.Lock()
			e.refuse = &sandbox.Error{Code: sandbox.InTransition, Msg: "the sandbox is still changing its state", Retryable: true}
			e.mu.Unlock()
			p.all(ui.SuspendAll)
			r.until("the refusal is told", func() bool { return p.view.Banner().Text() != "" })
			if !strings.Contains(p.view.Banner().Text(), "one") {
				t.Errorf("told: %s", p.view.Banner().Text())
			}
		})
	}
}

// TestSandboxesPageTellsOfTheWoken says so when a call wakes what was just put to
// sleep, and nothing when it stays asleep, or somebody wakes it.
func TestSandboxesPageTellsOfTheWoken(t *testing.T) {
	tests := []struct {
		name  string
		wakes bool
		calls int
		told  bool
	}{
		{"by a call", true, 1, true},
		{"by somebody", true, 0, false},
		{"not at all", false, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newBoxEngine()
			r, p := boxPage(t, assets.English, e)
			p.do(ui.Suspend, "microvm-one")
			r.until("it sleeps", func() bool { return e.did("suspend microvm-one") && len(p.shown.Doing) == 0 })
			e.mu.Lock()
			b := e.boxes["microvm-one"]
			if b.Running = tt.calls; tt.wakes {
				b.State = sandbox.Running
			}
			e.boxes["microvm-one"] = b
			e.mu.Unlock()
			p.show(e.snapshot())
			if told := strings.Contains(p.view.Banner().Text(), "woke it again"); told != tt.told {
				t.Errorf("told: %q", p.view.Banner().Text())
			}
		})
	}
}

// The end of a sandbox is set to what the user says, and a refusal is told where
// another time can be tried.
func TestSandboxesPageSetsAnEnd(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) {
			e := newBoxEngine()
			r, p := boxPage(t, language, e)
			tx := r.core.env.Texts
			e.mu.Lock()
			e.refuse = &sandbox.Error{Code: sandbox.Gone, Msg: "it has ended"}
			e.mu.Unlock()
			p.do(ui.EndAt, "microvm-one")
			h := hand{t, r}
			h.fill(tx.Get("sandboxes.end.hint"), "20 min")
			h.press(tx.Get("sandboxes.end.do"))
			r.until("it is refused", func() bool {
				return e.did("removal microvm-one") && h.sees(ui.Explain(tx, &sandbox.Error{Code: sandbox.Gone, Msg: "it has ended"}))
			})
			e.mu.Lock()
			e.refuse = nil
			e.mu.Unlock()
			h.press(tx.Get("sandboxes.end.do"))
			r.until("it is said", func() bool { return len(r.toasts) == 1 })
			if left := time.Until(e.snapshot().Sandboxes[0].EndsAt); left > 20*time.Minute || left < 10*time.Minute {
				t.Errorf("it ends in %v", left)
			}
			if !strings.Contains(r.toasts[0], "20 min") || r.win.Canvas().Overlays().Top() != nil {
				t.Errorf("said: %q", r.toasts)
			}
		})
	}
}

func TestSandboxesPageWakesNothing(t *testing.T) {
	e := newBoxEngine()
	r, p := boxPage(t, assets.English, e)
	p.place("microvm-two")
	for _, part := range []string{view.SandboxCalls, view.SandboxPorts, view.SandboxEvents, view.SandboxFiles} {
		p.view.Part(part)
		p.box.follow()
		p.tick(time.Now())
	}
	r.until("it is said to sleep", func() bool { return p.box.files.shown.State == view.FilesAsleep })
	r.pump()
	if e.did("list microvm-two") || e.did("resume microvm-two") {
		t.Fatalf("a sandbox that sleeps was asked: %q", e.asked)
	}
	p.view.Files.OnWake()
	r.until("it is woken", func() bool { return e.did("resume microvm-two") })
	p.show(e.snapshot())
	r.until("its files are there", func() bool { return p.box.files.shown.State == view.FilesListed && len(p.box.files.shown.Files) == 2 })
}

func TestSandboxesPageFollowsCalls(t *testing.T) {
	e := newBoxEngine()
	r, p := boxPage(t, assets.English, e)
	p.view.Part(view.SandboxCalls)
	p.box.follow()
	e.news <- control.CallNews{ID: "c1", Sandbox: "microvm-one", Kind: "command", Text: "make all", StartedAt: time.Now()}
	for range 50 {
		e.news <- control.CallNews{ID: "c1", Stream: "stdout", Data: []byte("one line\n")}
	}
	e.news <- control.CallNews{ID: "c1", Stream: "stderr", Data: []byte("trouble\n")}
	r.until("output", func() bool { return r.reads("trouble") && r.reads("make all") })
	e.news <- control.CallNews{ID: "c1", Exit: &sandbox.Exit{Code: 3}, EndedAt: time.Now()}
	r.until("its end", func() bool { return r.reads("exit code 3") })
	p.show(e.snapshot()) // what comes often starts nothing anew
	if p.box.calls.Get("c1") == nil {
		t.Error("a snapshot takes the calls away")
	}
	p.view.Part(view.SandboxPorts)
	p.box.follow()
	r.until("ports", func() bool { return r.reads("127.0.0.1:8000") })
	p.view.Part(view.SandboxEvents)
	p.box.follow()
	r.until("events", func() bool { return len(p.box.events) == 1 && p.box.events[0].ID == "event/e1" })
	e.events <- sandbox.Event{ID: "e3", At: time.Now(), Kind: sandbox.EventSuspended, Subject: "microvm-one"}
	e.events <- sandbox.Event{ID: "e4", At: time.Now(), Kind: sandbox.EventSuspended, Subject: "microvm-two"}
	r.until("another event", func() bool { return len(p.box.events) == 2 && p.box.events[0].ID == "event/e3" })
}

func TestSandboxesPageMakesOne(t *testing.T) {
	e := newBoxEngine()
	r, p := boxPage(t, assets.English, e)
	p.fresh()
	over := func() fyne.CanvasObject { return r.win.Canvas().Overlays().Top() }
	r.until("the dialog", func() bool { return over() != nil })
	said := func(part string) bool {
		for _, o := range test.LaidOutObjects(over()) {
			if text, ok := o.(*canvas.Text); ok && strings.Contains(text.Text, part) {
				return true
			}
		}
		return false
	}
	r.until("the quote", func() bool { return said("nothing: it is on this computer") })
	for _, o := range test.LaidOutObjects(over()) {
		if b, ok := o.(*view.Button); ok && b.Text == "Make it" {
			test.Tap(b)
			break
		}
	}
	r.until("it is made", func() bool { return e.did("create local 1h0m0s 5m0s microvm-new") && over() == nil })
	p.show(e.snapshot())
	if _, b := p.view.Selected(); b.ID != "microvm-new" {
		t.Errorf("%q is selected", b.ID)
	}
}

func TestSandboxesPageWithoutEngine(t *testing.T) {
	e := newBoxEngine()
	r, p := boxPage(t, assets.English, e)
	p.lose()
	if !r.reads("not known") || len(p.shown.ToKill()) != 0 {
		t.Error("a sandbox of an engine that is gone looks as if all were known")
	}
	p.show(e.snapshot())
	if r.reads("not known") {
		t.Error("it is back, and nobody would know")
	}
}
