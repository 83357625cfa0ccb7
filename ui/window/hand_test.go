package window

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/ui/view"
)

// A hand uses what is on a window, as it finds it there: what is in front goes
// first, and what is behind a dialog can't be reached.
type hand struct {
	t *testing.T
	r *rig
}

// each calls do for what can be reached.
func (h hand) each(do func(o fyne.CanvasObject)) {
	root := h.r.win.Content()
	if top := h.r.win.Canvas().Overlays().Top(); top != nil {
		root = top
	}
	reach(root, do)
}

func reach(o fyne.CanvasObject, do func(fyne.CanvasObject)) {
	if o == nil || !o.Visible() {
		return
	}
	do(o)
	switch o := o.(type) {
	case *fyne.Container:
		for _, c := range o.Objects {
			reach(c, do)
		}
	case fyne.Widget:
		for _, c := range test.WidgetRenderer(o).Objects() {
			reach(c, do)
		}
	}
}

// button is the last one with a label, or nil: those of a dialog come after what
// is in it.
func (h hand) button(label string) (found *view.Button) {
	h.each(func(o fyne.CanvasObject) {
		if b, ok := o.(*view.Button); ok && b.Text == label {
			found = b
		}
	})
	return found
}

// press presses the button with a label.
func (h hand) press(label string) {
	h.t.Helper()
	b := h.button(label)
	if b == nil || b.Disabled() {
		h.t.Fatalf("no button %q to press; there is %q", label, h.texts())
	}
	b.Tapped(nil)
}

// fill types into the entry with a place holder, or with none for "".
func (h hand) fill(holder, text string) {
	h.t.Helper()
	var found *view.Entry
	h.each(func(o fyne.CanvasObject) {
		if e, ok := o.(*view.Entry); ok && e.PlaceHolder == holder && (found == nil || found.Text != "" && e.Text == "") {
			found = e
		}
	})
	if found == nil {
		h.t.Fatalf("nothing with %q to type into", holder)
	}
	found.SetText(text)
}

// pick chooses what a select offers.
func (h hand) pick(option string) {
	h.t.Helper()
	done := false
	h.each(func(o fyne.CanvasObject) {
		if s, ok := o.(*view.Select); ok && !done {
			for _, have := range s.Options {
				if have == option {
					s.SetSelected(option)
					done = true
					return
				}
			}
		}
	})
	if !done {
		h.t.Fatalf("%q is not to be chosen", option)
	}
}

// tick ticks what has a label.
func (h hand) tick(label string) {
	h.t.Helper()
	done := false
	h.each(func(o fyne.CanvasObject) {
		if c, ok := o.(*view.Check); ok && c.Text == label && !done {
			c.SetChecked(!c.Checked)
			done = true
		}
	})
	if !done {
		h.t.Fatalf("nothing with %q to tick", label)
	}
}

// texts are all texts that can be reached.
func (h hand) texts() string {
	var all []string
	h.each(func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *widget.Label:
			all = append(all, o.Text)
		case *view.Text:
			all = append(all, o.Text)
		case *view.Button:
			all = append(all, "["+o.Text+"]")
		case *view.Check:
			all = append(all, "("+o.Text+")")
		case *widget.RichText:
			all = append(all, o.String())
		}
	})
	return strings.Join(all, "\n")
}

func (h hand) sees(text string) bool { return strings.Contains(h.texts(), text) }

// keeps looks for a text in all that can be reached from some values, and in what
// is on the window, and tells where it is. Engines of tests may have it.
func (h hand) keeps(text string, roots ...any) string {
	roots = append(roots, h.r.win.Content(), h.r.win.Canvas().Overlays().List(), h.r.toasts, h.r.fails, h.r.went)
	s := searcher{text: text, seen: map[visit]bool{}}
	for _, root := range roots {
		if at := s.find(reflect.ValueOf(root), reflect.TypeOf(root).String(), 0); at != "" {
			return at
		}
	}
	return ""
}

type visit struct {
	at uintptr
	of reflect.Type
}

type searcher struct {
	text string
	seen map[visit]bool
}

// others are types that lead out of the window, to what goes on meanwhile.
var others = []reflect.Type{reflect.TypeFor[context.Context](), reflect.TypeFor[*control.Client](), reflect.TypeFor[*rig](), reflect.TypeFor[*testing.T](), reflect.TypeFor[fyne.App]()}

func (s *searcher) find(v reflect.Value, path string, depth int) string {
	if !v.IsValid() || depth > 400 {
		return ""
	}
	for _, o := range others {
		if v.Type() == o {
			return ""
		}
	}
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), s.text) {
			return path
		}
	case reflect.Pointer:
		if v.IsNil() || s.seen[visit{v.Pointer(), v.Type()}] {
			return ""
		}
		s.seen[visit{v.Pointer(), v.Type()}] = true
		return s.find(v.Elem(), path, depth+1)
	case reflect.Interface:
		return s.find(v.Elem(), path+"."+v.Type().Name(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if at := s.find(v.Field(i), path+"."+v.Type().Field(i).Name, depth+1); at != "" {
				return at
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if v.Len() < 1<<16 && strings.Contains(string(v.Bytes()), s.text) { // else it is a font
				return path
			}
			return ""
		}
		if v.Type().Elem().Kind() == reflect.Int32 { // runes, as an entry has them
			runes := make([]rune, v.Len())
			for i := range runes {
				runes[i] = rune(v.Index(i).Int())
			}
			if strings.Contains(string(runes), s.text) {
				return path
			}
			return ""
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			if at := s.find(v.Index(i), path+"[]", depth+1); at != "" {
				return at
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if at := s.find(it.Key(), path+"{}", depth+1); at != "" {
				return at
			}
			if at := s.find(it.Value(), path+"{}", depth+1); at != "" {
				return at
			}
		}
	}
	return ""
}
