package desktop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/arenero/arenero/app/internal/paths"
)

// ErrForeign means that another program has the name that our entry would have.
// It is left as it is.
var ErrForeign = errors.New("an entry of that name is there, and is not ours")

// ErrNoLogin means that nothing can be started at login here.
var ErrNoLogin = errors.New("this system has no place for what starts at login")

// A Login is where the session of this user keeps what starts with it. Ours is
// "arenero tray". A second instance, one with a home of its own, has an entry of
// its own too.
type Login struct {
	home string // of a second instance; "" is the usual one
	place
}

// AutoStart is the place of this user. Nothing is read yet.
func AutoStart() Login {
	home := os.Getenv(paths.Home)
	if home != "" {
		if whole, err := filepath.Abs(home); err == nil {
			home = whole
		}
	}
	return Login{home, findPlace()}
}

// Can reports whether there is a place at all.
func (l Login) Can() bool { return l.can(l.home) }

// Enabled reports whether the tray starts at login. An entry of others under our
// name is not ours, so that ours is off.
func (l Login) Enabled() (bool, error) {
	if !l.Can() {
		return false, nil
	}
	return l.enabled(l.home)
}

// Set has the tray of a program start at login, or no more. What others have
// under our name stays, and is [ErrForeign].
func (l Login) Set(ctx context.Context, on bool, program string) error {
	switch {
	case !l.Can():
		return ErrNoLogin
	case !on:
		return l.disable(ctx, l.home)
	case !filepath.IsAbs(program):
		return errors.New("what starts at login must be named by its whole path, not as " + program)
	}
	return l.enable(ctx, l.home, program)
}

// suffix tells the entries of second instances apart.
func suffix(home string) string {
	if home == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(home))
	return "-" + hex.EncodeToString(sum[:6])
}

// ourTray reports whether a command line is one of ours: a program called
// arenero, and "tray".
func ourTray(argv []string) bool {
	if len(argv) > 2 && argv[0] == "env" && strings.HasPrefix(argv[1], paths.Home+"=") {
		argv = argv[2:]
	}
	if len(argv) < 2 || argv[1] != "tray" {
		return false
	}
	name := argv[0][strings.LastIndexAny(argv[0], `/\`)+1:]
	return strings.EqualFold(strings.TrimSuffix(strings.ToLower(name), ".exe"), "arenero")
}
