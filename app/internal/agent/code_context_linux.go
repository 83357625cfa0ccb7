package agent

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/kernel"
)

// A codeContext is a queue of cells and the kernel that runs them. When the
// kernel dies the context gets another.
type codeContext struct {
	svc    *codeService
	id     string
	number uint64            // contexts are listed in this order
	dir    string            // where its kernels start; empty: where processes do
	env    map[string]string // of its kernels, above that of the sandbox
	wake   chan struct{}     // has a value when the queue may have one

	mu      sync.Mutex // guards what follows
	changed chan struct{}
	config  kernel.Config  // of the newest start
	kernel  *kernel.Kernel // nil while one starts
	failed  error          // of the newest start
	queue   []*execution
	current *execution
	ran     bool   // the kernel has run a cell
	notice  string // what the next cell has to be told
	ending  string // the name of the error of what ends because we end the kernel
	ended   bool   // destroyed
	cancel  context.CancelFunc
}

func newCodeContext(s *codeService, id, dir string, env map[string]string) *codeContext {
	return &codeContext{
		svc: s, id: id, dir: dir, env: env,
		wake:    make(chan struct{}, 1),
		changed: make(chan struct{}),
	}
}

// serve keeps a kernel running until ctx is done or the context is destroyed.
func (c *codeContext) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.modify(func() {
		c.cancel = cancel
		if c.ended {
			cancel()
		}
	})
	for wait := time.Second; ctx.Err() == nil; {
		k, err := c.start(ctx)
		if err == nil {
			wait = time.Second
			c.svc.cfg.log.Info("kernel started", "context", c.id, "pid", k.Pid(), "python", k.Info().Python, "ipython", k.Info().IPython)
			c.modify(func() { c.kernel, c.failed, c.ran = k, nil, false })
			c.work(ctx, k)
			k.Close()
			c.lost(k)
			continue
		}
		if ctx.Err() != nil {
			break
		}
		c.svc.cfg.log.Warn("kernel did not start", "context", c.id, "err", err)
		c.modify(func() { c.failed = err })
		again := c.svc.cfg.clock.base.After(wait)
		if errors.Is(err, kernel.ErrNoPython) {
			again = nil
		}
		select {
		case <-again:
		case <-ctx.Done():
		}
		wait = min(2*wait, 30*time.Second)
	}
	c.mu.Lock()
	queue := c.dropLocked()
	c.mu.Unlock()
	for _, x := range queue {
		x.finish(nameDestroyed, "the context was destroyed before the cell could run")
	}
}

// start runs a kernel.
func (c *codeContext) start(ctx context.Context) (*kernel.Kernel, error) {
	cfg, err := c.svc.cfg.command(c.dir, c.env)
	if err != nil {
		return nil, err
	}
	c.modify(func() { c.config = cfg })
	ctx, cancel := context.WithTimeout(ctx, kernelStartsIn)
	defer cancel()
	return kernel.Start(ctx, cfg)
}

// place is where the kernel was started.
func (c *codeContext) place() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.config.Dir == "" {
		return c.dir
	}
	return c.config.Dir
}

// modify changes the context and tells who waits for a change.
func (c *codeContext) modify(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.changed)
	c.changed = make(chan struct{})
}

// state returns the kernel, nil while there is none, and why the newest start
// failed.
func (c *codeContext) state() (*kernel.Kernel, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kernel, c.failed
}

// work runs cells until the kernel dies or ctx is done.
func (c *codeContext) work(ctx context.Context, k *kernel.Kernel) {
	for {
		x := c.next()
		if x == nil {
			select {
			case <-c.wake:
				continue
			case <-k.Done():
			case <-ctx.Done():
			}
			return
		}
		c.run(ctx, k, x)
		if k.Err() != nil || ctx.Err() != nil {
			return
		}
	}
}

func (c *codeContext) next() *execution {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return nil
	}
	c.current = c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	c.ran = true
	return c.current
}

// run runs one cell. Cells that are queued behind one that takes the kernel
// with it don't run: they counted on its state. Those that come once its end
// is told do.
func (c *codeContext) run(ctx context.Context, k *kernel.Kernel, x *execution) {
	x.watch()
	_, err := k.Execute(ctx, x.cell, func(e kernel.Event) error {
		x.handle(e)
		return nil
	})
	c.mu.Lock()
	c.current = nil
	ending := c.ending
	var doomed []*execution
	again := false
	switch {
	case err == nil:
	case ending == "" && ctx.Err() == nil && !x.isBegun():
		// The kernel had died unseen. Nothing of the cell has run, so the
		// next kernel may run it.
		again = true
		c.queue = slices.Insert(c.queue, 0, x)
		c.kernel = nil
	case ending == "":
		doomed = c.dropLocked()
	}
	c.mu.Unlock()
	var died *kernel.DiedError
	switch {
	case again:
	case err == nil:
		x.finish("", "")
	case ending != "":
		x.finish(ending, "the kernel was ended while the cell ran; its variables are gone")
	case errors.As(err, &died):
		x.finish(nameDied, "the kernel ended while the cell ran ("+died.Reason+"); a new one starts, without the variables of this one")
	default:
		x.finish(nameDestroyed, "the sandbox ends")
	}
	abort(doomed)
}

