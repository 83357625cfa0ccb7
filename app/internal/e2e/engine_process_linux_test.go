package e2e

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// output runs our program in r's home, and returns all it printed and its exit
// code.
func (r *engineRig) output(args ...string) (text string, code int) {
	cmd := r.command(args...)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// TestEngineAlone starts many engines at once: one stays, and those that a
// client started say nothing of it.
func TestEngineAlone(t *testing.T) {
	r := newEngineRig(t)
	var work sync.WaitGroup
	for range 5 {
		work.Go(func() {
			if err := r.launch(); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	eventually(t, "one answers", func() bool {
		_, err := r.client.Status(t.Context())
		return err == nil
	})
	pid := r.enginePID(t)
	eventually(t, "the others have ended", func() bool {
		n := 0
		for _, p := range processes(t) {
			if cmdline, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "environ")); err == nil && bytes.Contains(cmdline, []byte("ARENERO_HOME="+r.home+"\x00")) {
				n++
			}
		}
		return n == 1
	})
	if text, code := r.output("engine"); code != 1 || !strings.Contains(text, "running already") || strings.Count(text, "\n") != 1 {
		t.Errorf("a second engine: exit %d, %q", code, text)
	}
	if text, code := r.output("engine", "--started"); code != 0 || text != "" {
		t.Errorf("a second engine for a client: exit %d, %q", code, text)
	}
	if now := r.enginePID(t); now != pid {
		t.Errorf("process %d, was %d", now, pid)
	}
}

// TestEngineStatus asks and stops an engine by the command line.
func TestEngineStatus(t *testing.T) {
	r := newEngineRig(t)
	for _, args := range [][]string{{"engine", "--status"}, {"engine", "--stop"}} {
		if text, code := r.output(args...); code != 1 || !strings.Contains(text, "not running") {
			t.Errorf("%v without an engine: exit %d, %q", args, code, text)
		}
	}
	lease, _ := r.hold(t, nil)
	_, first := r.run(t, lease, "true")
	text, code := r.output("engine", "--status", "--json")
	var status struct {
		PID       int
		Sandboxes int
		Leases    int
		Protocol  int
	}
	if err := json.Unmarshal([]byte(text), &status); err != nil || code != 0 || status.PID != r.enginePID(t) || status.Sandboxes != 1 || status.Leases != 1 || status.Protocol != 1 {
		t.Errorf("status: exit %d, %+v, %q", code, status, text)
	}
	// Its bridge starts the next one, which finds the sandbox.
	if text, code := r.output("engine", "--stop"); code != 0 || text != "" {
		t.Errorf("stop: exit %d, %q", code, text)
	}
	if _, again := r.run(t, lease, "true"); again.Sandbox != first.Sandbox {
		t.Errorf("after a stop the sandbox is %s, not %s", again.Sandbox, first.Sandbox)
	}
}

// TestEngineIdle ends an engine that nobody needs, and none that somebody does.
func TestEngineIdle(t *testing.T) {
	r := newEngineRig(t)
	cmd := r.command("engine", "--idle-exit=3s")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it answers", func() bool {
		_, err := r.client.Status(t.Context())
		return err == nil
	})
	lease, release := r.hold(t, nil)
	if _, exit := r.run(t, lease, "sleep 4"); exit.Code != 0 {
		t.Errorf("exit %+v", exit)
	}
	release()
	r.client.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if len(r.sockets(t)) > 1 { // that of the cloud
		t.Errorf("left behind: %v", r.sockets(t))
	}
}

func (r *engineRig) sockets(t testing.TB) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(r.home, "run", "*.sock"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEnginePlaces starts engines where the socket can't be.
func TestEnginePlaces(t *testing.T) {
	t.Run("a path that is too long", func(t *testing.T) {
		r := newEngineRig(t)
		long := *r
		long.home = filepath.Join(r.home, strings.Repeat("d", 100))
		text, code := long.output("engine")
		if code != 1 || !strings.Contains(text, "ARENERO_HOME") || strings.Count(text, "\n") != 1 {
			t.Errorf("exit %d, %q", code, text)
		}
	})
	t.Run("a file in its place", func(t *testing.T) {
		r := newEngineRig(t)
		path := filepath.Join(r.home, "run", "control.sock")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		text, code := r.output("engine")
		if kept, _ := os.ReadFile(path); code != 1 || !strings.Contains(text, "no socket") || string(kept) != "mine" {
			t.Errorf("exit %d, %q; the file holds %q", code, text, kept)
		}
	})
	t.Run("a damaged journal", func(t *testing.T) {
		r := newEngineRig(t)
		path := filepath.Join(r.home, "state", "fleet.journal")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("rubbish\nmore\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		lease, _ := r.hold(t, nil)
		if s, _ := r.run(t, lease, "echo on"); s.stdout.String() != "on\n" {
			t.Errorf("it said %q", s.stdout.String())
		}
		if kept, err := os.ReadFile(path + ".damaged"); err != nil || string(kept) != "rubbish\nmore\n" {
			t.Errorf("put aside: %q, %v", kept, err)
		}
	})
}

// TestEngineSecrets puts a mark into everything that is said, and looks for it
// in every file that is left.
func TestEngineSecrets(t *testing.T) {
	r := newEngineRig(t)
	mark := "canary" + strings.ReplaceAll(uuid.NewString(), "-", "")
	lease, _ := r.hold(t, func(l *sandbox.Lease) { l.Spec.Env = map[string]string{"MARK": mark} })
	target := sandbox.Target{Lease: lease}
	ignore := func(sandbox.Output) error { return nil }
	if s, _ := r.run(t, lease, "echo $MARK "+mark+"; echo "+mark+" >&2; exit 1"); strings.Count(s.stdout.String(), mark) != 2 {
		t.Errorf("it said %q", s.stdout.String())
	}
	e := shell(lease, "cat")
	e.Stdin, e.Env, e.Dir = true, map[string]string{"X": mark}, "/"
	r.client.Exec(t.Context(), e, func(o sandbox.Output) error {
		if o.Notice == sandbox.NoticeStarted {
			go func() {
				r.client.Input(t.Context(), e.ID, []byte(mark))
				r.client.CloseInput(t.Context(), e.ID)
			}()
		}
		return nil
	})
	e = shell(lease, "true")
	e.Args = []string{"/no/" + mark}
	r.client.Exec(t.Context(), e, ignore)
	e = shell(lease, "true")
	e.Dir = "/no/" + mark
	r.client.Exec(t.Context(), e, ignore)
	r.client.RunCode(t.Context(), sandbox.Cell{ID: uuid.NewString(), Target: target, Code: "raise ValueError('" + mark + "')"}, ignore)
	file := sandbox.FileRequest{Target: target, Path: mark, To: mark + "2"}
	r.client.WriteFile(t.Context(), file, nil, strings.NewReader(mark))
	r.client.ReadFile(t.Context(), sandbox.FileRequest{Target: target, Path: "/no/" + mark}, nil, &bytes.Buffer{})
	r.client.Stat(t.Context(), sandbox.FileRequest{Target: target, Path: "/no/" + mark}, nil)
	r.client.MoveFile(t.Context(), file, nil)
	r.client.RemoveFile(t.Context(), file, nil)
	job := shell(lease, "echo "+mark)
	r.client.StartJob(t.Context(), job, nil)

	err := filepath.WalkDir(r.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(mark)) && filepath.Base(filepath.Dir(path)) != "keys" {
			t.Errorf("%s holds what was said", strings.TrimPrefix(path, r.home))
		}
		info, ierr := d.Info()
		if ierr == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others: %s", strings.TrimPrefix(path, r.home), info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
