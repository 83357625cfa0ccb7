//go:build unix

package main

import (
	"os"
	"syscall"
)

// become replaces this process by a program. It returns only if it can't.
func become(program string, args []string) error {
	return syscall.Exec(program, append([]string{program}, args...), os.Environ())
}