// dropLocked takes the kernel off, which is dead or about to be, and the cells
// that wait for it.
func (c *codeContext) dropLocked() (doomed []*execution) {
	doomed, c.queue = c.queue, nil
	c.kernel = nil
	return doomed
}

// abort ends cells that never ran.
func abort(doomed []*execution) {
	for _, x := range doomed {
		x.finish(nameAborted, "the kernel was restarted before the cell could run")
	}
}

// lost notes that k is dead.
func (c *codeContext) lost(k *kernel.Kernel) {
	c.modify(func() {
		if c.ending == "" {
			c.notice = kernelLostStart + k.Err().Error() + kernelLostEnd
		}
		c.kernel, c.ending = nil, ""
	})
	c.svc.cfg.log.Info("kernel ended", "context", c.id, "pid", k.Pid(), "err", k.Err())
}

func (c *codeContext) takeNotice() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	notice := c.notice
	c.notice = ""
	return notice
}

var (
	errRaced      = status.Error(codes.Aborted, "the context was destroyed meanwhile")
	errNoLanguage = status.Error(codes.Unimplemented, "this sandbox can't run this language")
)

// awaitUp waits for a kernel other than old.
func (c *codeContext) awaitUp(ctx context.Context, old *kernel.Kernel) error {
	late, give := c.svc.cfg.clock.after(kernelStartsIn)
	defer give()
	for {
		c.mu.Lock()
		k, failed, ended, changed := c.kernel, c.failed, c.ended, c.changed
		c.mu.Unlock()
		switch {
		case ended:
			return errRaced
		case k != nil && k != old:
			return nil
		case errors.Is(failed, kernel.ErrNoPython):
			return errNoLanguage
		case failed != nil:
			return status.Error(codes.Unavailable, kernelNotReady+"it did not start")
		}
		select {
		case <-changed:
		case <-late:
			return status.Error(codes.Unavailable, kernelNotReady+"it is still starting")
		case <-c.svc.gone:
			return closingTerminate
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

func (c *codeContext) enqueue(x *execution) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errRaced
	}
	c.queue = append(c.queue, x)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// interrupt ends x: a cell that waits is taken out of the queue, one that runs
// gets SIGINT, and if it still runs after its time of grace, the kernel goes.
func (c *codeContext) interrupt(x *execution) {
	c.mu.Lock()
	if i := slices.Index(c.queue, x); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
		c.mu.Unlock()
		x.finish(nameAborted, "the cell was cancelled before it could run")
		return
	}
	c.mu.Unlock()
	if x.stop(func(last bool) { c.signal(x, last) }) {
		c.signal(x, false)
	}
}

func (c *codeContext) signal(x *execution, kill bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != x || c.kernel == nil {
		return
	}
	if kill {
		c.kernel.Kill()
	} else {
		c.kernel.Interrupt()
	}
}

func (c *codeContext) rushLocked() {
	if c.current != nil {
		c.current.rush()
	}
}

// restart ends the kernel and waits for the next.
func (c *codeContext) restart(ctx context.Context) error {
	c.mu.Lock()
	k := c.kernel
	var doomed []*execution
	if k != nil {
		c.ending = nameRestarted
		c.rushLocked()
		doomed = c.dropLocked()
	}
	c.mu.Unlock()
	if k != nil {
		k.Kill()
	}
	abort(doomed)
	return c.awaitUp(ctx, k)
}

// rotate makes the kernel as good as new. One that has run nothing, and stays
// the same user's, needs only the environment and new seeds.
func (c *codeContext) rotate(ctx context.Context, env map[string]string) error {
	if err := c.awaitUp(ctx, nil); err != nil {
		return err
	}
	cfg, err := c.svc.cfg.command(c.dir, c.env)
	if err != nil {
		return err
	}
	c.mu.Lock()
	k, fresh := c.kernel, !c.ran && reflect.DeepEqual(c.config.Sys, cfg.Sys)
	c.mu.Unlock()
	if k == nil || !fresh {
		return c.restart(ctx)
	}
	all := map[string]string{}
	for _, pair := range cfg.Env {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	maps.Copy(all, env)
	if err := k.Setup(ctx, all, cfg.Dir); err != nil {
		return c.restart(ctx)
	}
	c.modify(func() { c.config = cfg })
	return nil
}

// destroy ends the context for good.
func (c *codeContext) destroy() {
	c.modify(func() {
		c.ended, c.ending = true, nameDestroyed
		c.rushLocked()
		if c.cancel != nil {
			c.cancel()
		}
	})
}
