//go:build unix

package awsauth_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// tracked is a command that runs script, and a reader that comes to its end when all
// that it started has ended.
func tracked(t *testing.T, script string) (command string, ended func()) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "held")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	began, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		f, err := os.Open(pipe)
		close(began)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if _, err := io.Copy(io.Discard, f); err != nil {
			t.Error(err)
		}
	}()
	wait := func(c chan struct{}, what string) {
		select {
		case <-c:
		case <-time.After(2 * time.Minute):
			t.Fatal(what)
		}
	}
	return "exec 9>" + pipe + "; " + script, func() {
		t.Helper()
		wait(began, "the command did not start")
		wait(gone, "what the command started still runs")
	}
}

// failed is why a command gave nothing.
func failed(t *testing.T, err error, want string) {
	t.Helper()
	e, ok := errors.AsType[*awsauth.ErrConfig](err)
	if !ok || e.Profile != "p" || !strings.Contains(e.Why, want) {
		t.Errorf("error = %v, want %q", err, want)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("%q has what was printed", err)
	}
}

// A command that hangs is ended in time, and its children with it.
func TestCommandThatHangs(t *testing.T) {
	r := newRig(t)
	r.deps.Patience = time.Second
	r.again()
	command, ended := tracked(t, "echo canary; sleep 3000 & sleep 3000; wait")
	p := r.add(awsauth.Profile{Name: "p", Kind: awsauth.KindProcess, Command: command})
	_, err := r.Identity(t.Context(), p)
	failed(t, err, "was not done in time, which is at most 1s, and was ended")
	ended()

	// What goes on behind its back is told as that.
	command, ended = tracked(t, "sleep 3000 & echo '{}'")
	r.deps.Patience = time.Hour
	r.again()
	_, err = r.Identity(t.Context(), r.add(awsauth.Profile{Name: "p", Kind: awsauth.KindProcess, Command: command}))
	failed(t, err, "left something running")
	ended()
}

// Whoever goes takes the command along, and so does the end of the program.
func TestCommandIsCancelled(t *testing.T) {
	for name, cancel := range map[string]func(r *rig, cancel func()){
		"caller":  func(_ *rig, cancel func()) { cancel() },
		"program": func(r *rig, _ func()) { r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			began := filepath.Join(t.TempDir(), "began")
			command, ended := tracked(t, "sleep 3000 & touch "+began+"; wait")
			p := r.add(awsauth.Profile{Name: "p", Kind: awsauth.KindProcess, Command: command})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := make(chan error, 1)
			go func() { done <- r.Login(ctx, p) }()
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
				if _, err := os.Stat(began); err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the command did not start")
				}
			}
			cancel(r, stop)
			if err := <-done; err == nil || errors.As(err, new(*awsauth.ErrConfig)) || !strings.Contains(err.Error(), "was ended") {
				t.Errorf("error = %v, want that it was ended", err)
			}
			ended()
			if name == "program" {
				if _, err := r.Identity(t.Context(), p); err == nil {
					t.Error("a command ran after the end")
				}
			}
		})
	}
}

// What prints without end is ended: its output is not for us to keep.
func TestCommandThatPrintsTooMuch(t *testing.T) {
	r := newRig(t)
	for _, script := range []string{"yes canary", "sleep 3000 & yes canary & wait", "head -c 1048577 /dev/zero"} {
		command, ended := tracked(t, script)
		_, err := r.Identity(t.Context(), r.add(awsauth.Profile{Name: "p", Kind: awsauth.KindProcess, Command: command}))
		failed(t, err, "printed more than 1024 KiB, and was ended")
		ended()
	}
	// What it says besides goes nowhere, however much that is.
	good := `printf '{"Version":1,"AccessKeyId":"AKIAANA","SecretAccessKey":"canary-secret-of-ana"}'`
	p := r.add(awsauth.Profile{Name: "p", Kind: awsauth.KindProcess, Command: "head -c 30000000 /dev/zero >&2; " + good})
	if got := r.who(t, p); got != user {
		t.Errorf("is %s", got)
	}
}
