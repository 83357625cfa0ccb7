package hostconf

import "github.com/arenero/arenero/app/internal/hostconf/edit"

// A Host is a program that starts MCP servers, as hosts.yaml knows it.
type Host struct {
	ID         string
	Title      string
	Aliases    []string
	Systems    []string   // it runs on
	Confidence Confidence // in what is written here
	Scopes     []Scope    // the first is the usual one
	Grammar    edit.Grammar
	Key        []string // to the entries
	Write      WriteRule
	HTTP       bool // entries can have an address
	RejectsBOM bool
	Name       string   // what names may look like: a regular expression
	Reserved   []string // names that mean something else to it
	Limits     Limits
	Notes      []Text
}

// Confidence is how well a fact is known.
type Confidence string

// The confidences.
const (
	High   Confidence = "high"   // from the host's own source or documentation
	Medium Confidence = "medium" // two independent reports
	Low    Confidence = "low"    // one report, or they disagree
)

// A WriteRule says when a host's file may be written.
type WriteRule string

// The rules.
const (
	WriteFile   WriteRule = "file"
	WriteQuit   WriteRule = "file-quit" // only while the host does not run
	WriteDropIn WriteRule = "dropin"    // a file of our own in a folder of the host's
)

// A Scope is where entries can be, with the files that hold them.
type Scope struct {
	Scope string
}

// Limits are what a host can take.
type Limits struct {
	NameAndTool  int // characters of server and tool together
	Tools        int
	StartSeconds int
	CallSeconds  int
}

// Hosts returns all hosts in the order of the table.
func Hosts() []Host { return nil }

// ByID returns a host by its id or an alias.
func ByID(id string) (Host, error) { return Host{}, errNotYet }
