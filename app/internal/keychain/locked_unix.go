//go:build unix && !darwin

package keychain

import (
	"context"
	"slices"

	"github.com/godbus/dbus/v5"
)

// locked reports why the Secret Service does not give secrets now. It starts none.
func locked(ctx context.Context) error {
	if !haveBus() {
		return &Error{Class: NoBus}
	}
	conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return &Error{Class: NoBus, Err: err}
	}
	defer conn.Close()
	var there bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, secretService).Store(&there); err != nil {
		return err
	}
	if !there {
		return &Error{Class: NoService}
	}
	get := func(object dbus.ObjectPath, of, name string, value any) error {
		var v dbus.Variant
		if err := conn.Object(secretService, object).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, of, name).Store(&v); err != nil {
			return err
		}
		return v.Store(value)
	}
	// Where the library keeps secrets.
	const login = dbus.ObjectPath("/org/freedesktop/secrets/collection/login")
	var all []dbus.ObjectPath
	if err := get("/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "Collections", &all); err != nil {
		return err
	}
	at := dbus.ObjectPath("/org/freedesktop/secrets/aliases/default")
	if slices.Contains(all, login) {
		at = login
	}
	var closed bool
	if err := get(at, "org.freedesktop.Secret.Collection", "Locked", &closed); err != nil {
		return err
	}
	if closed {
		return &Error{Class: Locked}
	}
	return nil
}
