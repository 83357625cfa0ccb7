package awsauth

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
)

// process returns the provider for a command. It has no terminal: it can't ask.
func (c *chain) process(profile, command string) aws.CredentialsProvider {
	return processSource{profile, processcreds.NewProviderCommand(processcreds.NewCommandBuilderFunc(func(ctx context.Context) (*exec.Cmd, error) {
		shell := []string{"sh", "-c"}
		if runtime.GOOS == "windows" {
			shell = []string{"cmd.exe", "/C"}
		}
		cmd := exec.CommandContext(ctx, shell[0], append(shell[1:], command)...)
		cmd.Stderr = io.Discard
		cmd.WaitDelay = time.Second // for what it started and left running
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "AWS_") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		for k, v := range c.a.deps.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		return cmd, nil
	}))}
}

// processSource keeps what a command printed out of errors: it may hold secrets.
type processSource struct {
	profile string
	*processcreds.Provider
}

func (p processSource) Retrieve(ctx context.Context) (aws.Credentials, error) {
	creds, err := p.Provider.Retrieve(ctx)
	if err == nil {
		return creds, nil
	}
	why := "its credential_process printed no credentials that can be used"
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		why = "its credential_process failed with " + exit.String()
	} else if ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
		why = "its credential_process took too long"
	}
	return creds, &ErrConfig{Profile: p.profile, Why: why}
}
