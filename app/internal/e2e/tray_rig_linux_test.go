package e2e

import (
	"bufio"
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"github.com/arenero/arenero/assets/icons"
	"github.com/arenero/arenero/ui"
)

// newBus starts a session bus of the test's own, and returns its address.
func newBus(t testing.TB) string {
	t.Helper()
	dir, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(config, []byte(`<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=`+dir+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(need(t, "dbus-daemon"), "--config-file="+config, "--nofork", "--print-address=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("start a session bus: %v", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		removeAll(t, dir)
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

const (
	watcherName   = "org.kde.StatusNotifierWatcher"
	itemInterface = "org.kde.StatusNotifierItem"
	menuInterface = "com.canonical.dbusmenu"
)

// A trayHost is a panel: it takes in icons, reads them and their menus, clicks,
// and counts what it is told.
type trayHost struct {
	conn *dbus.Conn
	came chan struct{} // has a value once an icon is there

	mu      sync.Mutex // guards what follows
	sender  string     // whose icon it is
	path    dbus.ObjectPath
	signals []string // of the icon and its menu, by their names
	seen    []ui.Icon
	notices []string
}

func newTrayHost(t testing.TB, bus string) *trayHost {
	t.Helper()
	h := newNoticeBoard(t, bus)
	must(t, h.conn.Export(h, "/StatusNotifierWatcher", watcherName))
	_, err := prop.Export(h.conn, "/StatusNotifierWatcher", prop.Map{watcherName: {
		"IsStatusNotifierHostRegistered": {Value: true}, "ProtocolVersion": {Value: int32(0)}, "RegisteredStatusNotifierItems": {Value: []string{}},
	}})
	must(t, err)
	signals := make(chan *dbus.Signal, 1000)
	h.conn.Signal(signals)
	go h.listen(signals)
	must(t, h.conn.AddMatchSignal(dbus.WithMatchInterface(menuInterface)))
	must(t, h.conn.AddMatchSignal(dbus.WithMatchInterface(itemInterface)))
	h.take(t, watcherName)
	return h
}

// newNoticeBoard is a desktop that shows notices, and no icons.
func newNoticeBoard(t testing.TB, bus string) *trayHost {
	t.Helper()
	conn, err := dbus.Connect(bus)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	h := &trayHost{conn: conn, came: make(chan struct{}, 100)}
	must(t, conn.Export((*noticeBoard)(h), "/org/freedesktop/Notifications", "org.freedesktop.Notifications"))
	h.take(t, "org.freedesktop.Notifications")
	return h
}

// take takes a name on the bus.
func (h *trayHost) take(t testing.TB, name string) {
	t.Helper()
	reply, err := h.conn.RequestName(name, dbus.NameFlagDoNotQueue)
	if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("take the name %s: %v, %v", name, reply, err)
	}
}

// close ends the panel, as a crash of it would.
func (h *trayHost) close() { h.conn.Close() }

// RegisterStatusNotifierItem is what programs call.
func (h *trayHost) RegisterStatusNotifierItem(item string, from dbus.Sender) *dbus.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sender, h.path = string(from), "/StatusNotifierItem"
	if strings.HasPrefix(item, "/") {
		h.path = dbus.ObjectPath(item)
	}
	h.came <- struct{}{}
	return nil
}

// RegisterStatusNotifierHost is what panels call.
func (h *trayHost) RegisterStatusNotifierHost(string) *dbus.Error { return nil }

// clickNotice waits for a notice that begins so, and clicks on it.
func (h *trayHost) clickNotice(t testing.TB, title string) {
	t.Helper()
	number := 0
	eventually(t, "a notice says "+title, func() bool {
		number = 1 + slices.IndexFunc(h.told(), func(n string) bool { return strings.HasPrefix(n, title) })
		return number > 0
	})
	must(t, h.conn.Emit("/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked", uint32(number), "default"))
}

// A noticeBoard is the part of the desktop that shows notices.
type noticeBoard trayHost

// Notify is what programs call.
func (b *noticeBoard) Notify(_ string, replaces uint32, _, title, text string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notices = append(b.notices, title+": "+text)
	return uint32(len(b.notices)), nil
}

func (h *trayHost) listen(signals <-chan *dbus.Signal) {
	for s := range signals {
		if !strings.HasPrefix(s.Name, menuInterface) && !strings.HasPrefix(s.Name, itemInterface) {
			continue
		}
		h.mu.Lock()
		h.signals = append(h.signals, s.Name[strings.LastIndexByte(s.Name, '.')+1:])
		h.mu.Unlock()
		if strings.HasSuffix(s.Name, ".NewIcon") {
			if icon := h.icon(); icon != "" {
				h.mu.Lock()
				h.seen = append(h.seen, icon)
				h.mu.Unlock()
			}
		}
	}
}

// item is the icon on the bus, and menu what it says its menu is.
func (h *trayHost) item() dbus.BusObject {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conn.Object(h.sender, h.path)
}

func (h *trayHost) menu(t testing.TB) dbus.BusObject {
	t.Helper()
	path, err := h.item().GetProperty(itemInterface + ".Menu")
	if err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conn.Object(h.sender, path.Value().(dbus.ObjectPath))
}

// wait waits for an icon.
func (h *trayHost) wait(t testing.TB) {
	t.Helper()
	eventually(t, "the icon is there", func() bool {
		select {
		case <-h.came:
			return true
		default:
			return false
		}
	})
}

// sent are the signals since the last time.
func (h *trayHost) sent() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.signals
	h.signals = nil
	return out
}

// saw reports whether an icon was shown since the last time that it was asked.
func (h *trayHost) saw(icon ui.Icon) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.seen, icon)
	if i >= 0 {
		h.seen = h.seen[i+1:]
	}
	return i >= 0
}

