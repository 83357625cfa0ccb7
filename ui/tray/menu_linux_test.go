package tray

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/arenero/arenero/ui"
)

// A recorder is a bus that writes down what is sent.
type recorder struct {
	*dbusMenu
	sent    []string
	clicked []ui.Action
}

func newRecorder() *recorder {
	r := &recorder{}
	r.dbusMenu = newMenu(func(name string, args ...any) {
		text := name
		switch name {
		case "LayoutUpdated":
			text += fmt.Sprint(" ", args[1])
		case "ItemsPropertiesUpdated":
			for _, p := range args[0].([]properties) {
				text += fmt.Sprintf(" %d%v", p.Number, slices.Sorted(maps.Keys(p.Values)))
			}
			for _, p := range args[1].([]removals) {
				text += fmt.Sprintf(" %d without %v", p.Number, slices.Sorted(slices.Values(p.Names)))
			}
		}
		r.sent = append(r.sent, text)
	}, func(a ui.Action) { r.clicked = append(r.clicked, a) }, func() {})
	return r
}

// take returns what was sent since the last time.
func (r *recorder) take() string {
	out := strings.Join(r.sent, "; ")
	r.sent = nil
	return out
}

func item(id, label string, below ...ui.Item) ui.Item {
	return ui.Item{ID: id, Label: label, Action: ui.Action{Verb: ui.Kill, Subject: id}, Items: below}
}

func TestMenuTellsWhatDiffersAlone(t *testing.T) {
	r := newRecorder()
	line := ui.Item{ID: "line", Separator: true}
	steps := []struct {
		name string
		menu []ui.Item
		want string
	}{
		{"the first", []ui.Item{item("a", "A"), line, item("b", "B", item("x", "X"))}, "LayoutUpdated 0"},
		{"the same", []ui.Item{item("a", "A"), line, item("b", "B", item("x", "X"))}, ""},
		{"another text", []ui.Item{item("a", "A2"), line, item("b", "B", item("x", "X"))}, "ItemsPropertiesUpdated 1[label]"},
		{"off", []ui.Item{item("a", "A2"), line, {ID: "b", Label: "B", Disabled: true, Items: []ui.Item{item("x", "X")}}}, "ItemsPropertiesUpdated 3[enabled]"},
		{"one below", []ui.Item{item("a", "A2"), line, item("b", "B", item("x", "X"), item("y", "Y"))}, "ItemsPropertiesUpdated 3[enabled]; LayoutUpdated 3"},
		{"one in the middle", []ui.Item{item("a", "A2"), item("c", "C"), line, item("b", "B", item("x", "X"), item("y", "Y"))}, "LayoutUpdated 0"},
		{"none below", []ui.Item{item("a", "A2"), item("c", "C"), line, item("b", "B")}, "ItemsPropertiesUpdated 3 without [children-display]; LayoutUpdated 3"},
		{"a mark", []ui.Item{item("a", "A2"), {ID: "c", Label: "C", Disabled: true, Toggle: true}, line, item("b", "B")}, "ItemsPropertiesUpdated 6[enabled toggle-state toggle-type]"},
		{"which is set", []ui.Item{item("a", "A2"), {ID: "c", Label: "C", Disabled: true, Toggle: true, On: true}, line, item("b", "B")}, "ItemsPropertiesUpdated 6[toggle-state]"},
		{"and gone", []ui.Item{item("a", "A2"), {ID: "c", Label: "C", Disabled: true}, line, item("b", "B")}, "ItemsPropertiesUpdated 6 without [toggle-state toggle-type]"},
		{"some below", []ui.Item{item("a", "A2"), {ID: "c", Label: "C", Disabled: true}, line, item("b", "B", item("z", "Z"))}, "ItemsPropertiesUpdated 3[children-display]; LayoutUpdated 3"},
	}
	for _, s := range steps {
		r.show(s.menu)
		if got := r.take(); got != s.want {
			t.Errorf("%s: %q, want %q", s.name, got, s.want)
		}
	}
}

func TestMenuIsLeftAloneWhileOpen(t *testing.T) {
	r := newRecorder()
	r.show([]ui.Item{item("a", "A")})
	r.take()
	event := func(number int32, what string) {
		if err := r.Event(number, what, dbus.MakeVariant(""), 0); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, closes := range []func(){
		func() { event(0, "closed") },
		func() { event(1, "clicked") },
		func() { r.closed() }, // the panel has gone
	} {
		event(0, "opened")
		r.show([]ui.Item{item("a", "B"), item("b", "new")})
		r.show([]ui.Item{item("a", "C")})
		if got := r.take(); got != "" {
			t.Errorf("while it is open: %q", got)
		}
		if label, err := r.GetProperty(1, "label"); err != nil || label.Value() != "A" {
			t.Errorf("while it is open the text is %v, %v", label, err)
		}
		closes()
		if got, want := r.take(), "ItemsPropertiesUpdated 1[label]"; got != want {
			t.Errorf("then %q, want %q", got, want)
		}
		r.show([]ui.Item{item("a", "A")})
		r.take()
	}
	event(1, "hovered")
	if len(r.clicked) != 1 || r.clicked[0].Subject != "a" {
		t.Errorf("clicks %v", r.clicked)
	}
}

func TestMenuOnTheBus(t *testing.T) {
	r := newRecorder()
	r.show([]ui.Item{item("a", "a_b", item("x", "X", item("y", "Y"))), {ID: "off", Label: "off", Disabled: true, Action: ui.Action{Verb: ui.Quit}}})
	_, root, err := r.GetLayout(0, 1, nil)
	if err != nil || len(root.Below) != 2 {
		t.Fatalf("root %+v, %v", root, err)
	}
	first := root.Below[0].Value().(layout)
	if first.Properties["label"].Value() != "a__b" || first.Properties["children-display"].Value() != "submenu" || len(first.Below) != 0 {
		t.Errorf("one level is %+v", first)
	}
	if _, all, _ := r.GetLayout(first.Number, -1, []string{"label"}); len(all.Below) != 1 || len(all.Properties) != 1 {
		t.Errorf("all below it is %+v", all)
	}
	group, err := r.GetGroupProperties([]int32{0, 2, 99}, nil)
	if err != nil || len(group) != 1 || group[0].Values["label"].Value() != "X" {
		t.Errorf("group %+v, %v", group, err)
	}
	if gone, err := r.EventGroup([]happening{{Number: 4, What: "clicked"}, {Number: 99, What: "clicked"}}); err != nil || !slices.Equal(gone, []int32{99}) {
		t.Errorf("gone %v, %v", gone, err)
	}
	if len(r.clicked) != 0 {
		t.Errorf("what is off was clicked: %v", r.clicked)
	}
	if _, _, err := r.GetLayout(99, -1, nil); err == nil {
		t.Error("a layout of nothing")
	}
	if _, err := r.GetProperty(1, "none-such"); err == nil {
		t.Error("a property that there is not")
	}
	// A number is not used again: an old click means nothing new.
	r.show(nil)
	r.show([]ui.Item{item("new", "N")})
	if err := r.Event(1, "clicked", dbus.MakeVariant(""), 0); err == nil || len(r.clicked) != 0 {
		t.Errorf("a click on what is gone: %v, %v", err, r.clicked)
	}
}
