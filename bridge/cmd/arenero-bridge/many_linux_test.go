package main_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

// Hosts start many bridges at once. The first ones find no engine, and still
// one is started.
func TestHundredBridgesAtOnce(t *testing.T) {
	dir := home(t)
	vars := map[string]string{"ARENERO_HOME": dir}
	var hosts []*host
	var answers []<-chan reply
	for range 100 {
		hosts = append(hosts, start(t, vars))
	}
	for _, h := range hosts {
		h.begin("initialize", hello)
		answers = append(answers, h.begin("tools/call", map[string]any{"name": "list_sandboxes"}))
	}
	for i, h := range hosts {
		if r := h.result(answers[i]); r.IsError {
			t.Errorf("list_sandboxes: %+v; log: %s", r, h.stderr)
		}
	}
	for _, h := range hosts {
		if code := h.leave(); code != 0 {
			t.Errorf("exit code %d; log: %s", code, h.stderr)
		}
	}
	if n := len(sandboxes(t, dir)); n != 0 {
		t.Errorf("%d sandboxes", n)
	}
}

// Some hosts start every entry twice. The second bridge costs nothing until it
// is used.
func TestTwoBridgesOfOneConnection(t *testing.T) {
	dir := home(t)
	vars := map[string]string{"ARENERO_HOME": dir}
	one := start(t, vars, "--connection", "c-1")
	one.greet()
	if r := one.call("run_command", args{"cmd": "true"}); r.IsError {
		t.Fatalf("run_command: %+v", r)
	}
	two := start(t, vars, "--connection", "c-1")
	two.greet()
	eventually(t, "the engine knows both bridges, and their host", func() bool {
		shares, named := 0, 0
		for _, l := range snapshot(t, dir).Leases {
			if l.Shares != "" {
				shares++
			}
			if l.Host == "a-host" && l.Connection == "c-1" {
				named++
			}
		}
		return shares == 1 && named == 2
	})
	if n := len(sandboxes(t, dir)); n != 1 {
		t.Errorf("%d sandboxes before the second makes a call, want 1", n)
	}
	two.call("run_command", args{"cmd": "true"})
	if n := len(sandboxes(t, dir)); n != 2 {
		t.Errorf("%d sandboxes after it, want 2", n)
	}
}

// snapshot is all there is to see in the engine of a home.
func snapshot(t *testing.T, dir string) (snap sandbox.Snapshot) {
	t.Helper()
	if err := client(dir).Watch(t.Context(), func(s sandbox.Snapshot) error { snap = s; return errEnough }); err == nil {
		t.Fatal("the engine shows nothing")
	}
	return snap
}

var errEnough = &sandbox.Error{Code: sandbox.Canceled, Msg: "enough"}

// The library knows nothing of clouds, windows and stores, and neither does the
// program that hosts start.
func TestR13_R16_WhatTheBridgeIsMadeOf(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/arenero/arenero/bridge/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"aws-sdk-go", "smithy", "fyne", "systray", "redis", "sqlite", "google.golang.org/grpc", "keyring", "arenero/app/internal/fleet"} {
		if strings.Contains(string(out), part) {
			t.Errorf("the bridge contains %s", part)
		}
	}
	if !strings.Contains(string(out), "github.com/mark3labs/mcp-go/server") {
		t.Error("the bridge does not use the MCP library")
	}
}
