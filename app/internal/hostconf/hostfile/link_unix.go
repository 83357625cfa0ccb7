//go:build linux || darwin

package hostfile

import "os"

// linkNew renames a to b, where nothing may be yet, on file systems that can't
// do so at once.
func linkNew(a, b string) error {
	if err := os.Link(a, b); err != nil {
		return err
	}
	return os.Remove(a)
}
