//go:build !linux && !windows

package hostconf

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// processes returns the paths of the programs that run. On macOS the column
// "comm" is the whole path.
func processes(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "/bin/ps", "-axww", "-o", "comm=").Output()
	if err != nil {
		return nil, fmt.Errorf("list the running programs: %w", err)
	}
	var paths []string
	for line := range strings.Lines(string(out)) {
		paths = append(paths, strings.TrimSpace(line))
	}
	return paths, nil
}
