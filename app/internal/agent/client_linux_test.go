package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// collect gathers a process's output.
type collect struct {
	out, err bytes.Buffer
	notices  []Notice
	seq      uint64
	pid      uint32
}

func (c *collect) emit(ev ProcessEvent) error {
	c.pid = ev.PID
	switch {
	case ev.Notice != "":
		c.notices = append(c.notices, ev.Notice)
	case ev.Stream == Stderr:
		c.err.Write(ev.Data)
	default:
		c.out.Write(ev.Data)
	}
	if ev.Seq > 0 {
		if ev.Seq != c.seq+1 {
			return fmt.Errorf("seq %d after %d", ev.Seq, c.seq)
		}
		c.seq = ev.Seq
	}
	return nil
}

func script(text string) Command { return Command{Path: "/bin/bash", Args: []string{"-c", text}} }

func TestClientProcess(t *testing.T) {
	r := newClientRig(t, false, nil)
	tests := []struct {
		name     string
		cmd      Command
		out, err string
		want     Exit
		code     Code
	}{
		{"output", script("echo out; echo err >&2; exit 3"), "out\n", "err\n", Exit{Code: 3}, ""},
		{"signal", script("kill -9 $$"), "", "", Exit{Code: 137, Signal: 9}, ""},
		{"environment", Command{Path: "/bin/bash", Args: []string{"-c", "echo $A $PWD"}, Env: map[string]string{"A": "b"}, Dir: "/tmp"}, "b /tmp\n", "", Exit{}, ""},
		{"timeout", Command{Path: "sleep", Args: []string{"60"}, Timeout: 50 * time.Millisecond}, "", "", Exit{Code: 143, Signal: 15, TimedOut: true}, ""},
		{"not there", Command{Path: "no-such-program"}, "", "", Exit{}, CodeNoProgram},
		{"no user", Command{Path: "true", User: "stranger"}, "", "", Exit{}, CodeInvalid},
		{"root", Command{Path: "true", User: "root"}, "", "", Exit{}, CodeDenied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got collect
			exit, err := r.Start(t.Context(), tt.cmd, got.emit)
			if CodeOf(err) != tt.code {
				t.Fatalf("err = %v, want code %q", err, tt.code)
			}
			if err == nil && exit.PID == 0 {
				t.Error("no pid")
			}
			exit.PID = 0
			if exit != tt.want || got.out.String() != tt.out || got.err.String() != tt.err {
				t.Errorf("got %+v, out %q, err %q; want %+v, %q, %q", exit, &got.out, &got.err, tt.want, tt.out, tt.err)
			}
		})
	}
}

func TestClientStdin(t *testing.T) {
	r := newClientRig(t, false, nil)
	var got collect
	cmd := Command{Path: "cat", Stdin: true, Tag: "mine"}
	exit, err := r.Start(t.Context(), cmd, func(ev ProcessEvent) error {
		if ev.Notice == NoticeStarted {
			all, err := r.Processes(t.Context())
			if err != nil || len(all) != 1 || all[0].Tag != "mine" || all[0].PID != ev.PID {
				t.Errorf("processes = %+v, %v", all, err)
			}
			if err := r.SendStdin(t.Context(), ev.PID, []byte("hello")); err != nil {
				return err
			}
			if err := r.CloseStdin(t.Context(), ev.PID); err != nil {
				return err
			}
		}
		return got.emit(ev)
	})
	if err != nil || exit.Code != 0 || got.out.String() != "hello" {
		t.Errorf("cat = %+v, %v, %q", exit, err, &got.out)
	}
	if err := r.Signal(t.Context(), 999999, 9); CodeOf(err) != CodeNotFound {
		t.Errorf("signal to nobody: %v", err)
	}
}

// TestClientCuts takes output over connections that are cut again and again,
// and finds each byte once and in its order.
func TestClientCuts(t *testing.T) {
	r := newClientRig(t, false, nil)
	var seen, cuts atomic.Int64
	r.proxy.set(func(method string, w http.ResponseWriter) http.ResponseWriter {
		if method == "Start" || method == "Connect" {
			if n := cuts.Add(1); n <= 6 { // each time with at least one whole message through
				return &cutter{w, 100_000 + 1009*int(n), past(&seen)}
			}
		}
		return w
	})
	const size = 900_000 // less than the agent keeps
	want := sha256.New()
	for i := range size / 10 {
		fmt.Fprintf(want, "%09d\n", i)
	}
	got, seq := sha256.New(), uint64(0)
	n := 0
	var notices []Notice
	exit, err := r.Start(t.Context(), script(fmt.Sprintf("seq -f %%09.0f 0 %d; exit 7", size/10-1)), func(ev ProcessEvent) error {
		if ev.Notice != "" {
			notices = append(notices, ev.Notice)
			return nil
		}
		if ev.Seq != seq+1 {
			t.Errorf("seq %d after %d", ev.Seq, seq)
		}
		seq = ev.Seq
		n += len(ev.Data)
		seen.Store(int64(n))
		got.Write(ev.Data)
		return nil
	})
	if err != nil || exit.Code != 7 {
		t.Fatalf("exit = %+v, %v, after %d bytes and %d cuts", exit, err, n, cuts.Load())
	}
	if n != size || !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Errorf("got %d bytes, want %d, or others; notices %v", n, size, notices)
	}
	if n := cuts.Load(); n != 7 || !slices.Equal(notices, []Notice{NoticeStarted}) {
		t.Errorf("%d connections, want 7; notices %v", n, notices)
	}
	if r.proxy.count("Start") != 1 {
		t.Errorf("started %d times", r.proxy.count("Start"))
	}
}

