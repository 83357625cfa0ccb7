// Package control is how everything on this computer talks to the engine: HTTP
// over a Unix socket, or a named pipe on Windows, that only its owner can open.
// It holds the protocol's client and its handler, and starts an engine for a
// client that finds none.
package control

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// Protocol is the version of what is spoken. Client and engine must have the
// same.
const Protocol = 1

// The headers and the type of every exchange.
const (
	headerProtocol = "Arenero-Protocol"
	headerRequest  = "Arenero-Request" // of a request whose body is a file: the rest of it
	typeFrames     = "application/x-ndjson"
	typeFile       = "application/octet-stream"
	hostName       = "arenero" // the Host of every request
)

// Limits of what is sent.
const (
	maxRequest = 16 << 20 // bytes of a request, but for files
	maxInput   = 1 << 20  // bytes of input for a command, at once
	maxFrame   = 96 << 20 // bytes of one line of an answer, and of data after it
	maxHeaders = 64 << 10
)

// A Hello is what an engine says of itself.
type Hello struct {
	Protocol int       `json:"protocol"`
	Version  string    `json:"version"`
	Build    string    `json:"build,omitempty"` // of the code; differs where versions may not
	PID      int       `json:"pid"`
	Program  string    `json:"program"`
	Since    time.Time `json:"since"`
}

// A Status is how an engine is.
type Status struct {
	Hello
	Clients   int `json:"clients"` // connections, the asking one included
	Sandboxes int `json:"sandboxes"`
	Leases    int `json:"leases"`
}

// An Engine is what a [Handler] serves. Every method that takes a function
// calls it in order and never after it has returned; ctx is done when the
// client has gone, and has who the request is made for as its [sandbox.Call].
type Engine interface {
	Hello() Hello
	Status() Status
	Stop()

	Hold(ctx context.Context, l sandbox.Lease, held func() error) error
	Release(id string) error

	Exec(ctx context.Context, e sandbox.Exec, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error)
	RunCode(ctx context.Context, c sandbox.Cell, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error)
	Cancel(id string) error
	Input(ctx context.Context, id string, data []byte) error
	CloseInput(ctx context.Context, id string) error
	Resize(ctx context.Context, id string, size sandbox.Size) error
	Signal(ctx context.Context, id string, signal int) error

	StartJob(ctx context.Context, e sandbox.Exec, tell func(sandbox.Output) error) (sandbox.Job, error)
	ReadJob(ctx context.Context, id string, next uint64, wait time.Duration) ([]sandbox.Output, sandbox.Job, error)
	StopJob(ctx context.Context, id string) (sandbox.Job, error)
	Jobs(ctx context.Context, t sandbox.Target) ([]sandbox.Job, error)

	Stat(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error)
	ListFiles(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) ([]sandbox.File, error)
	MakeDir(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error)
	MoveFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error)
	RemoveFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) error
	ReadFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, w io.Writer) error
	WriteFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, content io.Reader) (sandbox.File, error)

	Create(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error)
	Get(ctx context.Context, id string) (sandbox.Sandbox, error)
	List(ctx context.Context, r sandbox.ListRequest) ([]sandbox.Sandbox, error)
	Suspend(ctx context.Context, id string) (sandbox.Sandbox, error)
	Resume(ctx context.Context, id string) (sandbox.Sandbox, error)
	Terminate(ctx context.Context, id, by string) error
	ScheduleRemoval(ctx context.Context, id string, at time.Time) (sandbox.Sandbox, error)
	Watch(ctx context.Context, emit func(sandbox.Snapshot) error) error
	Glance(ctx context.Context, emit func(sandbox.Snapshot) error) error

	profiler
	Accountant
	Desk
}

// A frame is one line of an answer. The data of Out follow the line as they
// are, Raw bytes of them. The last line of an answer is the one that has Done or
// Error.
type frame struct {
	Raw      int               `json:"raw,omitempty"`
	Out      *sandbox.Output   `json:"out,omitempty"`
	Snapshot *sandbox.Snapshot `json:"snapshot,omitempty"`
	Held     bool              `json:"held,omitempty"`
	Event    *ProfileEvent     `json:"event,omitempty"`
	Done     *answer           `json:"done,omitempty"`
	Item     json.RawMessage   `json:"item,omitempty"`
	Alerts   []sandbox.Event   `json:"alerts,omitempty"` // with the last line
	Error    *sandbox.Error    `json:"error,omitempty"`
}

