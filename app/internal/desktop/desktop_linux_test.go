package desktop

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

// bus starts a session bus of the test's own, with nobody on it.
func bus(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ar")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	config := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(config, []byte(`<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=`+dir+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--print-address=1")
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("start a session bus: %v (make setup installs dbus-daemon)", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
}

// watch plays a watcher with these properties, or one that has none.
func watch(t *testing.T, properties map[string]*prop.Prop) {
	t.Helper()
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if properties != nil {
		if _, err := prop.Export(conn, "/StatusNotifierWatcher", prop.Map{watcher: properties}); err != nil {
			t.Fatal(err)
		}
	}
	if reply, err := conn.RequestName(watcher, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("take the name: %v, %v", reply, err)
	}
}

func TestTrayHost(t *testing.T) {
	hosted := func(yes bool) map[string]*prop.Prop {
		return map[string]*prop.Prop{"IsStatusNotifierHostRegistered": {Value: yes}}
	}
	tests := []struct {
		name  string
		plant func(t *testing.T)
		want  bool
	}{
		{"nobody", func(*testing.T) {}, false},
		{"a watcher without a host", func(t *testing.T) { watch(t, hosted(false)) }, false},
		{"a watcher with a host", func(t *testing.T) { watch(t, hosted(true)) }, true},
		{"an old watcher", func(t *testing.T) { watch(t, nil) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bus(t)
			tt.plant(t)
			got, err := TrayHost(t.Context())
			if got != tt.want || err != nil {
				t.Errorf("TrayHost() = %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestTrayHostWithoutABus(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	if _, err := TrayHost(t.Context()); !errors.Is(err, ErrNoBus) {
		t.Errorf("error is %v, want ErrNoBus", err)
	}
}
