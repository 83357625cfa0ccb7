package view

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/assets"
)

// TestConfirm asks, with the focus where a hasty Enter does no harm.
func TestConfirm(t *testing.T) {
	tests := []struct {
		name   string
		danger bool
		keys   []fyne.KeyName
		want   bool
	}{
		{"Enter on what ends something", true, []fyne.KeyName{fyne.KeyReturn}, false},
		{"Tab and Enter", true, []fyne.KeyName{fyne.KeyTab, fyne.KeyReturn}, true},
		{"Enter on what harms nobody", false, []fyne.KeyName{fyne.KeyReturn}, true},
		{"Space", false, []fyne.KeyName{fyne.KeySpace}, true},
		{"Escape", false, []fyne.KeyName{fyne.KeyEscape}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, _ := frameEnv(t, assets.English)
			c := env.Window.Canvas()
			c.SetOnTypedKey(func(e *fyne.KeyEvent) {
				if e.Name == fyne.KeyEscape {
					Escape(c)
				}
			})
			env.Window.SetContent(widget.NewLabel("behind"))
			done := false
			Confirm(env, "Kill web?", "What runs in it ends.", "Kill", tt.danger, func() { done = true })
			for _, key := range tt.keys {
				if key == fyne.KeyTab {
					c.FocusNext()
					continue
				}
				c.Focused().TypedKey(&fyne.KeyEvent{Name: key})
			}
			if done != tt.want {
				t.Errorf("done is %t, want %t", done, tt.want)
			}
			if c.Overlays().Top() != nil {
				t.Error("the dialog stays")
			}
		})
	}
}

// TestBannerSays shows the button for what can be tried again, and no other.
func TestBannerSays(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(NewTheme("dark"))
	b := NewBanner()
	if b.Object().Visible() {
		t.Error("it takes room before it has anything to say")
	}
	tried := 0
	b.Error("broken", func() { tried++ }, "Again")
	test.Tap(b.again)
	if tried != 1 || !b.again.Visible() {
		t.Errorf("tried %d times, visible: %t", tried, b.again.Visible())
	}
	b.Info("fine")
	if b.again.Visible() || b.Text() != "fine" {
		t.Errorf("after a word: %q, with a button: %t", b.Text(), b.again.Visible())
	}
	b.Clear()
	if b.Object().Visible() {
		t.Error("it stays")
	}
}

// TestEmptyState keeps its lines short, and its buttons at hand.
func TestEmptyState(t *testing.T) {
	test.NewTempApp(t)
	did := ""
	o := EmptyState(theme.HomeIcon(), "Nothing", strings.Repeat("a long text ", 20),
		Action{Label: "Make", Primary: true, Do: func() { did = "make" }}, Action{Label: "Drop", Danger: true, Do: func() { did = "drop" }})
	w := test.NewTempWindow(t, o)
	w.Resize(fyne.NewSize(1200, 700))
	box := o.(*fyne.Container).Objects[0]
	if box.Size().Width != lineWidth {
		t.Errorf("lines are %g wide, want %d", box.Size().Width, lineWidth)
	}
	c := w.Canvas()
	for _, want := range []struct {
		did        string
		importance widget.Importance
	}{{"make", widget.HighImportance}, {"drop", widget.DangerImportance}} {
		c.FocusNext()
		b, ok := c.Focused().(*Button)
		if !ok {
			t.Fatalf("the focus is on %T", c.Focused())
		}
		b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnter})
		if did != want.did || b.Importance != want.importance {
			t.Errorf("did %q with importance %d, want %q with %d", did, b.Importance, want.did, want.importance)
		}
	}
}

func TestCopyable(t *testing.T) {
	env, copied := frameEnv(t, assets.English)
	env.Window.SetContent(Copyable(env, "arenero-bridge --http"))
	c := env.Window.Canvas()
	c.FocusNext() // the text, of which a part can be copied too
	c.FocusNext()
	c.Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	if copied.String() != "arenero-bridge --http" {
		t.Errorf("copied is %q", copied)
	}
}

// TestEntryHandsOn leaves to the window the keys that it has a use for while
// something is typed.
func TestEntryHandsOn(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	e := NewEntry()
	env.Window.SetContent(e)
	c := env.Window.Canvas()
	var keys, pages int
	c.SetOnTypedKey(func(*fyne.KeyEvent) { keys++ })
	c.AddShortcut(&desktop.CustomShortcut{KeyName: fyne.Key2, Modifier: fyne.KeyModifierControl}, func(fyne.Shortcut) { pages++ })
	c.Focus(e)
	for _, key := range []fyne.KeyName{fyne.KeyEscape, fyne.KeyF1, fyne.KeyF6, fyne.KeyHome} {
		e.TypedKey(&fyne.KeyEvent{Name: key})
	}
	e.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.Key2, Modifier: fyne.KeyModifierControl})
	e.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyLeft, Modifier: fyne.KeyModifierControl})
	if keys != 3 || pages != 1 {
		t.Errorf("the window was handed %d keys and %d combinations, want 3 and 1", keys, pages)
	}
	escaped := false
	e.OnEscape = func() { escaped = true }
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if !escaped || keys != 3 {
		t.Errorf("escaped is %t, and the window was handed %d keys", escaped, keys)
	}
}

// TestEntryLeavesTheWheel has a page go on as the wheel turns over an entry in it,
// which still takes what is typed and clicked.
func TestEntryLeavesTheWheel(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	e := NewEntry()
	room := canvas.NewRectangle(nil)
	room.SetMinSize(fyne.NewSize(100, 2000))
	page := container.NewVScroll(container.NewVBox(e, room))
	env.Window.SetContent(page)
	env.Window.Resize(fyne.NewSize(300, 300))
	c := env.Window.Canvas()
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(e).AddXY(20, 15)
	test.Scroll(c, at, 0, -50)
	if page.Offset.Y != 50 {
		t.Errorf("the page is at %v", page.Offset)
	}
	page.ScrollToTop()
	test.TapCanvas(c, at)
	test.Type(e, "so")
	if e.Text != "so" {
		t.Errorf("typed is %q", e.Text)
	}
}

// TestChoicesHandOn leaves to the window the keys that it has a use for while a
// choice or a box has the focus, and to these what they are worked by.
func TestChoicesHandOn(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	s, c := NewSelect([]string{"one", "two"}, nil), NewCheck("so", nil)
	env.Window.SetContent(container.NewVBox(s, c))
	var keys []fyne.KeyName
	env.Window.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) { keys = append(keys, e.Name) })
	want := []fyne.KeyName{fyne.KeyEscape, fyne.KeyF1, fyne.KeyF5, fyne.KeyF6}
	for _, o := range []fyne.Focusable{s, c} {
		keys = nil
		env.Window.Canvas().Focus(o)
		for _, key := range append(slices.Clone(want), fyne.KeySpace) {
			o.TypedKey(&fyne.KeyEvent{Name: key})
		}
		if !slices.Equal(keys, want) {
			t.Errorf("%T handed on %q, want %q", o, keys, want)
		}
	}
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	c.TypedRune(' ')
	if s.Selected != "one" || !c.Checked {
		t.Errorf("%q is chosen, and the box is ticked: %t", s.Selected, c.Checked)
	}
}
