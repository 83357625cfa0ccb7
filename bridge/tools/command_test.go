package tools

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/sandbox"
)

// commands makes an engine whose commands do what is given.
func commands(do func(emit func(sandbox.Output) error) (sandbox.Exit, error)) *memory {
	m := newMemory()
	m.run = func(_ context.Context, _ sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		return do(emit)
	}
	return m
}

func TestR47_RunsInAShellAsTheUser(t *testing.T) {
	m := commands(says("", "", 0))
	connect(t, m).call("run_command", args{"cmd": "echo 'a b' | wc"})
	e := m.lastExec()
	if want := []string{"/bin/sh", "-c", "echo 'a b' | wc"}; !slices.Equal(e.Args, want) {
		t.Errorf("argv = %q, want %q", e.Args, want)
	}
	if e.User != "" {
		t.Errorf("user = %q, want the sandbox's own", e.User)
	}
}

func TestR48_R49_DefaultsOfRunCommand(t *testing.T) {
	m := commands(says("", "", 0))
	h := connect(t, m)
	for _, tt := range []struct {
		args    args
		timeout time.Duration
		dir     string
	}{
		{args{"cmd": "x"}, time.Minute, ""},
		{args{"cmd": "x", "cwd": nil, "timeout": 3600}, time.Hour, ""},
		{args{"cmd": "x", "cwd": "/tmp", "timeout": 1}, time.Second, "/tmp"},
	} {
		if r := h.call("run_command", tt.args); r.IsError {
			t.Fatalf("%v: %s", tt.args, r.raw)
		}
		if e := m.lastExec(); e.Timeout != tt.timeout || e.Dir != tt.dir {
			t.Errorf("%v: timeout %v in %q, want %v in %q", tt.args, e.Timeout, e.Dir, tt.timeout, tt.dir)
		}
	}
	for _, bad := range []args{{}, {"cmd": 1}, {"cmd": "x", "timeout": 0}, {"cmd": "x", "timeout": 3601}, {"cmd": "x", "cwd": 1}, {"cmd": "x", "shell": "bash"}} {
		if got := h.call("run_command", bad).code(t); got != "invalid_arguments" {
			t.Errorf("%v: code = %q", bad, got)
		}
	}
}

func TestR50_R51_ExitCodesAreData(t *testing.T) {
	for _, code := range []int{0, 3, 127, 137} {
		r := connect(t, commands(says("out\n", "err\n", code))).call("run_command", args{"cmd": "x"})
		if r.IsError {
			t.Fatalf("exit %d is an error: %s", code, r.raw)
		}
		var got commandOut
		if err := json.Unmarshal(r.Structured, &got); err != nil {
			t.Fatal(err)
		}
		if want := (commandOut{"out\n", "err\n", code, false}); got != want {
			t.Errorf("result = %+v, want %+v", got, want)
		}
	}
	r := connect(t, commands(says("ñ\n", "", 3))).call("run_command", args{"cmd": "x"})
	golden(t, "command/exit.json", r.raw)
}

func TestR69_TimeoutOfRunCommand(t *testing.T) {
	m := commands(func(emit func(sandbox.Output) error) (sandbox.Exit, error) {
		_, err := says("half", "", 0)(emit)
		return sandbox.Exit{TimedOut: true, Code: 137, Signal: 9}, err
	})
	r := connect(t, m).call("run_command", args{"cmd": "x", "timeout": 17})
	golden(t, "command/timeout.es.json", r.raw)
	if r.code(t) != "timeout" || !strings.Contains(r.text(), "17 s") {
		t.Errorf("result = %s", r.raw)
	}
	if r := connect(t, m).call("run_command", args{"cmd": "x"}); !strings.Contains(r.text(), "60 s") {
		t.Errorf("result = %s", r.raw)
	}
}

