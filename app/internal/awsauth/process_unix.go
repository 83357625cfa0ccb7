//go:build unix

package awsauth

import (
	"os/exec"
	"syscall"
)

// alone has a command be the first of a session, without a terminal, so that all it
// starts can be ended with it.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// sweep ends what a command left running that has ended itself. The group lives as
// long as any of it.
func sweep(cmd *exec.Cmd) { endAll(cmd) }

// endAll ends a command and what it started.
func endAll(cmd *exec.Cmd) {
	if cmd != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // or there is none left
	}
}
