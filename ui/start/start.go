// Package start starts other programs for the tray and the windows: a terminal,
// one that copies, and the program with the windows.
package start

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A system is what the choice of a program depends on.
type system struct {
	os   string
	env  func(string) string
	find func(program string) (path string, err error)
}

func thisSystem() system { return system{runtime.GOOS, os.Getenv, exec.LookPath} }

// What there is no program for.
var (
	ErrNoTerminal  = errors.New("no terminal program")
	ErrNoClipboard = errors.New("no program that copies")
	ErrNoWindow    = errors.New("the program with the windows is not there")
)

// terminals are those that Linux desktops have, with what goes in front of a
// command. What the user or the distribution has chosen goes first.
var terminals = []struct {
	name string
	args []string
}{
	{"x-terminal-emulator", []string{"-e"}},
	{"ptyxis", []string{"--new-window", "--"}},
	{"kgx", []string{"-e"}},
	{"gnome-terminal", []string{"--"}},
	{"konsole", []string{"-e"}},
	{"xfce4-terminal", []string{"-x"}},
	{"mate-terminal", []string{"-x"}},
	{"lxterminal", []string{"-e"}},
	{"alacritty", []string{"-e"}},
	{"kitty", nil},
	{"foot", nil},
	{"wezterm", []string{"start", "--"}},
	{"xterm", []string{"-e"}},
}

// Terminal opens a terminal with argv in it.
func Terminal(argv []string) error {
	line, err := terminalCommand(thisSystem(), argv)
	if err != nil {
		return err
	}
	return Program(line)
}

// terminalCommand is a command line that opens a terminal with argv in it.
func terminalCommand(s system, argv []string) ([]string, error) {
	switch s.os {
	case "darwin":
		// Terminal takes one line for a shell, in a string of AppleScript.
		var words []string
		for _, a := range argv {
			words = append(words, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
		}
		line := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace("exec " + strings.Join(words, " "))
		return []string{
			"/usr/bin/osascript", "-e", `tell application "Terminal" to do script "` + line + `"`, "-e", `tell application "Terminal" to activate`,
		}, nil
	case "windows":
		if path, err := s.find("wt.exe"); err == nil {
			return append([]string{path, "new-tab", "--"}, argv...), nil
		}
		// A console program that is started without a console gets one of its own.
		return argv, nil
	}
	for _, t := range terminals {
		if path, err := s.find(t.name); err == nil {
			return append(append([]string{path}, t.args...), argv...), nil
		}
	}
	return nil, ErrNoTerminal
}

// clipCommand is a command line that copies what comes in.
func clipCommand(s system) ([]string, error) {
	var choices [][]string
	switch {
	case s.os == "darwin":
		choices = [][]string{{"pbcopy"}}
	case s.os == "windows":
		choices = [][]string{{"clip.exe"}}
	case s.env("WAYLAND_DISPLAY") != "":
		choices = [][]string{{"wl-copy"}, {"xclip", "-selection", "clipboard"}, {"xsel", "--clipboard", "--input"}}
	default:
		choices = [][]string{{"xclip", "-selection", "clipboard"}, {"xsel", "--clipboard", "--input"}, {"wl-copy"}}
	}
	for _, c := range choices {
		if path, err := s.find(c[0]); err == nil {
			return append([]string{path}, c[1:]...), nil
		}
	}
	return nil, ErrNoClipboard
}

// Copy puts a text on the clipboard.
func Copy(ctx context.Context, text string) error {
	argv, err := clipCommand(thisSystem())
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(text)
	if err := cmd.Run(); err != nil { // such programs leave one of theirs behind, and end
		return fmt.Errorf("%s: %w", filepath.Base(argv[0]), err)
	}
	return nil
}

// Window starts the program with the windows, which shows those that are open
// already if it runs.
func Window(program string, args ...string) error {
	return WatchedWindow(program, func(error) {}, args...)
}

// WatchedWindow is as Window, and calls failed as [Watched] does.
func WatchedWindow(program string, failed func(err error), args ...string) error {
	if program == "" {
		return ErrNoWindow
	}
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return ErrNoWindow
	}
	return Watched(append([]string{program}, args...), failed)
}

// Program starts a program that outlives this one.
func Program(argv []string) error { return Watched(argv, func(error) {}) }

// failedSoon is how long after its start the end of a program is a failure to
// start.
const failedSoon = 20 * time.Second

// Watched is as Program, and calls failed, from any goroutine, if the program
// fails soon, and is not killed. What it says goes nowhere: nobody may be there to read it, and a
// program that says something to nobody ends.
func Watched(argv []string, failed func(err error)) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(argv[0]), err)
	}
	begun := time.Now()
	go func() {
		// Without this it would stay behind as a zombie.
		err := cmd.Wait()
		if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.Exited() && time.Since(begun) <= failedSoon {
			failed(fmt.Errorf("%s: %w", filepath.Base(argv[0]), err))
		}
	}()
	return nil
}