// TestClientCutBeforeStart loses the first answer whole: the process is found
// by its tag, or not started again.
func TestClientCutBeforeStart(t *testing.T) {
	r := newClientRig(t, false, nil)
	r.proxy.set(func(method string, w http.ResponseWriter) http.ResponseWriter {
		if method == "Start" {
			return &cutter{w, 0, nil}
		}
		if method == "List" && r.proxy.count("Start") == 2 {
			<-r.s.processes.empty() // the second one is to be over when it is looked for
		}
		return w
	})
	var got collect
	exit, err := r.Start(t.Context(), script("echo before; while [ ! -e go ]; do sleep .01; done; echo after"), func(ev ProcessEvent) error {
		if ev.Seq == 1 {
			os.WriteFile(r.path("go"), nil, 0o644)
		}
		return got.emit(ev)
	})
	if err != nil || exit.Code != 0 || got.out.String() != "before\nafter\n" {
		t.Errorf("exit = %+v, %v, out %q", exit, err, &got.out)
	}
	if _, err := r.Start(t.Context(), script("echo >> ran"), got.emit); CodeOf(err) != CodeUnsure {
		t.Errorf("start of what is over at once = %v, want unsure", err)
	}
	if r.proxy.count("Start") != 2 {
		t.Errorf("started %d times, want 2", r.proxy.count("Start"))
	}
}

// TestClientOutputLost comes back when the ring has forgotten.
func TestClientOutputLost(t *testing.T) {
	r := newClientRig(t, false, nil)
	first := true
	r.proxy.set(func(method string, w http.ResponseWriter) http.ResponseWriter {
		switch {
		case method == "Start":
			return &cutter{w, 5000, nil}
		case method == "Connect" && first:
			first = false
			os.WriteFile(r.path("go"), nil, 0o644)
			eventually(r.proxy.t, "the flood to end", func() bool { _, err := os.Stat(r.path("done")); return err == nil })
		}
		return w
	})
	var notices []Notice
	var out bytes.Buffer
	exit, err := r.Start(t.Context(), script("echo early; while [ ! -e go ]; do sleep .01; done; head -c 9000000 /dev/zero; touch done; exit 6"),
		func(ev ProcessEvent) error {
			if ev.Notice != "" {
				notices = append(notices, ev.Notice)
			}
			out.Write(ev.Data)
			if out.Len() == len("early\n") {
				r.proxy.cut()
			}
			return nil
		})
	if err != nil || exit.Code != 6 {
		t.Fatalf("exit = %+v, %v, notices %v", exit, err, notices)
	}
	if !slices.Contains(notices, NoticeLost) || !strings.HasPrefix(out.String(), "early\n") {
		t.Errorf("notices %v, %d bytes", notices, out.Len())
	}
}

// TestClientSuspend goes through the hooks as the platform does.
func TestClientSuspend(t *testing.T) {
	r := newClientRig(t, false, nil)
	var got collect
	exit, err := r.Start(t.Context(), script("echo one; while [ ! -e go ]; do sleep .01; done; echo two"), func(ev ProcessEvent) error {
		if ev.Seq == 1 {
			r.hook("suspend", "")
			r.proxy.cut()
			r.hook("resume", "")
			os.WriteFile(r.path("go"), nil, 0o644)
		}
		return got.emit(ev)
	})
	if err != nil || exit.Code != 0 || got.out.String() != "one\ntwo\n" {
		t.Errorf("exit = %+v, %v, out %q", exit, err, &got.out)
	}
}

