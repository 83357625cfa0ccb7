package settings_test

import (
	"os"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/settings"
)

func TestCheckQuiet(t *testing.T) {
	for hours, ok := range map[string]bool{
		"": true, "22:00-07:30": true, "00:00-23:59": true, "9:00-10:00": false, "22:00": false, "22:00-22:00": false, "24:00-07:00": false,
		"22:60-07:00": false, "22:00 07:00": false, "22:00-07:00 ": false, "ñ2:00-07:00": false,
	} {
		if err := settings.CheckQuiet(hours); (err == nil) != ok {
			t.Errorf("%q: %v", hours, err)
		}
	}
}

// TestNotices keeps what is usual unwritten, and what it does not know.
func TestNotices(t *testing.T) {
	f := file(t, `{"notices": {"done": false, "sound": "gong", "off": true}, "theme": "dark", "paused": true, "guide_done": true}`)
	s, err := f.Read()
	if err != nil || !s.Notices.Off || !s.Notices.Undone || s.Theme != "dark" || !s.Paused || !s.GuideDone {
		t.Fatalf("%+v, %v", s, err)
	}
	change(t, f, func(s *settings.Settings) {
		s.Notices.Off, s.Notices.Undone, s.Notices.Quiet = false, false, "22:00-07:30"
		s.Theme, s.Paused, s.GuideDone = "", false, false
	})
	raw, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	if !strings.Contains(text, `"sound": "gong"`) || !strings.Contains(text, `"quiet": "22:00-07:30"`) || strings.Contains(text, "done") || strings.Contains(text, "theme") || strings.Contains(text, "paused") {
		t.Errorf("the file: %s", text)
	}
	if s, err := f.Read(); err != nil || s.Notices.Quiet != "22:00-07:30" || s.Notices.Undone {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := file(t, `{"notices": null}`).Read(); err != nil || s.Notices.Undone {
		t.Errorf("none: %+v, %v", s, err)
	}
	if _, err := file(t, `{"notices": []}`).Read(); err == nil {
		t.Error("a list is taken for notices")
	}
}
