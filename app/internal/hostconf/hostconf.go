// Package hostconf knows the programs that start MCP servers ("hosts"), where
// each keeps its list of servers, and how to put our entry into that list, find
// it again and take it out, without touching anything else.
//
// What is known of the hosts is data, in hosts.yaml. The bytes of a file are
// changed by package edit, the files on disk by package hostfile; this package
// decides which file, which entry, and whether at all.
//
// An entry has the path of our own program and the id of a connection: no
// secret, no variables, no folder to start in, and never a field by which the
// user approves of something.
package hostconf

import (
	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// DefaultName is the name of our entry where the user wants no other.
const DefaultName = "arenero"

// The scopes an entry can have. Not every host has all of them.
const (
	User    = "user"    // all projects of this user
	Project = "project" // a folder, by a file in it that can be shared
	Local   = "local"   // a folder, by this user's own settings
	Profile = "profile" // one of the host's own profiles
)

// A Spec says what entry is wanted, and where.
type Spec struct {
	Name        string      // of the entry; DefaultName if empty
	Connection  string      // id of the connection it belongs to, for the journal
	Command     string      // absolute path of our program
	Args        []string    // of Command
	URL         string      // of our HTTP server: the entry has this in place of Command
	Headers     edit.Object // with URL: names and texts. They are written as they are: no secrets
	Scope       string      // the host's first scope if empty; "profile:ID" is Profile and HostProfile in one
	Project     string      // absolute path of the folder, for Project and Local
	HostProfile string      // id of the host's own profile, for Profile
	Force       bool        // even if the host seems not to be installed, or the name is somebody else's
}

// A Target is one entry in one file.
type Target struct {
	Host  Host
	Scope string
	Path  string // as the host and the user write it
	Place edit.Place
}

// An Action says what a [Change] does to the entry.
type Action string

// The actions.
const (
	Insert Action = "insert"
	Update Action = "update"
	Delete Action = "delete"
	Clean  Action = "clean"  // of a byte order mark
	Revert Action = "revert" // of our last change of the file
	None   Action = "none"   // all is as wanted already
)

// A Change is what was done to one file, or would be.
type Change struct {
	Target
	Action   Action
	Patches  edit.Patches
	Diff     []DiffLine // the same line by line, with three lines around it: all that is in them, so for nobody but the user
	Shown    []DiffLine // the same for people and logs: what others have in those lines is hidden
	Created  bool       // the file is new
	Removed  bool       // the file is gone, as nothing but our entry was ever in it
	Backup   string     // the file as it was before, if it was kept
	Dry      bool       // nothing was written
	Warnings []Text     // what the user should know
	Steps    []Text     // what the user must do now
}
