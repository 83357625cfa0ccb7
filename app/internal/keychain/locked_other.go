//go:build !unix || darwin

package keychain

import "context"

// locked knows nothing: to ask would open a dialog.
func locked(context.Context) error { return nil }
