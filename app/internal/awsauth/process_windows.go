package awsauth

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// alone has a command open no window.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{HideWindow: true} }

// sweep does nothing: once a command has ended, nobody knows what it started.
func sweep(*exec.Cmd) {}

// endAll ends a command that runs, and what it started.
func endAll(cmd *exec.Cmd) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	kill := exec.CommandContext(ctx, filepath.Join(os.Getenv("SystemRoot"), "System32", "taskkill.exe"), "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid))
	kill.SysProcAttr = alone()
	_ = kill.Run() // or the command has ended
}
