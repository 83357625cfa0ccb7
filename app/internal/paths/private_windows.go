package paths

import (
	"io/fs"
	"path/filepath"
)

// runtimeDir is our folder in the user's own application data; sockets are
// named pipes there, so it holds little.
func runtimeDir(system, _ string) string { return filepath.Join(system, "arenero") }

// private has nothing to do: a folder in the user's profile takes the access
// list of the profile, which lets in that user and administrators.
func private(string, fs.FileInfo) error { return nil }
