package agent

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
	"github.com/arenero/arenero/app/internal/agent/kernel"
)

// Limits of the code service.
const (
	maxContexts     = 8
	maxCode         = 1 << 20
	maxCellTimeout  = 28_800_000 // milliseconds
	maxFinished     = 32
	keepFinished    = 30 * time.Second // of running time
	interruptGrace  = 5 * time.Second  // of running time, from interrupt to kill
	reattachGrace   = 10 * time.Second // of running time, from a lost connection to interrupt
	kernelStartsIn  = 60 * time.Second
	cellSilence     = 5 * time.Second // between keepalives
	defaultContext  = "default"
	languagePython  = "python"
	kernelNotReady  = "kernel not ready: " // frozen: clients tell it from other outages
	kernelLostStart = "[the Python kernel was restarted: "
	kernelLostEnd   = "; variables, imports and functions from before are gone]\n"
)

// codeLimits is how much of a cell's output is kept for those who come back.
var codeLimits = ringLimits{bytes: 4 << 20, queue: 256, patience: 30 * time.Second}

// A codeConfig says what the code service stands on.
type codeConfig struct {
	gate   *gate
	clock  *runClock
	budget *budget
	log    *slog.Logger

	// command says how to start a kernel in dir, or where processes start if
	// it is empty, with envs above the environment of the sandbox.
	command func(dir string, envs map[string]string) (kernel.Config, error)
}

// A codeService runs cells in contexts, each with a kernel of its own.
type codeService struct {
	agentpb.UnimplementedCodeServiceServer
	cfg codeConfig

	starts chan *codeContext // to serve, which owns their goroutines
	gone   chan struct{}     // closed when serve ends

	mu       sync.Mutex // guards what follows
	contexts map[string]*codeContext
	made     uint64 // contexts made so far
	runs     map[string]*execution
	finished []*execution // oldest first
}

var _ kernels = (*codeService)(nil)

// newKernels makes the code service of s. Its kernels are processes like any
// other of the default user.
func (s *Server) newKernels() kernels {
	return newCodeService(codeConfig{
		gate: s.gate, clock: s.running, budget: s.processes.budget, log: s.log,
		command: func(dir string, envs map[string]string) (kernel.Config, error) {
			sp, err := s.spawnFor(nil, envs, dir, nil)
			if err != nil {
				return kernel.Config{}, err
			}
			env, err := sp.environ()
			if err != nil {
				return kernel.Config{}, err
			}
			slices.Sort(env)
			return kernel.Config{
				Dir: sp.cwd, Env: env,
				Sys:   &syscall.SysProcAttr{Credential: s.identities.credential(sp.id)},
				Spawn: s.cfg.Spawn,
				Log:   s.log,
			}, nil
		},
	})
}

func newCodeService(cfg codeConfig) *codeService {
	s := &codeService{
		cfg:      cfg,
		starts:   make(chan *codeContext),
		gone:     make(chan struct{}),
		contexts: map[string]*codeContext{},
		runs:     map[string]*execution{},
	}
	s.contexts[defaultContext] = newCodeContext(s, defaultContext, "", nil)
	return s
}

// serve starts the default kernel at once: it is what the first caller waits
// for.
func (s *codeService) serve(ctx context.Context) error {
	var group sync.WaitGroup
	defer group.Wait()
	defer close(s.gone)
	first, err := s.context(defaultContext)
	if err != nil {
		return err
	}
	group.Go(func() { first.serve(ctx) })
	for {
		select {
		case c := <-s.starts:
			group.Go(func() { c.serve(ctx) })
		case <-ctx.Done():
			return nil
		}
	}
}

// ready is also true where there is no Python: then there is nothing to wait
// for, and the rest of the sandbox is of use.
func (s *codeService) ready() bool {
	c, err := s.context(defaultContext)
	if err != nil {
		return false
	}
	k, err := c.state()
	return k != nil || errors.Is(err, kernel.ErrNoPython)
}

func (s *codeService) rotate(ctx context.Context, env map[string]string) error {
	for _, c := range s.all() {
		if err := c.rotate(ctx, env); err != nil && err != errNoLanguage {
			return err
		}
	}
	return nil
}

// quiesce has nothing to do: a kernel is frozen as it is, and all it holds is
// in its memory.
func (s *codeService) quiesce(context.Context) error { return nil }

func (s *codeService) probe(ctx context.Context) (lost bool) {
	for _, c := range s.all() {
		k, err := c.state()
		if k == nil || err != nil {
			continue // on its way up, or never was
		}
		if k.Ping(ctx) != nil {
			k.Kill()
			lost = true
		}
	}
	return lost
}

func (s *codeService) warm(ctx context.Context) error {
	c, err := s.context(defaultContext)
	if err != nil {
		return err
	}
	if err := c.restart(ctx); err != nil {
		return err
	}
	x, err := s.submit(ctx, c, kernel.Cell{Code: typicalCell}, time.Minute)
	if err != nil {
		return err
	}
	select {
	case <-x.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// typicalCell touches what most cells do.
const typicalCell = `import io
try:
    import pandas
    pandas.DataFrame({"a": [1, 2]}).describe()
except ImportError:
    pass
try:
    import matplotlib.pyplot as plt
    plt.plot([1, 2]); plt.savefig(io.BytesIO()); plt.close()
    del plt
except ImportError:
    pass`

var errNoContext = status.Error(codes.NotFound, "there is no such context")

func (s *codeService) context(id string) (*codeContext, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.contexts[id]; c != nil {
		return c, nil
	}
	return nil, errNoContext
}

// all returns the contexts, oldest first.
func (s *codeService) all() []*codeContext {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.contexts), func(a, b *codeContext) int {
		return cmp.Compare(a.number, b.number)
	})
}

// submit puts a cell in the queue of c.
func (s *codeService) submit(ctx context.Context, c *codeContext, cell kernel.Cell, timeout time.Duration) (*execution, error) {
	if err := c.awaitUp(ctx, nil); err != nil {
		return nil, err
	}
	x := newExecution(c, cell, timeout)
	s.mu.Lock()
	s.runs[x.id] = x
	s.mu.Unlock()
	if err := c.enqueue(x); err != nil {
		s.forget(x)
		return nil, err
	}
	return x, nil
}

// retire keeps an execution that has ended for a while.
func (s *codeService) retire(x *execution) {
	s.mu.Lock()
	s.finished = append(s.finished, x)
	var old *execution
	if len(s.finished) > maxFinished {
		old = s.finished[0]
	}
	s.mu.Unlock()
	if old != nil {
		s.forget(old)
	}
	s.cfg.clock.afterFunc(keepFinished, func() { s.forget(x) })
}

func (s *codeService) forget(x *execution) {
	s.mu.Lock()
	delete(s.runs, x.id)
	s.finished = slices.DeleteFunc(s.finished, func(y *execution) bool { return y == x })
	s.mu.Unlock()
	x.ring.drop()
}
