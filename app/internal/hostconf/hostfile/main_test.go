package hostfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// childEnv has what a copy of the test binary is to do in place of tests.
const childEnv = "HOSTFILE_TEST_CHILD"

// A task is one thing done by a process of its own, which may be killed.
type task struct {
	Do     string // one of the children
	Dir    string // of the store
	Path   string
	Step   string // where it kills itself
	Lock   hostfile.LockKind
	Limit  uint64 // of the size of a file it writes
	Until  string // a file: go on until it exists
	Settle time.Duration
	NoSwap bool // of files at once
}

// An answer is what a child says in the end.
type answer struct {
	Kind   hostfile.Kind
	Err    string
	Result hostfile.Result
	Count  int

	Took, CPU time.Duration
	Sys, Peak int64 // bytes that Go asked for, and the most that the system saw
}

var children = map[string]func(task) (answer, error){
	"change": childChange,
	"undo":   childUndo,
}

func TestMain(m *testing.M) {
	raw := os.Getenv(childEnv)
	if raw == "" {
		os.Exit(m.Run())
	}
	var job task
	if err := json.Unmarshal([]byte(raw), &job); err != nil {
		panic(err)
	}
	a, err := children[job.Do](job)
	if err != nil {
		a.Err = err.Error()
		if e, ok := errors.AsType[*hostfile.Error](err); ok {
			a.Kind = e.Kind
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		panic(err)
	}
}

func (j task) command(t testing.TB) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	raw, err := json.Marshal(j)
	must(t, err)
	cmd := exec.Command(exe)
	// The race detector would have each child linger for a second.
	cmd.Env = append(os.Environ(), childEnv+"="+string(raw), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// run returns what the child says, and false if it was killed.
func (j task) run(t testing.TB, prepare ...func(*exec.Cmd)) (answer, bool) {
	t.Helper()
	cmd := j.command(t)
	for _, p := range prepare {
		p(cmd)
	}
	out, err := cmd.Output()
	if _, killed := errors.AsType[*exec.ExitError](err); killed {
		return answer{}, false
	}
	must(t, err)
	var a answer
	must(t, json.Unmarshal(out, &a))
	a.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return a, true
}

func childChange(j task) (answer, error) {
	s, err := j.open()
	if err != nil {
		return answer{}, err
	}
	r := install(j.Path)
	r.Lock = j.Lock
	res, err := s.Change(context.Background(), r)
	return answer{Result: res}, err
}

func childUndo(j task) (answer, error) {
	s, err := j.open()
	if err != nil {
		return answer{}, err
	}
	res, err := s.Undo(context.Background(), hostfile.UndoRequest{Path: j.Path, Lock: j.Lock})
	return answer{Result: res}, err
}

func (j task) open() (*hostfile.Store, error) {
	if err := limit(j.Limit); err != nil {
		return nil, err
	}
	s, err := hostfile.Open(hostfile.Options{Dir: j.Dir, Settle: j.Settle, Fail: func(step string) {
		if step == j.Step {
			die()
		}
	}})
	if err == nil && j.NoSwap {
		s.WithoutSwap()
	}
	return s, err
}

// place is where our entry is in the files of these tests, which are JSON.
var place = edit.Place{Keys: []string{"mcpServers"}, Name: "arenero"}

func entry(id string) edit.Object {
	return edit.Object{{Key: "command", Value: "/opt/arenero-bridge"}, {Key: "args", Value: []string{"--connection", id}}}
}

// install is the request that a host is connected by.
func install(path string) hostfile.Request { return update(path, "c_one") }

func update(path, id string) hostfile.Request {
	return hostfile.Request{
		Path: path, Owner: "c_one", Host: "testhost", Scope: "user", Grammar: edit.JSON, Place: place,
		Change: func(doc []byte) (edit.Edit, error) { return edit.Set(doc, edit.JSON, place, entry(id)) },
		Verify: func(doc []byte) error { return edit.Check(doc, edit.JSON) },
	}
}

// plain is a change that needs no parser, for files where that would take long.
func plain(path string) hostfile.Request {
	r := install(path)
	r.Verify = nil
	r.Change = func(doc []byte) (edit.Edit, error) {
		return edit.Edit{Patches: edit.Patches{{Offset: int64(len(doc)) / 2, New: []byte("ours")}}, Made: []byte("{}")}, nil
	}
	return r
}

func remove(path string, made []byte) hostfile.Request {
	r := install(path)
	r.Remove = true
	r.Change = func(doc []byte) (edit.Edit, error) {
		ps, err := edit.Delete(doc, edit.JSON, place, made)
		return edit.Edit{Patches: ps}, err
	}
	return r
}

// with is doc with our entry.
func with(t *testing.T, doc string) string {
	t.Helper()
	e, err := edit.Set([]byte(doc), edit.JSON, place, entry("c_one"))
	must(t, err)
	return string(e.Patches.Apply([]byte(doc)))
}

// doc is a file as a user has it.
const doc = `{
    "theme": "dark",  "n": 12345678901234567890,
    "mcpServers": {
        "fs": {"command": "fs", "args": []}
    }
}
`

// A clock that passes at once, and has something happen whenever somebody waits.
type clock struct {
	clockwork.Clock
	waits  int
	onWait func(n int)
}

func (c *clock) After(time.Duration) <-chan time.Time {
	c.waits++
	if c.onWait != nil {
		c.onWait(c.waits)
	}
	ch := make(chan time.Time, 1)
	ch <- c.Now()
	return ch
}

type rig struct {
	*testing.T
	dir   string // the folder of the file
	state string // ours
	path  string
	clock *clock
	fail  func(step string)
	store *hostfile.Store
}

// newRig has a store of which no wait takes time, and a file with content
// unless that is empty.
func newRig(t *testing.T, content string) *rig {
	t.Helper()
	r := &rig{T: t, dir: t.TempDir(), state: filepath.Join(t.TempDir(), "hosts"), clock: &clock{Clock: clockwork.NewRealClock()}}
	r.path = filepath.Join(r.dir, "mcp.json")
	if content != "" {
		r.write(content)
	}
	var err error
	r.store, err = hostfile.Open(hostfile.Options{Dir: r.state, Clock: r.clock, Fail: func(step string) {
		if r.fail != nil {
			r.fail(step)
		}
	}})
	must(t, err)
	return r
}

func openAt(t *testing.T, dir string, c clockwork.Clock) *hostfile.Store {
	t.Helper()
	s, err := hostfile.Open(hostfile.Options{Dir: dir, Clock: c})
	must(t, err)
	return s
}

func (r *rig) write(content string) {
	r.Helper()
	must(r.T, os.WriteFile(r.path, []byte(content), 0o600))
}

func (r *rig) change(req hostfile.Request) hostfile.Result {
	r.Helper()
	res, err := r.store.Change(r.Context(), req)
	must(r.T, err)
	return res
}

func (r *rig) want(content string) {
	r.Helper()
	if got := read(r.T, r.path); got != content {
		r.Errorf("file holds %q, want %q", got, content)
	}
}

// wantNames checks that nothing of ours is left in the folder of the file.
func (r *rig) wantNames(want ...string) {
	r.Helper()
	if got := names(r.T, r.dir); fmt.Sprint(got) != fmt.Sprint(want) {
		r.Errorf("the folder of the file has %q, want %q", got, want)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func wantKind(t *testing.T, err error, kind hostfile.Kind) {
	t.Helper()
	e, ok := errors.AsType[*hostfile.Error](err)
	if !ok || e.Kind != kind {
		t.Fatalf("error = %v, want one of the kind %q", err, kind)
	}
	if e.Msg == "" || e.Hint == "" || !strings.Contains(e.Error(), e.Hint) {
		t.Errorf("%#v does not say what to do", e)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
