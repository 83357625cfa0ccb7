package keychain

import (
	"fmt"
	"testing"

	"github.com/godbus/dbus/v5"
)

// ownName takes the name of the Secret Service, and then answers nothing.
func ownName(t *testing.T) error {
	conn, err := dbus.ConnectSessionBus(dbus.WithHandler(silence{}))
	if err != nil {
		return err
	}
	t.Cleanup(func() { conn.Close() })
	reply, err := conn.RequestName(secretService, dbus.NameFlagDoNotQueue)
	if err == nil && reply != dbus.RequestNameReplyPrimaryOwner {
		err = fmt.Errorf("name not had: %v", reply)
	}
	return err
}

// silence takes every call, and answers none.
type silence struct{}

func (silence) LookupObject(dbus.ObjectPath) (dbus.ServerObject, bool) { return silence{}, true }
func (silence) LookupInterface(string) (dbus.Interface, bool)          { return silence{}, true }
func (silence) LookupMethod(string) (dbus.Method, bool)                { return silence{}, true }

func (silence) Call(...any) ([]any, error) { select {} }
func (silence) NumArguments() int          { return 0 }
func (silence) NumReturns() int            { return 0 }
func (silence) ArgumentValue(int) any      { return nil }
func (silence) ReturnValue(int) any        { return nil }
func (silence) DecodeArguments(*dbus.Conn, string, *dbus.Message, []any) ([]any, error) {
	return nil, nil
}
