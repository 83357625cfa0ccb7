package app

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

const (
	// lowSpace is less than what a few sandboxes write in an hour.
	lowSpace = 256 << 20
	// probeBytes is what a folder must have room for: a record, a key and a line
	// in each log.
	probeBytes = 64 << 10
)

// space looks whether the folders of ours can be written to. What is written goes
// at once, and a folder that nobody has needed yet is not made for that.
func (d *Doctor) space(x *exam) {
	seen := map[string]bool{}
	for _, dir := range []string{d.dirs.State, d.dirs.Config, d.dirs.Runtime} {
		if err := tryWrite(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			if isFull(err) {
				x.fail(text("doctor.disk.full", "dir", dir), text("doctor.disk.full.remedy", "dir", dir))
			} else {
				x.fail(text("doctor.disk.closed", "dir", dir, "why", clean(err)), text("doctor.disk.closed.remedy", "dir", dir))
			}
			continue
		}
		at := existing(dir)
		free, err := freeSpace(at)
		if err != nil || free >= lowSpace || seen[at] || dir == d.dirs.Runtime { // sockets need no room
			continue
		}
		seen[at] = true
		x.warn(text("doctor.disk.low", "dir", at, "mib", strconv.FormatUint(free>>20, 10)), text("doctor.disk.full.remedy", "dir", at))
	}
}

// tryWrite writes a file in a folder, and removes it.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	data := make([]byte, probeBytes)
	rand.Read(data) // so that no file system makes it small
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync() // some tell only then
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// existing is the first folder that is there, of dir and those above.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
