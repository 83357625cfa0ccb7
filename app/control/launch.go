package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/sandbox"
)

// Beside returns the program of that name in the folder of this program, where
// all of ours are installed together.
func Beside(name string) (string, error) {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(exe), name), nil
}

// Launcher returns a Launch that starts "arenero engine" from beside this
// program. The engine outlives whoever starts it, and writes to its own log.
func Launcher() func(ctx context.Context) error {
	return func(context.Context) error {
		program, err := Beside("arenero")
		if err != nil {
			return err
		}
		return start(program)
	}
}

func start(program string) error {
	cmd := exec.Command(program, "engine", "--started")
	cmd.Env = environment(os.Environ())
	cmd.Dir = filepath.Dir(program)
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return missingProgram(program, err)
		}
		return &sandbox.Error{Code: sandbox.Unreachable, Msg: "Arenero can't be started", Hint: "is " + program + " there?", Err: err}
	}
	go cmd.Wait() // a start that lost the race ends at once, and leaves nothing behind
	return nil
}

// missingProgram says that a part of Arenero is not installed, and what to do.
func missingProgram(program string, err error) error {
	return &sandbox.Error{
		Code: sandbox.Unreachable, Msg: program + ` is not there: install Arenero whole, or run "make build"`,
		Details: map[string]any{"program": program}, Err: err,
	}
}

// environment leaves out what is meant for one client alone: the engine serves
// all of them, and each sends what it has.
func environment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "RAYITO_")
	})
}