// An answer is what a call came to. What a call has no use for is absent.
type answer struct {
	Exit      *sandbox.Exit     `json:"exit,omitempty"`
	Job       *sandbox.Job      `json:"job,omitempty"`
	Jobs      []sandbox.Job     `json:"jobs,omitempty"`
	Outputs   []sandbox.Output  `json:"outputs,omitempty"`
	File      *sandbox.File     `json:"file,omitempty"`
	Files     []sandbox.File    `json:"files,omitempty"`
	Sandbox   *sandbox.Sandbox  `json:"sandbox,omitempty"`
	Sandboxes []sandbox.Sandbox `json:"sandboxes,omitempty"`
	Status    *Status           `json:"status,omitempty"`
	Data      []byte            `json:"data,omitempty"`
}

// The calls, by the last part of their path. All are POST requests.
const (
	callHello     = "hello"
	callStop      = "stop"
	callHold      = "hold"
	callRelease   = "release"
	callWatch     = "watch"
	callGlance    = "glance"
	callExec      = "exec"
	callCode      = "code"
	callCancel    = "cancel"
	callInput     = "input"
	callEOF       = "eof"
	callResize    = "resize"
	callSignal    = "signal"
	callStartJob  = "job/start"
	callReadJob   = "job/read"
	callStopJob   = "job/stop"
	callJobs      = "job/list"
	callStat      = "file/stat"
	callList      = "file/list"
	callMakeDir   = "file/mkdir"
	callMove      = "file/move"
	callRemove    = "file/remove"
	callRead      = "file/read"
	callWrite     = "file/write"
	callCreate    = "sandbox/create"
	callGet       = "sandbox/get"
	callSandboxes = "sandbox/list"
	callSuspend   = "sandbox/suspend"
	callResume    = "sandbox/resume"
	callTerminate = "sandbox/terminate"
	callRemoval   = "sandbox/removal"
	callProfile   = "profile"
	callAnswer    = "profile/answer"
	callAction    = "action"
)

const pathPrefix = "/v1/"

// A request is what is sent with a call. What a call has no use for is absent.
type request struct {
	Caller  *sandbox.Caller      `json:"caller,omitempty"`
	Action  *actionRequest       `json:"action,omitempty"`
	Lease   *sandbox.Lease       `json:"lease,omitempty"`
	Exec    *sandbox.Exec        `json:"exec,omitempty"`
	Cell    *sandbox.Cell        `json:"cell,omitempty"`
	Target  *sandbox.Target      `json:"target,omitempty"`
	File    *sandbox.FileRequest `json:"file,omitempty"`
	Spec    *sandbox.Spec        `json:"spec,omitempty"`
	List    *sandbox.ListRequest `json:"list,omitempty"`
	Size    *sandbox.Size        `json:"size,omitempty"`
	Profile *ProfileRequest      `json:"profile,omitempty"`
	ID      string               `json:"id,omitempty"`   // of an exec, cell, job, lease or sandbox
	By      string               `json:"by,omitempty"`   // lease that asks
	Next    uint64               `json:"next,omitempty"` // seq wanted first
	Wait    time.Duration        `json:"wait,omitempty"`
	Data    []byte               `json:"data,omitempty"`
	Signal  int                  `json:"signal,omitempty"`
	At      time.Time            `json:"at,omitzero"`
}

// statusOf gives errors that come before anything else a status of HTTP, for
// those who look with other tools than ours.
var statusOf = map[sandbox.Code]int{
	sandbox.Invalid:      http.StatusBadRequest,
	sandbox.NotFound:     http.StatusNotFound,
	sandbox.Denied:       http.StatusForbidden,
	sandbox.Forbidden:    http.StatusForbidden,
	sandbox.OtherVersion: http.StatusUpgradeRequired,
	sandbox.RateLimited:  http.StatusTooManyRequests,
	sandbox.Unreachable:  http.StatusServiceUnavailable,
	sandbox.StoreDown:    http.StatusServiceUnavailable,
	sandbox.Timeout:      http.StatusGatewayTimeout,
}
