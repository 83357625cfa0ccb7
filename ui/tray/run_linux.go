package tray

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"slices"
	"strings"
	"sync"
	"time"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"

	"github.com/arenero/arenero/assets/icons"
	"github.com/arenero/arenero/ui"
)

const (
	itemPath      = "/StatusNotifierItem"
	itemInterface = "org.kde.StatusNotifierItem"
	menuPath      = itemPath + "/menu"
	watcherName   = "org.kde.StatusNotifierWatcher"
	busName       = "org.freedesktop.DBus"
)

// run shows the icon on the session bus. The systray library has the icon there,
// and brings it to each panel that comes up; the menu is our own.
func run(parent context.Context, t *tray) error {
	own, err := dial(parent)
	if err != nil {
		return fmt.Errorf("%w: there is no session bus: %w", errNone, err)
	}
	defer own.Close()
	p := &dbusPanel{own: own, opens: map[uint32]func(){}, numbers: map[string]uint32{}}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	defer context.AfterFunc(own.Context(), cancel)() // without the bus of the session there is no session
	p.menu = newMenu(p.emitMenu,
		func(a ui.Action) { t.post(ctx, func() { t.clicked = true; t.act(ctx, a) }) },
		func() { t.post(ctx, func() { t.opened(ctx) }) },
	)
	p.start(t)
	defer p.end()
	signals := make(chan *dbus.Signal, 16)
	own.Signal(signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchInterface("org.freedesktop.Notifications"), dbus.WithMatchMember("ActionInvoked")},
		{dbus.WithMatchInterface("org.freedesktop.Notifications"), dbus.WithMatchMember("NotificationClosed")},
		{dbus.WithMatchSender(busName), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcherName)},
	} {
		if err := own.AddMatchSignal(match...); err != nil {
			return fmt.Errorf("listen to the session bus: %w", err)
		}
	}
	var parts sync.WaitGroup
	parts.Go(func() { p.listen(ctx, signals) })
	parts.Go(func() { p.seekHost(ctx, t) })
	err = t.loop(ctx, p)
	over := own.Context().Err() != nil && parent.Err() == nil
	cancel()
	parts.Wait()
	if over {
		return ErrSessionOver
	}
	return err
}

