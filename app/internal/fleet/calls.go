package fleet

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/arenero/arenero/app/sandbox"
)

// What ran in a sandbox is kept for those who look at it: in memory alone, and
// no longer than the sandbox is in lists.
const (
	maxCalls   = 20   // of a sandbox, those that run aside
	maxText    = 2000 // characters of a command or of code
	maxName    = 100  // characters of the name of an exception
	maxSaid    = 8 << 10
	maxAllSaid = 64 << 10 // of all calls of a sandbox
	// While somebody looks there is more room, so that they miss nothing that is
	// said faster than they read it.
	maxLive    = 256 << 10
	maxAllLive = 1 << 20
	// Many sandboxes may end within what an ended one stays in lists.
	maxAllEnded = 8 << 20 // of all that have ended
)

// A callLog is what ran in one sandbox lately.
type callLog struct {
	mu        sync.Mutex    // guards what follows, and all of its calls
	id        string        // of the sandbox
	calls     []*loggedCall // the oldest first
	begun     uint64        // calls so far
	size      int           // bytes of all buffers
	closed    bool          // the sandbox has ended
	followers map[*callFollower]bool
}

// A loggedCall is one of them.
type loggedCall struct {
	log     *callLog
	number  uint64
	first   sandbox.CallNews // that it began
	said    tail
	over    bool
	exit    *sandbox.Exit
	raised  string // the exception that ended it
	failed  *sandbox.Error
	endedAt time.Time
}

// A callFollower is somebody who looks.
type callFollower struct {
	wake chan struct{}
	next uint64                // number of the first call that was not told of
	open map[*loggedCall]int64 // those whose end was not told, and how much of what they said was
}

// What is told of a call when it begins.
type callHead struct{ kind, text string }

// headOf is what is told of a command.
func headOf(e sandbox.Exec) callHead {
	h := callHead{sandbox.CallCommand, commandText(e.Args)}
	if e.Job {
		h.kind = sandbox.CallJob
	}
	return h
}

// commandText is a command line for people: of a shell that was given a script,
// the script.
func commandText(args []string) string {
	if len(args) == 3 && (args[1] == "-c" || args[1] == "-lc") && strings.HasSuffix(path.Base(args[0]), "sh") {
		return cutText(args[2])
	}
	var b strings.Builder
	for i, a := range args {
		if b.Len() > maxText*utf8.UTFMax {
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if a != "" && !strings.ContainsAny(a, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			b.WriteString(a)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(a, "'", `'\''`) + "'")
	}
	return cutText(b.String())
}

// cutText is the beginning of a text, in memory of its own.
func cutText(s string) string { return cutTo(s, maxText) }

func cutTo(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return strings.Clone(s[:i])
		}
		n++
	}
	return s
}

// callsLocked is b's log, which is made when it is first needed.
func (b *box) callsLocked() *callLog {
	if b.calls == nil {
		b.calls = &callLog{id: b.ID}
	}
	return b.calls
}

// trackLocked has r's sandbox remember it. f.mu is held.
func (r *run) trackLocked(h callHead) {
	if r.call != nil || r.box == nil || r.box.EndReason != "" {
		return
	}
	host := ""
	if l := r.fleet.leases[r.Lease]; l != nil {
		host = l.Host
	}
	r.call = r.box.callsLocked().begin(sandbox.CallNews{ID: r.ID, Sandbox: r.box.ID, Host: host, Kind: h.kind, Text: h.text, StartedAt: r.StartedAt})
}

// trackAgainLocked is trackLocked for what an earlier engine began, of which
// nothing is known but that.
func (r *run) trackAgainLocked() {
	kind := sandbox.CallCommand
	switch {
	case r.Cell:
		kind = sandbox.CallCode
	case r.Job:
		kind = sandbox.CallJob
	}
	r.trackLocked(callHead{kind: kind})
}

func (l *callLog) begin(first sandbox.CallNews) *loggedCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &loggedCall{log: l, number: l.begun, first: first}
	l.begun++
	if len(l.calls) >= maxCalls {
		if i := slices.IndexFunc(l.calls, func(c *loggedCall) bool { return c.over }); i >= 0 {
			l.forgetLocked(l.calls[i])
			l.calls = slices.Delete(l.calls, i, i+1)
		}
	}
	l.calls = append(l.calls, c)
	l.wakeLocked()
	return c
}

// forgetLocked forgets what c said.
func (l *callLog) forgetLocked(c *loggedCall) {
	l.size -= len(c.said.buf)
	c.said = tail{end: c.said.end}
}

func (l *callLog) wakeLocked() {
	for f := range l.followers {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// hear takes in something that c said. A nil c is one that nobody remembers.
func (c *loggedCall) hear(o sandbox.Output) {
	if c == nil {
		return
	}
	stream, data := o.Stream, o.Data
	switch {
	case o.Result != nil:
		stream, data = sandbox.Stdout, resultText(o.Result)
	case o.Exception != nil:
		stream, data = sandbox.Stderr, exceptionText(o.Exception)
	}
	if len(data) == 0 {
		return
	}
	l := c.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.Exception != nil {
		c.raised = cutTo(o.Exception.Name, maxName)
	}
	each, all := maxSaid, maxAllSaid
	if len(l.followers) > 0 {
		each, all = maxLive, maxAllLive
	}
	before := len(c.said.buf)
	c.said.add(stream, data, each)
	l.size += len(c.said.buf) - before
	l.fitLocked(c, all)
	l.wakeLocked()
}

// fitLocked forgets what the oldest calls said, until the rest fits: first of
// those that are over, and of c never.
func (l *callLog) fitLocked(c *loggedCall, all int) {
	for _, over := range []bool{true, false} {
		for _, old := range l.calls {
			if l.size <= all {
				return
			}
			if old != c && old.over == over {
				l.forgetLocked(old)
			}
		}
	}
}

// end takes in how c ended.
func (c *loggedCall) end(exit sandbox.Exit, err error, at time.Time) {
	if c == nil {
		return
	}
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.over, c.endedAt = true, at
	if err != nil {
		failed := *sandbox.ToError(err)
		failed.Err = nil
		c.failed = &failed
	} else {
		c.exit = &exit
	}
	c.log.wakeLocked()
}

// close ends the log with its sandbox: whoever looks is told of what ends with
// it, and nobody of anything after that.
func (l *callLog) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.wakeLocked()
}

// weight is roughly the memory that l takes.
func (l *callLog) weight() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.size
	for _, c := range l.calls {
		n += len(c.first.Text)
	}
	return n
}

