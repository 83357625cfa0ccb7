package window

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"

	"github.com/arenero/arenero/ui/view"
)

// chooseFile lets the user say where a file is to be, and what it is to be
// called. It is there, empty, when got is told of it.
func chooseFile(env view.Env, name string, got func(path string)) {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if err != nil || w == nil { // nothing was chosen, or the dialog has said why not
			return
		}
		path := w.URI().Path()
		if w.Close() == nil {
			got(path)
		}
	}, env.Window)
	d.SetFileName(name)
	size := env.Window.Canvas().Size()
	d.Resize(fyne.NewSize(size.Width*0.9, size.Height*0.9))
	d.Show()
}

// saveTo writes a file, whole or not at all. Only its owner may read it: it has
// the names of what they work on.
func saveTo(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return errors.Join(err, dropEmpty(path))
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()), dropEmpty(path))
	}
	return nil
}

// dropEmpty takes away a file that was only to be filled.
func dropEmpty(path string) error {
	if at, err := os.Stat(path); err != nil || at.Size() > 0 || !at.Mode().IsRegular() {
		return nil
	}
	return os.Remove(path)
}

// export writes the whole account into a file that the user names.
func (p *spend) export(format string) {
	env := p.c.env
	p.choose(env, "arenero-"+env.Now().Format("2006-01-02")+"."+format, func(path string) {
		fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (string, error) { // it goes on when the page is left
			return path, saveTo(path, func(w io.Writer) error {
				return p.c.client.ExportLedger(ctx, format, func(part []byte) error {
					_, err := w.Write(part)
					return err
				})
			})
		}, func(path string, err error) {
			if err != nil {
				p.c.fail(err)
				return
			}
			p.c.toast(env.Texts.Get("spend.exported", "file", path))
		})
	})
}
