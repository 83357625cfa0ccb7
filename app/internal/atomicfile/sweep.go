package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sweep removes what writers that were killed left in a folder, of the files
// whose names are ours. Nobody may be writing one of them meanwhile. A folder
// that is not there is clean.
func Sweep(dir string, ours func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for what was left in %s: %w", dir, err)
	}
	var errs []error
	for _, e := range entries {
		of, number, ok := strings.Cut(e.Name(), ".tmp-")
		name, hidden := strings.CutPrefix(of, ".")
		if !ok || !hidden || !e.Type().IsRegular() || strings.Trim(number, "0123456789") != "" || !ours(name) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove what was left of a write: %w", err))
		}
	}
	return errors.Join(errs...)
}