func (h *trayHost) told() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.notices)
}

// icon is the one that is shown, by its pixels in every size; "" is none of ours.
func (h *trayHost) icon() ui.Icon {
	v, err := h.item().GetProperty(itemInterface + ".IconPixmap")
	if err != nil {
		return ""
	}
	var all []struct {
		Width, Height int32
		Data          []byte
	}
	if err := dbus.Store([]any{v.Value()}, &all); err != nil || len(all) != len(icons.Sizes()) {
		return ""
	}
	for _, icon := range ui.Icons() {
		same := true
		for i, size := range icons.Sizes() {
			same = same && int(all[i].Width) == size && bytes.Equal(all[i].Data, argb(icons.PNG(string(icon), size)))
		}
		if same {
			return icon
		}
	}
	return ""
}

// tip is what panels show of an icon that is pointed at.
func (h *trayHost) tip(t testing.TB) string {
	t.Helper()
	v, err := h.item().GetProperty(itemInterface + ".ToolTip")
	must(t, err)
	var tip struct {
		Icon        string
		Pixmaps     [][]any
		Title, Text string
	}
	must(t, dbus.Store([]any{v.Value()}, &tip))
	return strings.TrimSpace(tip.Title + " " + tip.Text)
}

// argb is a picture as it is sent.
func argb(data []byte) []byte {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	n := img.(*image.NRGBA)
	out := slices.Clone(n.Pix)
	for i := 0; i < len(out); i += 4 {
		copy(out[i:], []byte{n.Pix[i+3], n.Pix[i], n.Pix[i+1], n.Pix[i+2]})
	}
	return out
}

// A trayItem is a line of the menu.
type trayItem struct {
	number  int32
	label   string
	enabled bool
	toggle  bool // it has a mark
	on      bool // which is set
	below   []trayItem
}

