package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// TestEngineCalls makes every kind of call to one sandbox.
func TestEngineCalls(t *testing.T) {
	r := newEngineRig(t)
	lease, _ := r.hold(t, nil)
	target := sandbox.Target{Lease: lease}
	_, first := r.run(t, lease, "true")

	t.Run("input", func(t *testing.T) {
		e := shell(lease, "read a; echo got $a; cat; echo end")
		e.Stdin = true
		s := &said{}
		_, err := r.client.Exec(t.Context(), e, func(o sandbox.Output) error {
			if o.Notice == sandbox.NoticeStarted {
				go func() {
					r.client.Input(t.Context(), e.ID, []byte("one\ntwo\n"))
					r.client.CloseInput(t.Context(), e.ID)
				}()
			}
			return s.emit(o)
		})
		if got, want := s.stdout.String(), "got one\ntwo\nend\n"; err != nil || got != want {
			t.Errorf("it said %q, %v; want %q", got, err, want)
		}
	})
	t.Run("terminal", func(t *testing.T) {
		e := sandbox.Exec{ID: uuid.NewString(), Target: target, Size: &sandbox.Size{Columns: 100, Rows: 30}, Timeout: time.Minute}
		var seen strings.Builder
		asked := false
		exit, err := r.client.Exec(t.Context(), e, func(o sandbox.Output) error {
			seen.Write(o.Data)
			if o.Notice == sandbox.NoticeStarted && !asked {
				asked = true
				go func() {
					r.client.Resize(t.Context(), e.ID, sandbox.Size{Columns: 111, Rows: 33})
					r.client.Input(t.Context(), e.ID, []byte("stty size; exit 7\n"))
				}()
			}
			return nil
		})
		if err != nil || exit.Code != 7 || !strings.Contains(seen.String(), "33 111") {
			t.Errorf("exit %+v, %v after %q", exit, err, seen.String())
		}
	})
	t.Run("cancel kills", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := r.client.Exec(ctx, shell(lease, "sleep 987 & sleep 987; wait"), func(o sandbox.Output) error {
			if o.Notice == sandbox.NoticeStarted {
				cancel()
			}
			return nil
		})
		if sandbox.CodeOf(err) != sandbox.Canceled {
			t.Errorf("the call: %v", err)
		}
		eventually(t, "its processes are gone", func() bool {
			s, _ := r.run(t, lease, "ps ax -o args= | grep -c '[s]leep 987'")
			return strings.TrimSpace(s.stdout.String()) == "0"
		})
	})
	t.Run("a failing reader kills", func(t *testing.T) {
		broken := errors.New("broken pipe")
		_, err := r.client.Exec(t.Context(), shell(lease, "echo x; sleep 986"), func(o sandbox.Output) error {
			if len(o.Data) > 0 {
				return broken
			}
			return nil
		})
		if sandbox.CodeOf(err) != sandbox.Internal {
			t.Errorf("the call: %v", err)
		}
		eventually(t, "its processes are gone", func() bool {
			s, _ := r.run(t, lease, "ps ax -o args= | grep -c '[s]leep 986'")
			return strings.TrimSpace(s.stdout.String()) == "0"
		})
	})
	t.Run("timeout", func(t *testing.T) {
		e := shell(lease, "echo a; sleep 60")
		e.Timeout = time.Second
		s := &said{}
		exit, err := r.client.Exec(t.Context(), e, s.emit)
		if err != nil || !exit.TimedOut || s.stdout.String() != "a\n" {
			t.Errorf("exit %+v, %v", exit, err)
		}
	})
	t.Run("a cell is interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := sandbox.Cell{ID: uuid.NewString(), Target: target, Code: "kept = 1\nprint('on', flush=True)\nimport time; time.sleep(600)"}
		_, err := r.client.RunCode(ctx, c, func(o sandbox.Output) error {
			if len(o.Data) > 0 {
				cancel()
			}
			return nil
		})
		if sandbox.CodeOf(err) != sandbox.Canceled {
			t.Errorf("the call: %v", err)
		}
		s := &said{}
		c = sandbox.Cell{ID: uuid.NewString(), Target: target, Code: "kept + 1", Timeout: time.Minute}
		if _, err := r.client.RunCode(t.Context(), c, s.emit); err != nil || len(s.results) != 1 || s.results[0].Data["text/plain"] != "2" {
			t.Errorf("the next cell: %+v, %+v, %v", s.results, s.exception, err)
		}
	})
	t.Run("exceptions are data", func(t *testing.T) {
		s := &said{}
		exit, err := r.client.RunCode(t.Context(), sandbox.Cell{ID: uuid.NewString(), Target: target, Code: "1/0"}, s.emit)
		if err != nil || s.exception == nil || s.exception.Name != "ZeroDivisionError" || exit.Count == 0 {
			t.Errorf("%+v, %+v, %v", exit, s.exception, err)
		}
	})
	t.Run("the same id runs once", func(t *testing.T) {
		e := shell(lease, "echo x >>/tmp/once; echo done")
		for range 2 {
			if _, err := r.client.Exec(t.Context(), e, func(sandbox.Output) error { return nil }); err != nil {
				t.Error(err)
			}
		}
		if s, _ := r.run(t, lease, "wc -l </tmp/once"); strings.TrimSpace(s.stdout.String()) != "1" {
			t.Errorf("it ran %s times", s.stdout.String())
		}
	})
	t.Run("a gigabyte of output", func(t *testing.T) {
		var n int64
		_, err := r.client.Exec(t.Context(), shell(lease, "head -c 1000000000 /dev/zero"), func(o sandbox.Output) error {
			n += int64(len(o.Data))
			return nil
		})
		if err != nil || n < 60<<20 {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
	t.Run("a command that closes its outputs", func(t *testing.T) {
		exit, err := r.client.Exec(t.Context(), shell(lease, "exec >&- 2>&-; sleep 0.2; exit 5"), func(sandbox.Output) error { return nil })
		if err != nil || exit.Code != 5 {
			t.Errorf("exit %+v, %v", exit, err)
		}
	})
	t.Run("no such program", func(t *testing.T) {
		e := shell(lease, "")
		e.Args = []string{"no-such-program"}
		if _, err := r.client.Exec(t.Context(), e, func(sandbox.Output) error { return nil }); sandbox.CodeOf(err) != sandbox.Invalid {
			t.Errorf("error %v", err)
		}
	})
	if _, last := r.run(t, lease, "true"); last.Sandbox != first.Sandbox {
		t.Errorf("the sandbox is %s now, and was %s", last.Sandbox, first.Sandbox)
	}
}

// TestEngineFiles moves files both ways.
func TestEngineFiles(t *testing.T) {
	r := newEngineRig(t)
	lease, _ := r.hold(t, nil)
	at := func(path string) sandbox.FileRequest {
		return sandbox.FileRequest{Target: sandbox.Target{Lease: lease}, Path: path}
	}
	// The first call sends its notices while the file is on its way.
	var notices []sandbox.Notice
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	f, err := r.client.WriteFile(t.Context(), at("dir/big"), func(o sandbox.Output) error {
		notices = append(notices, o.Notice)
		return nil
	}, bytes.NewReader(big))
	if err != nil || f.Size != int64(len(big)) || f.Path != "/home/user/dir/big" || !slices.Equal(notices, []sandbox.Notice{sandbox.NoticeCreating, sandbox.NoticeStarted}) {
		t.Fatalf("write: %+v, %v, notices %v", f, err, notices)
	}
	var got bytes.Buffer
	if n, err := r.client.ReadFile(t.Context(), at("dir/big"), nil, &got); err != nil || n != int64(len(big)) || !bytes.Equal(got.Bytes(), big) {
		t.Errorf("read: %d bytes, %v", n, err)
	}
	if _, err := r.client.WriteFile(t.Context(), at("empty"), nil, strings.NewReader("")); err != nil {
		t.Errorf("write of nothing: %v", err)
	}
	if n, err := r.client.ReadFile(t.Context(), at("empty"), nil, io.Discard); err != nil || n != 0 {
		t.Errorf("read of nothing: %d bytes, %v", n, err)
	}
	if _, err := r.client.MakeDir(t.Context(), at("other"), nil); err != nil {
		t.Error(err)
	}
	move := at("dir/big")
	move.To = "other/moved"
	if f, err := r.client.MoveFile(t.Context(), move, nil); err != nil || f.Path != "/home/user/other/moved" {
		t.Errorf("move: %+v, %v", f, err)
	}
	list := at("/home/user")
	list.Depth = 2
	files, err := r.client.ListFiles(t.Context(), list, nil)
	var names []string
	for _, f := range files {
		names = append(names, string(f.Type)+" "+f.Path)
	}
	if !slices.Contains(names, "file /home/user/other/moved") || !slices.Contains(names, "dir /home/user/dir") || err != nil {
		t.Errorf("list: %v, %v", names, err)
	}
	for _, tt := range []struct {
		path string
		want sandbox.Code
	}{
		{"missing", sandbox.NotFound},
		{"/home/user", sandbox.Invalid},
		{"/dev/null", sandbox.Denied},
		{"/etc/shadow", sandbox.Denied},
	} {
		if _, err := r.client.ReadFile(t.Context(), at(tt.path), nil, io.Discard); sandbox.CodeOf(err) != tt.want {
			t.Errorf("read of %s: %v, want %s", tt.path, err, tt.want)
		}
	}
	all := at("other")
	if err := r.client.RemoveFile(t.Context(), all, nil); err == nil {
		t.Error("a directory with a file in it is removed")
	}
	all.All = true
	if err := r.client.RemoveFile(t.Context(), all, nil); err != nil {
		t.Error(err)
	}
	if _, err := r.client.Stat(t.Context(), at("other"), nil); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("stat of what is removed: %v", err)
	}
}

// TestEngineJobs starts a job, reads it in parts, and stops it; its output
// outlives the engine.
func TestEngineJobs(t *testing.T) {
	r := newEngineRig(t)
	lease, _ := r.hold(t, nil)
	e := shell(lease, "echo one; sleep 0.1; echo two; sleep 900")
	e.Timeout = 0
	job, err := r.client.StartJob(t.Context(), e, nil)
	if err != nil || job.ID != e.ID || job.Exit != nil {
		t.Fatalf("start: %+v, %v", job, err)
	}
	read := func(until string) (text string, next uint64) {
		t.Helper()
		next = 1
		for !strings.HasSuffix(text, until) {
			outs, job, err := r.client.ReadJob(t.Context(), e.ID, next, 10*time.Second)
			if err != nil || job.Exit != nil {
				t.Fatalf("read after %q: %+v, %v", text, job, err)
			}
			for _, o := range outs {
				text += string(o.Data)
			}
			next = job.Next
		}
		return text, next
	}
	text, next := read("two\n")
	if text != "one\ntwo\n" {
		t.Errorf("it said %q", text)
	}
	if outs, _, err := r.client.ReadJob(t.Context(), e.ID, next, 0); err != nil || len(outs) != 0 {
		t.Errorf("nothing new: %v, %v", outs, err)
	}
	kill9(r.enginePID(t))
	if text, _ := read("two\n"); text != "one\ntwo\n" {
		t.Errorf("after the engine's end it said %q", text)
	}
	job, err = r.client.StopJob(t.Context(), e.ID)
	if err != nil || job.Exit == nil || job.Exit.Signal != 9 {
		t.Errorf("stop: %+v, %v", job, err)
	}
	jobs, err := r.client.Jobs(t.Context(), sandbox.Target{Lease: lease})
	if err != nil || len(jobs) != 1 || jobs[0].Exit == nil {
		t.Errorf("jobs: %+v, %v", jobs, err)
	}
	quick := shell(lease, "echo quick; exit 4")
	if _, err := r.client.StartJob(t.Context(), quick, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the quick job ends", func() bool {
		outs, job, err := r.client.ReadJob(t.Context(), quick.ID, 1, time.Second)
		return err == nil && job.Exit != nil && job.Exit.Code == 4 && len(outs) == 1 && string(outs[0].Data) == "quick\n"
	})
}

