package tools

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A memory is an engine whose sandboxes are in memory: one for each lease, made
// by the first call that needs it, with files and no system. It keeps to what
// [Engine] says. What commands and cells do is up to the test.
//
// It takes each request of a call for answered, and tells of the alerts it is
// given.
//
// It differs from the real one in that a sandbox is there as soon as it is asked
// for, and that nothing takes time but what a test makes wait.
type memory struct {
	// run is what commands do, and cell what cells do. They stop when ctx is done.
	run  func(ctx context.Context, e sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error)
	cell func(ctx context.Context, c sandbox.Cell, emit func(sandbox.Output) error) (sandbox.Exit, error)

	mu      sync.Mutex // guards what follows
	fail    error      // what the next call that needs a sandbox fails with, once
	asleep  bool       // the next such call finds the sandbox asleep
	boxes   []*box
	current map[string]*box // by lease
	lost    map[string]string
	execs   []sandbox.Exec
	cells   []sandbox.Cell
	specs   []sandbox.Spec // of Create
	jobs    map[string]*memoryJob
	asked   int              // calls of List
	callers []sandbox.Caller // of each request
	alerts  []sandbox.Event  // that each answer tells of
	replay  string           // of the next sandbox that is made
	quote   sandbox.Quote
	balance sandbox.Balance
	events  []sandbox.Event
	queries []sandbox.EventQuery
	images  []sandbox.Template
}

type box struct {
	sandbox.Sandbox
	files map[string][]byte
	types map[string]sandbox.FileType
}

type memoryJob struct {
	mu     sync.Mutex
	out    []sandbox.Output
	job    sandbox.Job
	cancel context.CancelFunc
	over   chan struct{}
}

func newMemory() *memory {
	return &memory{current: map[string]*box{}, lost: map[string]string{}, jobs: map[string]*memoryJob{}}
}

// answer notes who asks, and tells them of the alerts.
func (m *memory) answer(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if call := sandbox.CallOf(ctx); call != nil {
		m.callers = append(m.callers, call.Next())
		call.Answered(m.alerts)
	}
}

// failing is what the next call fails with, once.
func (m *memory) failing() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.fail
	m.fail = nil
	return err
}

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func (m *memory) makeLocked(spec sandbox.Spec) *box {
	n := len(m.boxes) + 1
	b := &box{files: map[string][]byte{}, types: map[string]sandbox.FileType{}}
	b.Sandbox = sandbox.Sandbox{
		ID: fmt.Sprintf("microvm-%d", n), State: sandbox.Running, Profile: sandbox.ProfileLocal, Name: spec.Name,
		Template: "arn:aws:lambda:us-east-1:000000000000:microvm-image:arenero-local", Version: "1.0",
		StartedAt: start.Add(time.Duration(n) * time.Second), EndsAt: start.Add(time.Hour), Idle: 5 * time.Minute,
	}
	m.boxes = append(m.boxes, b)
	return b
}

// enter finds the sandbox of a call, or makes it.
func (m *memory) enter(ctx context.Context, t sandbox.Target, tell func(sandbox.Output) error) (*box, error) {
	m.answer(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fail; err != nil {
		m.fail = nil
		return nil, err
	}
	if t.Sandbox != "" {
		for _, b := range m.boxes {
			switch {
			case b.ID != t.Sandbox:
			case b.State.Alive():
				return b, nil
			default:
				return nil, gone(b)
			}
		}
		return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no sandbox " + t.Sandbox + " of ours", Details: map[string]any{"sandbox_id": t.Sandbox}}
	}
	b := m.current[t.Lease]
	if b != nil && !b.State.Alive() { // told once
		delete(m.current, t.Lease)
		m.lost[t.Lease] = b.ID
		return nil, gone(b)
	}
	if b == nil {
		b = m.makeLocked(sandbox.Spec{})
		b.Lease = t.Lease
		m.current[t.Lease] = b
		tell(sandbox.Output{Notice: sandbox.NoticeCreating})
	}
	if lost := m.lost[t.Lease]; lost != "" {
		delete(m.lost, t.Lease)
		tell(sandbox.Output{Notice: sandbox.NoticeReplaced, Sandbox: b.ID, Text: lost})
	}
	if m.asleep {
		m.asleep = false
		tell(sandbox.Output{Notice: sandbox.NoticeResuming, Sandbox: b.ID})
	}
	tell(sandbox.Output{Notice: sandbox.NoticeStarted, Sandbox: b.ID})
	return b, nil
}

// created counts the sandboxes there ever were.
func (m *memory) created() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.boxes)
}

