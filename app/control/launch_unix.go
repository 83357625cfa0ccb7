//go:build unix

package control

import "syscall"

// detached has a process live on when ours and its terminal end.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
