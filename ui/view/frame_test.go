package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/assets"
)

// frameEnv is an environment of a window in a test.
func frameEnv(t *testing.T, language string) (Env, *strings.Builder) {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(NewTheme("light"))
	w := test.NewTempWindow(t, nil)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(960, 640))
	var copied strings.Builder
	return Env{
		Texts: assets.Load(language, "window", "window-settings"), Window: w, Now: time.Now,
		Explain: func(err error) string { return err.Error() },
		Copy:    func(text string) { copied.WriteString(text) },
	}, &copied
}

func newFrame(env Env, selected func(string)) *Frame {
	items := []SideItem{{"one", "First", theme.HomeIcon()}, {"two", "Second", theme.ListIcon()}, {"help", "Help", theme.HelpIcon()}}
	f := NewFrame(env, "Arenero", theme.HomeIcon(), items, 1, selected)
	env.Window.SetContent(f.Object())
	env.Window.Resize(fyne.NewSize(960, 640))
	return f
}

// TestSideKeys goes through the side bar with the keyboard, and into the page.
func TestSideKeys(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	var f *Frame
	var went []string
	inner := NewEntry()
	f = newFrame(env, func(name string) {
		went = append(went, name)
		if name != "help" {
			f.Show(name, name, container.NewVBox(inner))
		}
	})
	f.Show("one", "First", container.NewVBox(inner))
	c := env.Window.Canvas()
	f.NextPart()
	if c.Focused() != f.side {
		t.Fatalf("the focus is on %T, want the side bar", c.Focused())
	}
	for _, key := range []fyne.KeyName{fyne.KeyDown, fyne.KeyUp, fyne.KeyUp, fyne.KeyEnd, fyne.KeyHome} {
		f.side.TypedKey(&fyne.KeyEvent{Name: key})
	}
	if got, want := fmt.Sprint(went), "[two one one help one]"; got != want {
		t.Errorf("went to %s, want %s", got, want)
	}
	f.side.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if c.Focused() != inner {
		t.Errorf("after Enter the focus is on %T, want the page", c.Focused())
	}
	f.NextPart()
	if c.Focused() != f.side {
		t.Errorf("the focus is on %T, want the side bar again", c.Focused())
	}
}

// TestSideMouse opens what is clicked, at either end of the bar, and nothing
// between.
func TestSideMouse(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	var went []string
	f := newFrame(env, func(name string) { went = append(went, name) })
	for _, y := range []float32{sideHead + 4, sideHead + sideRow + 4, f.side.Size().Height - sidePad - 4, f.side.Size().Height / 2} {
		f.side.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(20, y)}})
		f.side.Tapped(&fyne.PointEvent{Position: fyne.NewPos(20, y)})
	}
	f.side.MouseOut()
	if got, want := fmt.Sprint(went), "[one two help]"; got != want {
		t.Errorf("went to %s, want %s", got, want)
	}
}

// TestNarrow leaves the labels of the side bar out of a window that has no room
// for them, and lets pages be no wider than it.
func TestNarrow(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	f := newFrame(env, nil)
	wide := widget.NewLabel(strings.Repeat("wide ", 60))
	f.Show("one", "First", wide)
	for _, tt := range []struct{ width, side float32 }{{960, sideWide}, {640, sideNarrow}, {1200, sideWide}} {
		env.Window.Resize(fyne.NewSize(tt.width, 480))
		if got := f.side.Size().Width; got != tt.side {
			t.Errorf("at %g the side bar has %g, want %g", tt.width, got, tt.side)
		}
	}
	if got := f.root.MinSize(); got.Width > 480 || got.Height > 400 {
		t.Errorf("the least window is %v", got)
	}
}

// TestVeil stands in front of all while there is no engine, also of a dialog, and
// leaves that alone.
func TestVeil(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	f := newFrame(env, nil)
	asked := 0
	Confirm(env, "Kill?", "It ends.", "Kill", true, func() { t.Error("done without a yes") })
	start := Action{Label: "Start it", Primary: true, Do: func() { asked++ }}
	f.Veil(theme.HomeIcon(), "No engine", "because", start)
	if !f.Veiled() || f.Why() != "because" {
		t.Fatalf("veiled: %t, why %q", f.Veiled(), f.Why())
	}
	f.Veil(theme.HomeIcon(), "No engine", "for another reason", start, Action{Label: "Open log"})
	if f.Why() != "for another reason" {
		t.Errorf("why is %q", f.Why())
	}
	if n := len(f.veilDo.Objects); n != 2 {
		t.Fatalf("%d buttons, want 2", n)
	}
	test.Tap(f.veilDo.Objects[0].(*Button))
	if asked != 1 {
		t.Errorf("asked to start %d times", asked)
	}
	if Escape(env.Window.Canvas()) {
		t.Error("Escape ends what is not to be left")
	}
	f.Unveil()
	if f.Veiled() {
		t.Error("it is still there")
	}
	if !Escape(env.Window.Canvas()) {
		t.Error("the dialog has gone")
	}
}

// TestLines tells what went well and wrong, until it is read.
func TestLines(t *testing.T) {
	env, _ := frameEnv(t, assets.Spanish)
	f := newFrame(env, nil)
	env.Window.SetContent(f.Object())
	env.Window.Resize(fyne.NewSize(900, 600))
	before := f.area.Size()
	f.Toast("Copiado")
	if f.area.Size() != before {
		t.Error("the page moves for it")
	}
	if w := f.foot.Size().Width; w < f.toast.MinSize().Width+40 || w > 300 || f.foot.Position().Y < 400 {
		t.Errorf("it is %v at %v", f.foot.Size(), f.foot.Position())
	}
	if !f.foot.Visible() || f.toast.Text != "Copiado" {
		t.Error("nothing is told")
	}
	f.Toast("")
	if f.foot.Visible() {
		t.Error("what was told stays")
	}
	f.Fail("el disco está lleno")
	if f.Failed() != "el disco está lleno" || !f.banner.Object().Visible() {
		t.Errorf("the failure is %q", f.Failed())
	}
	test.Tap(f.banner.again)
	if f.Failed() != "" || f.banner.Object().Visible() {
		t.Error("it stays after it was read")
	}
}