// expire ends all sandboxes.
func (m *memory) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.boxes {
		b.State, b.EndReason = sandbox.Terminated, sandbox.EndExpired
	}
}

func (m *memory) failOnce(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

func (m *memory) lastExec() sandbox.Exec {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.execs) == 0 {
		return sandbox.Exec{}
	}
	return m.execs[len(m.execs)-1]
}

func (m *memory) lastCell() sandbox.Cell {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.cells) == 0 {
		return sandbox.Cell{}
	}
	return m.cells[len(m.cells)-1]
}

func (m *memory) Exec(ctx context.Context, e sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	b, err := m.enter(ctx, e.Target, emit)
	if err != nil {
		return sandbox.Exit{}, err
	}
	m.mu.Lock()
	m.execs = append(m.execs, e)
	m.mu.Unlock()
	exit, err := m.run(ctx, e, emit)
	exit.Sandbox = b.ID
	return exit, err
}

func (m *memory) RunCode(ctx context.Context, c sandbox.Cell, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	b, err := m.enter(ctx, c.Target, emit)
	if err != nil {
		return sandbox.Exit{}, err
	}
	m.mu.Lock()
	m.cells = append(m.cells, c)
	m.mu.Unlock()
	exit, err := m.cell(ctx, c, emit)
	exit.Sandbox = b.ID
	return exit, err
}

func (m *memory) StartJob(ctx context.Context, e sandbox.Exec, tell func(sandbox.Output) error) (sandbox.Job, error) {
	b, err := m.enter(ctx, e.Target, tell)
	if err != nil {
		return sandbox.Job{}, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	j := &memoryJob{cancel: cancel, over: make(chan struct{}), job: sandbox.Job{ID: e.ID, Sandbox: b.ID, StartedAt: start, Next: 1}}
	m.mu.Lock()
	m.execs = append(m.execs, e)
	m.jobs[e.ID] = j
	m.mu.Unlock()
	job := j.job
	go func() {
		defer close(j.over)
		exit, err := m.run(ctx, e, func(o sandbox.Output) error {
			j.mu.Lock()
			defer j.mu.Unlock()
			o.Seq = j.job.Next
			j.job.Next++
			j.out = append(j.out, o)
			return nil
		})
		j.mu.Lock()
		defer j.mu.Unlock()
		if ctx.Err() != nil {
			exit, err = sandbox.Exit{Code: 137, Signal: 9}, nil
		}
		if err != nil {
			j.job.Error = sandbox.ToError(err)
			return
		}
		j.job.Exit = &exit
	}()
	return job, nil
}

func (m *memory) job(id string) (*memoryJob, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j := m.jobs[id]; j != nil {
		return j, nil
	}
	return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no job " + id}
}

func (m *memory) ReadJob(ctx context.Context, id string, next uint64, wait time.Duration) ([]sandbox.Output, sandbox.Job, error) {
	m.answer(ctx)
	j, err := m.job(id)
	if err != nil {
		return nil, sandbox.Job{}, err
	}
	if wait > 0 {
		select {
		case <-j.over:
		case <-ctx.Done():
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.out, func(o sandbox.Output) bool { return o.Seq >= next })
	if i < 0 {
		return nil, j.job, nil
	}
	return slices.Clone(j.out[i:]), j.job, nil
}

func (m *memory) StopJob(ctx context.Context, id string) (sandbox.Job, error) {
	m.answer(ctx)
	j, err := m.job(id)
	if err != nil {
		return sandbox.Job{}, err
	}
	j.cancel()
	<-j.over
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.job, nil
}

func absolute(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = "/home/user/" + p
	}
	return path.Clean(p)
}

func (m *memory) Stat(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error) {
	b, err := m.enter(ctx, r.Target, tell)
	if err != nil {
		return sandbox.File{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return b.stat(absolute(r.Path))
}

func (b *box) stat(p string) (sandbox.File, error) {
	f := sandbox.File{Name: path.Base(p), Path: p, Type: sandbox.TypeFile, Size: int64(len(b.files[p])), Modified: start}
	if t, ok := b.types[p]; ok {
		f.Type = t
		return f, nil
	}
	if _, ok := b.files[p]; ok {
		return f, nil
	}
	for have := range b.files {
		if strings.HasPrefix(have, p+"/") || p == "/home/user" {
			f.Type = sandbox.TypeDir
			return f, nil
		}
	}
	return f, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is nothing at " + p}
}

func (m *memory) ListFiles(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) ([]sandbox.File, error) {
	b, err := m.enter(ctx, r.Target, tell)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := absolute(r.Path)
	if _, err := b.stat(dir); err != nil && dir != "/home/user" {
		return nil, err
	}
	found := map[string]bool{}
	all := slices.Collect(maps.Keys(b.files))
	for p := range b.types {
		all = append(all, p)
	}
	for _, p := range all {
		parts := strings.Split(strings.TrimPrefix(p, dir+"/"), "/")
		for i := 1; i <= min(len(parts), r.Depth); i++ {
			if strings.HasPrefix(p, dir+"/") {
				found[dir+"/"+strings.Join(parts[:i], "/")] = true
			}
		}
	}
	var out []sandbox.File
	for _, p := range slices.Sorted(maps.Keys(found)) {
		f, err := b.stat(p)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func (m *memory) ReadFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, w io.Writer) (int64, error) {
	b, err := m.enter(ctx, r.Target, tell)
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	data, ok := b.files[absolute(r.Path)]
	m.mu.Unlock()
	if !ok {
		return 0, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is nothing at " + r.Path}
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{bytes.NewReader(data)}, make([]byte, 1000)) // chunks split characters
	return n, err
}

func (m *memory) WriteFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, content io.Reader) (sandbox.File, error) {
	b, err := m.enter(ctx, r.Target, tell)
	if err != nil {
		return sandbox.File{}, err
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return sandbox.File{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := absolute(r.Path)
	b.files[p] = data
	return b.stat(p)
}

func (m *memory) List(ctx context.Context, r sandbox.ListRequest) ([]sandbox.Sandbox, error) {
	m.answer(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	var out []sandbox.Sandbox
	for _, b := range m.boxes {
		s := b.Sandbox
		s.Current = m.current[r.Lease] == b
		out = append(out, s)
	}
	return out, nil
}

func (m *memory) Get(ctx context.Context, id string) (sandbox.Sandbox, error) {
	m.answer(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.boxes {
		if b.ID == id {
			return b.Sandbox, nil
		}
	}
	return sandbox.Sandbox{}, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no sandbox " + id, Details: map[string]any{"sandbox_id": id}}
}

func (m *memory) Create(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error) {
	m.answer(ctx)
	if err := m.failing(); err != nil {
		return sandbox.Sandbox{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.specs = append(m.specs, s)
	b := m.makeLocked(s).Sandbox
	b.Replay, m.replay = m.replay, ""
	return b, nil
}

func (m *memory) ScheduleRemoval(ctx context.Context, id string, at time.Time) (sandbox.Sandbox, error) {
	b, err := m.Get(ctx, id)
	if err == nil && at.After(b.EndsAt) {
		return b, &sandbox.Error{Code: sandbox.CannotExtend, Msg: "too late", Details: map[string]any{"ends_at": b.EndsAt.Format(time.RFC3339)}}
	}
	b.EndsAt = at
	return b, err
}

func (m *memory) Quote(ctx context.Context, s sandbox.Spec) (sandbox.Quote, error) {
	m.answer(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.specs = append(m.specs, s)
	return m.quote, nil
}

func (m *memory) Balance(ctx context.Context, _ control.BalanceQuery) (sandbox.Balance, error) {
	m.answer(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.balance, nil
}

func (m *memory) Events(ctx context.Context, q sandbox.EventQuery) (sandbox.EventPage, error) {
	m.answer(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queries = append(m.queries, q)
	page := sandbox.EventPage{Events: m.events[:min(len(m.events), q.Limit)]}
	if len(m.events) > q.Limit {
		page.Next = "more"
	}
	return page, nil
}

func (m *memory) Templates(ctx context.Context, _ sandbox.Profile) ([]sandbox.Template, error) {
	m.answer(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.images, nil
}

func (m *memory) become(ctx context.Context, id string, state sandbox.State) (sandbox.Sandbox, error) {
	m.mu.Lock()
	for _, b := range m.boxes {
		if b.ID == id && b.State.Alive() {
			b.State = state
		}
	}
	m.mu.Unlock()
	return m.Get(ctx, id)
}

func (m *memory) Suspend(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return m.become(ctx, id, sandbox.Suspended)
}

func (m *memory) Resume(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return m.become(ctx, id, sandbox.Running)
}

func (m *memory) Terminate(ctx context.Context, id, _ string) error {
	_, err := m.become(ctx, id, sandbox.Terminated)
	return err
}
