package scene

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

const home = "/home/user"

// A tree is the files of a sandbox by their paths, with the folders.
type tree map[string]*node

type node struct {
	sandbox.File
	content []byte
}

// sales are the files that each sandbox has; they are long, so there is one copy.
var sales = sync.OnceValue(func() [][]byte {
	return [][]byte{
		bytes.Repeat([]byte("2026-01-14,muelle norte,caja,1284.50\n"), 11_143),
		bytes.Repeat([]byte("2026-04-02,muelle sur,bidón,77.10\n"), 14_651),
		bytes.Repeat([]byte("2026-08-30,muelle norte,red,512.00\n"), 14_339),
	}
})

// homeOf is what is in a sandbox of the story.
func homeOf(b sandbox.Sandbox, now time.Time) tree {
	t := tree{}
	if b.State == sandbox.Creating || b.State == sandbox.InDoubt {
		return t
	}
	at := b.StartedAt
	for i, content := range sales() {
		t.put(fmt.Sprintf("%s/datos/ventas-q%d.csv", home, i+1), content, 0o644, at)
	}
	t.put(home+"/informe.py", []byte("import pandas as pd\n\n\ndef agrupar(trimestre):\n    ventas = pd.read_csv(f'datos/ventas-q{trimestre}.csv')\n    return ventas.groupby('muelle').sum()\n"), 0o644, now.Add(-7*time.Minute))
	t.put(home+"/grafico.png", []byte("\x89PNG\r\n\x1a\n"+strings.Repeat("\x00", 48_213)), 0o644, now.Add(-3*time.Minute))
	t.put(home+"/LÉEME.md", []byte("# Informe trimestral\n\nUna carpeta inventada.\n"), 0o644, at)
	t.put(home+"/ejecutar.sh", []byte("#!/bin/sh\nexec python informe.py\n"), 0o755, at)
	t[home+"/último"] = &node{File: sandbox.File{Name: "último", Path: home + "/último", Type: sandbox.TypeSymlink, Target: "grafico.png", Modified: at, Owner: "user", Group: "user", Mode: 0o777}}
	return t
}

func (t tree) put(name string, content []byte, mode uint32, at time.Time) *node {
	t.folder(path.Dir(name), at)
	n := &node{sandbox.File{
		Name: path.Base(name), Path: name, Type: sandbox.TypeFile, Size: int64(len(content)), Mode: mode, Modified: at, Owner: "user", Group: "user",
	}, content}
	t[name] = n
	return n
}

func (t tree) folder(name string, at time.Time) *node {
	if n := t[name]; n != nil || name == "/" {
		return n
	}
	t.folder(path.Dir(name), at)
	n := &node{File: sandbox.File{Name: path.Base(name), Path: name, Type: sandbox.TypeDir, Size: 4096, Mode: 0o755, Modified: at, Owner: "user", Group: "user"}}
	t[name] = n
	return n
}

func full(name string) string {
	if !path.IsAbs(name) {
		name = path.Join(home, name)
	}
	return path.Clean(name)
}

func noFile(name string) error {
	return &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no " + name}
}

// in has do look at, or change, the files of a sandbox that is awake.
func (s *Scene) in(t sandbox.Target, do func(tree) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.awakeLocked(t)
	if err != nil {
		return err
	}
	b.UsedAt = s.clock.Now().UTC()
	b.files.folder(home, b.StartedAt)
	return do(b.files)
}

// Stat describes a file.
func (s *Scene) Stat(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error) (f sandbox.File, err error) {
	err = s.in(r.Target, func(t tree) error {
		n := t[full(r.Path)]
		if n == nil {
			return noFile(r.Path)
		}
		f = n.File
		return nil
	})
	return f, err
}

// ListFiles lists a folder.
func (s *Scene) ListFiles(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error) ([]sandbox.File, error) {
	out := []sandbox.File{}
	err := s.in(r.Target, func(t tree) error {
		at := full(r.Path)
		if n := t[at]; at != "/" && (n == nil || n.Type != sandbox.TypeDir) {
			return noFile(r.Path)
		}
		for name, n := range t {
			below, ok := strings.CutPrefix(name, strings.TrimSuffix(at, "/")+"/")
			if ok && strings.Count(below, "/") < max(r.Depth, 1) {
				out = append(out, n.File)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b sandbox.File) int { return cmp.Compare(a.Path, b.Path) })
	return out, err
}

// MakeDir makes a folder.
func (s *Scene) MakeDir(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error) (f sandbox.File, err error) {
	err = s.in(r.Target, func(t tree) error {
		n := t.folder(full(r.Path), s.clock.Now().UTC())
		if n == nil || n.Type != sandbox.TypeDir {
			return &sandbox.Error{Code: sandbox.Exists, Msg: r.Path + " is there already"}
		}
		f = n.File
		return nil
	})
	return f, err
}

// MoveFile renames a file, or a folder with what is in it.
func (s *Scene) MoveFile(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error) (f sandbox.File, err error) {
	err = s.in(r.Target, func(t tree) error {
		from, to := full(r.Path), full(r.To)
		if t[from] == nil {
			return noFile(r.Path)
		}
		t.folder(path.Dir(to), s.clock.Now().UTC())
		for name, n := range t {
			below, ok := strings.CutPrefix(name, from)
			if !ok || below != "" && below[0] != '/' {
				continue
			}
			delete(t, name)
			n.Path, n.Name = to+below, path.Base(to+below)
			t[n.Path] = n
		}
		f = t[to].File
		return nil
	})
	return f, err
}

// RemoveFile removes a file or a folder.
func (s *Scene) RemoveFile(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error) error {
	return s.in(r.Target, func(t tree) error {
		at := full(r.Path)
		if t[at] == nil {
			return noFile(r.Path)
		}
		var names []string
		for name := range t {
			if name == at || strings.HasPrefix(name, at+"/") {
				names = append(names, name)
			}
		}
		if len(names) > 1 && !r.All {
			return &sandbox.Error{Code: sandbox.Invalid, Msg: r.Path + " is not empty"}
		}
		for _, name := range names {
			delete(t, name)
		}
		return nil
	})
}

// ReadFile writes a file to w.
func (s *Scene) ReadFile(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error, w io.Writer) error {
	var content []byte
	err := s.in(r.Target, func(t tree) error {
		n := t[full(r.Path)]
		if n != nil && n.Type == sandbox.TypeSymlink {
			n = t[path.Join(path.Dir(n.Path), n.Target)]
		}
		if n == nil || n.Type != sandbox.TypeFile {
			return noFile(r.Path)
		}
		content = n.content
		return nil
	})
	if err == nil && len(content) > 0 {
		_, err = w.Write(content)
	}
	return err
}

// WriteFile keeps a file.
func (s *Scene) WriteFile(_ context.Context, r sandbox.FileRequest, _ func(sandbox.Output) error, content io.Reader) (f sandbox.File, err error) {
	text, err := io.ReadAll(content)
	if err != nil {
		return f, err
	}
	err = s.in(r.Target, func(t tree) error {
		f = t.put(full(r.Path), text, cmp.Or(r.Mode, 0o644), s.clock.Now().UTC()).File
		return nil
	})
	return f, err
}
