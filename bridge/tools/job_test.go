package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/sandbox"
)

// A slowMemory tells when its command or cell has said its first words.
type slowMemory struct {
	*memory
	said chan struct{}
}

// slow is an engine whose commands and cells say "start", wait for the gate, say
// "end" and end.
func slow() (m *slowMemory, gate, ended chan struct{}) {
	m = &slowMemory{newMemory(), make(chan struct{})}
	gate, ended = make(chan struct{}), make(chan struct{})
	work := func(ctx context.Context, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		defer close(ended)
		if _, err := says("start\n", "", 0)(emit); err != nil {
			return sandbox.Exit{}, err
		}
		close(m.said)
		select {
		case <-gate:
			return says("end\n", "warn\n", 4)(emit)
		case <-ctx.Done():
			return sandbox.Exit{}, ctx.Err()
		}
	}
	m.run = func(ctx context.Context, _ sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		return work(ctx, emit)
	}
	m.cell = func(ctx context.Context, _ sandbox.Cell, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		exit, err := work(ctx, emit)
		if err == nil {
			exit, err = sandbox.Exit{Count: 3}, emit(shown(true, map[string]string{"text/plain": "done", "image/png": b64("png")}))
		}
		return exit, err
	}
	return m, gate, ended
}

// promote makes a call that the host would lose patience with.
func promote(t *testing.T, m *slowMemory, h *host, clock *clockwork.FakeClock, tool string, a args) result {
	t.Helper()
	_, to := h.begin("tools/call", params(tool, a, nil))
	wait(t, m.said)
	if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(patience)
	return h.result(to)
}

func TestLongCommandBecomesAJob(t *testing.T) {
	m, gate, _ := slow()
	clock := clockwork.NewFakeClock()
	h := connect(t, m.memory, withJobs, withClock(clock))
	r := promote(t, m, h, clock, "run_command", args{"cmd": "x", "timeout": 600})
	id := field[string](t, r.Structured, "job_id")
	if r.IsError || field[*int](t, r.Structured, "exit_code") != nil || field[string](t, r.Structured, "stdout") != "start\n" {
		t.Fatalf("result = %s", r.raw)
	}
	if last := r.Content[len(r.Content)-1].Text; !strings.Contains(last, id) || !strings.Contains(last, "read_output") {
		t.Errorf("the answer does not say how to go on: %s", r.raw)
	}
	r = h.call("read_output", args{"job_id": id, "wait": 0})
	if field[string](t, r.Structured, "status") != "running" || field[string](t, r.Structured, "stdout") != "" {
		t.Errorf("while it runs: %s", r.raw)
	}
	close(gate)
	got := readAll(t, h, id)
	if got.Status != "exited" || got.ExitCode == nil || *got.ExitCode != 4 || got.Stdout != "end\n" || got.Stderr != "warn\n" || got.Result != nil {
		t.Errorf("all of it = %+v", got)
	}
	if n := m.created(); n != 1 || len(m.execs) != 1 {
		t.Errorf("%d sandboxes, %d commands", n, len(m.execs))
	}
}

// readAll reads a job to its end.
func readAll(t *testing.T, h *host, id string) (all readOutputOut) {
	t.Helper()
	after := int64(0)
	for range 1000 {
		r := h.call("read_output", args{"job_id": id, "after": after, "wait": 45})
		var part readOutputOut
		if err := json.Unmarshal(r.Structured, &part); err != nil || r.IsError {
			t.Fatalf("read_output: %s", r.raw)
		}
		all.Status, all.ExitCode, all.Result = part.Status, part.ExitCode, part.Result
		all.Stdout += part.Stdout
		all.Stderr += part.Stderr
		for _, c := range r.Content[1:] {
			all.Next += int64(len(c.Data)) // the images
		}
		if part.Status != jobRunning && !part.Truncated {
			return all
		}
		after = part.Next
	}
	t.Fatal("the job does not end")
	return all
}

func TestLongCellBecomesAJob(t *testing.T) {
	m, gate, _ := slow()
	clock := clockwork.NewFakeClock()
	h := connect(t, m.memory, withJobs, withClock(clock))
	r := promote(t, m, h, clock, "run_code", args{"code": "x"})
	golden := field[jobTold](t, json.RawMessage(`{"told":`+r.text()+`}`), "told")
	if golden.Status != jobRunning || golden.Stdout != "start\n" || golden.JobID == "" {
		t.Fatalf("result = %s", r.raw)
	}
	close(gate)
	got := readAll(t, h, golden.JobID)
	if got.Status != "exited" || got.Result == nil || *got.Result.Text != "done" || *got.Result.Count != 3 || got.ExitCode != nil || got.Stdout != "end\n" {
		t.Errorf("all of it = %+v", got)
	}
	if got.Next == 0 {
		t.Error("the image did not come")
	}
}