// dial opens a connection to the session bus, and starts none.
func dial(ctx context.Context) (*dbus.Conn, error) {
	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	if err = conn.Auth(nil); err == nil {
		err = conn.Hello()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// A dbusPanel is the icon on the bus. The library has its connection, and
// listens there to nothing but panels; own is for all else.
type dbusPanel struct {
	own  *dbus.Conn
	menu *dbusMenu
	end  func()

	shown ui.Model // for the loop alone

	mu      sync.Mutex // guards what follows
	conn    *dbus.Conn // of the library, once the icon is there
	opens   map[uint32]func()
	numbers map[string]uint32 // of notices that may still be seen, by their ids
}

// start puts the icon on the bus, with all that is known by now.
func (p *dbusPanel) start(t *tray) {
	m := t.model()
	systray.SetTitle(t.tx.Get("tray.name"))
	systray.SetTooltip(m.Tooltip)
	systray.SetIcon(icons.PNG(string(m.Icon), 64))
	p.menu.show(m.Items)
	start, end := systray.RunWithExternalLoop(nil, nil)
	start()
	p.end = end
	conn, err := dbus.SessionBus() // the one that the library has opened
	if err == nil {
		err = conn.Export(p.menu, menuPath, menuInterface)
	}
	if err != nil {
		t.cfg.Log.Error("the menu is not on the bus", "err", err)
		return
	}
	p.mu.Lock()
	p.conn = conn
	p.mu.Unlock()
	p.setIcon(m.Icon)
	p.shown = m
}

func (p *dbusPanel) connection() *dbus.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn
}

// show implements panel.
func (p *dbusPanel) show(m ui.Model) {
	if p.connection() == nil {
		return
	}
	if m.Icon != p.shown.Icon {
		p.setIcon(m.Icon)
	}
	if m.Tooltip != p.shown.Tooltip {
		systray.SetTooltip(m.Tooltip)
	}
	p.menu.show(m.Items)
	p.shown = m
}

// emitMenu sends a signal of the menu.
func (p *dbusPanel) emitMenu(name string, args ...any) {
	if conn := p.connection(); conn != nil {
		conn.Emit(menuPath, menuInterface+"."+name, args...)
	}
}

// A pixmap is a picture as panels take it: rows of alpha, red, green, blue.
type pixmap struct {
	Width, Height int32
	Data          []byte
}

// setIcon gives panels the icon in every size: they take the one that fits, and
// the library knows of one alone.
func (p *dbusPanel) setIcon(icon ui.Icon) {
	conn := p.connection()
	var all []pixmap
	for _, size := range icons.Sizes() {
		img, err := png.Decode(bytes.NewReader(icons.PNG(string(icon), size)))
		if err != nil {
			continue // a test has read it
		}
		all = append(all, toPixmap(img))
	}
	self := conn.Object(conn.Names()[0], itemPath)
	if err := self.Call(busName+".Properties.Set", 0, itemInterface, "IconPixmap", dbus.MakeVariant(all)).Err; err != nil {
		systray.SetIcon(icons.PNG(string(icon), 64)) // which tells panels, too
		return
	}
	conn.Emit(itemPath, itemInterface+".NewIcon")
}

func toPixmap(img image.Image) pixmap {
	b := img.Bounds()
	flat := image.NewNRGBA(b)
	draw.Draw(flat, b, img, b.Min, draw.Src)
	data := slices.Clone(flat.Pix)
	for i := 0; i < len(data); i += 4 {
		data[i], data[i+1], data[i+2], data[i+3] = data[i+3], data[i], data[i+1], data[i+2]
	}
	return pixmap{int32(b.Dx()), int32(b.Dy()), data}
}

// listen hears what panels and notices say.
func (p *dbusPanel) listen(ctx context.Context, signals <-chan *dbus.Signal) {
	for {
		select {
		case s, ok := <-signals:
			if !ok {
				return
			}
			p.hear(s)
		case <-ctx.Done():
			return
		}
	}
}

func (p *dbusPanel) hear(s *dbus.Signal) {
	if s.Name == busName+".NameOwnerChanged" {
		if len(s.Body) == 3 && s.Body[2] == "" {
			p.menu.closed() // with whoever had it open
		}
		return
	}
	if len(s.Body) != 2 {
		return
	}
	number, _ := s.Body[0].(uint32)
	p.mu.Lock()
	open := p.opens[number]
	if s.Name == "org.freedesktop.Notifications.NotificationClosed" {
		delete(p.opens, number)
		open = nil
	}
	p.mu.Unlock()
	if open != nil {
		open()
	}
}

// seekHost tells if there is nobody to show icons, after some time for them to
// start. The icon comes by itself when there is.
func (p *dbusPanel) seekHost(ctx context.Context, t *tray) {
	if !t.pause(ctx, hostGrace) {
		return
	}
	var there bool
	if err := p.own.BusObject().CallWithContext(ctx, busName+".NameHasOwner", 0, watcherName).Store(&there); err != nil {
		return
	}
	if there { // but maybe with nobody to tell
		var host dbus.Variant
		err := p.own.Object(watcherName, "/StatusNotifierWatcher").CallWithContext(ctx, busName+".Properties.Get", 0, watcherName, "IsStatusNotifierHostRegistered").Store(&host)
		there = err != nil || host.Value() != false
	}
	if !there {
		t.post(ctx, func() { t.noPanel(ctx) })
	}
}

// notifyWithin is how long the desktop may take for a notice.
const notifyWithin = 10 * time.Second

// markup keeps names of others from being read as such.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// notify implements panel.
func (p *dbusPanel) notify(n ui.Notice, open func()) error {
	ctx, cancel := context.WithTimeout(p.own.Context(), notifyWithin)
	defer cancel()
	urgency := byte(0)
	if n.Alert {
		urgency = 1
	}
	p.mu.Lock()
	before := p.numbers[n.ID]
	p.mu.Unlock()
	var number uint32
	err := p.own.Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications").CallWithContext(ctx,
		"org.freedesktop.Notifications.Notify", 0, "Arenero", before, "", n.Title, markup.Replace(n.Text), []string{"default", "Arenero"},
		map[string]dbus.Variant{"urgency": dbus.MakeVariant(urgency)}, int32(-1)).Store(&number)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.numbers) > 100 { // of notices that are long gone
		p.numbers = map[string]uint32{}
	}
	p.numbers[n.ID], p.opens[number] = number, open
	return nil
}
