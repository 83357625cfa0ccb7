package tray

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"

	"github.com/arenero/arenero/ui"
)

// A dbusMenu is our menu on the bus, as com.canonical.dbusmenu has it. It takes
// the place of the one of the systray library, which tells of every change of a
// text as if all of the menu were new, can put nothing in the middle, and does
// not know when the menu closes. Panels build the menu anew for each signal, and
// some close it: so there are none but for what differs, and none while it is
// open.
type dbusMenu struct {
	emit  func(signal string, args ...any) // of the interface of menus
	click func(ui.Action)
	open  func()

	mu       sync.Mutex // guards what follows
	revision uint32
	root     []*node
	byID     map[int32]*node
	numbers  map[string]int32 // of the items that are there, by their ids
	last     int32
	isOpen   bool
	held     *[]ui.Item // to be shown once it is closed
}

const menuInterface = "com.canonical.dbusmenu"

// A node is one item as panels know it.
type node struct {
	number int32
	item   ui.Item
	below  []*node
}

func newMenu(emit func(string, ...any), click func(ui.Action), open func()) *dbusMenu {
	return &dbusMenu{emit: emit, click: click, open: open, revision: 1, byID: map[int32]*node{}, numbers: map[string]int32{}}
}

// show has the menu be these items.
func (m *dbusMenu) show(items []ui.Item) {
	m.mu.Lock()
	if m.isOpen {
		m.held = &items
		m.mu.Unlock()
		return
	}
	signals := m.showLocked(items)
	m.mu.Unlock()
	for _, s := range signals {
		m.emit(s.name, s.args...)
	}
}

// A signal is one that is to be sent.
type signal struct {
	name string
	args []any
}

// What ItemsPropertiesUpdated has: what is new, and what is no more.
type (
	properties struct {
		Number int32
		Values map[string]dbus.Variant
	}
	removals struct {
		Number int32
		Names  []string
	}
)

func (m *dbusMenu) showLocked(items []ui.Item) []signal {
	before := m.byID
	old := m.root
	m.byID = map[int32]*node{}
	m.root = m.buildLocked(items)
	updated, removed := []properties{}, []removals{}
	for _, number := range slices.Sorted(maps.Keys(m.byID)) {
		was, ok := before[number]
		if !ok {
			continue
		}
		a, b := was.properties(nil), m.byID[number].properties(nil)
		changed, gone := map[string]dbus.Variant{}, []string{}
		for name, v := range b {
			if w, ok := a[name]; !ok || w.Value() != v.Value() {
				changed[name] = v
			}
		}
		for name := range a {
			if _, ok := b[name]; !ok {
				gone = append(gone, name)
			}
		}
		if len(changed) > 0 {
			updated = append(updated, properties{number, changed})
		}
		if len(gone) > 0 {
			removed = append(removed, removals{number, gone})
		}
	}
	var out []signal
	if len(updated)+len(removed) > 0 {
		out = append(out, signal{"ItemsPropertiesUpdated", []any{updated, removed}})
	}
	switch lists := differing(0, old, m.root); len(lists) {
	case 0:
	case 1:
		m.revision++
		out = append(out, signal{"LayoutUpdated", []any{m.revision, lists[0]}})
	default:
		m.revision++
		out = append(out, signal{"LayoutUpdated", []any{m.revision, int32(0)}})
	}
	for id, number := range m.numbers {
		if m.byID[number] == nil {
			delete(m.numbers, id)
		}
	}
	return out
}

// buildLocked makes nodes of items. One that was there keeps its number.
func (m *dbusMenu) buildLocked(items []ui.Item) []*node {
	var out []*node
	for _, item := range items {
		number, ok := m.numbers[item.ID]
		if !ok {
			m.last++
			number = m.last
			m.numbers[item.ID] = number
		}
		n := &node{number: number, item: item, below: m.buildLocked(item.Items)}
		m.byID[number] = n
		out = append(out, n)
	}
	return out
}

// differing are the numbers of the items that have others below them than they
// had.
func differing(parent int32, a, b []*node) []int32 {
	same := slices.EqualFunc(a, b, func(x, y *node) bool { return x.number == y.number })
	if !same {
		return []int32{parent} // what is further below comes with it
	}
	var out []int32
	for i := range a {
		out = append(out, differing(a[i].number, a[i].below, b[i].below)...)
	}
	return out
}

