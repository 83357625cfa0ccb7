package window

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// boxFiles browses the files of the sandbox that is selected. It asks nothing of
// one that sleeps, which would wake it, until the user says so.
type boxFiles struct {
	p     *sandboxes
	id    string
	went  bool   // the user has gone to the files of the one that is selected
	woken string // id of the one that the user wants woken
	shown view.FilesShown
	asked int // how often a folder was asked for: the last answer counts
	copy  *boxCopy
	out   string // what was left out of the last copy; it is said until it is hidden
}

// A boxCopy is files on their way in or out.
type boxCopy struct {
	id    string // of the sandbox
	began time.Time
	stop  context.CancelFunc
	name  atomic.Pointer[string] // of the file that is on its way
	done  atomic.Int64           // bytes of it
	total atomic.Int64
	out   []string // names of what was left out; of who copies, until that ends
	outs  int      // number of them
}

func newBoxFiles(p *sandboxes) *boxFiles {
	return &boxFiles{p: p, shown: view.FilesShown{State: view.FilesLoading, Dir: ui.HomePath}}
}

func (f *boxFiles) open() {
	v := f.p.view.Files
	v.OnWake = f.wake
	v.OnOpen = func() {
		f.shown.State = view.FilesLoading
		f.list(f.shown.Dir)
		f.draw()
	}
	v.OnGo = f.list
	v.OnAgain = func() { f.list(f.shown.Dir) }
	v.OnSort = func(by ui.FileColumn, descending bool) {
		f.shown.By, f.shown.Down = by, descending
		f.draw()
	}
	v.OnPut = func() { f.p.pick(f.p.c.env, func(local string) { f.put([]string{local}) }) }
	v.OnGet = f.get
	v.OnMake = func(p string) {
		f.change(func(ctx context.Context, r sandbox.FileRequest) error {
			r.Path = p
			_, err := f.p.c.client.MakeDir(ctx, r, nil)
			return err
		})
	}
	v.OnMove = func(from, to string) {
		f.change(func(ctx context.Context, r sandbox.FileRequest) error {
			r.Path, r.To = from, to
			_, err := f.p.c.client.MoveFile(ctx, r, nil)
			return err
		})
	}
	v.OnRemove = func(file sandbox.File) {
		f.change(func(ctx context.Context, r sandbox.FileRequest) error {
			r.Path, r.All = file.Path, file.Type == sandbox.TypeDir
			return f.p.c.client.RemoveFile(ctx, r, nil)
		})
	}
	v.OnCancel = func() {
		if f.copy != nil {
			f.copy.stop()
		}
	}
}

// enter is called when the files of b are to be seen, and when b wakes or falls
// asleep while they are.
func (f *boxFiles) enter(b sandbox.Sandbox, fresh bool) {
	if b.ID != f.id {
		f.id = b.ID
		f.shown.Dir, f.shown.Files = ui.HomePath, nil
		f.shown.State = view.FilesLoading
	}
	if fresh {
		f.out = ""
		f.p.view.Files.Banner().Clear()
		f.p.c.env.Window.SetOnDropped(f.dropped)
	}
	f.asked++
	chosen := f.went || f.woken == b.ID
	f.went = false
	switch {
	case ui.FilesAsked(b, chosen, f.p.c.env.Now()):
		f.shown.State = view.FilesAsk
	case ui.FilesAwake(b):
		f.woken = ""
		f.list(f.shown.Dir)
	case f.woken == b.ID && b.State.Alive():
		f.shown.State = view.FilesWaking
	case (b.State == sandbox.Suspended || b.State == sandbox.Suspending) && !b.Orphan:
		f.shown.State = view.FilesAsleep
	default:
		f.shown.State = view.FilesAway
	}
	f.draw()
}

// wake wakes the sandbox, since the user said so.
func (f *boxFiles) wake() {
	f.woken = f.id
	f.shown.State = view.FilesWaking
	f.draw()
	id := f.id
	fetch(context.Background(), func(ctx context.Context) (sandbox.Sandbox, error) { return f.p.c.client.Resume(ctx, id) }, func(_ sandbox.Sandbox, err error) {
		if err == nil || id != f.id {
			return // the next snapshot has it awake
		}
		f.woken, f.shown.State = "", view.FilesAsleep
		f.failed(err)
		f.draw()
	})
}

func (f *boxFiles) request() sandbox.FileRequest {
	return sandbox.FileRequest{Target: sandbox.Target{Sandbox: f.id}}
}

// may reports whether the sandbox can be asked without waking it.
func (f *boxFiles) may() bool { return f.id != "" && ui.FilesAwake(f.p.find(f.id)) }

