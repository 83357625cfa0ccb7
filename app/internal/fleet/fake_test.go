package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// A fakeCloud keeps VMs in memory, and does what a cloud does about tokens. Its
// faults are functions that may answer in its place.
type fakeCloud struct {
	clock clockwork.Clock

	mu      sync.Mutex
	vms     map[string]*fleet.VM
	tokens  map[string]string           // VM by client token
	asked   map[string]fleet.RunRequest // by client token
	runs    int                         // calls of Run
	lists   int
	healths int
	ended   []string
	down    bool // its process has ended
	run     func(n int) (act bool, err error)
	list    func(n int) error
	term    func() error
	busy    int // refusals of the agent still to come
	changes int // of its calls still to come that find the sandbox changing its state
}

func newCloud(clock clockwork.Clock) *fakeCloud {
	return &fakeCloud{clock: clock, vms: map[string]*fleet.VM{}, tokens: map[string]string{}, asked: map[string]fleet.RunRequest{}}
}

const image = "arn:aws:lambda:us-east-1:000000000000:microvm-image:test"

func (c *fakeCloud) Image(context.Context, string, string) (fleet.Image, error) {
	return fleet.Image{ARN: image, Version: "1.0", SizeMiB: 2048, SnapshotMGB: 919}, nil
}

func (c *fakeCloud) Run(_ context.Context, r fleet.RunRequest) (fleet.VM, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	act, err := true, error(nil)
	if run, n := c.run, c.runs; run != nil {
		c.mu.Unlock() // it may take its time
		act, err = run(n)
		c.mu.Lock()
	}
	if before, ok := c.asked[r.Token]; ok && fmt.Sprintf("%+v", before) != fmt.Sprintf("%+v", r) {
		return fleet.VM{}, &sandbox.Error{Code: sandbox.Invalid, Msg: "token used with different request parameters"}
	}
	c.asked[r.Token] = r
	id := c.tokens[r.Token]
	if id == "" && act {
		id = fmt.Sprintf("vm-%d", len(c.vms)+1)
		c.tokens[r.Token] = id
		c.vms[id] = &fleet.VM{
			ID: id, Endpoint: id + ".example", Image: r.Image, Version: "1.0", State: sandbox.Running, Life: r.Life, Idle: r.Idle, StartedAt: c.clock.Now(),
		}
	}
	if err != nil {
		return fleet.VM{}, err
	}
	return *c.vms[id], nil
}

func (c *fakeCloud) Get(_ context.Context, id string) (fleet.VM, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if vm := c.vms[id]; vm != nil {
		return *vm, nil
	}
	return fleet.VM{}, &sandbox.Error{Code: sandbox.NotFound, Msg: "no such VM"}
}

func (c *fakeCloud) List(context.Context) ([]fleet.VM, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists++
	if c.list != nil {
		if err := c.list(c.lists); err != nil {
			return nil, err
		}
	}
	var out []fleet.VM
	for _, vm := range c.vms {
		short := *vm
		short.Endpoint, short.Reason = "", ""
		out = append(out, short)
	}
	return out, nil
}

func (c *fakeCloud) set(id string, edit func(*fleet.VM)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	edit(c.vms[id])
}

func (c *fakeCloud) Suspend(_ context.Context, id string) error {
	c.set(id, func(vm *fleet.VM) { vm.State = sandbox.Suspended })
	return nil
}

func (c *fakeCloud) Resume(_ context.Context, id string) error {
	c.set(id, func(vm *fleet.VM) { vm.State = sandbox.Running })
	return nil
}

func (c *fakeCloud) Terminate(_ context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.term != nil {
		if err := c.term(); err != nil {
			return err
		}
	}
	if vm := c.vms[id]; vm != nil {
		vm.State, vm.Reason = sandbox.Terminated, "Success."
	}
	c.ended = append(c.ended, id)
	return nil
}

func (c *fakeCloud) Agent(vm fleet.VM, secret string) (fleet.Agent, error) {
	if secret == "" {
		return nil, errors.New("no secret")
	}
	return &fakeAgent{cloud: c, id: vm.ID}, nil
}

func (c *fakeCloud) alive() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, vm := range c.vms {
		if vm.State != sandbox.Terminated {
			n++
		}
	}
	return n
}

// A fakeAgent runs commands of its own: "echo" says its arguments, "hang" goes
// on until it is killed, "flood" says a lot.
type fakeAgent struct {
	fleet.Agent
	cloud *fakeCloud
	id    string
	kills sync.Map // of commands, by pid
}

func (a *fakeAgent) Close() error { return nil }

