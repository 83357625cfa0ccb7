package tray

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/arenero/arenero/ui"
)

// Of the parts of Windows that show notices; the names are those of its headers.
const (
	wmDestroy = 0x0002
	wmTimer   = 0x0113
	wmApp     = 0x8000
	wmUser    = 0x0400

	nimAdd    = 0
	nimDelete = 2

	nifMessage = 0x01
	nifIcon    = 0x02
	nifTip     = 0x04
	nifInfo    = 0x10

	niifInfo    = 0x01
	niifWarning = 0x02
	niifNoSound = 0x10

	ninBalloonHide      = wmUser + 3
	ninBalloonTimeout   = wmUser + 4
	ninBalloonUserClick = wmUser + 5

	idiInformation = 32516
	idiWarning     = 32515
)

var (
	user32            = windows.NewLazySystemDLL("user32.dll")
	shell32           = windows.NewLazySystemDLL("shell32.dll")
	registerClass     = user32.NewProc("RegisterClassExW")
	createWindow      = user32.NewProc("CreateWindowExW")
	destroyWindow     = user32.NewProc("DestroyWindow")
	defWindowProc     = user32.NewProc("DefWindowProcW")
	getMessage        = user32.NewProc("GetMessageW")
	dispatchMessage   = user32.NewProc("DispatchMessageW")
	postQuitMessage   = user32.NewProc("PostQuitMessage")
	setTimer          = user32.NewProc("SetTimer")
	loadIcon          = user32.NewProc("LoadIconW")
	shellNotifyIcon   = shell32.NewProc("Shell_NotifyIconW")
	noticeClassOnce   = sync.OnceValues(registerNoticeClass)
	balloonsByWindow  sync.Map // of *balloon, by window; Windows gives its calls no other way to us
	noticeClassName   = windows.StringToUTF16Ptr("AreneroNotice")
	errNoticeRejected = errors.New("the taskbar takes no notice")
)

// A windowClass is WNDCLASSEX.
type windowClass struct {
	size, style                  uint32
	proc                         uintptr
	classExtra, windowExtra      int32
	instance, icon, cursor, back windows.Handle
	menu, name                   *uint16
	iconSmall                    windows.Handle
}

// An iconData is NOTIFYICONDATAW.
type iconData struct {
	size                uint32
	window              windows.Handle
	id, flags, callback uint32
	icon                windows.Handle
	tip                 [128]uint16
	state, stateMask    uint32
	info                [256]uint16
	timeout             uint32
	title               [64]uint16
	infoFlags           uint32
	item                windows.GUID
	balloonIcon         windows.Handle
}

// A message is MSG.
type message struct {
	window        windows.Handle
	what          uint32
	wParam        uintptr
	lParam        uintptr
	time          uint32
	x, y, private int32
}

// A balloon is a notice that is shown.
type balloon struct {
	open func()
	data iconData
}

// balloonFor is how long a notice is kept that Windows says nothing more of, as
// where the user wants none at this time.
const balloonFor = time.Minute

// notify shows a notice as of an icon of its own, in a window that nobody sees:
// both are there for as long as the notice is, and what belongs to the library's
// icon is left alone. A click on it calls open.
func notify(n ui.Notice, open func()) error {
	if _, err := noticeClassOnce(); err != nil {
		return err
	}
	shown := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // a window belongs to the thread that made it
		defer runtime.UnlockOSThread()
		b, err := newBalloon(n, open)
		shown <- err
		if err == nil {
			b.serve()
		}
	}()
	return <-shown
}

func registerNoticeClass() (uintptr, error) {
	class := windowClass{proc: windows.NewCallback(onNotice), name: noticeClassName}
	class.size = uint32(unsafe.Sizeof(class))
	atom, _, err := registerClass.Call(uintptr(unsafe.Pointer(&class)))
	if atom == 0 {
		return 0, fmt.Errorf("register a window class: %w", err)
	}
	return atom, nil
}

func newBalloon(n ui.Notice, open func()) (*balloon, error) {
	window, _, err := createWindow.Call(0, uintptr(unsafe.Pointer(noticeClassName)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	if window == 0 {
		return nil, fmt.Errorf("make a window: %w", err)
	}
	icon, flags := uintptr(idiInformation), uint32(niifInfo|niifNoSound)
	if n.Alert {
		icon, flags = idiWarning, niifWarning
	}
	b := &balloon{open: open}
	d := &b.data
	d.size, d.window, d.id, d.callback = uint32(unsafe.Sizeof(*d)), windows.Handle(window), 1, wmApp
	d.flags, d.infoFlags = nifMessage|nifIcon|nifTip|nifInfo, flags
	handle, _, _ := loadIcon.Call(0, icon)
	d.icon = windows.Handle(handle)
	text := n.Text
	if text == "" { // without one, none is shown
		text = " "
	}
	put(d.tip[:], n.Title)
	put(d.title[:], n.Title)
	put(d.info[:], text)
	balloonsByWindow.Store(d.window, b)
	if ok, _, _ := shellNotifyIcon.Call(nimAdd, uintptr(unsafe.Pointer(d))); ok == 0 {
		balloonsByWindow.Delete(d.window)
		destroyWindow.Call(window)
		return nil, errNoticeRejected
	}
	setTimer.Call(window, 1, uintptr(balloonFor/time.Millisecond), 0)
	return b, nil
}

// put writes a text where there is room for so many units of it, with a zero in
// the end.
func put(room []uint16, text string) {
	units := windows.StringToUTF16(text)
	if len(units) > len(room) {
		units = append(units[:len(room)-2], '…', 0)
	}
	copy(room, units)
}

// serve hears what Windows says of the notice, until it is gone.
func (b *balloon) serve() {
	var m message
	for {
		got, _, _ := getMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0)
		if int32(got) <= 0 {
			return
		}
		dispatchMessage.Call(uintptr(unsafe.Pointer(&m)))
	}
}

// onNotice is what Windows calls.
func onNotice(window windows.Handle, what uint32, wParam, lParam uintptr) uintptr {
	v, ok := balloonsByWindow.Load(window)
	if !ok {
		out, _, _ := defWindowProc.Call(uintptr(window), uintptr(what), wParam, lParam)
		return out
	}
	b := v.(*balloon)
	gone := what == wmTimer
	if what == wmApp {
		event := uint32(lParam)
		if event == ninBalloonUserClick {
			go b.open()
		}
		gone = event == ninBalloonUserClick || event == ninBalloonTimeout || event == ninBalloonHide
	}
	switch {
	case gone:
		shellNotifyIcon.Call(nimDelete, uintptr(unsafe.Pointer(&b.data)))
		destroyWindow.Call(uintptr(window))
		return 0
	case what == wmDestroy:
		balloonsByWindow.Delete(window)
		postQuitMessage.Call(0)
		return 0
	}
	out, _, _ := defWindowProc.Call(uintptr(window), uintptr(what), wParam, lParam)
	return out
}
