package keychain

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
)

// TestMain keeps tests away from the keychain of whoever runs them: one that
// wants a real one starts its own, on a bus of its own.
func TestMain(m *testing.M) {
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"} {
		os.Unsetenv(name)
	}
	os.Setenv("XDG_RUNTIME_DIR", "/nonexistent")
	os.Exit(m.Run())
}

// long is time enough for a keychain on a busy computer.
const long = time.Minute

// newBus starts a session bus for this test, with a keychain to be started on it
// only if services is true. The test's environment leads to it.
func newBus(t *testing.T, services bool) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_RUNTIME_DIR", home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	t.Setenv("GNOME_KEYRING_CONTROL", "")
	config := `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=` + home + `</listen>` +
		map[bool]string{true: "<standard_session_servicedirs/>"}[services] +
		`<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	file := filepath.Join(home, "bus.conf")
	must(t, os.WriteFile(file, []byte(config), 0o600))
	cmd := exec.Command("dbus-daemon", "--config-file="+file, "--nofork", "--print-address=1")
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	must(t, err)
	if err := cmd.Start(); err != nil {
		t.Fatalf("start a session bus: %v (make setup installs dbus-daemon)", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address := make([]byte, 512)
	n, err := out.Read(address)
	must(t, err)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(string(address[:n])))
}

// newKeyring starts a keychain on the test's bus, unlocked if passphrase is not
// empty, and returns how to kill it.
func newKeyring(t *testing.T, passphrase string) (kill func()) {
	t.Helper()
	args := []string{"--foreground", "--components=secrets"}
	if passphrase != "" {
		args = append(args, "--unlock")
	}
	cmd := exec.Command("gnome-keyring-daemon", args...)
	cmd.Stdin = strings.NewReader(passphrase)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatalf("start a keychain: %v (make setup installs gnome-keyring)", err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(kill)
	// It is there when its name is on the bus.
	for deadline := time.Now().Add(long); ; time.Sleep(10 * time.Millisecond) {
		out, _ := exec.Command("dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
			"org.freedesktop.DBus.NameHasOwner", "string:"+secretService).Output()
		if bytes.Contains(out, []byte("boolean true")) {
			return kill
		}
		if time.Now().After(deadline) {
			t.Fatal("the keychain does not come up")
		}
	}
}

func system(t *testing.T, dir string, timeout time.Duration) *Sealed {
	t.Helper()
	// A call that an earlier test left waiting is not this test's.
	return newSealed(dir, &systemKey{timeout, new(atomic.Bool)})
}

func TestSecretService(t *testing.T) {
	newBus(t, false)
	newKeyring(t, "pw")
	dir := t.TempDir()
	testStore(t, system(t, dir, long))

	// Another program of the user finds the key, and with it every secret.
	must(t, system(t, dir, long).Set(t.Context(), "aws/prod", []byte("value")))
	got, err := system(t, dir, long).Get(t.Context(), "aws/prod")
	if err != nil || string(got) != "value" {
		t.Errorf("Get() = %q, %v", got, err)
	}
	key, err := keyring.Get(service, account)
	must(t, err)
	if len(key) > 200 {
		t.Errorf("the keychain has %d bytes of ours, want a key only", len(key))
	}
	s := system(t, dir, long)
	must(t, s.Reset(t.Context()))
	if _, err := keyring.Get(service, account); err == nil {
		t.Error("the key is there after Reset()")
	}
}

func TestLockedKeyring(t *testing.T) {
	newBus(t, false)
	newKeyring(t, "pw")
	dir := t.TempDir()
	s := system(t, dir, long)
	must(t, s.Set(t.Context(), "name", []byte("value")))
	lockCollections(t)
	_, err := s.Get(t.Context(), "name")
	wantClass(t, err, Locked)
	wantClass(t, s.Set(t.Context(), "name", nil), Locked)
	if names, err := s.Names(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("Names() = %q, %v, want it without the key", names, err)
	}
	must(t, s.Delete(t.Context(), "name"))
}

func lockCollections(t *testing.T) {
	t.Helper()
	out, err := exec.Command("dbus-send", "--session", "--print-reply", "--dest="+secretService, "/org/freedesktop/secrets",
		"org.freedesktop.Secret.Service.Lock", "array:objpath:/org/freedesktop/secrets/collection/login").CombinedOutput()
	if err != nil {
		t.Fatalf("lock: %v: %s", err, out)
	}
}

func TestKilledKeyring(t *testing.T) {
	newBus(t, false)
	kill := newKeyring(t, "pw")
	s := system(t, t.TempDir(), long)
	must(t, s.Set(t.Context(), "name", []byte("value")))
	kill()
	_, err := s.Get(t.Context(), "name")
	wantClass(t, err, NoService)
	newKeyring(t, "pw")
	if got, err := s.Get(t.Context(), "name"); err != nil || string(got) != "value" {
		t.Errorf("Get() from one started again = %q, %v", got, err)
	}
}

func TestNoBus(t *testing.T) {
	s := system(t, t.TempDir(), long)
	err := s.Set(t.Context(), "name", nil)
	wantClass(t, err, NoBus)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
	wantClass(t, s.Set(t.Context(), "name", nil), NoBus)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "autolaunch:")
	wantClass(t, s.Set(t.Context(), "name", nil), NoBus)
}

func TestNoService(t *testing.T) {
	newBus(t, false)
	wantClass(t, system(t, t.TempDir(), long).Set(t.Context(), "name", nil), NoService)
}

// TestSilentBus has a keychain that never answers, as with a dialog that nobody
// sees. One call waits; others say at once that it does.
func TestSilentKeyring(t *testing.T) {
	newBus(t, false)
	must(t, ownName(t))
	s := system(t, t.TempDir(), 50*time.Millisecond)
	wantClass(t, s.Set(t.Context(), "name", nil), TimedOut)
	wantClass(t, s.Set(t.Context(), "name", nil), TimedOut)

	s = system(t, t.TempDir(), long)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Set(ctx, "name", nil); err == nil {
		t.Error("Set() of somebody who has gone = nil")
	}
}