// With progress a host does not lose patience, and gets the answer itself.
func TestWithProgressNothingBecomesAJob(t *testing.T) {
	m, gate, _ := slow()
	clock := clockwork.NewFakeClock()
	h := connect(t, m.memory, withJobs, withClock(clock))
	_, to := h.begin("tools/call", params("run_command", args{"cmd": "x"}, 1))
	h.hears("start")
	clock.Advance(2 * patience)
	close(gate)
	if r := h.result(to); field[int](t, r.Structured, "exit_code") != 4 {
		t.Errorf("result = %s", r.raw)
	}
}

func TestStopCommandEndsAPromotedJob(t *testing.T) {
	m, _, ended := slow()
	clock := clockwork.NewFakeClock()
	h := connect(t, m.memory, withJobs, withClock(clock))
	id := field[string](t, promote(t, m, h, clock, "run_command", args{"cmd": "x"}).Structured, "job_id")
	r := h.call("stop_command", args{"job_id": id})
	wait(t, ended)
	if r.IsError || field[string](t, r.Structured, "status") != jobExited {
		t.Errorf("result = %s", r.raw)
	}
	if r := h.call("stop_command", args{"job_id": id}); r.IsError {
		t.Errorf("a second time: %s", r.raw)
	}
}

func TestCleanupEndsPromotedJobs(t *testing.T) {
	m, _, ended := slow()
	clock := clockwork.NewFakeClock()
	t.Run("server", func(t *testing.T) {
		h := connect(t, m.memory, withJobs, withClock(clock))
		promote(t, m, h, clock, "run_command", args{"cmd": "x"})
	})
	wait(t, ended)
}

func TestJobsOfTheEngine(t *testing.T) {
	m, gate, _ := slow()
	h := connect(t, m.memory, withJobs)
	r := h.call("start_command", args{"cmd": "x", "cwd": "/tmp", "timeout": 90})
	id := field[string](t, r.Structured, "job_id")
	if e := m.lastExec(); !e.Job || e.ID != id || e.Dir != "/tmp" || e.Timeout != 90*time.Second {
		t.Errorf("exec = %+v", e)
	}
	if got := field[string](t, r.Structured, "sandbox_id"); got != "microvm-1" {
		t.Errorf("sandbox = %q", got)
	}
	close(gate)
	if got := readAll(t, h, id); got.Stdout != "start\nend\n" || got.Stderr != "warn\n" || *got.ExitCode != 4 {
		t.Errorf("all of it = %+v", got)
	}
	m2, _, _ := slow()
	h = connect(t, m2.memory, withJobs)
	id = field[string](t, h.call("start_command", args{"cmd": "x"}).Structured, "job_id")
	if r := h.call("stop_command", args{"job_id": id}); field[int](t, r.Structured, "exit_code") != 137 {
		t.Errorf("result = %s", r.raw)
	}
	for _, tool := range []string{"read_output", "stop_command"} {
		if got := h.call(tool, args{"job_id": "none"}).code(t); got != "not_found" {
			t.Errorf("%s of none: %s", tool, got)
		}
	}
}

// Much output comes in parts, and none of it is lost.
func TestReadOutputInParts(t *testing.T) {
	m := newMemory()
	chunk := strings.Repeat("0123456789", 3000)
	m.run = func(_ context.Context, _ sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		for range 20 {
			if err := emit(printed(chunk)); err != nil {
				return sandbox.Exit{}, err
			}
		}
		return sandbox.Exit{}, nil
	}
	h := connect(t, m, withJobs)
	id := field[string](t, h.call("start_command", args{"cmd": "x"}).Structured, "job_id")
	if got := readAll(t, h, id); got.Stdout != strings.Repeat(chunk, 20) {
		t.Errorf("%d characters, want %d", len(got.Stdout), 20*len(chunk))
	}
}

func TestLogForgetsTheOldest(t *testing.T) {
	l := &log{changed: make(chan struct{})}
	for range 40 {
		l.add(printed(strings.Repeat("x", 64<<10)))
	}
	if l.size > maxLog {
		t.Errorf("%d bytes are kept, of %d", l.size, maxLog)
	}
	out := l.from(1)
	if out[0].Notice != sandbox.NoticeLost || out[len(out)-1].Seq != 40 {
		t.Errorf("first %+v, last seq %d", out[0].Notice, out[len(out)-1].Seq)
	}
	if got := l.from(41); got != nil {
		t.Errorf("after the last: %d", len(got))
	}
	if got := l.from(40); len(got) != 1 || got[0].Notice != "" {
		t.Errorf("the last = %+v", got)
	}
}
