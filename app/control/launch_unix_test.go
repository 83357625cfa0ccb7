//go:build unix

package control

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	c := &Client{Path: filepath.Join(dir, "s"), Patience: time.Hour, Launch: func(context.Context) error { return l.start(program) }}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := c.List(ctx, sandbox.ListRequest{})
	if sandbox.CodeOf(err) != sandbox.Unreachable || !strings.HasSuffix(sandbox.Message(err), ": the disk is on fire") {
		t.Errorf("list: %v", err)
	}
}