// TestRX1_EngineManyAtOnce has fifty first calls at once make one sandbox, and a
// hundred bridges each get an answer.
func TestRX1_EngineManyAtOnce(t *testing.T) {
	r := newEngineRig(t)
	lease, _ := r.hold(t, nil)
	var mu sync.Mutex
	ids := map[string]int{}
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			_, exit := r.run(t, lease, "true")
			mu.Lock()
			defer mu.Unlock()
			ids[exit.Sandbox]++
		})
	}
	work.Wait()
	if len(ids) != 1 || len(r.alive(t)) != 1 {
		t.Errorf("%d sandboxes for one lease, the cloud has %d", len(ids), len(r.alive(t)))
	}
	clear(ids)
	for range 100 {
		work.Go(func() {
			lease, release := r.hold(t, nil)
			_, exit := r.run(t, lease, "true")
			release()
			mu.Lock()
			defer mu.Unlock()
			ids[exit.Sandbox]++
		})
	}
	work.Wait()
	if len(ids) != 100 {
		t.Errorf("%d sandboxes for 100 leases", len(ids))
	}
	eventually(t, "they end", func() bool { return len(r.alive(t)) == 1 })
}

// TestEngineSleep suspends a sandbox. A call wakes it, and says so; watching
// does not.
func TestEngineSleep(t *testing.T) {
	r := newEngineRig(t)
	lease, _ := r.hold(t, nil)
	_, exit := r.run(t, lease, "echo state >/tmp/f")
	s, err := r.client.Suspend(t.Context(), exit.Sandbox)
	if err != nil || s.State != sandbox.Suspended {
		t.Fatalf("suspend: %+v, %v", s, err)
	}
	for range 3 {
		if list := r.alive(t); len(list) != 1 || list[0].State != sandbox.Suspended {
			t.Errorf("list %+v", list)
		}
	}
	woken, again := r.run(t, lease, "cat /tmp/f")
	if woken.stdout.String() != "state\n" || again.Sandbox != exit.Sandbox || !slices.Contains(woken.notices, sandbox.NoticeResuming) {
		t.Errorf("after waking: %q in %s, notices %v", woken.stdout.String(), again.Sandbox, woken.notices)
	}
	if _, err := r.client.Suspend(t.Context(), exit.Sandbox); err != nil {
		t.Fatal(err)
	}
	if s, err := r.client.Resume(t.Context(), exit.Sandbox); err != nil || s.State != sandbox.Running {
		t.Errorf("resume: %+v, %v", s, err)
	}
	// In the middle of a command: it goes on where it was.
	suspended := make(chan error, 1)
	out := &said{}
	_, err = r.client.Exec(t.Context(), shell(lease, "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done"), func(o sandbox.Output) error {
		if string(o.Data) == "2\n" {
			go func() {
				_, err := r.client.Suspend(t.Context(), exit.Sandbox)
				suspended <- err
			}()
		}
		return out.emit(o)
	})
	if err != nil || out.stdout.String() != "1\n2\n3\n4\n5\n6\n" {
		t.Errorf("over a suspension: %q, %v", out.stdout.String(), err)
	}
	<-suspended
}

