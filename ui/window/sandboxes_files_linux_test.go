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
	f.dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI(dir)})
	r.until("the copy ends", func() bool { return f.copy == nil })
	if text, _ := e.file("/home/user/tree/b"); text != "beside it" {
		t.Errorf("the file beside the pipe has %q", text)
	}
}
