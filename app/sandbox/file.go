package sandbox

import "time"

// A FileType is what a path leads to.
type FileType string

// The types of files.
const (
	TypeFile    FileType = "file"
	TypeDir     FileType = "dir"
	TypeSymlink FileType = "symlink"
	TypeOther   FileType = "other" // a device, a socket or a FIFO
)

// A File describes what is at a path.
type File struct {
	Name     string    `json:"name"`
	Path     string    `json:"path"`
	Type     FileType  `json:"type"`
	Size     int64     `json:"size"`
	Mode     uint32    `json:"mode,omitempty"` // permission bits
	Modified time.Time `json:"modified,omitzero"`
	Target   string    `json:"target,omitempty"` // of a link
	Owner    string    `json:"owner,omitempty"`
	Group    string    `json:"group,omitempty"`
}

// A FileRequest is about a path in a sandbox. Relative paths are below the
// user's home.
type FileRequest struct {
	Target
	Path  string `json:"path"`
	To    string `json:"to,omitempty"`    // of a move: the new path
	Depth int    `json:"depth,omitempty"` // of a list: levels, 1 at least
	Mode  uint32 `json:"mode,omitempty"`  // of a write: permission bits; 0 is 0644
	All   bool   `json:"all,omitempty"`   // of a removal: with what is in it
	User  string `json:"user,omitempty"`  // "" is the sandbox's own
}
