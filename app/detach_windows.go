package app

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached has a process live on when ours and its console end.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