// TestEngineTerminate ends a sandbox behind its lease's back: the next call is
// told, once, and the one after gets a new sandbox and a notice.
func TestEngineTerminate(t *testing.T) {
	r := newEngineRig(t)
	lease, _ := r.hold(t, nil)
	_, exit := r.run(t, lease, "true")
	if err := r.client.Terminate(t.Context(), exit.Sandbox, ""); err != nil {
		t.Fatal(err)
	}
	if why := r.ended(t, exit.Sandbox); why != sandbox.EndAsked {
		t.Errorf("it ended for %q", why)
	}
	ignore := func(sandbox.Output) error { return nil }
	if _, err := r.client.Exec(t.Context(), shell(lease, "true"), ignore); sandbox.CodeOf(err) != sandbox.Gone {
		t.Errorf("the next call: %v", err)
	}
	s, again := r.run(t, lease, "true")
	if again.Sandbox == exit.Sandbox || !slices.Contains(s.notices, sandbox.NoticeReplaced) {
		t.Errorf("the call after: in %s, notices %v", again.Sandbox, s.notices)
	}
	// By the lease itself: it knows.
	if err := r.client.Terminate(t.Context(), again.Sandbox, lease); err != nil {
		t.Fatal(err)
	}
	if s, third := r.run(t, lease, "true"); third.Sandbox == again.Sandbox || slices.Contains(s.notices, sandbox.NoticeReplaced) {
		t.Errorf("after its own wish: in %s, notices %v", third.Sandbox, s.notices)
	}
	if err := r.client.Terminate(t.Context(), "microvm-none", ""); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("of one that is not there: %v", err)
	}
}

