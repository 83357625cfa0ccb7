package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// limit is how long a test waits for what must happen.
const limit = 60 * time.Second

// programs is the folder with the programs under test, as they are installed.
var programs string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "arenero-bridge-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-trimpath", "-o", dir,
		"github.com/arenero/arenero/app/cmd/arenero", "github.com/arenero/arenero/app/cmd/arenero-agent", "github.com/arenero/arenero/bridge/cmd/arenero-bridge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the programs: %v\n%s", err, out)
		return 1
	}
	programs = dir
	return m.Run()
}

// home gives a test its own Arenero, and ends it with the test.
func home(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ar-") // short, for the sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, name := range []string{"engine.log", "cloud.log"} {
				log, _ := os.ReadFile(filepath.Join(dir, "state", "log", name))
				t.Logf("%s:\n%s", name, log)
			}
		}
		stop := exec.Command(filepath.Join(programs, "arenero"), "engine", "--stop")
		stop.Env = []string{"ARENERO_HOME=" + dir}
		stop.Run() // there may be none
		if raw, err := os.ReadFile(filepath.Join(dir, "state", "cloud", "running.json")); err == nil {
			var cloud struct{ PID int }
			if json.Unmarshal(raw, &cloud) == nil && cloud.PID > 1 {
				syscall.Kill(cloud.PID, syscall.SIGTERM)
			}
		}
		eventually(t, "folder "+dir+" removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}

// client looks at the engine of a home, and starts none.
func client(dir string) *control.Client {
	return control.NewClient(filepath.Join(dir, "run", "control.sock"))
}

// sandboxes lists those of a home, with those that have ended.
func sandboxes(t *testing.T, dir string) []sandbox.Sandbox {
	t.Helper()
	all, err := client(dir).List(t.Context(), sandbox.ListRequest{Profile: sandbox.Profile{Name: sandbox.ProfileLocal}, Ended: true})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// eventually waits until what must become true does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after %v: %s", limit, what)
		}
	}
}

// host is an MCP host that has started the bridge.
type host struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr *logBuffer
	ended  chan struct{} // closed when the process is gone

	mu      sync.Mutex // guards what follows
	n       int
	lines   []string // all that it wrote
	waiting map[int]chan reply
	notes   []string // messages of progress
}

type reply struct {
	ID     int
	Method string
	Params struct{ Message string }
	Error  *struct {
		Code    int
		Message string
	}
	Result json.RawMessage
}

type result struct {
	Content []struct{ Type, Text, Data, MIMEType string } // but for the alerts
	Data    map[string]any                                `json:"structuredContent"`
	IsError bool
	Alerts  string `json:"-"` // what the answer ends with: it has nothing to do with the call
}

// UnmarshalJSON tells the alerts from the rest.
func (r *result) UnmarshalJSON(raw []byte) error {
	type plain result
	if err := json.Unmarshal(raw, (*plain)(r)); err != nil {
		return err
	}
	var more struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &more); err != nil {
		return err
	}
	if last := len(r.Content) - 1; more.Meta["arenero/alerts"] != nil && last >= 0 {
		r.Alerts, r.Content = r.Content[last].Text, r.Content[:last]
	}
	return nil
}

func (r result) text() string {
	var all []string
	for _, c := range r.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, "\n")
}

// start starts the bridge with these variables and no others.
func start(t *testing.T, vars map[string]string, args ...string) *host {
	t.Helper()
	cmd := exec.Command(filepath.Join(programs, "arenero-bridge"), args...)
	return startCommand(t, cmd, vars)
}

func startCommand(t *testing.T, cmd *exec.Cmd, vars map[string]string) *host {
	t.Helper()
	h := &host{t: t, cmd: cmd, stderr: &logBuffer{}, ended: make(chan struct{}), waiting: map[int]chan reply{}}
	cmd.Env = []string{}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		cmd.Env = append(cmd.Env, name+"="+vars[name])
	}
	cmd.Stderr = h.stderr
	var err error
	if h.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		h.collect(out)
		cmd.Wait()
		close(h.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-h.ended
	})
	return h
}

func (h *host) collect(out io.Reader) {
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m reply
		bad := json.Unmarshal(line, &m)
		h.mu.Lock()
		h.lines = append(h.lines, string(line))
		if bad == nil && m.Method == "notifications/progress" {
			h.notes = append(h.notes, m.Params.Message)
		}
		if to := h.waiting[m.ID]; bad == nil && to != nil {
			delete(h.waiting, m.ID)
			to <- m
		}
		h.mu.Unlock()
	}
}

func (h *host) begin(method string, params any) <-chan reply {
	h.t.Helper()
	h.mu.Lock()
	h.n++
	id, to := h.n, make(chan reply, 1)
	h.waiting[id] = to
	h.mu.Unlock()
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.in.Write(append(raw, '\n')); err != nil {
		h.t.Fatalf("%v; log: %s", err, h.stderr)
	}
	return to
}

func (h *host) wait(to <-chan reply) reply {
	h.t.Helper()
	select {
	case r := <-to:
		return r
	case <-h.ended:
		h.t.Fatalf("the bridge has ended; log: %s", h.stderr)
	case <-time.After(limit):
		h.t.Fatalf("no answer; log: %s", h.stderr)
	}
	panic("unreachable")
}

// hello is what a host says first.
var hello = map[string]any{
	"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "a-host", "version": "1"},
}

func (h *host) greet() {
	h.t.Helper()
	h.wait(h.begin("initialize", hello))
}

type args map[string]any

func (h *host) call(tool string, a args) result {
	h.t.Helper()
	return h.result(h.begin("tools/call", map[string]any{"name": tool, "arguments": a, "_meta": map[string]any{"progressToken": tool}}))
}

func (h *host) result(to <-chan reply) result {
	h.t.Helper()
	r := h.wait(to)
	if r.Error != nil {
		h.t.Fatalf("protocol error: %+v", r.Error)
	}
	var res result
	if err := json.Unmarshal(r.Result, &res); err != nil {
		h.t.Fatal(err)
	}
	return res
}

// leave closes the input and returns the exit code.
func (h *host) leave() int {
	h.t.Helper()
	h.in.Close()
	return h.exit()
}

func (h *host) exit() int {
	h.t.Helper()
	select {
	case <-h.ended:
	case <-time.After(limit):
		h.t.Fatalf("the bridge does not end; log: %s", h.stderr)
	}
	return h.cmd.ProcessState.ExitCode()
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// refused runs the bridge where it must not start, and returns what it says.
func refused(t *testing.T, program string, vars map[string]string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{}
	for name, value := range vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
		t.Errorf("%v %v: %v, want exit code 2", args, vars, err)
	}
	if stdout.Len() > 0 {
		t.Errorf("%v %v: %q on standard output", args, vars, stdout.String())
	}
	text := stderr.String()
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "arenero-bridge: ") {
		t.Errorf("%v %v: %q, want one line", args, vars, text)
	}
	return text
}