func TestClientGone(t *testing.T) {
	r := newClientRig(t, false, nil)
	var got collect
	_, err := r.Start(t.Context(), script("echo one; sleep 60"), func(ev ProcessEvent) error {
		if ev.Seq == 1 {
			r.life.Store(Gone)
			r.proxy.set(func(_ string, w http.ResponseWriter) http.ResponseWriter { page(w, http.StatusBadGateway); return nil })
			r.proxy.cut()
		}
		return got.emit(ev)
	})
	if CodeOf(err) != CodeGone {
		t.Errorf("err = %v, want gone", err)
	}
}

// TestClientGivesUp reconnects three times to a stream that brings nothing.
func TestClientGivesUp(t *testing.T) {
	r := newClientRig(t, false, nil)
	var got collect
	_, err := r.Start(t.Context(), script("echo one; sleep 60"), func(ev ProcessEvent) error {
		if ev.Seq == 1 {
			r.proxy.set(func(method string, w http.ResponseWriter) http.ResponseWriter {
				if method == "Connect" {
					panic(http.ErrAbortHandler)
				}
				return w
			})
			r.proxy.cut()
		}
		return got.emit(ev)
	})
	if CodeOf(err) != CodeAway || r.proxy.count("Connect") != maxBarren {
		t.Errorf("err = %v after %d reconnections, want away after %d", err, r.proxy.count("Connect"), maxBarren)
	}
}

// TestClientBackground leaves a sleeping sandbox asleep.
func TestClientBackground(t *testing.T) {
	r := newClientRig(t, false, nil)
	var calls int
	cmd := script("echo one; while [ ! -e go ]; do sleep .01; done; echo two")
	cmd.Background = true
	asked := 0
	r.Client.cfg.Life = func(context.Context) (Life, error) {
		if asked++; asked < 5 {
			return Asleep, nil
		}
		if asked == 5 {
			if n := r.proxy.count("Health"); n != calls {
				t.Errorf("a background stream called Health %d times", n-calls)
			}
			os.WriteFile(r.path("go"), nil, 0o644)
		}
		return Awake, nil
	}
	var got collect
	_, err := r.Start(t.Context(), cmd, func(ev ProcessEvent) error {
		if ev.Seq == 1 {
			calls = r.proxy.count("Health")
			r.proxy.cut()
		}
		return got.emit(ev)
	})
	if err != nil || got.out.String() != "one\ntwo\n" || asked < 5 {
		t.Errorf("err %v, out %q, asked %d times", err, &got.out, asked)
	}
}

func TestClientCallback(t *testing.T) {
	r := newClientRig(t, false, nil)
	mine := errors.New("mine")
	if _, err := r.Start(t.Context(), script("echo; sleep 60"), func(ev ProcessEvent) error {
		if ev.Seq == 1 {
			return mine
		}
		return nil
	}); err != mine {
		t.Errorf("err = %v, want the callback's", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := script("echo; sleep 60")
	cmd.KillOnCancel = true
	var pid uint32
	_, err := r.Start(ctx, cmd, func(ev ProcessEvent) error {
		pid = ev.PID
		if ev.Seq == 1 {
			cancel()
		}
		return nil
	})
	if CodeOf(err) != CodeCanceled {
		t.Errorf("err = %v, want cancelled", err)
	}
	eventually(t, "the cancelled process to end", func() bool {
		all, err := r.Processes(t.Context())
		return err == nil && !slices.ContainsFunc(all, func(p Process) bool { return p.PID == pid })
	})
}

func TestClientMaxOutput(t *testing.T) {
	r := newClientRig(t, false, nil)
	cmd := script("head -c 500000 /dev/zero; exit 4")
	cmd.MaxOutput = 100_000
	var n int
	var notices []Notice
	exit, err := r.Start(t.Context(), cmd, func(ev ProcessEvent) error {
		n += len(ev.Data)
		notices = append(notices, ev.Notice)
		return nil
	})
	if err != nil || exit.Code != 4 || n > 100_000 || n < 60_000 || !slices.Contains(notices, NoticeTruncated) {
		t.Errorf("exit %+v, %v, %d bytes, %v", exit, err, n, notices)
	}
}

func TestClientTerminal(t *testing.T) {
	r := newClientRig(t, false, nil)
	var got collect
	exit, err := r.OpenTerminal(t.Context(), Terminal{Shell: "/bin/sh"}, func(ev ProcessEvent) error {
		if ev.Notice == NoticeStarted {
			if err := r.Resize(t.Context(), ev.PID, 100, 40); err != nil {
				return err
			}
			if err := r.Type(t.Context(), ev.PID, []byte("stty size; exit 5\n")); err != nil {
				return err
			}
			return nil
		}
		return got.emit(ev)
	})
	if err != nil || exit.Code != 5 || !strings.Contains(got.out.String(), "40 100") {
		t.Errorf("exit %+v, %v, out %q", exit, err, &got.out)
	}
}
