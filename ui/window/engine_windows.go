package window

import "golang.org/x/sys/windows"

// errForeign is of a program that is none of this system.
var errForeign error = windows.ERROR_BAD_EXE_FORMAT
