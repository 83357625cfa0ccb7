package atomicfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open is os.OpenFile for regular files alone, [ErrNotRegular] for others. A pipe in their place would have
// whoever opens it wait for its other end, for ever.
func Open(path string, flag int, mode fs.FileMode) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open %s: %w: move it away", path, ErrNotRegular)
	}
	f, err := os.OpenFile(path, flag|dontWait, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat() // it may be another than a moment ago
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: %w: move it away", path, ErrNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read is os.ReadFile for regular files alone.
func Read(path string) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
