package ui_test

import (
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