// fitEndedLocked forgets what ran in the sandboxes that ended first, until the
// rest fits. That of b, which has ended just now, stays.
func (f *Fleet) fitEndedLocked(b *box) {
	var ended []*box
	all := 0
	for _, o := range f.boxes {
		if o.EndReason != "" && o.calls != nil {
			all += o.calls.weight()
			ended = append(ended, o)
		}
	}
	slices.SortFunc(ended, func(a, b *box) int { return a.EndedAt.Compare(b.EndedAt) })
	for _, o := range ended {
		if all <= maxAllEnded {
			return
		}
		if o != b {
			all -= o.calls.weight()
			o.calls = nil
		}
	}
}

// resultText is the value of a cell in words.
func resultText(r *sandbox.Result) []byte {
	if text, ok := r.Data["text/plain"]; ok {
		return []byte(text + "\n")
	}
	return []byte("[" + strings.Join(slices.Sorted(maps.Keys(r.Data)), ", ") + "]\n")
}

func exceptionText(e *sandbox.Exception) []byte {
	if len(e.Traceback) > 0 {
		return []byte(strings.TrimSuffix(strings.Join(e.Traceback, "\n"), "\n") + "\n")
	}
	return []byte(e.Name + ": " + e.Value + "\n")
}

// FollowCalls emits what ran in a sandbox lately, and then what does, until the
// sandbox has ended; of one that has, what is still known. Whoever is slow misses some of what is said, and is told so.
func (f *Fleet) FollowCalls(ctx context.Context, id string, emit func(sandbox.CallNews) error) error {
	f.mu.Lock()
	b := f.byIDLocked(id)
	if b == nil {
		f.mu.Unlock()
		return &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no sandbox " + id + " of ours"}
	}
	if b.EndReason != "" && b.calls == nil {
		f.mu.Unlock()
		return nil
	}
	l := b.callsLocked()
	f.mu.Unlock()
	return l.follow(ctx, emit)
}

func (l *callLog) follow(ctx context.Context, emit func(sandbox.CallNews) error) error {
	f := &callFollower{wake: make(chan struct{}, 1), open: map[*loggedCall]int64{}}
	l.mu.Lock()
	if l.followers == nil {
		l.followers = map[*callFollower]bool{}
	}
	l.followers[f] = true
	l.mu.Unlock()
	defer l.leave(f)
	for {
		news, ended := l.news(f)
		for _, n := range news {
			if err := emit(n); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if ended {
			return nil
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave counts a follower out. What there was room for with one is too much
// without.
func (l *callLog) leave(f *callFollower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.followers, f)
	if len(l.followers) > 0 {
		return
	}
	for _, c := range l.calls {
		if len(c.said.buf) > maxSaid {
			l.size -= len(c.said.buf)
			c.said.resize(maxSaid)
			l.size += maxSaid
		}
	}
	l.fitLocked(nil, maxAllSaid)
}

// news is what f was not told yet, and whether there will be no more.
func (l *callLog) news(f *callFollower) (out []sandbox.CallNews, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		if c.number >= f.next {
			f.next = c.number + 1
			f.open[c] = 0
			out = append(out, c.first)
		}
	}
	told := slices.SortedFunc(maps.Keys(f.open), func(a, b *loggedCall) int { return cmp.Compare(a.number, b.number) })
	for _, c := range told {
		out = c.newsLocked(out, f.open[c])
		f.open[c] = c.said.end
		if c.over {
			delete(f.open, c)
		}
	}
	return out, l.closed && len(f.open) == 0
}

// newsLocked adds to out what c said from byte number at on, and how it ended.
func (c *loggedCall) newsLocked(out []sandbox.CallNews, at int64) []sandbox.CallNews {
	said, cut := c.said.since(at)
	if cut && len(said) == 0 {
		said = []chunk{{}}
	}
	for _, s := range said {
		n := sandbox.CallNews{ID: c.first.ID, Sandbox: c.first.Sandbox, Stream: string(s.stream), Data: s.data, Cut: cut}
		if cut { // it may begin in the middle of a character
			for i := 0; i < utf8.UTFMax-1 && len(n.Data) > 0 && !utf8.RuneStart(n.Data[0]); i++ {
				n.Data = n.Data[1:]
			}
		}
		cut = false
		out = append(out, n)
	}
	if c.over {
		out = append(out, sandbox.CallNews{ID: c.first.ID, Sandbox: c.first.Sandbox, Exit: c.exit, Raised: c.raised, Failed: c.failed, EndedAt: c.endedAt})
	}
	return out
}
