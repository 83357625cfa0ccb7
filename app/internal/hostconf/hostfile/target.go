package hostfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// A target is a file to change.
type target struct {
	path string // as requested
	real string // where its links lead, with no link in any part of it
}

// find follows the links of path. The file need not exist, nor its folder: but
// a link into a folder that does not exist is refused, as it may belong to a
// disk that is not there now.
func find(path string) (target, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return target{}, err
	}
	realPath, err := atomicfile.Target(path)
	switch {
	case errors.Is(err, atomicfile.ErrLinks):
		return target{}, &Error{
			Kind: Loop, Path: path, Err: err, Msg: "its symbolic links lead in a circle",
			Hint: "point the link to a file",
		}
	case errors.Is(err, atomicfile.ErrNotRegular):
		return target{}, notRegular(path)
	case err != nil:
		return target{}, refusal(path, err)
	}
	folder, base := filepath.Split(realPath)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && realPath != path:
		return target{}, &Error{
			Kind: Dangling, Path: path, Err: err, Msg: "it is a link into a folder that does not exist",
			Hint: "make the folder " + folder + " or remove the link",
		}
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return target{}, refusal(path, err)
	case !info.IsDir():
		return target{}, notRegular(folder)
	}
	return target{path, filepath.Join(canonical(folder), base)}, nil
}

// key is the same for every path to the same file.
func key(realPath string) string {
	if runtime.GOOS == "linux" {
		return realPath
	}
	return strings.ToLower(realPath) // elsewhere case does not tell names apart
}

func notRegular(path string) error {
	return &Error{
		Kind: NotRegular, Path: path, Msg: "a folder, device or pipe is where a file should be",
		Hint: "move it away, then try again",
	}
}

// canonical is folder without links, as far as it exists.
func canonical(folder string) string {
	folder = filepath.Clean(folder)
	if clean, err := filepath.EvalSymlinks(folder); err == nil {
		return clean
	}
	parent := filepath.Dir(folder)
	if parent == folder {
		return folder
	}
	return filepath.Join(canonical(parent), filepath.Base(folder))
}

// missingFolders are the folders that path lacks, the innermost first.
func missingFolders(path string) []string {
	var missing []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return missing
		}
		missing = append(missing, dir)
	}
}

// makeFolder makes the folder of path, for this user alone.
func makeFolder(path string) error { return os.MkdirAll(filepath.Dir(path), 0o700) }

// removeEmpty removes folders that we made and nobody used.
func removeEmpty(dirs []string) {
	for _, dir := range dirs {
		if os.Remove(dir) != nil { // not empty: neither are those around it
			return
		}
	}
}
