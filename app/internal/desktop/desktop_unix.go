//go:build unix && !darwin

package desktop

import (
	"context"
	"errors"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// watcher is whom programs tell of their icons; a host shows them.
const watcher = "org.kde.StatusNotifierWatcher"

// TrayHost reports whether something would show a tray icon. It starts nothing:
// no bus, and no program on it.
func TrayHost(ctx context.Context) (bool, error) {
	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	defer conn.Close()
	if err := conn.Auth(nil); err != nil {
		return false, fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	if err := conn.Hello(); err != nil {
		return false, fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	var owned bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcher).Store(&owned); err != nil {
		return false, fmt.Errorf("ask the session bus: %w", err)
	}
	if !owned {
		return false, nil
	}
	// The watcher alone shows nothing: KDE's runs without a panel too.
	v, err := conn.Object(watcher, "/StatusNotifierWatcher").GetProperty(watcher + ".IsStatusNotifierHostRegistered")
	if err != nil {
		if _, said := errors.AsType[dbus.Error](err); said { // an old one, which knows no such property
			return true, nil
		}
		return false, fmt.Errorf("ask the tray: %w", err)
	}
	hosted, ok := v.Value().(bool)
	return hosted || !ok, nil
}
