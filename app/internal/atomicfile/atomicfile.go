// Package atomicfile writes files that a reader sees whole or not at all, even
// when the writer is killed half way.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write puts data in the file at path with the given mode, whatever the umask.
// It writes a file beside it and renames that into place, so a reader sees the
// old or the new content and nothing between, and a failed Write leaves the old
// file and no other. A symbolic link at path stays: its target is replaced. The
// folder must exist.
//
// A process that dies loses nothing that Write returned for; a machine that
// loses power may. Use [WriteSync] where that matters.
func Write(path string, data []byte, mode fs.FileMode) error {
	return write(path, data, mode, false)
}

// WriteSync is [Write], and the content is on the disk when it returns.
func WriteSync(path string, data []byte, mode fs.FileMode) error {
	return write(path, data, mode, true)
}

func write(path string, data []byte, mode fs.FileMode, sync bool) (err error) {
	path, err = Target(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return fmt.Errorf("make a file beside %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err = f.Chmod(mode); err != nil && !noModes(err) {
		return fmt.Errorf("set mode of %s: %w", path, err)
	}
	if sync {
		if err = f.Sync(); err != nil {
			return fmt.Errorf("sync %s: %w", path, err)
		}
	}
	if err = f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", path, err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	if !sync {
		return nil
	}
	// The file is in place already: failing here must not remove it.
	if serr := SyncDir(filepath.Dir(path)); serr != nil {
		return fmt.Errorf("sync folder of %s: %w", path, serr)
	}
	return nil
}

// What [Target] finds where no file can be written.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrLinks      = errors.New("too many symbolic links")
)

// Target is the file that path stands for: where a symbolic link leads, also
// when nothing is there yet.
func Target(path string) (string, error) {
	const maxLinks = 40 // as many as Linux follows
	for range maxLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", fmt.Errorf("look at %s: %w", path, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if !info.Mode().IsRegular() {
				return "", fmt.Errorf("replace %s: %w", path, ErrNotRegular)
			}
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", fmt.Errorf("follow %s: %w", path, err)
		}
		if !filepath.IsAbs(to) { // ".." in it is of the folder itself, not of a link to that
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", fmt.Errorf("follow %s: %w", path, err)
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", fmt.Errorf("follow %s: %w", path, ErrLinks)
}
