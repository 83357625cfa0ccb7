package window

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/test"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui/view"
)

// To look at the files of one in a cloud keeps it awake, which costs: who comes by
// is asked first, and who goes to them is told.
func TestSandboxesPageKeepsNothingAwake(t *testing.T) {
	e := newBoxEngine()
	for id, b := range e.boxes {
		b.Profile, b.State = "work", sandbox.Running
		e.boxes[id] = b
	}
	r, p := boxPage(t, assets.English, e)
	f := p.box.files
	test.Tap(hand{t, r}.button(r.core.env.Texts.Get("sandboxes.part.files")))
	r.until("the files that somebody went to", func() bool { return f.shown.State == view.FilesListed })
	if !r.reads("and costs until then") {
		t.Error("nothing says that to look keeps it awake")
	}
	p.place("microvm-two")
	p.tick(time.Now())
	r.pump()
	if f.shown.State != view.FilesAsk || e.did("list microvm-two") {
		t.Errorf("somebody who comes by sees %q", f.shown.State)
	}
	p.view.Files.OnOpen()
	r.until("its files", func() bool { return f.shown.State == view.FilesListed && e.did("list microvm-two") })
	n := len(e.asked)
	for range 5 {
		p.show(e.snapshot())
		p.tick(time.Now())
		r.pump()
	}
	if len(e.asked) != n {
		t.Errorf("it is asked again by itself: %q", e.asked)
	}
}

func TestSandboxesPageFiles(t *testing.T) {
	e := newBoxEngine()
	r, p := boxPage(t, assets.English, e)
	p.view.Part(view.SandboxFiles)
	p.box.follow()
	f := p.box.files
	listed := func(names ...string) func() bool {
		return func() bool {
			var got []string
			for _, file := range f.shown.Files {
				got = append(got, file.Name)
			}
			return slices.Equal(got, names)
		}
	}
	r.until("files", listed("sub", "a.txt"))
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "tree", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"b.txt": "from the desktop", "tree/deep/c.txt": "deep"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI(filepath.Join(dir, "b.txt")), storage.NewFileURI(filepath.Join(dir, "tree"))})
	r.until("what was dropped", listed("sub", "tree", "a.txt", "b.txt"))
	if text, _ := e.file("/home/user/tree/deep/c.txt"); text != "deep" {
		t.Errorf("the file in a folder has %q", text)
	}
	to := filepath.Join(dir, "saved")
	p.choose = func(_ view.Env, name string, got func(string)) {
		if name != "a.txt" {
			t.Errorf("to be saved is %q", name)
		}
		got(to)
	}
	p.view.Files.OnGet(f.shown.Files[2])
	r.until("it is saved", func() bool { return f.copy == nil && len(r.toasts) == 2 })
	if text, err := os.ReadFile(to); string(text) != "hello" || err != nil {
		t.Errorf("saved %q, %v", text, err)
	}
	p.view.Files.OnMove("/home/user/a.txt", "/home/user/z.txt")
	r.until("another name", listed("sub", "tree", "b.txt", "z.txt"))
	p.view.Files.OnMake("/home/user/new")
	r.until("a new folder", listed("new", "sub", "tree", "b.txt", "z.txt"))
	p.view.Files.OnRemove(f.shown.Files[4])
	r.until("it is gone", listed("new", "sub", "tree", "b.txt"))
	p.view.Files.OnGo("/home/user/none")
	r.until("it is said that there is none", func() bool { return p.view.Files.Banner().Text() != "" })
	if f.shown.Dir != "/home/user" {
		t.Errorf("the folder is %q", f.shown.Dir)
	}
}

func TestSandboxesPageCancelsACopy(t *testing.T) {
	e := newBoxEngine()
	e.block = make(chan struct{})
	defer close(e.block)
	r, p := boxPage(t, assets.Spanish, e)
	now := time.Now()
	p.c.env.Now = func() time.Time { return now }
	p.view.Part(view.SandboxFiles)
	p.box.follow()
	r.until("files", func() bool { return p.box.files.shown.State == view.FilesListed })
	local := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(local, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	p.box.files.put([]string{local})
	r.until("some of it is on its way", func() bool { return p.box.files.copy.done.Load() > 0 })
	p.tick(now)
	if r.reads("3,0 MiB") {
		t.Error("what is quick is told of")
	}
	now = now.Add(2 * time.Second)
	p.tick(now)
	if !r.reads("3,0 MiB") {
		t.Error("what is slow is not told of")
	}
	p.view.Files.OnCancel()
	r.until("it is cancelled", func() bool { return p.box.files.copy == nil })
	if len(r.toasts) != 1 || p.view.Files.Banner().Text() != "" {
		t.Errorf("told: %q, %q", r.toasts, p.view.Files.Banner().Text())
	}
}
