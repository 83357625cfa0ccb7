package start

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// apart has a process live on when ours ends, in a console of its own if it wants
// one.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NEW_CONSOLE}
}
