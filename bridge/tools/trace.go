package tools

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

const (
	progressEvery = 100 * time.Millisecond // at most; lines in between go together
	progressAlive = 15 * time.Second       // silence before a call says that it goes on
	progressChars = 2000                   // of one message
)

// A trace follows one call: it tells the host how it goes, and keeps what the
// log line at its end says.
type trace struct {
	set *set
	ctx context.Context // of the call, for progress; the call does not outlive it

	begun time.Time
	attrs []slog.Attr

	wake    chan struct{}
	stop    chan struct{}
	stopped chan struct{} // closed when nothing more is sent; nil: nobody asked

	mu      sync.Mutex // guards what follows
	sandbox string
	pending []string // lines and states to tell
	partial string   // of a line
	over    bool     // the call is; what it left running says nothing any more
}

func (s *set) trace(ctx context.Context) *trace {
	tr := &trace{set: s, ctx: ctx, begun: s.Clock.Now()}
	if bridge.WantsProgress(ctx) {
		tr.wake, tr.stop, tr.stopped = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		go tr.report()
	}
	return tr
}

// close sends what is left to tell.
func (tr *trace) close() {
	if tr.stopped != nil {
		close(tr.stop)
		<-tr.stopped
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.over = true
}

// report sends progress until close. A host that reads slowly gets fewer and
// longer messages, and holds nothing up but this.
func (tr *trace) report() {
	defer close(tr.stopped)
	clock := tr.set.Clock
	n := 0.0
	send := func(text string) {
		n++
		bridge.Progress(tr.ctx, n, 0, text)
	}
	alive := clock.NewTimer(progressAlive)
	defer alive.Stop()
	for {
		select {
		case <-tr.wake:
		case <-alive.Chan():
			seconds := int(clock.Since(tr.begun).Seconds())
			send(tr.set.Texts.Get("progress.running", "seconds", itoa(seconds)))
			alive.Reset(progressAlive)
			continue
		case <-tr.stop:
			if text := tr.take(); text != "" {
				send(text)
			}
			return
		}
		if text := tr.take(); text != "" {
			send(text)
			alive.Reset(progressAlive)
		}
		rest := clock.NewTimer(progressEvery)
		select {
		case <-rest.Chan():
		case <-tr.stop:
		}
		rest.Stop()
	}
}

// take returns what is to be told now, the end of it if it is too long.
func (tr *trace) take() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	text := strings.Join(tr.pending, "\n")
	tr.pending = tr.pending[:0]
	return lastChars(text, progressChars)
}

func (tr *trace) tellLocked(lines ...string) {
	tr.pending = append(tr.pending, lines...)
	if over := len(tr.pending) - progressChars; over > 0 { // each has one character at least
		tr.pending = tr.pending[over:]
	}
	select {
	case tr.wake <- struct{}{}:
	default:
	}
}

// stateLocked tells what a call waits for.
func (tr *trace) stateLocked(key string) {
	if tr.stopped != nil {
		tr.tellLocked(tr.set.Texts.Get(key))
	}
}

// output tells the lines of text that are whole.
func (tr *trace) output(text string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.stopped == nil || tr.over {
		return
	}
	text = tr.partial + text
	end := strings.LastIndexAny(text, "\r\n")
	tr.partial = lastChars(text[end+1:], progressChars)
	if end < 0 {
		return
	}
	for line := range strings.FieldsFuncSeq(text[:end], func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			tr.tellLocked(lastChars(line, progressChars))
		}
	}
}

// notice takes in what an engine tells beside output. Notices that a model
// should know of become notes of the answer.
func (tr *trace) notice(o sandbox.Output) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.over {
		return nil
	}
	if o.Sandbox != "" {
		tr.sandbox = o.Sandbox
	}
	tx := tr.set.Texts
	switch o.Notice {
	case sandbox.NoticeCreating:
		tr.stateLocked("progress.creating")
	case sandbox.NoticeResuming:
		tr.stateLocked("progress.resuming")
	case sandbox.NoticeAgain:
		tr.stateLocked("progress.again")
	case sandbox.NoticeReplaced:
		bridge.AddNote(tr.ctx, bridge.Note{Code: "sandbox_replaced", Text: tx.Get("note.replaced", "sandbox", o.Sandbox, "lost", o.Text)})
	case sandbox.NoticeLost:
		bridge.AddNote(tr.ctx, bridge.Note{Code: "output_lost", Text: tx.Get("note.lost")})
	case sandbox.NoticeTruncated:
		bridge.AddNote(tr.ctx, bridge.Note{Code: "output_dropped", Text: tx.Get("note.dropped")})
	}
	return nil
}

// in notes which sandbox the call was in.
func (tr *trace) in(id string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.sandbox = id
}

// add puts something on the line that the log gets.
func (tr *trace) add(attrs ...slog.Attr) { tr.attrs = append(tr.attrs, attrs...) }

// log writes the one line of a call.
func (tr *trace) log(ctx context.Context, tool string, took time.Duration, err error) {
	attrs := []slog.Attr{slog.String("tool", tool), slog.Float64("seconds", took.Seconds())}
	tr.mu.Lock()
	if tr.sandbox != "" {
		attrs = append(attrs, slog.String("sandbox", tr.sandbox))
	}
	tr.mu.Unlock()
	outcome := "ok"
	if err != nil {
		outcome = string(sandbox.Internal)
		if e, ok := errors.AsType[*bridge.Error](err); ok {
			outcome = e.Code
		}
	}
	attrs = append(attrs, slog.String("outcome", outcome))
	tr.set.Log.LogAttrs(ctx, slog.LevelInfo, "call", append(attrs, tr.attrs...)...)
}
