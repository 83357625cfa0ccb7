package desktop

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/arenero/arenero/app/internal/paths"
)

// account is a user with a home of the test's own, and a computer with folders
// for all users.
func account(t *testing.T) (own, system string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_CONFIG_DIRS", filepath.Join(home, "etc"))
	t.Setenv(paths.Home, "")
	return filepath.Join(home, ".config", "autostart", "arenero.desktop"), filepath.Join(home, "etc", "autostart", "arenero.desktop")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// is checks whether the tray starts at login.
func is(t *testing.T, want bool) {
	t.Helper()
	if got, err := AutoStart().Enabled(); got != want || err != nil {
		t.Errorf("Enabled() = %v, %v, want %v", got, err, want)
	}
}

func set(t *testing.T, on bool) {
	t.Helper()
	if err := AutoStart().Set(t.Context(), on, "/opt/my apps/arenero"); err != nil {
		t.Errorf("Set(%v) = %v", on, err)
	}
}

func TestLogin(t *testing.T) {
	own, _ := account(t)
	if !AutoStart().Can() {
		t.Error("there is no place")
	}
	is(t, false)
	set(t, false)
	if _, err := os.Stat(filepath.Dir(own)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("off where nothing was leaves something: %v", err)
	}
	set(t, true)
	is(t, true)
	text, err := os.ReadFile(own)
	if err != nil || !strings.Contains(string(text), "\nExec=\"/opt/my apps/arenero\" tray\n") || !strings.Contains(string(text), "\nTryExec=/opt/my apps/arenero\n") {
		t.Errorf("it is %q, %v", text, err)
	}
	// What a desktop does with it counts, and what the user has put there stays.
	put(t, own, string(text)+"X-GNOME-Autostart-Delay=5\nX-GNOME-Autostart-enabled=false\n")
	is(t, false)
	set(t, true)
	is(t, true)
	if again, _ := os.ReadFile(own); string(again) != string(text)+"X-GNOME-Autostart-Delay=5\n" {
		t.Errorf("then it is %q", again)
	}
	put(t, own, "[Desktop Entry]\nHidden=true\n")
	is(t, false)
	set(t, true)
	is(t, true)
	if again, _ := os.ReadFile(own); string(again) != string(text) {
		t.Errorf("after Hidden it is %q", again)
	}
	set(t, false)
	is(t, false)
	if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("off it is there: %v", err)
	}
}

func TestLoginOfAllUsers(t *testing.T) {
	own, system := account(t)
	put(t, system, "[Desktop Entry]\nType=Application\nExec=/usr/bin/arenero tray\n")
	is(t, true)
	set(t, false) // which takes an entry that says so
	is(t, false)
	text, err := os.ReadFile(own)
	if err != nil || !strings.Contains(string(text), "\nHidden=true\n") || strings.Contains(string(text), "Exec") {
		t.Errorf("off it is %q, %v", text, err)
	}
	set(t, false)
	is(t, false)
	set(t, true)
	is(t, true)
}

func TestLoginLeavesOthersAlone(t *testing.T) {
	own, _ := account(t)
	const foreign = "[Desktop Entry]\nType=Application\nExec=/usr/bin/sandpit\n"
	put(t, own, foreign)
	is(t, false)
	for _, on := range []bool{true, false} {
		if err := AutoStart().Set(t.Context(), on, "/usr/bin/arenero"); !errors.Is(err, ErrForeign) {
			t.Errorf("Set(%v) = %v, want ErrForeign", on, err)
		}
	}
	if text, err := os.ReadFile(own); string(text) != foreign || err != nil {
		t.Errorf("now it is %q, %v", text, err)
	}
}

func TestLoginOfASecondInstance(t *testing.T) {
	own, _ := account(t)
	set(t, true)
	home := filepath.Join(t.TempDir(), "a b")
	t.Setenv(paths.Home, home)
	is(t, false)
	set(t, true)
	is(t, true)
	all, err := filepath.Glob(filepath.Join(filepath.Dir(own), "arenero-*.desktop"))
	if err != nil || len(all) != 1 {
		t.Fatalf("entries %v, %v", all, err)
	}
	if text, err := os.ReadFile(all[0]); err != nil || !strings.Contains(string(text), "\nExec=env \"ARENERO_HOME="+home+"\" \"/opt/my apps/arenero\" tray\n") {
		t.Errorf("it is %q, %v", text, err)
	}
	set(t, false)
	is(t, false)
	t.Setenv(paths.Home, "")
	is(t, true)
}

func TestLoginNowhere(t *testing.T) {
	account(t)
	if err := AutoStart().Set(t.Context(), true, "arenero"); err == nil {
		t.Error("a program is taken without its path")
	}
	t.Setenv("HOME", "")
	if AutoStart().Can() {
		t.Error("there is a place without a home")
	}
	is(t, false)
	if err := AutoStart().Set(t.Context(), true, "/usr/bin/arenero"); !errors.Is(err, ErrNoLogin) {
		t.Errorf("Set() = %v, want ErrNoLogin", err)
	}
}

// TestLoginWaitsForNoPipe says what is in the way, and waits for nobody to write
// into it.
func TestLoginWaitsForNoPipe(t *testing.T) {
	own, _ := account(t)
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(own, 0o600); err != nil {
		t.Fatal(err)
	}
	if on, err := AutoStart().Enabled(); on || err == nil {
		t.Errorf("Enabled() = %v, %v", on, err)
	}
	for _, on := range []bool{true, false} {
		if err := AutoStart().Set(t.Context(), on, "/opt/arenero"); err == nil {
			t.Errorf("Set(%v) went well", on)
		}
	}
}
