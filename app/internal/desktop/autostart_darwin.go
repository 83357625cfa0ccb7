package desktop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// A place is the folder of the user's launch agents.
type place struct{ dir string }

func findPlace() place {
	home := os.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return place{}
	}
	return place{filepath.Join(home, "Library", "LaunchAgents")}
}

func (p place) can(string) bool { return p.dir != "" }

func label(home string) string { return agentLabel + suffix(home) }

func (p place) path(home string) string { return filepath.Join(p.dir, label(home)+".plist") }

// read is the agent, if there is one.
func (p place) read(home string) (a agent, there bool, err error) {
	data, err := os.ReadFile(p.path(home))
	if errors.Is(err, fs.ErrNotExist) {
		return agent{}, false, nil
	}
	if err != nil {
		return agent{}, false, fmt.Errorf("read what starts at login: %w", err)
	}
	a, err = parseAgent(data)
	return a, true, err
}

// launchctlWithin is how long the system may take for an answer.
const launchctlWithin = 5 * time.Second

func (p place) enabled(home string) (bool, error) {
	a, there, err := p.read(home)
	if err != nil || !there || a.disabled || !a.runAtLoad || !ourTray(a.argv) {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), launchctlWithin)
	defer cancel()
	printed, err := exec.CommandContext(ctx, "/bin/launchctl", "print-disabled", domain()).Output()
	if err != nil {
		return true, nil // as over SSH, where there is no session to ask of
	}
	return !switchedOff(string(printed), label(home)), nil
}

func domain() string { return "gui/" + strconv.Itoa(os.Getuid()) }

// own checks that what is there is ours to change.
func (p place) own(home string) (there bool, err error) {
	a, there, err := p.read(home)
	if there && (err != nil || !ourTray(a.argv)) {
		return true, fmt.Errorf("%s: %w", p.path(home), ErrForeign)
	}
	return there, err
}

func (p place) enable(ctx context.Context, home, program string) error {
	if _, err := p.own(home); err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of what starts at login: %w", err)
	}
	if err := atomicfile.Write(p.path(home), []byte(launchAgent(label(home), program, home)), 0o644); err != nil {
		return err
	}
	// The user may have switched it off among the login items. Without a session
	// there is nothing to ask, and nothing to do.
	ctx, cancel := context.WithTimeout(ctx, launchctlWithin)
	defer cancel()
	if printed, err := exec.CommandContext(ctx, "/bin/launchctl", "print-disabled", domain()).Output(); err != nil || !switchedOff(string(printed), label(home)) {
		return nil
	}
	if err := exec.CommandContext(ctx, "/bin/launchctl", "enable", domain()+"/"+label(home)).Run(); err != nil {
		return fmt.Errorf("switch on %s among the login items: %w", label(home), err)
	}
	return nil
}

func (p place) disable(_ context.Context, home string) error {
	there, err := p.own(home)
	if err != nil || !there {
		return err
	}
	if err := os.Remove(p.path(home)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take away what starts at login: %w", err)
	}
	return nil
}
