package fleet

import (
	"context"
	"io"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A Cloud is where the sandboxes of a profile live, as its control plane has
// it. Nothing here wakes a sandbox. All errors are [sandbox.Error]s.
type Cloud interface {
	// Image returns the image that template names, "" being the profile's own,
	// in a version, "" being the newest active one.
	Image(ctx context.Context, template, version string) (Image, error)
	// Run makes a VM. The same Token with the same rest makes none a second
	// time. The code [sandbox.CreateInDoubt] means that there may be one.
	Run(ctx context.Context, req RunRequest) (VM, error)
	Get(ctx context.Context, id string) (VM, error) // NotFound
	List(ctx context.Context) ([]VM, error)         // no endpoint, no reason
	Suspend(ctx context.Context, id string) error
	Resume(ctx context.Context, id string) error
	Terminate(ctx context.Context, id string) error // of one that has ended: nil
	// Agent returns the agent of a VM, without asking it anything.
	Agent(vm VM, secret string) (Agent, error)
}

// An Image is what VMs are made of. Only its ARN is always known.
type Image struct {
	ARN         string `json:"arn"`
	Version     string `json:"version,omitempty"`      // the one asked for, or that a VM would have now
	SizeMiB     int    `json:"size_mib,omitempty"`     // of the memory of its VMs
	SnapshotMGB int    `json:"snapshot_mgb,omitempty"` // of their memory's snapshot, in thousandths of a GB
}

// A RunRequest is all that makes one VM. It is kept until the VM is known, so
// that it can be sent again as it was. The payload is put together from Secret
// and Env when it is sent.
type RunRequest struct {
	Token   string            `json:"token"`
	Image   string            `json:"image"`
	Version string            `json:"version,omitempty"`
	Role    string            `json:"role,omitempty"`
	Life    time.Duration     `json:"life"`
	Idle    time.Duration     `json:"idle,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Secret  string            `json:"-"` // for the agent; only its digest is sent
}

// A VM is what a cloud says of one.
type VM struct {
	ID, Endpoint   string
	Image, Version string
	State          sandbox.State
	Reason         string // the cloud's words for an end
	Life           time.Duration
	Idle           time.Duration
	StartedAt      time.Time
	EndedAt        time.Time
}

// An Agent is the program inside a sandbox. Every call may wake the sandbox,
// waits for it to come back where it was cut off, and does nothing twice. All
// errors but those of emit are [sandbox.Error]s.
type Agent interface {
	Health(ctx context.Context) (Health, error)

	// Start runs a command under its id, and follows it. When ctx is done the
	// command goes on.
	Start(ctx context.Context, e sandbox.Exec, emit func(Event) error) (sandbox.Exit, error)
	// Connect follows a command again, from the output with seq next on.
	Connect(ctx context.Context, at Place, next uint64, emit func(Event) error) (sandbox.Exit, error)
	// Find returns the process of a command that is still alive, or 0.
	Find(ctx context.Context, execID string) (pid uint32, err error)
	Signal(ctx context.Context, at Place, signal int) error
	Input(ctx context.Context, at Place, data []byte) error
	CloseInput(ctx context.Context, at Place) error
	Resize(ctx context.Context, at Place, size sandbox.Size) error

	// Execute runs a cell and follows it. When ctx is done the cell is
	// interrupted.
	Execute(ctx context.Context, c sandbox.Cell, emit func(Event) error) (sandbox.Exit, error)
	// Reattach follows a cell again. When ctx is done the cell goes on.
	Reattach(ctx context.Context, at Place, next uint64, emit func(Event) error) (sandbox.Exit, error)
	// RestartKernel ends what a kernel does, and its variables.
	RestartKernel(ctx context.Context, kernel string) error

	Stat(ctx context.Context, r sandbox.FileRequest) (sandbox.File, error)
	List(ctx context.Context, r sandbox.FileRequest) ([]sandbox.File, error)
	Read(ctx context.Context, r sandbox.FileRequest, w io.Writer) error
	Write(ctx context.Context, r sandbox.FileRequest, content io.Reader) (sandbox.File, error)
	MakeDir(ctx context.Context, r sandbox.FileRequest) (sandbox.File, error)
	Move(ctx context.Context, r sandbox.FileRequest) (sandbox.File, error)
	Remove(ctx context.Context, r sandbox.FileRequest) error

	Close() error
}

// Health is what an agent says of itself.
type Health struct {
	Agent   bool   // it answers
	Kernel  bool   // and so does its Python
	Sandbox string // "" until it has been told what it is for
}

// An Event is an output, or where what was started is to be found.
type Event struct {
	sandbox.Output
	Place *Place // set once, first
}

// A Place is where a call runs in its sandbox.
type Place struct {
	PID       uint32 `json:"pid,omitempty"`
	Terminal  bool   `json:"terminal,omitempty"`
	Kernel    string `json:"kernel,omitempty"`
	Execution string `json:"execution,omitempty"`
}

// A Store keeps small records over the end of this process.
type Store interface {
	// Put keeps value. With durable it is on the disk when Put returns; else it
	// outlives this process, but maybe not a power cut.
	Put(kind, key string, value []byte, durable bool) error
	Delete(kind, key string) error
	// All returns what is kept of a kind.
	All(kind string) map[string][]byte
}

// Secrets keep the access tokens of sandboxes, which no other record holds.
type Secrets interface {
	Put(key, secret string) error
	Get(key string) (string, error) // "" if there is none
	Delete(key string) error
}
