package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// startCloud starts the local cloud of r with faults, where the engine finds
// it. setFaults changes them.
func (r *engineRig) startCloud(t testing.TB, faults string) {
	t.Helper()
	for _, dir := range []string{"run", "state"} {
		if err := os.MkdirAll(filepath.Join(r.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.setFaults(t, faults)
	cmd := r.command("cloud", "--socket", filepath.Join(r.home, "run", "cloud.sock"), "--data", filepath.Join(r.home, "state", "cloud"),
		"--json", "--faults", filepath.Join(r.home, "faults.json"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadBytes('\n'); err != nil {
		t.Fatalf("the cloud said nothing: %v", err)
	}
	go cmd.Wait()
}

func (r *engineRig) setFaults(t testing.TB, faults string) {
	t.Helper()
	path := filepath.Join(r.home, "faults.json")
	if err := os.WriteFile(path+".new", []byte(faults), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// enginePID is the process of the engine, which must run.
func (r *engineRig) enginePID(t testing.TB) int {
	t.Helper()
	s, err := r.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.PID
}

// alive are the sandboxes that live, as the cloud has them.
func (r *engineRig) alive(t testing.TB) []sandbox.Sandbox {
	t.Helper()
	list, err := r.client.List(t.Context(), sandbox.ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// ended returns why the sandbox ended, "" while it lives.
func (r *engineRig) ended(t testing.TB, id string) sandbox.EndReason {
	t.Helper()
	list, err := r.client.List(t.Context(), sandbox.ListRequest{Ended: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.ID == id {
			return s.EndReason
		}
	}
	t.Fatalf("%s is in no list", id)
	return ""
}

// TestEngineKilledInACommand kills the engine while a command counts. The
// command runs once and in the same sandbox, and all its output arrives.
func TestEngineKilledInACommand(t *testing.T) {
	r := newEngineRig(t)
	lease, _ := r.hold(t, nil)
	_, exit := r.run(t, lease, "true")
	pid := r.enginePID(t)
	s := &said{}
	killed := false
	again, err := r.client.Exec(t.Context(), shell(lease, `echo $$ >>/tmp/runs; for i in $(seq 20); do echo $i; sleep 0.05; done`), func(o sandbox.Output) error {
		if strings.Contains(string(o.Data), "5\n") && !killed {
			killed = true
			kill9(pid)
		}
		return s.emit(o)
	})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range 20 {
		fmt.Fprintln(&want, i+1)
	}
	if got := s.stdout.String(); got != want.String() {
		t.Errorf("output %q", got)
	}
	if again.Sandbox != exit.Sandbox {
		t.Errorf("it ran in %s, not in %s", again.Sandbox, exit.Sandbox)
	}
	if !slices.Contains(s.notices, sandbox.NoticeAgain) || slices.Contains(s.notices, sandbox.NoticeLost) {
		t.Errorf("notices %v", s.notices)
	}
	if now := r.enginePID(t); now == pid {
		t.Error("it is the same engine")
	}
	if s, _ := r.run(t, lease, "wc -l </tmp/runs"); strings.TrimSpace(s.stdout.String()) != "1" {
		t.Errorf("it ran %s times", s.stdout.String())
	}
}

// TestEngineKilledInACell kills the engine while a cell counts, and stops it in
// order while another does. The cell runs once, and all its output and its
// result arrive.
func TestEngineKilledInACell(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(t *testing.T, r *engineRig, pid int)
	}{
		{"killed", func(_ *testing.T, _ *engineRig, pid int) { kill9(pid) }},
		{"stopped", func(t *testing.T, r *engineRig, _ int) {
			if err := newClientAt(r.home).Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newEngineRig(t)
			lease, _ := r.hold(t, nil)
			_, exit := r.run(t, lease, "true")
			pid := r.enginePID(t)
			s := &said{}
			ended := false
			again, err := r.client.RunCode(t.Context(), sandbox.Cell{
				ID: uuid.NewString(), Target: sandbox.Target{Lease: lease}, Timeout: 10 * time.Minute,
				Code: `import time
with open('/tmp/runs', 'a') as f: print('run', file=f)
for i in range(1, 21):
    print(i, flush=True)
    time.sleep(0.05)
6*7`,
			}, func(o sandbox.Output) error {
				if err := s.emit(o); err != nil {
					return err
				}
				if strings.Contains(s.stdout.String(), "5\n") && !ended {
					ended = true
					tt.end(t, r, pid)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			for i := range 20 {
				fmt.Fprintln(&want, i+1)
			}
			if got := s.stdout.String(); got != want.String() || s.exception != nil {
				t.Errorf("output %q, exception %+v", got, s.exception)
			}
			if len(s.results) != 1 || s.results[0].Data["text/plain"] != "42" || again.Count != 1 || again.Sandbox != exit.Sandbox {
				t.Errorf("results %+v, exit %+v, want 42 of the first cell in %s", s.results, again, exit.Sandbox)
			}
			if !slices.Contains(s.notices, sandbox.NoticeAgain) || slices.Contains(s.notices, sandbox.NoticeLost) {
				t.Errorf("notices %v", s.notices)
			}
			if now := r.enginePID(t); now == pid {
				t.Error("it is the same engine")
			}
			if s, _ := r.run(t, lease, "wc -l </tmp/runs"); strings.TrimSpace(s.stdout.String()) != "1" {
				t.Errorf("it ran %s times", s.stdout.String())
			}
		})
	}
}

// TestEngineCloudKilled kills the cloud while a command runs.
func TestEngineCloudKilled(t *testing.T) {
	r := newEngineRig(t)
	lease, _ := r.hold(t, nil)
	s := &said{}
	killed := false
	_, err := r.client.Exec(t.Context(), shell(lease, "echo on; sleep 60"), func(o sandbox.Output) error {
		if len(o.Data) > 0 && !killed {
			killed = true
			kill9(r.cloudPID())
		}
		return s.emit(o)
	})
	if sandbox.CodeOf(err) != sandbox.Gone {
		t.Errorf("the call in flight: %v, want it to be gone", err)
	}
	next, exit := r.run(t, lease, "echo again")
	if next.stdout.String() != "again\n" || !slices.Contains(next.notices, sandbox.NoticeReplaced) {
		t.Errorf("the next call: %q, notices %v", next.stdout.String(), next.notices)
	}
	if third, exit3 := r.run(t, lease, "true"); len(third.notices) != 1 || exit3.Sandbox != exit.Sandbox {
		t.Errorf("the third: notices %v in %s, not %s", third.notices, exit3.Sandbox, exit.Sandbox)
	}
}

// TestEngineBridgeKilled cuts the stream that holds a lease, as the end of a
// killed bridge does.
func TestEngineBridgeKilled(t *testing.T) {
	t.Parallel()
	r := newEngineRig(t)
	if err := r.launch(); err != nil {
		t.Fatal(err)
	}
	lease, cut := r.holdRaw(t)
	_, exit := r.run(t, lease, "true")
	if why := r.ended(t, exit.Sandbox); why != "" {
		t.Fatalf("it ended: %s", why)
	}
	cut()
	eventually(t, "the sandbox ends", func() bool { return r.ended(t, exit.Sandbox) == sandbox.EndCut })
}

// A moment is how far the making of a sandbox has come.
type moment func(r *engineRig, s sandbox.Sandbox) bool

// The moments at which an engine is killed. Faults keep the cloud waiting there
// for much longer than that takes.
var (
	asked moment = func(r *engineRig, s sandbox.Sandbox) bool {
		// The kind of a record and its key stand side by side in the file.
		text, err := os.ReadFile(filepath.Join(r.home, "state", "ledger.db-wal"))
		return err == nil && strings.Contains(string(text), "box"+s.Key)
	}
	made moment = func(r *engineRig, _ sandbox.Sandbox) bool {
		found, err := filepath.Glob(filepath.Join(r.home, "state", "cloud", "microvms", "*"))
		return err == nil && len(found) > 0
	}
	recorded moment = func(_ *engineRig, s sandbox.Sandbox) bool { return s.ID != "" }
)

// TestR98_EngineKilledInACreate kills the engine at each moment of the making of a
// sandbox. The call gets its answer from the next engine, and when its bridge
// has gone no sandbox is left.
func TestR98_EngineKilledInACreate(t *testing.T) {
	for _, tt := range []struct {
		name, faults string
		at           moment
	}{
		{"before create", `{"rules":[{"operation":"RunMicrovm","count":1,"delay_ms":60000}]}`, asked},
		{"after create before recorded", `{"rules":[{"operation":"RunMicrovm","count":1,"answer_delay_ms":60000}]}`, made},
		{"after recorded", `{"rules":[{"operation":"CreateMicrovmAuthToken","count":1,"delay_ms":60000}]}`, recorded},
	} {
		for _, back := range []bool{true, false} {
			name := tt.name + ", bridge gone"
			if back {
				name = tt.name + ", bridge back"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := newEngineRig(t)
				r.startCloud(t, tt.faults)
				if err := r.launch(); err != nil {
					t.Fatal(err)
				}
				if !back {
					r.createAndDie(t, tt.at)
					if err := r.launch(); err != nil {
						t.Fatal(err)
					}
					eventually(t, "no sandbox is left", func() bool {
						s, err := r.client.Status(t.Context())
						return err == nil && s.Sandboxes == 0 && len(r.alive(t)) == 0
					})
					return
				}
				lease, _ := r.hold(t, nil)
				killed := make(chan struct{})
				go func() {
					defer close(killed)
					r.killAt(t, tt.at)
				}()
				s, exit := r.run(t, lease, "echo made")
				<-killed
				if s.stdout.String() != "made\n" {
					t.Errorf("stdout %q", s.stdout.String())
				}
				list := r.alive(t)
				if len(list) != 1 || list[0].ID != exit.Sandbox || list[0].Orphan {
					t.Errorf("sandboxes %+v, want only %s", list, exit.Sandbox)
				}
			})
		}
	}
}

// killAt kills the engine once the only sandbox is that far.
func (r *engineRig) killAt(t testing.TB, at moment) {
	looker := newClientAt(r.home)
	defer looker.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	status, err := looker.Status(ctx)
	if err != nil {
		t.Error(err)
		return
	}
	for ; ; pause() {
		var snap sandbox.Snapshot
		err := looker.Watch(ctx, func(s sandbox.Snapshot) error {
			snap = s
			return errSeen
		})
		if !errors.Is(err, errSeen) {
			t.Errorf("the engine shows nothing: %v", err)
			return
		}
		if len(snap.Sandboxes) == 0 || !at(r, snap.Sandboxes[0]) {
			continue
		}
		if state := snap.Sandboxes[0].State; state == sandbox.Running {
			t.Errorf("it is too late: the sandbox is %s", state)
		}
		kill9(status.PID)
		return
	}
}

var errSeen = errors.New("seen")

// createAndDie begins to make a sandbox for a bridge that dies together with
// the engine.
func (r *engineRig) createAndDie(t testing.TB, at moment) {
	lease, cut := r.holdRaw(t)
	looker := newClientAt(r.home)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		looker.Exec(ctx, sandbox.Exec{ID: uuid.NewString(), Target: sandbox.Target{Lease: lease}, Args: []string{"true"}}, func(sandbox.Output) error { return nil })
	}()
	r.killAt(t, at)
	cut()
	cancel()
	<-done
}