// list shows a folder.
func (f *boxFiles) list(dir string) {
	if !f.may() {
		return
	}
	r := f.request()
	r.Path, r.Depth = path.Clean("/"+dir), 1
	f.asked++
	mine := f.asked
	fetch(f.p.ctx, func(ctx context.Context) ([]sandbox.File, error) { return f.p.c.client.ListFiles(ctx, r, nil) }, func(all []sandbox.File, err error) {
		if mine != f.asked {
			return
		}
		if err != nil {
			f.failed(err)
			if f.shown.State == view.FilesLoading { // then the folder above, if only that one is gone
				f.shown.State, f.shown.Files = view.FilesListed, nil
			}
			f.draw()
			return
		}
		f.p.view.Files.Banner().Clear()
		f.leftOut()
		f.shown.State, f.shown.Dir, f.shown.Files = view.FilesListed, r.Path, all
		f.draw()
	})
}

func (f *boxFiles) draw() {
	f.shown.Note = ui.FilesNote(f.p.c.env.Texts, f.p.find(f.id))
	ui.SortFiles(f.shown.Files, f.shown.By, f.shown.Down)
	now := f.p.c.env.Now()
	f.p.view.Files.Show(f.shown, now)
	c := f.copy
	if c == nil || c.id != f.id || now.Sub(c.began) < time.Second { // what is quick needs no word
		f.p.view.Files.Progress("", 0)
		return
	}
	name := ""
	if n := c.name.Load(); n != nil {
		name = *n
	}
	done, total := c.done.Load(), c.total.Load()
	part := 0.0
	if total > 0 {
		part = float64(done) / float64(total)
	}
	f.p.view.Files.Progress(ui.ProgressText(f.p.c.env.Texts, name, done, total), part)
}

// leftOut says what was left out of the last copy, if anything was.
func (f *boxFiles) leftOut() {
	if f.out != "" {
		f.p.view.Files.Banner().Offer(f.out, func() {
			f.out = ""
			f.p.view.Files.Banner().Clear()
		}, f.p.c.env.Texts.Get("sandboxes.dismiss"))
	}
}

func (f *boxFiles) failed(err error) {
	f.p.view.Files.Banner().Error(f.p.c.env.Explain(err), f.p.view.Files.Banner().Clear, f.p.c.env.Texts.Get("sandboxes.dismiss"))
}

// change changes something, and lists the folder again.
func (f *boxFiles) change(do func(ctx context.Context, r sandbox.FileRequest) error) {
	if !f.may() {
		return
	}
	r, id := f.request(), f.id
	f.p.view.Files.Banner().Clear()
	fetch(context.Background(), func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx, r) }, func(_ struct{}, err error) {
		switch {
		case id != f.id:
			if err != nil {
				f.p.c.fail(err)
			}
		case err != nil:
			f.failed(err)
		default:
			f.list(f.shown.Dir)
		}
	})
}

// dropped takes files that were dragged here from the desktop.
func (f *boxFiles) dropped(_ fyne.Position, uris []fyne.URI) {
	if f.p.ctx.Err() != nil || f.p.view.ShownPart() != view.SandboxFiles || f.shown.State != view.FilesListed {
		return
	}
	var paths []string
	for _, u := range uris {
		if u.Scheme() == "file" {
			paths = append(paths, u.Path())
		}
	}
	f.put(paths)
}

// begin is the beginning of a copy, if there is none.
func (f *boxFiles) begin() (context.Context, *boxCopy) {
	if f.copy != nil {
		f.failed(errors.New(f.p.c.env.Texts.Get("sandboxes.files.copying")))
		return nil, nil
	}
	f.out = ""
	ctx, stop := context.WithCancel(context.Background())
	f.copy = &boxCopy{id: f.id, began: f.p.c.env.Now(), stop: stop}
	return ctx, f.copy
}

// copied is the end of it.
func (f *boxFiles) copied(c *boxCopy, err error, well string) {
	c.stop()
	f.copy = nil
	if c.id == f.id {
		f.out = ui.LeftOutText(f.p.c.env.Texts, c.out, c.outs)
		f.leftOut()
	}
	switch {
	case errors.Is(err, context.Canceled), sandbox.CodeOf(err) == sandbox.Canceled:
		f.p.c.toast(f.p.c.env.Texts.Get("sandboxes.files.stopped"))
	case err != nil && c.id == f.id:
		f.failed(err)
	case err != nil:
		f.p.c.fail(err)
	default:
		f.p.c.toast(well)
	}
	if c.id == f.id && f.may() && f.shown.State == view.FilesListed {
		f.list(f.shown.Dir)
	}
	f.draw()
}

