package ui

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// HomePath is where the files of a sandbox's user are.
const HomePath = "/home/user"

// A Crumb is one folder of the way to another.
type Crumb struct{ Label, Path string }

// Crumbs are the way to a folder, from the root on.
func Crumbs(dir string) []Crumb {
	out := []Crumb{{"/", "/"}}
	at := ""
	for part := range strings.SplitSeq(strings.Trim(path.Clean("/"+dir), "/"), "/") {
		if part == "" {
			continue
		}
		at += "/" + part
		out = append(out, Crumb{printable(part), at})
	}
	return out
}

// A FileColumn is one of a list of files.
type FileColumn int

// The columns.
const (
	FileName FileColumn = iota
	FileSize
	FileModified
)

// SortFiles puts files in order, folders first.
func SortFiles(files []sandbox.File, by FileColumn, descending bool) {
	slices.SortStableFunc(files, func(a, b sandbox.File) int {
		if dirA, dirB := a.Type == sandbox.TypeDir, b.Type == sandbox.TypeDir; dirA != dirB {
			if dirA {
				return -1
			}
			return 1
		}
		order := 0
		switch by {
		case FileSize:
			order = cmp.Compare(a.Size, b.Size)
		case FileModified:
			order = a.Modified.Compare(b.Modified)
		case FileName:
			order = strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		}
		if descending {
			order = -order
		}
		return cmp.Or(order, strings.Compare(a.Name, b.Name))
	})
}

// FileCells are the texts of a file in a list.
func FileCells(tx assets.Texts, f sandbox.File, now time.Time) []string {
	name := Visible(f.Name)
	if f.Type == sandbox.TypeSymlink && f.Target != "" {
		name += " → " + Visible(f.Target)
	}
	size := ""
	if f.Type == sandbox.TypeFile {
		size = Bytes(tx, f.Size)
	}
	return []string{name, size, Stamp(f.Modified, now)}
}

// Bytes is a number of them, as people say it.
func Bytes(tx assets.Texts, n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	unit, value := 0, float64(n)/1024
	for value >= 1023.95 && unit < 3 {
		value /= 1024
		unit++
	}
	text := fmt.Sprintf("%.1f", value)
	if value >= 99.95 {
		text = fmt.Sprintf("%.0f", value)
	}
	return strings.Replace(text, ".", tx.Get("tray.money.point"), 1) + " " + []string{"KiB", "MiB", "GiB", "TiB"}[unit]
}

// ErrFileName means that a text is no name of a file. Its text is a key.
var ErrFileName = errors.New("sandboxes.file.name")

// FileIn is the path of what is called name in a folder.
func FileIn(dir, name string) (string, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(name) > 255 {
		return "", ErrFileName
	}
	return path.Join("/", dir, name), nil
}

// FilesAwake reports whether the files of b can be looked at without waking it.
func FilesAwake(b sandbox.Sandbox) bool { return b.State == sandbox.Running && !b.Orphan }

// FilesAsked reports whether somebody has to say first that the files of b may be
// looked at, though it is awake: to look counts as use, and in a cloud what is
// awake costs. chosen tells that they went to the files of b, and did not just
// come by; then they are asked only if b should have fallen asleep by now.
func FilesAsked(b sandbox.Sandbox, chosen bool, now time.Time) bool {
	if b.Profile == sandbox.ProfileLocal || b.Idle == 0 || b.Running > 0 || !FilesAwake(b) {
		return false
	}
	at := sleepsAt(b, now)
	return !chosen || at.IsZero() || !now.Before(at)
}

// FilesNote says that to look at the files of b keeps it awake, "" if it does not.
func FilesNote(tx assets.Texts, b sandbox.Sandbox) string {
	switch {
	case b.Idle == 0 || !FilesAwake(b):
		return ""
	case b.Profile == sandbox.ProfileLocal:
		return tx.Get("sandboxes.files.use", "span", spanTo(tx, b.Idle))
	}
	return tx.Get("sandboxes.files.use.costs", "span", spanTo(tx, b.Idle))
}

// mostLeftOut is how many names of what was left out are told.
const mostLeftOut = 3

// LeftOutText says what was not brought in of n things, of which some are named.
func LeftOutText(tx assets.Texts, names []string, n int) string {
	var told []string
	for _, name := range names[:min(len(names), mostLeftOut)] {
		told = append(told, printableTo(name, 60))
	}
	list := strings.Join(told, ", ")
	switch {
	case n == 0:
		return ""
	case n == 1:
		return tx.Get("sandboxes.files.left-out.one", "names", list)
	case n > len(told):
		return tx.Get("sandboxes.files.left-out.more", "n", strconv.Itoa(n), "names", list, "rest", strconv.Itoa(n-len(told)))
	}
	return tx.Get("sandboxes.files.left-out", "n", strconv.Itoa(n), "names", list)
}

// ProgressText tells how far a transfer is. No total is one that is not known.
func ProgressText(tx assets.Texts, name string, done, total int64) string {
	if total <= 0 {
		return tx.Get("sandboxes.progress", "name", printable(name), "done", Bytes(tx, done))
	}
	return tx.Get("sandboxes.progress.of", "name", printable(name), "done", Bytes(tx, done), "total", Bytes(tx, total))
}
