// Package kernel runs Python cells: one process for each Kernel, which keeps
// its variables from cell to cell. The process speaks frames of JSON with us
// on descriptors of its own; descriptors 1 and 2 belong to user code, and all
// that is written to them, by Python, by C code or by children, is output.
//
// Output that comes between cells, from threads and children that outlive
// theirs, is dropped; what they write during a later cell counts as its.
package kernel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"
)

// A Config says how to start a kernel.
type Config struct {
	Python string               // the interpreter; [Find] names the usual one
	Plain  bool                 // do without IPython even where there is one
	Dir    string               // where it starts
	Env    []string             // all of its environment, as in [os/exec.Cmd]
	Sys    *syscall.SysProcAttr // whose it is; may be nil
	Log    *slog.Logger         // never told code or output

	// Spawn calls start, which starts the process. Nil just calls it.
	Spawn func(start func() error) error
}

// ErrNoPython says that there is no interpreter to run.
var ErrNoPython = errors.New("no python3 on this system")

// A DiedError says that the process of a kernel has ended, and all its state with it.
type DiedError struct {
	Reason string // such as "exit status 3" or "signal: killed"
}

func (e *DiedError) Error() string { return "kernel died: " + e.Reason }

// Info describes the interpreter of a kernel.
type Info struct {
	Python  string // its version
	IPython string // the version of IPython, empty without
}

// A Cell is code to run in a kernel.
type Cell struct {
	Code string
	Env  map[string]string // for this cell alone
}

// An Event is what happens while a cell runs. One member is set.
type Event struct {
	Begin  *Begin
	Output *Output
	Result *Result
	Error  *Error
}

// A Begin is the first event of a cell.
type Begin struct {
	Count uint64 // of the cells of this kernel, from 1
}

// An Output is a piece of valid UTF-8, at most [MaxChunk] bytes.
type Output struct {
	Stderr bool
	Text   string
	Time   time.Time
}

// A Result is a value in one or more forms, by mime type. Binary forms are
// base64 text. Forms left out as too big are named, as a JSON list, under
// "rayito/omitted".
type Result struct {
	Main bool // the value of the last expression, not shown by a display call
	Data map[string]string
}

// An Error is the exception that ended a cell.
type Error struct {
	Name      string   `json:"name"`
	Value     string   `json:"value"`
	Traceback []string `json:"traceback"`
}

// MaxChunk bounds the text of one Output.
const MaxChunk = 64 << 10

// A Kernel is a running interpreter. Its methods may be called at the same time.
type Kernel struct {
	proc  *process
	log   *slog.Logger
	turn  chan struct{} // holds a token while a request is in flight
	ready chan struct{} // closed when info is set
	done  chan struct{} // closed when the process is gone and its output read
	info  Info
	died  *DiedError // set before done is closed

	mu    sync.Mutex // guards what follows
	count uint64     // requests made
	req   *request   // the one in flight
}

// A request is a cell or a ping on its way through the kernel.
type request struct {
	id        uint64
	emit      func(Event) error // nil for a ping
	begun     bool              // its start frame has come; output is its own from here on
	interrupt bool              // once it has begun
	err       error             // the first of emit
	end       chan uint64       // capacity 1; gets the execution count
}

// Start runs an interpreter and waits until it is ready for cells.
func Start(ctx context.Context, cfg Config) (*Kernel, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Spawn == nil {
		cfg.Spawn = func(start func() error) error { return start() }
	}
	k := &Kernel{
		log:   cfg.Log,
		turn:  make(chan struct{}, 1),
		ready: make(chan struct{}),
		done:  make(chan struct{}),
	}
	var err error
	if k.proc, err = startProcess(cfg); err != nil {
		return nil, fmt.Errorf("start kernel: %w", err)
	}
	go k.pump()
	select {
	case <-k.ready:
		return k, nil
	case <-k.done:
		return nil, fmt.Errorf("start kernel: %w", k.died)
	case <-ctx.Done():
		k.Close()
		return nil, fmt.Errorf("start kernel: %w", ctx.Err())
	}
}

// Info tells which interpreter this is.
func (k *Kernel) Info() Info { return k.info }

// Pid returns the process id, which is also the id of its process group.
func (k *Kernel) Pid() int { return k.proc.pid }

// Done is closed when the kernel has died.
func (k *Kernel) Done() <-chan struct{} { return k.done }

// Err returns why the kernel died, nil while it lives.
func (k *Kernel) Err() error {
	select {
	case <-k.done:
		return k.died
	default:
		return nil
	}
}

// Execute runs a cell and returns its execution count when it has ended.
// Cells of one kernel wait for each other. Events reach emit in order; while
// emit blocks, so does the cell once it has filled its pipes. When emit fails
// the cell is interrupted, the rest of its events is dropped, and Execute
// returns that error at the end. If ctx ends after the cell has begun, the
// kernel is killed: [Kernel.Interrupt] is the mild way to end a cell.
func (k *Kernel) Execute(ctx context.Context, cell Cell, emit func(Event) error) (uint64, error) {
	return k.do(ctx, message{Op: "run", Code: cell.Code, Env: cell.Env}, emit)
}

// Setup changes the environment of the kernel and of the cells to come, and
// gives its random generators new seeds.
func (k *Kernel) Setup(ctx context.Context, env map[string]string, dir string) error {
	_, err := k.do(ctx, message{Op: "setup", Env: env, Dir: dir, Seed: true}, nil)
	return err
}

// Ping asks for a sign of life. A kernel that runs a cell gives it by running.
func (k *Kernel) Ping(ctx context.Context) error {
	select {
	case k.turn <- struct{}{}:
		<-k.turn
	default:
		return k.Err()
	}
	_, err := k.do(ctx, message{Op: "ping"}, nil)
	return err
}

// do sends one request and waits for its end.
func (k *Kernel) do(ctx context.Context, msg message, emit func(Event) error) (uint64, error) {
	select {
	case k.turn <- struct{}{}:
	case <-k.done:
		return 0, k.died
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-k.turn }()

	k.mu.Lock()
	k.count++
	req := &request{id: k.count, emit: emit, end: make(chan uint64, 1)}
	k.req = req
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.req = nil
		k.mu.Unlock()
	}()

	msg.Cell = req.id
	if err := k.proc.send(msg); err != nil {
		k.proc.kill() // it does not read: it can't be used again
		<-k.done
		return 0, k.died
	}
	for {
		select {
		case n := <-req.end:
			return n, req.err
		case <-k.done:
			select {
			case n := <-req.end: // it ended first
				return n, req.err
			default:
				return 0, k.died
			}
		case <-ctx.Done():
			k.proc.kill()
			<-k.done
			return 0, ctx.Err()
		}
	}
}

// Interrupt sends SIGINT to the kernel and its children, as a terminal does,
// if a cell runs or waits to. The cell then ends with a KeyboardInterrupt, unless its code
// catches it.
func (k *Kernel) Interrupt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.req == nil:
	case k.req.begun:
		k.proc.interrupt()
	default:
		k.req.interrupt = true // as soon as there is something to interrupt
	}
}

// Kill ends the process and its children at once, and does not wait.
func (k *Kernel) Kill() { k.proc.kill() }

// Close ends the process and its children, and waits until they are gone.
func (k *Kernel) Close() {
	k.proc.kill()
	<-k.done
}
