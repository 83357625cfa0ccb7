package hostconf

import "time"

// A Status is what was found of one host.
type Status struct {
	Host      Host
	Detected  Detection
	Running   string      // the program of it that runs, where that matters for writing its file
	Files     []File      // all that it may read, those of its scopes in order
	Entries   []Entry     // ours, wherever they are or were
	Managed   *Management // an organisation decides; nil if none does
	Managers  []Manager   // other programs that write the same files
	Misplaced []Misplaced // servers in files that it never reads
	Lacks     Text        // what it needs before it can be written; an empty key is for nothing
}

// A Detection says whether a host is installed, and what tells so.
type Detection struct {
	Installed bool
	Signal    Signal // the strongest
	Path      string // where it was seen
	Perhaps   string // of one that is not: a file or folder of its own that is here. It may be, or have been
}

// A Signal is what tells that a host is installed, strongest first.
type Signal string

// The signals.
const (
	ByProcess   Signal = "process"   // it runs
	ByApp       Signal = "app"       // its program is where its installer puts it
	ByCommand   Signal = "command"   // its program is on the PATH, or where such programs are
	ByExtension Signal = "extension" // it is an extension of an editor
	ByData      Signal = "data"      // only its first run makes this: it was here once
)

// A File is one that a host may keep servers in.
type File struct {
	Scope       string
	HostProfile string // its id, for Profile
	Path        string // as the host and the user write it
	Exists      bool
	Live        bool // the one of its scope that the host reads, as far as can be told
	Mark        bool // it begins with a byte order mark that the host can't read
}

// A State says what became of an entry.
type State string

// The states.
const (
	AsWritten State = "as-written" // every field that we wrote
	Edited    State = "edited"     // by the user or the host, since we wrote it
	Gone      State = "gone"       // removed by another program or the user, not by us
	Foreign   State = "foreign"    // it has the name we use, or starts our program, but we did not write it
	Unread    State = "unread"     // the file can't be read or parsed
)

// An Entry is one of ours.
type Entry struct {
	Scope      string
	Path       string
	Name       string
	Connection string
	State      State
	Fields     []string // for Edited: those that differ from what we wrote
	Lost       []string // names of others' entries that were beside it when we wrote, and are gone too
	Backup     string   // the file before our last write, if we have it
	Written    time.Time
	Read       bool // the file is one that the host reads now
	Value      any  // what the file has for it now: of JSON's kinds, nil for none. It may hold secrets of the user's
	Problem    Text // for Unread
}

// A Management says who decides in place of the user.
type Management struct {
	Text Text
	Path string // what tells
}

// A Manager is another program that writes the host's file from its own records.
type Manager struct {
	ID, Title string
	Path      string // what tells that it is there
}

// A Misplaced is a file that the host never reads, with servers in it.
type Misplaced struct {
	Path  string
	Names []string
	Read  string // where the host would read them
}

// A Link is another way to install an entry. All need the user's consent in the
// host, and none can update or remove.
type Link struct {
	Kind LinkKind
	Text string   // to copy
	Argv []string // of ToRun
	Note Text     // what it damages; an empty key is for nothing
}

// A LinkKind says what to do with a link.
type LinkKind string

// The kinds.
const (
	ToOpen LinkKind = "link"    // the host opens it
	ToRun  LinkKind = "command" // for a shell
)
