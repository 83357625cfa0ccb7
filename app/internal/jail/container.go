package jail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/arenero/arenero/app/internal/jail/link"
)

// A container is a jail made by Docker or Podman. The line runs over its
// standard input and output, so it ends with the program that started it: the
// agent exits when its input ends.
type container struct {
	engine engine
	name   string
	cmd    *exec.Cmd
	line   *link.StreamHost
	last   lastLine
	done   chan struct{} // closed when nothing is left
	exit   Exit          // settled before done is closed

	mu     sync.Mutex
	killed bool

	freezing sync.Mutex // one freeze or thaw at a time; guards frozen
	frozen   bool
}

var _ Jail = (*container)(nil)

// startContainer runs the agent in a container of the engine that spec names,
// or of the first that works.
func startContainer(ctx context.Context, spec Spec) (Jail, error) {
	eng, err := findEngine(ctx, spec.Kind)
	if err != nil {
		return nil, err
	}
	agent, err := filepath.Abs(spec.Agent)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(agent); err != nil {
		return nil, fmt.Errorf("open the agent: %w", err)
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open the agent: %s is not a file", agent)
	}
	spec.Agent = agent
	eng.sweep(ctx)
	c := &container{
		engine: eng,
		name:   fmt.Sprintf("%s%d-%s", containerPrefix, os.Getpid(), spec.ID),
		done:   make(chan struct{}),
	}
	if err := c.run(spec); err != nil {
		return nil, err
	}
	select {
	case <-c.line.Ready():
		return c, nil
	case <-c.done:
		if last := c.last.get(); last != "" {
			return nil, fmt.Errorf("start the container: %s: %s", c.exit.Reason, last)
		}
		return nil, fmt.Errorf("start the container: %s", c.exit.Reason)
	case <-ctx.Done():
		c.Kill()
		return nil, ctx.Err()
	}
}

func (c *container) run(spec Spec) error {
	args, env := c.engine.runArgs(c.name, spec)
	c.cmd = exec.Command(c.engine.path, args...)
	c.cmd.Env = env
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, w, err := os.Pipe()
	if err != nil {
		return err
	}
	errs, we, err := os.Pipe()
	if err != nil {
		out.Close()
		w.Close()
		return err
	}
	c.cmd.Stdout, c.cmd.Stderr = w, we
	err = c.cmd.Start()
	w.Close()
	we.Close()
	if err == nil {
		c.line, err = link.NewStreamHost(pipes{out, in}, spec.Egress)
	}
	if err != nil {
		out.Close()
		errs.Close()
		return fmt.Errorf("start %s: %w", c.engine.kind, err)
	}
	go c.follow(errs, spec)
	return nil
}

// follow waits for the container to end.
func (c *container) follow(errs *os.File, spec Spec) {
	var readers sync.WaitGroup
	readers.Go(func() {
		readLines(errs, func(line string) {
			c.last.set(line)
			if spec.Output != nil {
				spec.Output(line)
			}
		})
	})
	readers.Go(func() { c.line.Serve() }) // its end closes the input, and that ends the agent
	err := c.cmd.Wait()
	c.line.Close()
	readers.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	c.engine.remove(ctx, c.name) // it should have gone by itself
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exit = Exit{Code: c.cmd.ProcessState.ExitCode(), Killed: c.killed}
	switch {
	case c.killed:
		c.exit.Code, c.exit.Reason = 137, "killed"
	case c.exit.Code >= 0:
		c.exit.Reason = fmt.Sprintf("the agent exited with code %d", c.exit.Code)
	default:
		c.exit.Reason = fmt.Sprintf("%s ended: %v", c.engine.kind, err)
	}
	close(c.done)
}

func (c *container) Kind() Kind            { return c.engine.kind }
func (c *container) Done() <-chan struct{} { return c.done }

func (c *container) Exit() Exit {
	select {
	case <-c.done:
		return c.exit
	default:
		return Exit{}
	}
}

func (c *container) Dial(ctx context.Context, port int) (net.Conn, error) {
	conn, err := c.line.Dial(ctx, port)
	if errors.Is(err, link.ErrClosed) {
		return nil, ErrEnded
	}
	return conn, err
}

func (c *container) Freeze(ctx context.Context) error { return c.pause(ctx, true) }
func (c *container) Thaw(ctx context.Context) error   { return c.pause(ctx, false) }

func (c *container) pause(ctx context.Context, on bool) error {
	c.freezing.Lock()
	defer c.freezing.Unlock()
	select {
	case <-c.done:
		return ErrEnded
	default:
	}
	if c.frozen == on {
		return nil
	}
	verb := "unpause"
	if on {
		verb = "pause"
	}
	if _, err := c.engine.command(ctx, verb, c.name); err != nil {
		return err
	}
	c.frozen = on
	return nil
}

func (c *container) Kill() error {
	c.mu.Lock()
	c.killed = true
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	c.freezing.Lock()
	if c.frozen { // some engines can't kill what is paused
		c.engine.command(ctx, "unpause", c.name)
		c.frozen = false
	}
	c.freezing.Unlock()
	c.engine.remove(ctx, c.name)
	c.line.Close()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		c.cmd.Process.Kill()
		<-c.done
		return fmt.Errorf("%s did not end container %s in time", c.engine.kind, c.name)
	}
}

// pipes joins the two directions of the line.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }
