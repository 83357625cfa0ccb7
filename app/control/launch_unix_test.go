//go:build unix

package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/filelock"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/sandbox"
)

// TestLaunchFails has an engine end as it starts: the client says why, and does
// not wait for one till its patience is over.
func TestLaunchFails(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "arenero")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'arenero: the disk is on fire' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := &launcher{}
	c := &Client{Path: filepath.Join(dir, "s"), Patience: time.Hour, Launch: func(context.Context) error { return l.start(program, turn{}) }}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := c.List(ctx, sandbox.ListRequest{})
	if sandbox.CodeOf(err) != sandbox.Unreachable || !strings.HasSuffix(sandbox.Message(err), ": the disk is on fire") {
		t.Errorf("list: %v", err)
	}
}

// TestOneLaunchAtATime has many programs want an engine at once, none of which
// answers yet: one is started, and once it has ended the next.
func TestOneLaunchAtATime(t *testing.T) {
	t.Setenv(paths.Home, t.TempDir())
	dir := t.TempDir()
	program, begun, end := filepath.Join(dir, "arenero"), filepath.Join(dir, "begun"), filepath.Join(dir, "end")
	script := "#!/bin/sh\necho one >>'" + begun + "'\nwhile ! [ -e '" + end + "' ]; do sleep 0.05; done\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	starts := func() int {
		text, _ := os.ReadFile(begun)
		return strings.Count(string(text), "one")
	}
	launch := func() (started bool) {
		turn, err := takeTurn(t.Context())
		if errors.Is(err, filelock.ErrTaken) {
			return false
		}
		if err == nil {
			err = new(launcher).start(program, turn)
		}
		if err != nil {
			t.Fatal(err)
		}
		return true
	}
	eventually := func(what string, is func() bool) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("%s: not within a minute", what)
			}
		}
	}
	for i := range 100 {
		if started := launch(); started != (i == 0) {
			t.Fatalf("launch %d started one: %t", i, started)
		}
	}
	eventually("the first starts", func() bool { return starts() == 1 })
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually("the turn is free again", launch)
	eventually("the second starts", func() bool { return starts() == 2 })
}
