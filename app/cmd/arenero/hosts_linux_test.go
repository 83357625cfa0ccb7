package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// On a terminal the difference is shown in colours, and nothing is written
// without consent.
func TestHostsAskOnATerminal(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	home, env, err := newHome(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(t, dir, home) })
	env = append(env, "HOME="+home, "TERM=xterm", "NO_COLOR=", "ARENERO_LANG=en")
	file := filepath.Join(home, ".cursor", "mcp.json")

	c := newConsole(t, env, dir, "hosts", "install", "cursor", "--force")
	c.expect(`\x1b\[32m\+.*"arenero"`)
	c.expect(`Change .*mcp\.json for Cursor\? \[y/N\] $`)
	c.typeIn("\r")
	c.expect(`Cursor: nothing was changed`)
	if code := c.ends(); code != exitFailed {
		t.Errorf("exit code = %d", code)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file: %v", err)
	}

	c = newConsole(t, append(env, "NO_COLOR=1"), dir, "hosts", "install", "cursor", "--force")
	c.expect(`\r\n\+.*"arenero"`)
	c.expect(`\[y/N\] $`)
	c.typeIn("y\r")
	c.expect(`Cursor has our tools now`)
	if code := c.ends(); code != 0 {
		t.Errorf("exit code = %d", code)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
