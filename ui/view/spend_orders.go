package view

import (
	"reflect"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// SpendAccount is the account, sandbox by sandbox, as far as it is loaded.
type SpendAccount struct {
	Orders []sandbox.Order // the newest first
	Grants map[string]string
	Loaded bool // before that nothing is known
	More   bool // there are older ones
	Busy   bool // they are on their way
}

type spendOrders struct {
	v      *Spend
	shown  SpendAccount
	table  *Table
	older  *Button
	all    *widget.Label
	detail *fyne.Container
	beside *container.Scroll // that detail is in
	told   *sandbox.Order    // that detail is of
	list   *fyne.Container
	empty  fyne.CanvasObject
	object *fyne.Container
}

func newSpendOrders(v *Spend) *spendOrders {
	o := &spendOrders{v: v, all: Muted(v.say("orders.all")), detail: container.NewStack()}
	o.table = NewTable(v.env, []Column{
		{Title: v.say("column.asked"), Width: 96},
		{Title: v.say("column.name"), Width: 76, Grow: true},
		{Title: v.say("column.host"), Width: 76, Grow: true},
		{Title: v.say("column.cost"), Width: 110, Grow: true, Right: true},
		{Title: v.say("column.would"), Width: 98, Right: true},
	})
	o.table.OnSelect = func(string) { o.drawDetail() }
	o.table.OnOpen = func(id string) {
		if b, ok := o.find(id); ok && b.State.Open() && b.Sandbox != "" {
			v.OnGo(b.Sandbox)
		}
	}
	o.older = NewButton(v.say("orders.more"), nil, func() { v.OnOlder() })
	o.list = border(nil, container.NewStack(container.New(flow{}, o.older), o.all), nil, nil, o.table.Object())
	o.beside = container.NewVScroll(o.detail)
	o.beside.Hide()
	o.empty = EmptyState(nil, v.say("orders.none"), v.say("empty.text"))
	o.empty.Hide()
	o.object = container.NewStack(container.New(flank{}, o.list, o.beside), o.empty)
	o.drawDetail()
	return o
}

// ShowAccount draws the account.
func (v *Spend) ShowAccount(a SpendAccount) {
	o, tx, now := v.orders, v.env.Texts, v.env.Now()
	o.shown = a
	o.object.Objects[0].Hide()
	o.empty.Hide()
	if a.Loaded && len(a.Orders) == 0 {
		o.empty.Show()
		return
	}
	o.object.Objects[0].Show()
	rows := make([]Row, 0, len(a.Orders))
	for _, b := range a.Orders {
		cost := Cell{Text: ui.OrderCost(tx, b)}
		switch {
		case b.State == sandbox.OrderReleased:
			cost = Cell{Text: ui.OrderStateText(tx, b), Color: ColorMuted}
		case b.Unpriced:
			cost.Color = ColorWarn
		case b.State.Open():
			cost.Color = ColorGood
		}
		rows = append(rows, Row{ID: b.ID, Cells: []Cell{
			{Text: ui.MomentText(tx, b.AskedAt, now)}, {Text: ui.OrderName(b)}, {Text: ui.HostText(b.Host)}, cost, {Text: ui.OrderWould(tx, b), Color: ColorSleep},
		}})
	}
	o.table.Show(rows)
	o.older.Hidden = !a.More
	if a.Busy {
		o.older.Disable()
	} else {
		o.older.Enable()
	}
	o.all.Hidden = !a.Loaded || a.More
	o.list.Refresh()
	o.drawDetail()
}

// PlaceOrder shows a sandbox of the account, if it is loaded.
func (v *Spend) PlaceOrder(id string) {
	v.Section(SpendOrders)
	v.orders.table.Select(id)
	v.orders.drawDetail()
}

func (o *spendOrders) find(id string) (sandbox.Order, bool) {
	i := slices.IndexFunc(o.shown.Orders, func(b sandbox.Order) bool { return b.ID == id })
	if i < 0 {
		return sandbox.Order{}, false
	}
	return o.shown.Orders[i], true
}

// drawDetail draws the selected one, unless it is as it was: the focus, and what
// is marked in it, stay.
func (o *spendOrders) drawDetail() {
	v := o.v
	b, ok := o.find(o.table.Selected())
	if o.told != nil && reflect.DeepEqual(*o.told, b) {
		return
	}
	o.told = &b
	if !ok {
		return
	}
	showBeside(o.object.Objects[0].(*fyne.Container), o.beside)
	id := b.Sandbox
	if id == "" {
		id = b.ID
	}
	box := container.NewVBox(Heading(ui.OrderName(b)), Copyable(v.env, id), factList(ui.OrderFacts(v.env.Texts, b, o.shown.Grants, v.env.Now())))
	if b.State.Open() && b.Sandbox != "" {
		box.Add(container.New(flow{}, NewButton(v.say("order.go"), nil, func() { v.OnGo(b.Sandbox) })))
	}
	o.detail.Objects = []fyne.CanvasObject{border(nil, nil, nil, barRoom(), box)}
	o.detail.Refresh()
}
