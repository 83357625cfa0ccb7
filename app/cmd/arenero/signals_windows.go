package main

import (
	"os"
	"syscall"
)

// brokenPipe is nothing here: a write fails, and that is all.
func brokenPipe() []os.Signal { return nil }

// passedOn are the signals that go on to a command, with their numbers in the
// sandbox.
func passedOn() map[os.Signal]int {
	return map[os.Signal]int{os.Interrupt: 2, syscall.SIGTERM: 15}
}