// read reads all of the menu.
func (h *trayHost) read(t testing.TB) []trayItem {
	t.Helper()
	var revision uint32
	var root struct {
		Number     int32
		Properties map[string]dbus.Variant
		Below      []dbus.Variant
	}
	if err := h.menu(t).Call(menuInterface+".GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root); err != nil {
		t.Fatal(err)
	}
	return trayItems(t, root.Below)
}

func trayItems(t testing.TB, all []dbus.Variant) (out []trayItem) {
	t.Helper()
	for _, v := range all {
		var n struct {
			Number     int32
			Properties map[string]dbus.Variant
			Below      []dbus.Variant
		}
		if err := dbus.Store([]any{v.Value()}, &n); err != nil {
			t.Fatal(err)
		}
		i := trayItem{number: n.Number, enabled: true, below: trayItems(t, n.Below)}
		i.label, _ = n.Properties["label"].Value().(string)
		if enabled, ok := n.Properties["enabled"].Value().(bool); ok {
			i.enabled = enabled
		}
		i.toggle = n.Properties["toggle-type"].Value() == "checkmark"
		i.on = n.Properties["toggle-state"].Value() == int32(1)
		out = append(out, i)
	}
	return out
}

// find is the line whose label, and those of the lines that it is beside, begin
// with these.
func find(items []trayItem, labels ...string) (trayItem, bool) {
	for _, i := range items {
		if !strings.HasPrefix(i.label, labels[0]) {
			continue
		}
		if len(labels) == 1 {
			return i, true
		}
		return find(i.below, labels[1:]...)
	}
	return trayItem{}, false
}

// click waits for a line that can be clicked, and does, as a panel would: it
// opens the menu first.
func (h *trayHost) click(t testing.TB, labels ...string) {
	t.Helper()
	h.event(t, 0, "opened")
	var item trayItem
	eventually(t, strings.Join(labels, ", ")+" can be clicked", func() bool {
		var ok bool
		item, ok = find(h.read(t), labels...)
		if ok && item.enabled {
			return true
		}
		h.event(t, 0, "closed") // else it stays as it is
		h.event(t, 0, "opened")
		return false
	})
	menu := h.menu(t)
	h.event(t, item.number, "clicked")
	// A panel says so even to a program that the click has ended.
	menu.Call(menuInterface+".Event", 0, int32(0), "closed", dbus.MakeVariant(""), uint32(0))
}

func (h *trayHost) event(t testing.TB, number int32, what string) {
	t.Helper()
	if err := h.menu(t).Call(menuInterface+".Event", 0, number, what, dbus.MakeVariant(""), uint32(0)).Err; err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// has waits for a line of the menu.
func (h *trayHost) has(t testing.TB, labels ...string) {
	t.Helper()
	eventually(t, "the menu has "+strings.Join(labels, ", "), func() bool {
		_, ok := find(h.read(t), labels...)
		return ok
	})
}

// shows waits for an icon.
func (h *trayHost) shows(t testing.TB, icon ui.Icon) {
	t.Helper()
	eventually(t, "the icon is "+string(icon), func() bool { return h.icon() == icon })
}

// tray starts our tray on a bus, with variables of its own.
func (r *engineRig) tray(t testing.TB, bus string, vars ...string) *exec.Cmd {
	t.Helper()
	return r.trayOf(t, filepath.Join(programs, "arenero"), bus, vars...)
}

// trayOf is tray, of another copy of our program.
func (r *engineRig) trayOf(t testing.TB, program, bus string, vars ...string) *exec.Cmd {
	t.Helper()
	cmd := r.command("tray")
	cmd.Path = program
	cmd.Env = append(cmd.Env, "DBUS_SESSION_BUS_ADDRESS="+bus, "ARENERO_LANG=en")
	cmd.Env = append(cmd.Env, vars...)
	said := &logBuffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		interrupt(cmd.Process.Pid)
		<-ended
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(r.home, "state", "log", "tray.log"))
			t.Logf("the tray says %q, and logs:\n%s", said, text)
		}
	})
	return cmd
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
