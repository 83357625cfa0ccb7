package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

type execCommand struct {
	asJSON
	Cwd     string        `short:"w" placeholder:"DIR"`
	Env     []string      `short:"e" sep:"none" placeholder:"NAME=VALUE"`
	User    string        `short:"u" placeholder:"USER"`
	Timeout time.Duration `placeholder:"TIME"`
	NoStdin bool          `short:"n"`
	Sandbox string        `arg:"" complete:"sandbox"`
	Args    []string      `arg:"" name:"command" passthrough:""`
}

// Run is "arenero exec".
func (c *execCommand) Run() error {
	e, err := c.exec()
	if err != nil {
		return err
	}
	client, err := need()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	f := newFollower(ctx, client, e.ID, stop)
	defer f.close()
	b, err := find(f.ctx, client, c.Sandbox)
	if err != nil {
		return err
	}
	e.Sandbox = b.ID
	if e.Stdin {
		f.input = os.Stdin
	}
	var got capture
	if c.JSON {
		f.stdout, f.stderr = &got.stdout, &got.stderr
	}
	exit, err := f.run(e)
	if sandbox.CodeOf(err) == sandbox.Invalid { // as that there is no such program
		err = named(e.Args[0], err)
	}
	if err != nil {
		return err
	}
	if exit.TimedOut {
		exit.Code = exitTimeout
	}
	switch {
	case c.JSON:
		if err := writeJSON(os.Stdout, got.result(exit.Code, f.lost)); err != nil {
			return err
		}
	case exit.TimedOut:
		fmt.Fprintln(os.Stderr, say("cli.exec.timeout", "time", c.Timeout.String()))
	}
	if exit.Code != 0 {
		return &exitError{exit.Code}
	}
	return nil
}

func (c *execCommand) exec() (sandbox.Exec, error) {
	env, err := variables(c.Env)
	if err != nil {
		return sandbox.Exec{}, err
	}
	args := c.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	e := sandbox.Exec{
		ID: uuid.NewString(), Args: args, Dir: c.Cwd, Env: env, User: c.User, Timeout: c.Timeout, Stdin: !c.NoStdin,
		Target: sandbox.Target{Sandbox: "to-be-found"},
	}
	if err := e.Validate(); err != nil {
		return e, &usageError{err}
	}
	return e, nil
}

// maxText is how many characters of an output a result for programs has.
const maxText = 100_000

// A capture is what a command said, for a result in one piece.
type capture struct{ stdout, stderr text }

// A result is what the MCP tool run_command answers with.
type result struct {
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  int    `json:"exit_code"`
	Truncated bool   `json:"truncated"`
}

func (c *capture) result(code int, lost bool) result {
	stdout, cut1 := c.stdout.cut()
	stderr, cut2 := c.stderr.cut()
	return result{stdout, stderr, code, cut1 || cut2 || lost}
}

// A text keeps the beginning of what is written to it.
type text struct {
	b    []byte
	more bool
}

// Write keeps what there is room for.
func (t *text) Write(p []byte) (int, error) {
	room := min(len(p), utf8.UTFMax*maxText-len(t.b))
	t.b = append(t.b, p[:room]...)
	t.more = t.more || room < len(p)
	return len(p), nil
}

func (t *text) cut() (string, bool) {
	s := strings.ToValidUTF8(string(t.b), "\uFFFD")
	n := 0
	for i := range s {
		if n == maxText {
			return s[:i], true
		}
		n++
	}
	return s, t.more
}

// isGone reports whether err says that a command has ended already.
func isGone(err error) bool {
	code := sandbox.CodeOf(err)
	return code == sandbox.NotFound || code == sandbox.WrongState
}

// errInput is for when the engine ended while it took input.
func errInput() error {
	return failure("cli.exec.input")
}
