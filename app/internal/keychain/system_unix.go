//go:build unix && !darwin

package keychain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"
)

// secretService is the name of the Secret Service on the bus.
const secretService = "org.freedesktop.secrets"

// probe reports why there is no keychain to call, before the library looks for
// one in its own way: it would start a bus of its own where there is none.
func probe(ctx context.Context) error {
	if !haveBus() {
		return &Error{Class: NoBus}
	}
	conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return &Error{Class: NoBus, Err: err}
	}
	defer conn.Close()
	for _, method := range []string{"ListNames", "ListActivatableNames"} {
		var names []string
		if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus."+method, 0).Store(&names); err != nil {
			return fmt.Errorf("ask the session bus: %w", err)
		}
		if slices.Contains(names, secretService) {
			return nil
		}
	}
	return &Error{Class: NoService}
}

// haveBus reports whether there is an address to find a session bus at.
func haveBus() bool {
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return !strings.HasPrefix(address, "autolaunch:")
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = fmt.Sprintf("/run/user/%d", os.Getuid())
	}
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return err == nil
}

// classOf is the class of an error of the Secret Service or of the bus.
func classOf(err error) Class {
	if e, ok := errors.AsType[dbus.Error](err); ok {
		switch e.Name {
		case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
			"org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Spawn.ExecFailed", "org.freedesktop.DBus.Error.Spawn.ChildExited":
			return NoService
		case "org.freedesktop.Secret.Error.IsLocked":
			return Locked
		case "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed":
			return Denied
		}
		return Other
	}
	if _, ok := errors.AsType[*net.OpError](err); ok || errors.Is(err, dbus.ErrClosed) {
		return NoBus
	}
	// The library says so as well when a person closed the dialog, which there
	// is on a display only.
	if strings.HasPrefix(err.Error(), "failed to unlock") {
		if os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" {
			return Dismissed
		}
		return Locked
	}
	return ""
}
