package view

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// selecting is an output in a window, with what is copied of it.
func selecting(t *testing.T, look string, says ...string) (v *Sandboxes, w fyne.Window, calls *ui.LiveCalls, copied *string) {
	t.Helper()
	v, w = screen(t, assets.English, look, fyne.NewSize(1040, 680))
	copied = new(string)
	v.Calls.out.onCopy = func(text string) { *copied = text }
	v.Show(ui.Sandboxes{Snapshot: sandbox.Snapshot{At: boxNoon, Sandboxes: boxes(3)}}, boxNoon)
	v.Select("key-1")
	v.Part(SandboxCalls)
	calls = &ui.LiveCalls{}
	calls.Add(control.CallNews{ID: "1", Kind: "command", Text: "make test", StartedAt: boxNoon})
	for _, text := range says {
		calls.Add(control.CallNews{ID: "1", Stream: "stdout", Data: []byte(text)})
	}
	v.Calls.Show(calls, boxNoon)
	return v, w, calls, copied
}

// where is the middle of the left edge of a letter of a line that is drawn.
func (v *outputView) where(row, letter int) fyne.Position {
	return fyne.NewPos(v.x(row, letter)+0.1, (float32(row)+0.5)*v.cell().Height)
}

func (v *outputView) drag(from, to fyne.Position) {
	v.MouseDown(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: from}, Button: desktop.MouseButtonPrimary})
	v.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: to}})
	v.DragEnd()
	v.MouseUp(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: to}, Button: desktop.MouseButtonPrimary})
}

func TestOutputSelectsByMouse(t *testing.T) {
	for _, look := range []string{"light", "dark"} {
		v, w, calls, copied := selecting(t, look, "first line\n", "\n", "señal 日本 last\n", strings.Repeat("long ", 60)+"end\n", "rest\n")
		out := v.Calls.out
		ctrlC := &fyne.ShortcutCopy{}
		out.TypedShortcut(ctrlC)
		if *copied != "" {
			t.Errorf("of nothing %q is copied", *copied)
		}
		out.drag(out.where(1, 6), out.where(3, 5))
		out.TypedShortcut(ctrlC)
		if *copied != "line\n\nseñal" || w.Canvas().Focused() != out {
			t.Errorf("copied %q, and %T has the focus", *copied, w.Canvas().Focused())
		}
		snap(t, w, "select-"+look)
		out.drag(out.where(3, 8), out.where(1, 6)) // backwards
		if got := out.Selected(); got != "line\n\nseñal 日本" {
			t.Errorf("backwards %q is selected", got)
		}
		for i := range 40 { // it is live
			calls.Add(control.CallNews{ID: "1", Stream: "stdout", Data: fmt.Appendf(nil, "more %d\n", i)})
			v.Calls.Show(calls, boxNoon)
		}
		if got := out.Selected(); got != "line\n\nseñal 日本" {
			t.Errorf("after more has come %q is selected", got)
		}
		if len(out.drawn) > 60 {
			t.Errorf("%d lines are drawn", len(out.drawn))
		}
		out.drag(out.where(4, 10), out.where(6, 2)) // lines that go on are not cut
		if got := out.Selected(); strings.Contains(got, "\n") || len(got) < 60 {
			t.Errorf("of a line that is drawn in some %q is selected", got)
		}
		w.Resize(fyne.NewSize(640, 480))
		if got := out.Selected(); strings.Contains(got, "\n") || len(got) < 60 {
			t.Errorf("in a narrow window %q is selected", got)
		}
		out.DoubleTapped(&fyne.PointEvent{Position: out.where(1, 7)})
		if got := out.Selected(); got != "line" {
			t.Errorf("the word is %q", got)
		}
		v.Calls.Show(&ui.LiveCalls{}, boxNoon)
		v.Calls.Show(someCalls(), boxNoon)
		if got := out.Selected(); got != "" {
			t.Errorf("of other calls %q is selected", got)
		}
	}
}

func TestOutputSelectsByKeys(t *testing.T) {
	v, w, calls, copied := selecting(t, "light", "one\ntwo\nthree\n")
	out := v.Calls.out
	w.Canvas().Focus(out)
	press(out, fyne.KeyDown, fyne.KeyRight)
	out.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	press(out, fyne.KeyDown, fyne.KeyEnd)
	out.KeyUp(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	out.TypedShortcut(&fyne.ShortcutCopy{})
	if *copied != "ne\ntwo" {
		t.Errorf("copied %q", *copied)
	}
	press(out, fyne.KeyHome)
	if out.Selected() != "" {
		t.Errorf("a key alone leaves %q selected", out.Selected())
	}
	out.TypedShortcut(&fyne.ShortcutSelectAll{})
	if got := out.Selected(); got != "make test\none\ntwo\nthree" {
		t.Errorf("all is %q", got)
	}
	press(out, fyne.KeyPageUp, fyne.KeyLeft, fyne.KeyLeft)
	press(out, fyne.KeyPageDown, fyne.KeyEnd, fyne.KeyRight)
	if got, want := out.sel.caret, (place{3, 5}); got != want {
		t.Errorf("at the end the keys are at %+v, want %+v", got, want)
	}
	out.TypedShortcut(&fyne.ShortcutSelectAll{})
	calls.Add(control.CallNews{ID: "1", Kind: "command", Text: "make test", StartedAt: boxNoon}) // told anew
	v.Calls.Show(calls, boxNoon)
	if got := out.Selected(); got != "" {
		t.Errorf("of what is there no more %q is selected", got)
	}
	test.Tap(v.Calls.copy) // with nothing to copy it does nothing
}