// TestEngineCreate makes a sandbox that is no lease's. It outlives everybody,
// and can be told to end earlier but not later.
func TestEngineCreate(t *testing.T) {
	r := newEngineRig(t)
	s, err := r.client.Create(t.Context(), sandbox.Spec{Name: "box", Timeout: 20 * time.Minute})
	if err != nil || s.ID == "" || s.State != sandbox.Running {
		t.Fatalf("create: %+v, %v", s, err)
	}
	out := &said{}
	e := shell("", "echo in")
	e.Target = sandbox.Target{Sandbox: s.ID}
	if exit, err := r.client.Exec(t.Context(), e, out.emit); err != nil || exit.Sandbox != s.ID || out.stdout.String() != "in\n" {
		t.Errorf("exec: %+v, %v", exit, err)
	}
	kill9(r.enginePID(t))
	e.ID = uuid.NewString()
	if _, err := r.client.Exec(t.Context(), e, out.emit); err != nil {
		t.Errorf("exec after the engine's end: %v", err)
	}
	if _, err := r.client.ScheduleRemoval(t.Context(), s.ID, time.Now().Add(time.Hour)); sandbox.CodeOf(err) != sandbox.CannotExtend {
		t.Errorf("later: %v", err)
	}
	if _, err := r.client.ScheduleRemoval(t.Context(), s.ID, time.Now().Add(time.Second)); err != nil {
		t.Errorf("now: %v", err)
	}
	eventually(t, "it ends", func() bool { return r.ended(t, s.ID) == sandbox.EndRemoval })
}