func (a *fakeAgent) up() error {
	a.cloud.mu.Lock()
	defer a.cloud.mu.Unlock()
	vm := a.cloud.vms[a.id]
	switch {
	case a.cloud.down || vm == nil || vm.State == sandbox.Terminated:
		return &sandbox.Error{Code: sandbox.InTransition, Msg: "cut", Retryable: true}
	case vm.State == sandbox.Suspended && vm.Idle == 0: // nothing wakes it but Resume
		return &sandbox.Error{Code: sandbox.InTransition, Msg: "asleep", Retryable: true}
	case a.cloud.changes > 0:
		a.cloud.changes--
		return &sandbox.Error{Code: sandbox.InTransition, Msg: "suspending", Retryable: true}
	case a.cloud.busy > 0:
		a.cloud.busy--
		return &sandbox.Error{Code: sandbox.TooMuch, Msg: "too many", Retryable: true}
	}
	vm.State = sandbox.Running
	return nil
}

func (a *fakeAgent) Health(context.Context) (fleet.Health, error) {
	a.cloud.mu.Lock()
	a.cloud.healths++
	a.cloud.mu.Unlock()
	if err := a.up(); err != nil {
		return fleet.Health{}, err
	}
	return fleet.Health{Agent: true, Kernel: true, Sandbox: a.id}, nil
}

func (a *fakeAgent) Start(ctx context.Context, e sandbox.Exec, emit func(fleet.Event) error) (sandbox.Exit, error) {
	if err := a.up(); err != nil {
		return sandbox.Exit{}, err
	}
	pid := uint32(len(e.ID)) + 100
	killed := make(chan struct{})
	a.kills.Store(pid, killed)
	if err := emit(fleet.Event{Output: sandbox.Output{Notice: sandbox.NoticeStarted}, Place: &fleet.Place{PID: pid}}); err != nil {
		return sandbox.Exit{}, err
	}
	n := 1
	data := []byte(fmt.Sprint(e.Args[1:]))
	if e.Args[0] == "flood" {
		n, data = 1000, make([]byte, 32<<10)
	}
	for i := range n {
		if err := emit(fleet.Event{Output: sandbox.Output{Seq: uint64(i + 1), Stream: sandbox.Stdout, Data: data}}); err != nil {
			return sandbox.Exit{}, err
		}
	}
	if e.Args[0] == "hang" {
		select {
		case <-killed:
			return sandbox.Exit{Code: 137, Signal: 9}, nil
		case <-ctx.Done():
			return sandbox.Exit{}, ctx.Err()
		}
	}
	return sandbox.Exit{}, nil
}

func (a *fakeAgent) Connect(ctx context.Context, at fleet.Place, next uint64, emit func(fleet.Event) error) (sandbox.Exit, error) {
	if err := a.up(); err != nil {
		return sandbox.Exit{}, err
	}
	return sandbox.Exit{}, emit(fleet.Event{Output: sandbox.Output{Seq: next, Stream: sandbox.Stdout, Data: []byte("connected")}})
}

func (a *fakeAgent) Find(context.Context, string) (uint32, error) { return 0, nil }

func (a *fakeAgent) Signal(_ context.Context, at fleet.Place, _ int) error {
	if killed, ok := a.kills.LoadAndDelete(at.PID); ok {
		close(killed.(chan struct{}))
	}
	return nil
}

func (a *fakeAgent) Stat(_ context.Context, r sandbox.FileRequest) (sandbox.File, error) {
	return sandbox.File{Path: r.Path}, a.up()
}

func (a *fakeAgent) Read(_ context.Context, r sandbox.FileRequest, w io.Writer) error {
	_, err := io.WriteString(w, r.Path)
	return err
}

// A memory is a Store and Secrets. full makes every write fail.
type memory struct {
	mu      sync.Mutex
	records map[string]map[string][]byte
	secrets map[string]string
	full    bool
	durable int
}

func newMemory() *memory {
	return &memory{records: map[string]map[string][]byte{}, secrets: map[string]string{}}
}

var errFull = errors.New("no space left on device")

func (m *memory) Put(kind, key string, value []byte, durable bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errFull
	}
	if m.records[kind] == nil {
		m.records[kind] = map[string][]byte{}
	}
	m.records[kind][key] = value
	if durable {
		m.durable++
	}
	return nil
}

func (m *memory) Delete(kind, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records[kind], key)
	return nil
}

func (m *memory) All(kind string) map[string][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.records[kind])
}

// keys is the part of a memory that keeps secrets.
type keys struct{ *memory }

func (k keys) Put(key, secret string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.full {
		return errFull
	}
	k.secrets[key] = secret
	return nil
}

func (k keys) Get(key string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.secrets[key], nil
}

func (k keys) Delete(key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.secrets, key)
	return nil
}
