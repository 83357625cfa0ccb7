package window

import (
	"runtime"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"github.com/arenero/arenero/ui/view"
)

// modifier is the name of the key that goes with others.
func modifier() string {
	if runtime.GOOS == "darwin" {
		return "Cmd"
	}
	return "Ctrl"
}

// keys sets what keys do wherever the focus is. Views hand on those that they
// have no use for.
func (s *shell) keys() {
	c := s.win.Canvas()
	c.SetOnTypedKey(func(e *fyne.KeyEvent) {
		switch e.Name {
		case fyne.KeyEscape:
			view.Escape(c)
		case fyne.KeyF1:
			if c.Overlays().Top() == nil {
				s.help()
			}
		case fyne.KeyF5:
			if c.Overlays().Top() == nil {
				s.enter()
			}
		case fyne.KeyF6:
			if c.Overlays().Top() == nil {
				s.frame.NextPart()
			}
		}
	})
	digits := []fyne.KeyName{fyne.Key1, fyne.Key2, fyne.Key3, fyne.Key4, fyne.Key5, fyne.Key6, fyne.Key7, fyne.Key8, fyne.Key9}
	for i, digit := range digits {
		s.key(digit, 0, func() {
			if i < len(s.side) && c.Overlays().Top() == nil {
				s.goTo(s.side[i].name(), "")
			}
		})
	}
	help := func() {
		if c.Overlays().Top() == nil {
			s.help()
		}
	}
	// Where "?" is differs between keyboards.
	for _, k := range []fyne.KeyName{fyne.KeySlash, fyne.KeyApostrophe, fyne.KeyName("?")} {
		s.key(k, 0, help)
		s.key(k, fyne.KeyModifierShift, help)
	}
	s.key(fyne.KeyW, 0, s.close)
	s.key(fyne.KeyQ, 0, s.close)
}

// key has a combination do something.
func (s *shell) key(name fyne.KeyName, more fyne.KeyModifier, do func()) {
	s.win.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: name, Modifier: fyne.KeyModifierShortcutDefault | more}, func(fyne.Shortcut) { do() })
}
