//go:build !unix || darwin

package desktop

import "context"

// TrayHost fails with [ErrNone]: the menu bar of macOS and the taskbar of Windows
// are always there.
func TrayHost(context.Context) (bool, error) { return false, ErrNone }