// put brings in files and folders of this computer.
func (f *boxFiles) put(locals []string) {
	if !f.may() || len(locals) == 0 {
		return
	}
	ctx, c := f.begin()
	if c == nil {
		return
	}
	r, client := f.request(), f.p.c.client
	r.Path = f.shown.Dir
	after(ctx, func(ctx context.Context) error {
		for _, local := range locals {
			if err := putTree(ctx, client, c, r, local); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) { f.copied(c, err, f.p.c.env.Texts.Get("sandboxes.files.brought")) })
}

// after does something that may be stopped, and tells of its end also then.
func after(ctx context.Context, do func(ctx context.Context) error, got func(error)) {
	fetch(context.WithoutCancel(ctx), func(context.Context) (error, error) { return do(ctx), nil }, func(err, _ error) { got(err) })
}

// putTree brings in a file, or a folder with what is in it, below r.Path.
func putTree(ctx context.Context, client *control.Client, c *boxCopy, r sandbox.FileRequest, local string) error {
	top := filepath.Dir(local)
	into := r.Path
	return filepath.WalkDir(local, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(top, p)
		if err != nil {
			return err
		}
		r.Path = path.Join(into, filepath.ToSlash(relative))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir():
			_, err := client.MakeDir(ctx, r, nil)
			if sandbox.CodeOf(err) == sandbox.Exists {
				return nil
			}
			return err
		}
		return putFile(ctx, client, c, r, p)
	})
}

func putFile(ctx context.Context, client *control.Client, c *boxCopy, r sandbox.FileRequest, local string) error {
	at, err := os.Stat(local)
	switch {
	case errors.Is(err, fs.ErrNotExist): // a link that leads nowhere
		c.leave(local)
		return nil
	case err != nil:
		return err
	case !at.Mode().IsRegular(): // to open a pipe would wait for its other end, and a device never ends
		c.leave(local)
		return nil
	}
	file, err := os.Open(local)
	if err != nil {
		return err
	}
	defer file.Close()
	r.Mode = uint32(at.Mode().Perm())
	c.begin(at.Name(), at.Size())
	_, err = client.WriteFile(ctx, r, nil, &countedFile{file, c})
	return err
}

// mostNamed is how many of what is left out are remembered by name.
const mostNamed = 10

// leave leaves something out.
func (c *boxCopy) leave(local string) {
	c.outs++
	if len(c.out) < mostNamed {
		c.out = append(c.out, filepath.Base(local))
	}
}

// begin is the beginning of one file.
func (c *boxCopy) begin(name string, size int64) {
	c.name.Store(&name)
	c.done.Store(0)
	c.total.Store(size)
}

// A countedFile counts what is read of a file. It can begin anew, as a copy does
// after the loss of an engine.
type countedFile struct {
	*os.File
	c *boxCopy
}

func (f *countedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.c.done.Add(int64(n))
	return n, err
}

// WriteTo is not that of the file, which would not be counted.
func (f *countedFile) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{f})
}

func (f *countedFile) Seek(offset int64, whence int) (int64, error) {
	at, err := f.File.Seek(offset, whence)
	f.c.done.Store(at)
	return at, err
}

// A countedWriter counts what is written.
type countedWriter struct {
	io.Writer
	c *boxCopy
}

func (w countedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.c.done.Add(int64(n))
	return n, err
}

// get saves a file on this computer, where the user says.
func (f *boxFiles) get(file sandbox.File) {
	r := f.request()
	r.Path = file.Path
	f.p.choose(f.p.c.env, file.Name, func(to string) {
		if !f.may() {
			return
		}
		ctx, c := f.begin()
		if c == nil {
			return
		}
		c.begin(file.Name, file.Size)
		after(ctx, func(ctx context.Context) error {
			return saveTo(to, func(w io.Writer) error {
				_, err := f.p.c.client.ReadFile(ctx, r, nil, countedWriter{w, c})
				return err
			})
		}, func(err error) { f.copied(c, err, f.p.c.env.Texts.Get("sandboxes.files.saved", "file", to)) })
	})
}

// pickFile lets the user pick a file of this computer.
func pickFile(env view.Env, got func(path string)) {
	d := dialog.NewFileOpen(func(r fyne.URIReadCloser, err error) {
		if err != nil || r == nil { // nothing was picked, or the dialog has said why not
			return
		}
		local := r.URI().Path()
		r.Close()
		got(local)
	}, env.Window)
	size := env.Window.Canvas().Size()
	d.Resize(fyne.NewSize(size.Width*0.9, size.Height*0.9))
	d.Show()
}
