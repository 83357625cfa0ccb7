//go:build unix

package start

import "syscall"

// apart has a process live on when ours ends.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
