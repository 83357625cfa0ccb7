package hostconf

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// processes returns the paths of the programs that run and that we may look at.
func processes(context.Context) ([]string, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, dir := range dirs {
		exe, err := os.Readlink(dir + "/exe")
		if err != nil { // it has ended, is the kernel's or somebody else's
			continue
		}
		out = append(out, strings.TrimSuffix(exe, " (deleted)"))
	}
	return out, nil
}
