package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/assets"
)

// TestNoneOfTheToolkitTakesTheFocus holds that no view has a widget of the
// toolkit that would keep the keys of the window to itself: there are our own.
func TestNoneOfTheToolkitTakesTheFocus(t *testing.T) {
	keeps := []string{
		"Button", "Entry", "PasswordEntry", "MultiLineEntry", "Select", "SelectEntry", "Check", "CheckGroup", "RadioGroup", "Hyperlink", "List",
		"Table", "Tree", "Slider", "Accordion", "AccordionItem", "AppTabs", "DocTabs", "Form", "Toolbar", "DateEntry", "Calendar", "Border",
	}
	ours := map[string]string{"keys.go": "Button Entry", "choices.go": "Select Check"} // that are made of them
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if s.Sel.Name == "Selectable" {
				t.Errorf("%s: what can be selected is a Text", set.Position(s.Pos()))
			}
			from, ok := s.X.(*ast.Ident)
			if !ok || from.Name != "widget" && from.Name != "container" {
				return true
			}
			name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(s.Sel.Name, "New"), "WithIcon"), "WithData")
			if slices.Contains(keeps, name) && !slices.Contains(strings.Fields(ours[file]), name) {
				t.Errorf("%s: %s.%s is not for our windows", set.Position(s.Pos()), from.Name, s.Sel.Name)
			}
			return true
		})
	}
}

// TestKeysGoOn has each of our widgets hand on what it has no use for.
func TestKeysGoOn(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	text := NewText("/a/path", fyne.TextStyle{})
	table := NewTable(env, []Column{{Title: "Name", Width: 100, Sort: true}})
	all := container.NewVBox(NewButton("Do", nil, nil), NewEntry(), NewMultiLineEntry(), NewPasswordEntry(), NewSelect([]string{"a"}, nil), NewCheck("so", nil), text, table.head, table.body,
		NewSide("", nil, nil, 0))
	env.Window.SetContent(all)
	c := env.Window.Canvas()
	var keys []fyne.KeyName
	c.SetOnTypedKey(func(e *fyne.KeyEvent) { keys = append(keys, e.Name) })
	went := 0
	ctrl1 := &desktop.CustomShortcut{KeyName: fyne.Key1, Modifier: fyne.KeyModifierControl}
	c.AddShortcut(ctrl1, func(fyne.Shortcut) { went++ })
	want := []fyne.KeyName{fyne.KeyEscape, fyne.KeyF1, fyne.KeyF5, fyne.KeyF6}
	n := 0
	for _, o := range test.LaidOutObjects(all) {
		f, ok := o.(fyne.Focusable)
		if !ok {
			continue
		}
		n++
		c.Focus(f)
		if _, by := f.(*selection); !by && c.Focused() != f { // [TestText] is for that
			t.Errorf("%T does not take the focus, %T has it", f, c.Focused())
		}
		keys, went = nil, 0
		for _, k := range want {
			f.TypedKey(&fyne.KeyEvent{Name: k})
		}
		if !slices.Equal(keys, want) {
			t.Errorf("%T hands on %v, want %v", f, keys, want)
		}
		if s, ok := f.(fyne.Shortcutable); ok { // else the toolkit asks the window
			s.TypedShortcut(ctrl1)
			if went != 1 {
				t.Errorf("%T keeps Ctrl+1", f)
			}
		}
	}
	if n != 10 {
		t.Errorf("%d take the focus, want 10", n)
	}
}

// TestText has the mouse select what is copied, and Tab pass by.
func TestText(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	text, before, after := NewText("one two", fyne.TextStyle{}), NewEntry(), NewEntry()
	env.Window.SetContent(container.NewVBox(before, text, after))
	c := env.Window.Canvas()
	c.Focus(before)
	c.FocusNext()
	if c.Focused() != after {
		t.Fatalf("Tab goes to %T", c.Focused())
	}
	mark := test.WidgetRenderer(text).(*textRenderer).mark
	mark.MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary})
	mark.DoubleTapped(&fyne.PointEvent{Position: fyne.NewPos(14, 14)})
	if c.Focused() != mark || mark.Disabled() {
		t.Fatalf("a click has the focus be on %T", c.Focused())
	}
	mark.TypedShortcut(&fyne.ShortcutCopy{})
	if got := fyne.CurrentApp().Clipboard().Content(); got != "one" {
		t.Errorf("copied %q, want one word", got)
	}
	if boxes := test.WidgetRenderer(mark).Objects(); len(boxes) != 1 || !boxes[0].Visible() || boxes[0].Size().Width < 10 {
		t.Errorf("%d marks of what is selected", len(boxes))
	}
	c.FocusNext()
	if c.Focused() != after || !mark.Disabled() {
		t.Errorf("from it, Tab goes to %T", c.Focused())
	}
}

// TestFocusComesIntoView goes with Tab through more than there is room for, in a
// part that scrolls in another.
func TestFocusComesIntoView(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	box := container.NewVBox()
	for range 12 {
		gap := canvas.NewRectangle(nil)
		gap.SetMinSize(fyne.NewSize(10, 40))
		box.Add(gap)
		box.Add(container.New(layout.NewStackLayout(), NewCheck("tick", nil)))
		box.Add(NewSelect([]string{"a"}, nil))
		box.Add(NewEntry())
		box.Add(NewButton("do", nil, nil))
	}
	env.Window.SetContent(container.NewScroll(container.NewPadded(box)))
	env.Window.Resize(fyne.NewSize(300, 240))
	c := env.Window.Canvas()
	for i := range 96 { // through all and from the first again
		c.FocusNext()
		o := c.Focused().(fyne.CanvasObject)
		y := fyne.CurrentApp().Driver().AbsolutePositionForObject(o).Y
		if y < 0 || y+o.Size().Height > 240 {
			t.Fatalf("stop %d, a %T, is at %g", i, o, y)
		}
	}
}

// TestEscapeFromAChoice ends a dialog in which a choice has the focus.
func TestEscapeFromAChoice(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	env.Window.SetContent(widget.NewLabel(""))
	c := env.Window.Canvas()
	c.SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyEscape {
			Escape(c)
		}
	})
	s := NewSelect([]string{"a", "b"}, nil)
	NewDialog(env, "Title", container.NewVBox(s), "No", nil)
	c.Focus(s)
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if c.Overlays().Top() != nil {
		t.Error("the dialog is still there")
	}
}

// TestOrderAsRead has Tab go from the top to the bottom, and shows what is folded.
func TestOrderAsRead(t *testing.T) {
	env, _ := frameEnv(t, assets.English)
	top, bottom, left, right, middle := NewEntry(), NewEntry(), NewEntry(), NewEntry(), NewEntry()
	inner := NewEntry()
	more := folded("More", container.NewVBox(inner), false)
	env.Window.SetContent(border(top, container.NewVBox(bottom, more), left, right, middle))
	c := env.Window.Canvas()
	for i, want := range []fyne.Focusable{top, left, middle, right, bottom} {
		if c.FocusNext(); c.Focused() != want {
			t.Errorf("stop %d is another", i)
		}
	}
	c.FocusNext()
	c.Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if c.FocusNext(); c.Focused() != inner {
		t.Errorf("after what was unfolded comes %T", c.Focused())
	}
}
