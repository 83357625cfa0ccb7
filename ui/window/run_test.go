package window

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/arenero/arenero/app/control"
)

// TestCommandLine holds what the program takes, and the codes that it ends with.
func TestCommandLine(t *testing.T) {
	tests := []struct {
		name     string
		args     []string
		code     int
		out, err string
	}{
		{"help", []string{"--help"}, 0, "--place SUBJECT", ""},
		{"help in Spanish", []string{"--lang", "es", "--help"}, 0, "--place ASUNTO", ""},
		{"version", []string{"--version"}, 0, "arenero-window 1.2.3 ", ""},
		{"unknown flag", []string{"--nonsense"}, 2, "", "arenero-window --help"},
		{"a word", []string{"hosts"}, 2, "", `"hosts" is no option`},
		{"unknown page", []string{"--page", "nope"}, 2, "", `no page "nope": they are sandboxes, spend`},
		{"unknown language", []string{"--lang", "de"}, 2, "", `"de" is neither es nor en`},
		{"unknown theme", []string{"--lang=es", "--theme", "pink"}, 2, "", `"pink" no es ni light ni dark`},
	}
	t.Setenv("ARENERO_LANG", "en")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Main(tt.args, "1.2.3", &out, &errs, func() fyne.App { t.Error("a window is opened"); return nil })
			if code != tt.code || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.err) {
				t.Errorf("code %d, out %q, err %q; want %d, %q and %q", code, out.String(), errs.String(), tt.code, tt.out, tt.err)
			}
			if tt.code == 0 && errs.Len() > 0 {
				t.Errorf("stderr has %q", errs.String())
			}
		})
	}
}

// TestNoDisplay says what is missing, in place of the panic of the toolkit.
func TestNoDisplay(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // others always have one
	}
	t.Setenv("ARENERO_LANG", "en")
	t.Setenv("ARENERO_HOME", shortHome(t))
	t.Setenv("DISPLAY", "")
	var out, errs bytes.Buffer
	code := Main(nil, "1.2.3", &out, &errs, func() fyne.App { t.Error("a window is opened"); return nil })
	if code != 1 || !strings.Contains(errs.String(), "DISPLAY is not set") {
		t.Errorf("code %d, stderr %q", code, errs.String())
	}
}

// A blindApp is one whose display can't be opened.
type blindApp struct{ fyne.App }

func (blindApp) NewWindow(string) fyne.Window { panic(errors.New("the library is not initialized")) }

// TestBrokenDisplay says so too where a display is named and can't be opened.
func TestBrokenDisplay(t *testing.T) {
	t.Setenv("ARENERO_LANG", "en")
	t.Setenv("ARENERO_HOME", shortHome(t))
	t.Setenv("DISPLAY", ":199")
	var out, errs bytes.Buffer
	code := Main(nil, "1.2.3", &out, &errs, func() fyne.App { return blindApp{} })
	if code != 1 || !strings.Contains(errs.String(), "on the display :199 (make a window: the library is not initialized)") {
		t.Errorf("code %d, stderr %q", code, errs.String())
	}
}

// TestSecondStart has the window that is open show what a second start asks for,
// which needs no display for that.
func TestSecondStart(t *testing.T) {
	t.Setenv("ARENERO_HOME", shortHome(t))
	t.Setenv("DISPLAY", "")
	path, err := control.DoorPath()
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan control.Place, 1)
	door, err := control.OpenDoor(t.Context(), path, func(p control.Place) { shown <- p })
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	var out, errs bytes.Buffer
	code := Main([]string{"--page", "sandboxes", "--place", "microvm-1"}, "1.2.3", &out, &errs, func() fyne.App { t.Error("a second window is opened"); return nil })
	if code != 0 || errs.Len() > 0 {
		t.Fatalf("code %d, stderr %q", code, errs.String())
	}
	if got, want := <-shown, (control.Place{Page: "sandboxes", Subject: "microvm-1"}); got != want {
		t.Errorf("shown is %+v, want %+v", got, want)
	}
}