// properties are those of n that have names, or all.
func (n *node) properties(names []string) map[string]dbus.Variant {
	all := map[string]dbus.Variant{}
	set := func(name string, value any) {
		if len(names) == 0 || slices.Contains(names, name) {
			all[name] = dbus.MakeVariant(value)
		}
	}
	if n.item.Separator {
		set("type", "separator")
		return all
	}
	set("label", strings.ReplaceAll(n.item.Label, "_", "__")) // one alone marks a key
	set("enabled", !n.item.Disabled)
	if n.item.Toggle {
		set("toggle-type", "checkmark")
		state := int32(0)
		if n.item.On {
			state = 1
		}
		set("toggle-state", state)
	}
	if len(n.below) > 0 {
		set("children-display", "submenu")
	}
	return all
}

// A layout is an item with what is below it.
type layout struct {
	Number     int32
	Properties map[string]dbus.Variant
	Below      []dbus.Variant
}

func (n *node) layout(depth int32, names []string) layout {
	l := layout{n.number, n.properties(names), []dbus.Variant{}}
	if depth == 0 {
		return l
	}
	for _, child := range n.below {
		l.Below = append(l.Below, dbus.MakeVariant(child.layout(depth-1, names)))
	}
	return l
}

// unknown is the answer about an item that is not there any more.
func unknown() *dbus.Error {
	return dbus.NewError("org.freedesktop.DBus.Error.InvalidArgs", []any{"there is no such item any more"})
}

// findLocked is the node with a number; 0 is the menu itself.
func (m *dbusMenu) findLocked(number int32) (*node, *dbus.Error) {
	if number == 0 {
		return &node{below: m.root}, nil
	}
	n, ok := m.byID[number]
	if !ok {
		return nil, unknown()
	}
	return n, nil
}

// What follows are the methods that panels call.

// GetLayout tells of an item and what is below it, depth levels of it; -1 is all.
func (m *dbusMenu) GetLayout(parent, depth int32, names []string) (uint32, layout, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(parent)
	if err != nil {
		return 0, layout{}, err
	}
	l := n.layout(depth, names)
	if parent == 0 {
		l.Properties = map[string]dbus.Variant{"children-display": dbus.MakeVariant("submenu")}
	}
	return m.revision, l, nil
}

// GetGroupProperties tells of several items. Those that are gone are left out.
func (m *dbusMenu) GetGroupProperties(numbers []int32, names []string) ([]properties, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []properties{}
	for _, number := range numbers {
		if n, err := m.findLocked(number); err == nil && number != 0 {
			out = append(out, properties{number, n.properties(names)})
		}
	}
	return out, nil
}

// GetProperty tells of one property.
func (m *dbusMenu) GetProperty(number int32, name string) (dbus.Variant, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(number)
	if err != nil {
		return dbus.Variant{}, err
	}
	v, ok := n.properties([]string{name})[name]
	if !ok {
		return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.InvalidArgs", []any{"there is no such property"})
	}
	return v, nil
}

// Event is what the user does.
func (m *dbusMenu) Event(number int32, what string, _ dbus.Variant, _ uint32) *dbus.Error {
	switch {
	case what == "opened" && number == 0:
		m.mu.Lock()
		m.isOpen = true
		m.mu.Unlock()
		m.open()
	case what == "closed" && number == 0:
		m.closed()
	case what == "clicked":
		m.mu.Lock()
		n, err := m.findLocked(number)
		m.mu.Unlock()
		if err != nil {
			return err
		}
		m.closed() // as a click does, though not all panels say so
		if n.item.Action.Verb != "" && !n.item.Disabled {
			m.click(n.item.Action)
		}
	}
	return nil
}

// closed shows what came up while the menu was open.
func (m *dbusMenu) closed() {
	m.mu.Lock()
	held := m.held
	m.isOpen, m.held = false, nil
	m.mu.Unlock()
	if held != nil {
		m.show(*held)
	}
}

// A happening is one of several events.
type happening struct {
	Number int32
	What   string
	Data   dbus.Variant
	At     uint32
}

// EventGroup is several events at once. It answers with the items that are gone.
func (m *dbusMenu) EventGroup(all []happening) ([]int32, *dbus.Error) {
	gone := []int32{}
	for _, h := range all {
		if err := m.Event(h.Number, h.What, h.Data, h.At); err != nil {
			gone = append(gone, h.Number)
		}
	}
	return gone, nil
}

// AboutToShow answers whether an item has to be asked for again first: no, since
// each change was told.
func (m *dbusMenu) AboutToShow(int32) (bool, *dbus.Error) { return false, nil }

// AboutToShowGroup is the same for several.
func (m *dbusMenu) AboutToShowGroup([]int32) (updates, errs []int32, err *dbus.Error) {
	return []int32{}, []int32{}, nil
}
