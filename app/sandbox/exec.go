package sandbox

import "time"

// A Target says which sandbox a request is for: that of a lease, which is made
// if need be, or one by its id.
type Target struct {
	Lease   string `json:"lease,omitempty"`
	Sandbox string `json:"sandbox,omitempty"` // goes before Lease
}

// An Exec is one request to run a command. Whoever asks makes it, the agent
// obeys it, and nothing in between changes it.
type Exec struct {
	// ID is made by whoever asks, and never used again: by it a command that
	// runs is found after a cut, and is not run twice.
	ID string `json:"id"`
	Target
	Args    []string          `json:"args"` // the first is looked up in PATH
	Dir     string            `json:"dir,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	User    string            `json:"user,omitempty"`
	Timeout time.Duration     `json:"timeout,omitempty"` // 0 is none
	Stdin   bool              `json:"stdin,omitempty"`   // keep standard input open
	Size    *Size             `json:"size,omitempty"`    // give it a terminal; Args is then the shell alone, or empty
	// Job lets it run on when nobody follows it. Its output and its end are
	// kept for as long as its sandbox lives.
	Job bool `json:"job,omitempty"`
}

// A Size is that of a terminal.
type Size struct {
	Columns int `json:"columns"`
	Rows    int `json:"rows"`
}

// A Cell is a request to run code in a kernel, which keeps its variables.
type Cell struct {
	ID string `json:"id"` // as that of an Exec
	Target
	Code     string        `json:"code"`
	Language string        `json:"language,omitempty"` // "" is python
	Context  string        `json:"context,omitempty"`  // "" is the default one of the language
	Timeout  time.Duration `json:"timeout,omitempty"`
}

// A Stream is which output of a command.
type Stream string

// The streams; all output of a terminal is Stdout.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// A Notice is what a call tells beside output.
type Notice string

// The notices.
const (
	NoticeCreating  Notice = "creating"  // a sandbox is being made for this call
	NoticeResuming  Notice = "resuming"  // the sandbox is asleep, and being woken
	NoticeReplaced  Notice = "replaced"  // the sandbox is a new one: the state of the last, in Text, is lost
	NoticeStarted   Notice = "started"   // it runs; Sandbox says where
	NoticeLost      Notice = "lost"      // some output is missing here
	NoticeTruncated Notice = "truncated" // from here on output is dropped: there was too much
	NoticeAgain     Notice = "again"     // the engine was away; what follows goes on where it was
)

// An Output is one thing that a running call says. Data, Result, Exception and
// Notice exclude each other.
type Output struct {
	Seq       uint64     `json:"seq,omitempty"` // grows; 0 on notices
	Stream    Stream     `json:"stream,omitempty"`
	Data      []byte     `json:"data,omitempty"` // UTF-8 if a cell's
	Result    *Result    `json:"result,omitempty"`
	Exception *Exception `json:"exception,omitempty"`
	Notice    Notice     `json:"notice,omitempty"`
	Sandbox   string     `json:"sandbox,omitempty"` // of notices: which one
	Text      string     `json:"text,omitempty"`    // of notices: more of it
}

// A Result is one value of a cell in as many forms as the kernel has of it, by
// MIME type. Those of images and PDF are base64.
type Result struct {
	Main bool              `json:"main,omitempty"` // the value of the last expression, not something displayed
	Data map[string]string `json:"data"`
}

// An Exception is what a cell raised, or a name that the agent makes up, such
// as ExecutionTimeout.
type Exception struct {
	Name      string   `json:"name"`
	Value     string   `json:"value"`
	Traceback []string `json:"traceback"`
}

// An Exit is how a command or a cell ended. A command that exits with another
// code than zero is a result, not an error, and so is a cell that raised.
type Exit struct {
	Sandbox  string `json:"sandbox"`
	Code     int    `json:"code"`                // of a command: 128 and the signal, if there was one
	Signal   int    `json:"signal,omitempty"`    // 0: it ended by itself
	TimedOut bool   `json:"timed_out,omitempty"` // its time was up, so it was killed
	Count    uint64 `json:"count,omitempty"`     // of a cell: what its kernel counts
	Kept     bool   `json:"kept,omitempty"`      // of a sandbox made for this call alone: it lives on
}

// A Job is a command that runs on, or ran, with nobody to follow it.
type Job struct {
	ID        string    `json:"id"`
	Sandbox   string    `json:"sandbox"`
	StartedAt time.Time `json:"started_at"`
	Exit      *Exit     `json:"exit,omitempty"`  // nil while it runs, or if Error is set
	Error     *Error    `json:"error,omitempty"` // why its end is not known
	Next      uint64    `json:"next"`            // the seq after that of its last output
}
