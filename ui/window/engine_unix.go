//go:build unix

package window

import "syscall"

// errForeign is of a program that is none of this system.
var errForeign error = syscall.ENOEXEC
