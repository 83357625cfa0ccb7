//go:build !linux && !windows && !(darwin && cgo)

package tray

import (
	"context"
	"fmt"
)

// run has nothing to show an icon with: the menu bar of macOS needs a build with
// cgo.
func run(context.Context, *tray) error {
	return fmt.Errorf("%w: this program was built without cgo", errNone)
}
