//go:build !unix

package atomicfile

import (
	"errors"
	"syscall"
)

// dontWait has Open not wait for the other end of a pipe; no file is one here.
const dontWait = 0

// SyncDir does nothing: Windows writes the names of a folder by itself and has
// no call to wait for it.
func SyncDir(string) error { return nil }

// noModes tells an error of Chmod that means that open files have no mode
// here: they are guarded by the access list of their folder.
func noModes(err error) bool { return errors.Is(err, syscall.EWINDOWS) }
