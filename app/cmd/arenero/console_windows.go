package main

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// leaveConsole closes the console window of a program that was given one of its
// own, as at login. One that was started from a console leaves that alone.
func leaveConsole() {
	kernel := windows.NewLazySystemDLL("kernel32.dll")
	var programs [2]uint32
	n, _, _ := kernel.NewProc("GetConsoleProcessList").Call(uintptr(unsafe.Pointer(&programs[0])), uintptr(len(programs)))
	if n == 1 { // nobody but us
		kernel.NewProc("FreeConsole").Call()
	}
}