func TestR41_R100_OutputOfCommandsIsCut(t *testing.T) {
	r := connect(t, commands(says(strings.Repeat("x", maxChars+1), strings.Repeat("y", maxChars), 0))).call("run_command", args{"cmd": "x"})
	out, err := field[string](t, r.Structured, "stdout"), field[string](t, r.Structured, "stderr")
	if !strings.Contains(out, "\n… [1 caracteres más; ") || len(err) != maxChars {
		t.Errorf("stdout ends with %q, stderr has %d", lastChars(out, 100), len(err))
	}
	if !field[bool](t, r.Structured, "truncated") {
		t.Error("not marked as truncated")
	}
}

// A sandbox that can't keep the output is no reason to fail.
func TestOutputThatCannotBeKept(t *testing.T) {
	m := newMemory()
	m.run = func(_ context.Context, _ sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		m.failOnce(&sandbox.Error{Code: sandbox.DiskFull, Msg: "no space"})
		return says(strings.Repeat("x", maxChars+1), "", 0)(emit)
	}
	r := connect(t, m).call("run_command", args{"cmd": "x"})
	if out := field[string](t, r.Structured, "stdout"); !strings.HasSuffix(out, "\n… [1 caracteres más]") {
		t.Errorf("stdout ends with %q", lastChars(out, 100))
	}
}

func TestR93_ProgressWhileCreatingAndRunning(t *testing.T) {
	m := newMemory()
	gate := make(chan struct{})
	m.run = func(_ context.Context, _ sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		<-gate
		return says("uno\ndos\nmedia", "", 0)(emit)
	}
	h := connect(t, m)
	_, to := h.begin("tools/call", params("run_command", args{"cmd": "x"}, "p1"))
	h.hears("Creando el sandbox")
	close(gate)
	if r := h.result(to); r.IsError {
		t.Fatal(r.raw)
	}
	h.hears("uno\ndos") // and all of it has come before the result
	m.mu.Lock()
	m.asleep = true
	m.mu.Unlock()
	_, to = h.begin("tools/call", params("run_command", args{"cmd": "x"}, "p2"))
	h.result(to)
	h.hears("Despertando el sandbox")
}

func TestR93_NoProgressUnlessAskedFor(t *testing.T) {
	h := connect(t, commands(says("uno\ndos\n", "", 0)))
	h.call("run_command", args{"cmd": "x"})
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.progress) > 0 {
		t.Errorf("progress = %q", h.progress)
	}
}

// A silent call tells from time to time that it goes on, so that hosts don't
// give up.
func TestProgressOfSilence(t *testing.T) {
	clock := clockwork.NewFakeClock()
	m := newMemory()
	gate := make(chan struct{})
	m.run = func(context.Context, sandbox.Exec, func(sandbox.Output) error) (sandbox.Exit, error) {
		<-gate
		return sandbox.Exit{}, nil
	}
	h := connect(t, m, withClock(clock))
	_, to := h.begin("tools/call", params("run_command", args{"cmd": "x"}, 5))
	h.hears("Creando") // and then the reporter rests
	if err := clock.BlockUntilContext(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	clock.Advance(progressEvery)
	if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(progressAlive)
	h.hears("15 s")
	close(gate)
	h.result(to)
}

// A cancelled call kills its command, and the host hears no more of it.
func TestCancelKills(t *testing.T) {
	m := newMemory()
	begun, killed := make(chan struct{}), make(chan struct{})
	m.run = func(ctx context.Context, _ sandbox.Exec, _ func(sandbox.Output) error) (sandbox.Exit, error) {
		close(begun)
		<-ctx.Done()
		close(killed)
		return sandbox.Exit{}, ctx.Err()
	}
	for _, sets := range [][]Toolset{{Core}, {Core, Jobs}} {
		begun, killed = make(chan struct{}), make(chan struct{})
		h := connect(t, m, func(c *Config) { c.Toolsets = sets })
		id, _ := h.begin("tools/call", params("run_command", args{"cmd": "x"}, nil))
		wait(t, begun)
		h.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
		wait(t, killed)
	}
}

func wait(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(longEnough):
		t.Fatal("it does not happen")
	}
}
