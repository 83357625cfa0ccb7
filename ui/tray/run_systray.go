//go:build windows || (darwin && cgo)

package tray

import (
	"context"
	"slices"
	"sync"

	"fyne.io/systray"

	"github.com/arenero/arenero/ui"
)

// run shows the icon as the systray library does. Its loop needs the first
// thread, ours does not.
func run(ctx context.Context, t *tray) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &nativePanel{click: func(a ui.Action) { t.post(ctx, func() { t.clicked = true; t.act(ctx, a) }) }}
	var err error
	var loop sync.WaitGroup
	loop.Add(1)
	systray.Run(func() {
		systray.SetTitle("") // beside the icon it would only take room
		go p.listen(ctx, func() { t.post(ctx, func() { t.opened(ctx) }) })
		go func() {
			defer loop.Done()
			err = t.loop(ctx, p)
			systray.Quit()
		}()
	}, nil)
	cancel()
	loop.Wait()
	return err
}

// A nativePanel is the icon in a taskbar or a menu bar.
type nativePanel struct {
	click func(ui.Action)
	began bool
	shown ui.Model
	items map[string]*nativeItem
}

// A nativeItem is an item with what a click on it means now.
type nativeItem struct {
	*systray.MenuItem
	mu     sync.Mutex
	action ui.Action // guarded by mu
}

// listen hears that the menu comes up.
func (p *nativePanel) listen(ctx context.Context, opened func()) {
	for {
		select {
		case <-systray.TrayOpenedCh:
			opened()
		case <-ctx.Done():
			return
		}
	}
}

// show implements panel. An item in the middle can't be added there, so that
// another set of items is all of the menu anew.
func (p *nativePanel) show(m ui.Model) {
	if !p.began || m.Icon != p.shown.Icon {
		setIcon(m.Icon)
	}
	if !p.began || m.Tooltip != p.shown.Tooltip {
		systray.SetTooltip(m.Tooltip)
	}
	if !p.began || !sameShape(m.Items, p.shown.Items) {
		systray.ResetMenu()
		p.items = map[string]*nativeItem{}
		p.build(nil, m.Items)
	} else {
		p.update(m.Items, p.shown.Items)
	}
	p.began, p.shown = true, m
}

// build makes items below another, or at the top.
func (p *nativePanel) build(parent *systray.MenuItem, items []ui.Item) {
	for _, i := range items {
		if i.Separator {
			if parent == nil {
				systray.AddSeparator()
			} else {
				parent.AddSeparator()
			}
			continue
		}
		n := &nativeItem{action: i.Action}
		switch {
		case parent == nil && i.Toggle:
			n.MenuItem = systray.AddMenuItemCheckbox(i.Label, "", i.On)
		case parent == nil:
			n.MenuItem = systray.AddMenuItem(i.Label, "")
		case i.Toggle:
			n.MenuItem = parent.AddSubMenuItemCheckbox(i.Label, "", i.On)
		default:
			n.MenuItem = parent.AddSubMenuItem(i.Label, "")
		}
		if i.Disabled {
			n.Disable()
		}
		p.items[i.ID] = n
		go func() { // until the item is removed, which closes its channel
			for range n.ClickedCh {
				n.mu.Lock()
				a := n.action
				n.mu.Unlock()
				if a.Verb != "" {
					p.click(a)
				}
			}
		}()
		p.build(n.MenuItem, i.Items)
	}
}

// update changes what differs in items of the same shape.
func (p *nativePanel) update(items, before []ui.Item) {
	for k, i := range items {
		if i.Separator {
			continue
		}
		n, was := p.items[i.ID], before[k]
		n.mu.Lock()
		n.action = i.Action
		n.mu.Unlock()
		if i.Label != was.Label {
			n.SetTitle(i.Label)
		}
		switch {
		case i.Disabled && !was.Disabled:
			n.Disable()
		case !i.Disabled && was.Disabled:
			n.Enable()
		}
		switch {
		case i.On && !was.On:
			n.Check()
		case !i.On && was.On:
			n.Uncheck()
		}
		p.update(i.Items, was.Items)
	}
}

// notify implements panel.
func (p *nativePanel) notify(n ui.Notice, open func()) error { return notify(n, open) }

// sameShape reports whether two menus have the same items in the same places,
// whatever these say.
func sameShape(a, b []ui.Item) bool {
	return slices.EqualFunc(a, b, func(x, y ui.Item) bool {
		return x.ID == y.ID && x.Separator == y.Separator && x.Toggle == y.Toggle && sameShape(x.Items, y.Items)
	})
}
