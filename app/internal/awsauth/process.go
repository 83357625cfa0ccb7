package awsauth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
)

// maxPrinted is the most that a command may print: credentials have some KiB.
const maxPrinted = 1 << 20

var (
	errTooMuch = errors.New("it printed too much")
	errEnding  = errors.New("the program ends")
)

// process returns the provider for a command. It has no terminal: it can't ask.
func (c *chain) process(profile, command string) aws.CredentialsProvider {
	return processSource{c.a, profile, command}
}

// A processSource gives what a command prints. It keeps that out of errors, since it
// may hold secrets.
type processSource struct {
	a                *Auth
	profile, command string
}

func (p processSource) Retrieve(ctx context.Context) (aws.Credentials, error) {
	if !p.a.begin() {
		return aws.Credentials{}, fmt.Errorf("AWS profile %s: %w", p.profile, errEnding)
	}
	defer p.a.commands.Done()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(p.a.ended, func() { end(errEnding) })()
	ctx, cancel := context.WithTimeout(ctx, p.a.patience())
	defer cancel()
	var cmd *exec.Cmd
	creds, err := processcreds.NewProviderCommand(processcreds.NewCommandBuilderFunc(func(ctx context.Context) (*exec.Cmd, error) {
		cmd = p.build(ctx)
		cmd.Stdout = &limited{left: maxPrinted, over: func() { end(errTooMuch) }}
		return cmd, nil
	}), func(o *processcreds.Options) { o.Timeout = -1 }).Retrieve(ctx)
	if err == nil {
		return creds, nil
	}
	sweep(cmd) // what it started may still run
	why := "its credential_process printed no credentials that can be used"
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTooMuch):
		why = fmt.Sprintf("its credential_process printed more than %d KiB, and was ended", maxPrinted>>10)
	case errors.Is(cause, context.DeadlineExceeded):
		why = fmt.Sprintf("its credential_process was not done in time, which is at most %v, and was ended", p.a.patience())
	case cause != nil:
		return aws.Credentials{}, fmt.Errorf("AWS profile %s: its credential_process was ended: %w", p.profile, cause)
	case failed:
		why = "its credential_process failed with " + exit.String()
	case errors.Is(err, exec.ErrWaitDelay):
		why = "its credential_process left something running that holds its output, which was ended"
	}
	return aws.Credentials{}, &ErrConfig{Profile: p.profile, Why: why}
}

// build is the command, which ends with ctx together with all that it started. What
// it says on its standard error goes nowhere.
func (p processSource) build(ctx context.Context) *exec.Cmd {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd.exe", "/C"}
	}
	cmd := exec.CommandContext(ctx, shell[0], append(shell[1:], p.command)...)
	cmd.SysProcAttr = alone()
	cmd.Cancel = func() error {
		endAll(cmd)
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = time.Second // for what got away, and holds what it prints to
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "AWS_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	for k, v := range p.a.deps.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

// limited takes so many bytes, and calls over at the first one more.
type limited struct {
	left int
	over func()
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.left {
		l.over()
		return 0, errTooMuch
	}
	l.left -= len(b)
	return len(b), nil
}
