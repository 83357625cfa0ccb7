//go:build cgo

package tray

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/arenero/arenero/ui"
)

// notify shows a notice by the system's script program: to do so itself, a
// program has to be a signed bundle. A click on such a notice is not told to us,
// so that it opens nothing of ours.
func notify(n ui.Notice, _ func()) error {
	// What it says comes as arguments, so that none of it can be read as script.
	cmd := exec.Command("/usr/bin/osascript", "-e", "on run argv",
		"-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", n.Title, n.Text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("osascript: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
