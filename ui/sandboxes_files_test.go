package ui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

func TestFilesAsked(t *testing.T) {
	cloud := func(edits ...func(*sandbox.Sandbox)) sandbox.Sandbox {
		b := awake(edits...)
		b.Profile = "work"
		return b
	}
	late := func(b *sandbox.Sandbox) { b.UsedAt = noon.Add(-6 * time.Minute) }
	for _, tt := range []struct {
		name              string
		b                 sandbox.Sandbox
		chosen, passingBy bool // whether they are asked
	}{
		{"local", awake(), false, false},
		{"in a cloud", cloud(), false, true},
		{"that should sleep by now", cloud(late), true, true},
		{"that never sleeps", cloud(func(b *sandbox.Sandbox) { b.Idle = 0 }), false, false},
		{"in use", cloud(late, func(b *sandbox.Sandbox) { b.Running = 1 }), false, false},
		{"asleep", cloud(func(b *sandbox.Sandbox) { b.State = sandbox.Suspended }), false, false},
	} {
		if got := ui.FilesAsked(tt.b, true, noon); got != tt.chosen {
			t.Errorf("%s: who goes there is asked: %v", tt.name, got)
		}
		if got := ui.FilesAsked(tt.b, false, noon); got != tt.passingBy {
			t.Errorf("%s: who comes by is asked: %v", tt.name, got)
		}
	}
}

func TestFilesNote(t *testing.T) {
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		cloud := awake()
		cloud.Profile = "work"
		if got, want := ui.FilesNote(tx, awake()), in(tx, "To open a folder counts as use: it falls asleep 5 min later.", "Abrir una carpeta cuenta como uso: se duerme 5 min después."); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := ui.FilesNote(tx, cloud), in(tx, "To open a folder counts as use: it falls asleep 5 min later, and costs until then.", "Abrir una carpeta cuenta como uso: se duerme 5 min después y hasta entonces cuesta."); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := ui.FilesNote(tx, awake(func(b *sandbox.Sandbox) { b.Idle = 0 })); got != "" {
			t.Errorf("of one that never sleeps: %q", got)
		}
	})
}

func TestLeftOutText(t *testing.T) {
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			names []string
			n     int
			want  string
		}{
			{nil, 0, ""},
			{[]string{"tty"}, 1, in(tx, "Left out, since it is no file or folder: tty", "No se subió, por no ser archivo ni carpeta: tty")},
			{[]string{"a", "b"}, 2, in(tx, "2 were left out, since they are no files or folders: a, b", "2 no se subieron, por no ser archivos ni carpetas: a, b")},
			{[]string{"a", "b", "c", "d"}, 12, in(tx, "12 were left out, since they are no files or folders: a, b, c, and 9 more", "12 no se subieron, por no ser archivos ni carpetas: a, b, c y 9 más")},
		} {
			if got := ui.LeftOutText(tx, tt.names, tt.n); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		}
	})
}

func TestFiles(t *testing.T) {
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 200 << 10: "200 KiB", 1<<20 - 1: "1.0 MiB", 3 << 30: "3.0 GiB"} {
			if got := ui.Bytes(tx, n); got != in(tx, want, strings.Replace(want, ".", ",", 1)) {
				t.Errorf("%d is %q, want %q", n, got, want)
			}
		}
		files := []sandbox.File{
			{Name: "b.txt", Type: sandbox.TypeFile, Size: 5, Modified: noon},
			{Name: "a.txt", Type: sandbox.TypeFile, Size: 9, Modified: noon.Add(-48 * time.Hour)},
			{Name: "zoo", Type: sandbox.TypeDir, Size: 4096},
			{Name: "l\u202ek", Type: sandbox.TypeSymlink, Target: "b.txt"},
		}
		order := func(by ui.FileColumn, descending bool) string {
			ui.SortFiles(files, by, descending)
			var out []string
			for _, f := range files {
				out = append(out, f.Name[:1])
			}
			return strings.Join(out, "")
		}
		for _, tt := range []struct {
			by         ui.FileColumn
			descending bool
			want       string
		}{{ui.FileName, false, "zabl"}, {ui.FileName, true, "zlba"}, {ui.FileSize, false, "zlba"}, {ui.FileModified, true, "zbal"}} {
			if got := order(tt.by, tt.descending); got != tt.want {
				t.Errorf("by %d %v: %s, want %s", tt.by, tt.descending, got, tt.want)
			}
		}
		ui.SortFiles(files, ui.FileName, false)
		if got := strings.Join(ui.FileCells(tx, files[1], noon), "|"); got != "a.txt|9 B|2026-11-27 12:00" {
			t.Errorf("cells %q", got)
		}
		if got := ui.FileCells(tx, files[3], noon)[0]; got != "lk → b.txt" {
			t.Errorf("a link is %q", got)
		}
		if got, want := ui.ProgressText(tx, "a", 1<<20, 2<<20), in(tx, "a: 1.0 MiB of 2.0 MiB", "a: 1,0 MiB de 2,0 MiB"); got != want {
			t.Errorf("progress %q, want %q", got, want)
		}
	})
	var way []string
	for _, c := range ui.Crumbs("/home/user/") {
		way = append(way, c.Label+"="+c.Path)
	}
	if got := strings.Join(way, " "); got != "/=/ home=/home user=/home/user" {
		t.Errorf("crumbs %s", got)
	}
	for _, name := range []string{"", ".", "..", "a/b", strings.Repeat("x", 256)} {
		if got, err := ui.FileIn("/home", name); err == nil {
			t.Errorf("a file %q is at %q", name, got)
		}
	}
	if got, err := ui.FileIn("/home/user", "añ o"); got != "/home/user/añ o" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