// TestEngineWatch follows a sandbox by snapshots.
func TestEngineWatch(t *testing.T) {
	r := newEngineRig(t)
	lease, _ := r.hold(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var last sandbox.Snapshot
	n := 0
	done := make(chan error, 1)
	go func() {
		done <- r.client.Watch(ctx, func(s sandbox.Snapshot) error {
			mu.Lock()
			defer mu.Unlock()
			if n++; s.Seq < last.Seq {
				t.Errorf("snapshot %d after %d", s.Seq, last.Seq)
			}
			last = s
			return nil
		})
	}()
	see := func(what string, ok func(sandbox.Snapshot) bool) {
		t.Helper()
		eventually(t, what, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return n > 0 && ok(last)
		})
	}
	see("the lease", func(s sandbox.Snapshot) bool {
		return len(s.Leases) == 1 && s.Leases[0].ID == lease && s.Leases[0].Attached && len(s.Sandboxes) == 0
	})
	_, exit := r.run(t, lease, "true")
	see("the sandbox", func(s sandbox.Snapshot) bool {
		return len(s.Sandboxes) == 1 && s.Sandboxes[0].State == sandbox.Running && s.Leases[0].Sandbox == exit.Sandbox && s.Sandboxes[0].Running == 0
	})
	kill9(r.enginePID(t))
	see("the lease again", func(s sandbox.Snapshot) bool {
		return len(s.Leases) == 1 && s.Leases[0].Attached && s.Leases[0].Sandbox == exit.Sandbox
	})
	cancel()
	if err := <-done; sandbox.CodeOf(err) != sandbox.Canceled {
		t.Errorf("the watch ended with %v", err)
	}
}
