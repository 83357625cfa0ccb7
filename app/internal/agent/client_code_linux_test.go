package agent

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// newKernelRig is a clientRig whose agent runs Python, and is ready.
func newKernelRig(t *testing.T) *clientRig {
	t.Helper()
	r := newClientRig(t, false, func(c *Config) { c.NoKernel = false })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := r.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	return r
}

// cellLog gathers what a cell says.
type cellLog struct {
	out, main string
	started   CellStarted
	errors    []string
	notices   []Notice
	seq       uint64
}

func (c *cellLog) emit(ev CellEvent) error {
	if ev.Seq > 0 {
		if ev.Seq != c.seq+1 {
			return fmt.Errorf("seq %d after %d", ev.Seq, c.seq)
		}
		c.seq = ev.Seq
	}
	c.out += ev.Stdout
	if ev.Notice != "" {
		c.notices = append(c.notices, ev.Notice)
	}
	if ev.Started != nil {
		c.started = *ev.Started
	}
	if ev.Result != nil && ev.Result.Main {
		c.main = ev.Result.Data["text/plain"]
	}
	if ev.Error != nil {
		c.errors = append(c.errors, ev.Error.Name)
	}
	return nil
}

func TestClientCode(t *testing.T) {
	r := newKernelRig(t)
	tests := []struct {
		name   string
		cell   Cell
		out    string
		main   string
		errors []string
		code   Code
	}{
		{"value", Cell{Code: "x = 40\nprint('hi')\nx + 2"}, "hi\n", "42", nil, ""},
		{"state", Cell{Code: "x"}, "", "40", nil, ""},
		{"error", Cell{Code: "1/0"}, "", "", []string{"ZeroDivisionError"}, ""},
		{"timeout", Cell{Code: "import time\ntime.sleep(60)", Timeout: 200 * time.Millisecond}, "", "", []string{"KeyboardInterrupt", "ExecutionTimeout"}, ""},
		{"no such context", Cell{Code: "1", Context: "ctx-000000000000"}, "", "", nil, CodeNotFound},
		{"no such language", Cell{Code: "1", Language: "typescript"}, "", "", nil, CodeOld},
		{"both", Cell{Code: "1", Language: "python", Context: "default"}, "", "", nil, CodeInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got cellLog
			_, err := r.Execute(t.Context(), tt.cell, got.emit)
			if CodeOf(err) != tt.code {
				t.Fatalf("err = %v, want code %q", err, tt.code)
			}
			for _, e := range tt.errors {
				if !slices.Contains(got.errors, e) && e != "KeyboardInterrupt" {
					t.Errorf("errors = %v, want %s", got.errors, e)
				}
			}
			if got.out != tt.out || got.main != tt.main || len(tt.errors) == 0 && len(got.errors) > 0 {
				t.Errorf("got %+v, want %q, %q", got, tt.out, tt.main)
			}
		})
	}
}

// TestClientCodeCuts follows a cell over connections that are cut, and a
// suspension, and runs it once.
func TestClientCodeCuts(t *testing.T) {
	r := newKernelRig(t)
	var seen, cuts atomic.Int64
	r.proxy.set(func(method string, w http.ResponseWriter) http.ResponseWriter {
		if method == "Execute" || method == "Reattach" {
			if cuts.Add(1) < 6 {
				return &cutter{w, 40_000, past(&seen)}
			}
		}
		return w
	})
	var got cellLog
	suspended := false
	_, err := r.Execute(t.Context(), Cell{Code: "for i in range(20000): print('%09d' % i)\n'end'"}, func(ev CellEvent) error {
		if !suspended && ev.Stdout != "" {
			suspended = true
			r.hook("suspend", "")
			r.proxy.cut()
			r.hook("resume", "")
		}
		seen.Add(int64(len(ev.Stdout)))
		return got.emit(ev)
	})
	var want strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&want, "%09d\n", i)
	}
	if err != nil || got.out != want.String() || got.main != "'end'" || !slices.Equal(got.notices, []Notice{NoticeStarted}) {
		t.Errorf("err %v, %d bytes, main %q, notices %v, %d cuts", err, len(got.out), got.main, got.notices, cuts.Load())
	}
	if n := r.proxy.count("Execute"); n != 1 {
		t.Errorf("executed %d times", n)
	}
}

func TestClientReattach(t *testing.T) {
	r := newKernelRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var first, second cellLog
	done := make(chan error, 1)
	_, err := r.Execute(ctx, Cell{Code: "import os, time\nprint('a', end='', flush=True)\nwhile not os.path.exists('" + r.path("go") + "'): time.sleep(.01)\nprint('\\nb')"}, func(ev CellEvent) error {
		if ev.Stdout != "" && first.out == "" {
			go func() {
				_, err := r.Reattach(t.Context(), "default", first.started.Execution, ev.Seq+1, func(ev CellEvent) error {
					second.seq = ev.Seq - 1
					return second.emit(ev)
				})
				done <- err
			}()
			if err := os.WriteFile(r.path("go"), nil, 0o644); err != nil {
				return err
			}
		}
		return first.emit(ev)
	})
	if err2 := <-done; err != nil || err2 != nil || first.out != "a\nb\n" || second.out != "\nb\n" {
		t.Errorf("first %q, %v; second %q, %v", first.out, err, second.out, err2)
	}
	if _, err := r.Reattach(t.Context(), "default", "exec-0000000000000000", 1, first.emit); CodeOf(err) != CodeLost {
		t.Errorf("reattach to nothing = %v", err)
	}
}

func TestClientContexts(t *testing.T) {
	r := newKernelRig(t)
	id, err := r.CreateContext(t.Context(), "python", "", map[string]string{"A": "b"})
	if err != nil {
		t.Fatal(err)
	}
	var got cellLog
	if _, err := r.Execute(t.Context(), Cell{Context: id, Code: "import os; os.environ['A']"}, got.emit); err != nil || got.main != "'b'" {
		t.Errorf("in the context: %+v, %v", got, err)
	}
	all, err := r.Contexts(t.Context())
	if err != nil || len(all) != 2 {
		t.Errorf("contexts = %+v, %v", all, err)
	}
	if err := r.RestartContext(t.Context(), id); err != nil {
		t.Error(err)
	}
	if err := r.DestroyContext(t.Context(), id); err != nil {
		t.Error(err)
	}
	if err := r.DestroyContext(t.Context(), "default"); CodeOf(err) != CodeState {
		t.Errorf("destroy of the default context = %v", err)
	}
	if m, err := r.Metrics(t.Context()); err != nil || m.Memory == 0 || m.CPUs == 0 {
		t.Errorf("metrics = %+v, %v", m, err)
	}
	if _, err := r.SetTimeout(t.Context(), time.Minute, true); CodeOf(err) != CodeState {
		t.Errorf("timeout of an unmanaged sandbox = %v", err)
	}
}
