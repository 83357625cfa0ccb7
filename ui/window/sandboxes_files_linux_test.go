package window

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"

	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui/view"
)

// TestSandboxesPageWaitsForNoPipe leaves out what is no file, of which a pipe would
// hold up all copies that follow.
func TestSandboxesPageWaitsForNoPipe(t *testing.T) {
	e := newBoxEngine()
	r, p := boxPage(t, assets.English, e)
	p.view.Part(view.SandboxFiles)
	p.box.follow()
	f := p.box.files
	r.until("files", func() bool { return f.shown.State == view.FilesListed })
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte("beside it"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "lost")); err != nil {
		t.Fatal(err)
	}
	f.dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI(dir)})
	r.until("the copy ends", func() bool { return f.copy == nil })
	want := "2 were left out, since they are no files or folders: a, lost"
	r.until("what was left out is told once it is listed", func() bool { return len(f.shown.Files) == 3 && p.view.Files.Banner().Text() == want })
	p.view.Files.OnGo("/home/user/tree")
	r.until("another folder", func() bool { return f.shown.Dir == "/home/user/tree" })
	if got := p.view.Files.Banner().Text(); got != want {
		t.Errorf("before it was read it is gone: %q", got)
	}
	if text, _ := e.file("/home/user/tree/b"); text != "beside it" {
		t.Errorf("the file beside the pipe has %q", text)
	}
}
