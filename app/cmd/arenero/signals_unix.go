//go:build unix

package main

import (
	"os"
	"syscall"
)

// brokenPipe is what a write to a pipe without a reader brings.
func brokenPipe() []os.Signal { return []os.Signal{syscall.SIGPIPE} }

// passedOn are the signals that go on to a command, with their numbers in the
// sandbox, which is Linux whatever this is.
func passedOn() map[os.Signal]int {
	return map[os.Signal]int{
		syscall.SIGHUP: 1, os.Interrupt: 2, syscall.SIGQUIT: 3, syscall.SIGUSR1: 10, syscall.SIGUSR2: 12, syscall.SIGTERM: 15,
	}
}
