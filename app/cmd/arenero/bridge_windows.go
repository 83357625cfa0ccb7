package main

import (
	"errors"
	"os"
	"os/exec"
)

// become runs a program in the place of this one, and ends as it does.
func become(program string, args []string) error {
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &exitError{exit.ExitCode()}
	}
	return err
}
