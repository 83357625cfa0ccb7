package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// ServeStdio serves one host over a pair of streams, a message a line, until
// in ends or ctx is done. It then lets the calls in flight end for the grace
// period, cancels the rest, and returns within a second whatever they do.
//
// A host that is gone is no error. See [TakeStdout] for out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l := &loop{
		srv: s, conn: s.newConn(Stdio, "stdio"), stop: stop,
		running: map[string]*request{}, idle: make(chan struct{}, 1),
	}
	l.out = newLineWriter(out, func(err error) {
		s.log.Info("the host does not read any more", "err", err)
		stop() // nothing can be said to it: as good as the end of input
	})
	l.session = newSession(l.conn, l.out)
	if err := s.core.RegisterSession(ctx, l.session); err != nil {
		return err // never: its ID is unique
	}
	defer s.core.UnregisterSession(ctx, l.session.SessionID())

	// Calls outlive ctx by the grace period, and so does the connection.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	go l.session.forward(life)
	l.conn.open(life)

	ended := make(chan error, 1)
	go func() { ended <- l.read(life, in) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	l.drain(orDefault(s.cfg.Grace, grace), end)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// loop is one connection over stdio.
type loop struct {
	srv     *Server
	conn    *Conn
	session *session
	out     *lineWriter
	stop    context.CancelFunc

	greeting chan struct{} // closed when initialize is answered; nil: none came. Of the reader alone.

	mu      sync.Mutex
	running map[string]*request // by ID as written
	unnamed int                 // entries in running that no host can name
	closing bool
	idle    chan struct{} // gets a value when running becomes empty
}

// request is one that has no answer yet.
type request struct {
	id        json.RawMessage
	key       string
	cancel    context.CancelFunc
	stream    bool        // ends only when it is cancelled
	cancelled atomic.Bool // by the host, which then wants no answer
}

// read takes lines until the input ends. It never waits for a call.
func (l *loop) read(ctx context.Context, in io.Reader) error {
	lines := newLineReader(in, orDefault(l.srv.cfg.MaxMessage, maxLine))
	for {
		line, err := lines.next()
		if tooLong, ok := errors.AsType[*longLine](err); ok {
			l.srv.log.Warn("message too long", "limit", lines.limit)
			l.refuse(tooLong.id, &rpcError{Code: mcp.INVALID_REQUEST, Message: tooLong.Error()})
			continue
		}
		if len(line) > 0 {
			l.take(ctx, line)
		}
		if err != nil {
			return err
		}
	}
}

// take routes one message. A request is known by its ID before the next
// message is read, so a cancellation always finds it.
func (l *loop) take(ctx context.Context, line []byte) {
	m, bad := readMessage(line)
	switch {
	case bad != nil:
		if m.ID != nil || m.Method == nil || m.method == "" { // there is no answer to a notification
			l.refuse(m.ID, bad)
		}
	case m.isAnswer():
		// We ask nothing of hosts over stdio.
	case m.ID == nil && m.method == string(mcp.MethodNotificationCancelled):
		l.cancel(m.cancels())
	case m.ID == nil:
		l.pass(ctx, l.session, line)
	default:
		l.serve(ctx, m, line)
	}
}

func (l *loop) serve(ctx context.Context, m *message, line []byte) {
	ctx, cancel := context.WithCancel(ctx)
	r := &request{id: m.ID, key: string(m.ID), cancel: cancel, stream: m.method == string(mcp.MethodSubscriptionsListen)}
	if bad := l.register(r); bad != nil {
		cancel()
		l.refuse(m.ID, bad)
		return
	}
	greeting := l.greeting
	if m.method == string(mcp.MethodInitialize) {
		l.session.handed.Store(true)
		greeted := make(chan struct{})
		l.greeting = greeted
		go func() {
			defer close(greeted)
			l.run(ctx, r, m, line)
		}()
		return
	}
	go func() {
		if greeting != nil { // nothing is answered before it
			<-greeting
		}
		l.run(ctx, r, m, line)
	}()
}

// refuse answers a message that is no request we can serve. Like any answer it
// is written beside the reader, which must see the end of input even if the host
// has stopped reading.
func (l *loop) refuse(id json.RawMessage, bad *rpcError) {
	r := &request{key: l.nameless()}
	if l.register(r) != nil {
		return // too many wait to be written already
	}
	go func() {
		defer l.done(r)
		l.out.write(failureAnswer(id, bad))
	}()
}

// nameless returns a new key for running that no ID looks like.
func (l *loop) nameless() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unnamed++
	return fmt.Sprint("unnamed ", l.unnamed)
}

// release gives the ID of a request free. It goes ahead of the answer: a host
// that has read that may use the ID again, and there is nothing to cancel.
func (l *loop) release(r *request) {
	key := l.nameless()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, r.key)
	r.key = key
	l.running[key] = r
}

func (l *loop) register(r *request) *rpcError {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closing:
		return &rpcError{Code: mcp.INTERNAL_ERROR, Message: "the server is ending"}
	case l.running[r.key] != nil:
		return &rpcError{Code: mcp.INVALID_REQUEST, Message: "there is a request with this id already"}
	case len(l.running) >= maxWaiting:
		return &rpcError{Code: mcp.INTERNAL_ERROR, Message: "too many requests are waiting"}
	}
	l.running[r.key] = r
	return nil
}

// run serves a request and answers it, unless the host has cancelled it.
func (l *loop) run(ctx context.Context, r *request, m *message, line []byte) {
	defer r.cancel()
	defer l.done(r)
	c := &call{conn: l.conn, tool: m.tool, log: l.srv.log, token: m.token, send: func(method string, params any) {
		if !r.cancelled.Load() {
			l.out.write(notification{"2.0", method, params})
		}
	}}
	ctx = withCall(ctx, c)
	line = l.srv.trim(c, m, line)
	if m.tool != "" { // only calls of tools take long
		select {
		case l.conn.calls <- struct{}{}:
			defer func() { <-l.conn.calls }()
		case <-ctx.Done():
		}
	}
	resp, sess := l.handle(ctx, r, line)
	a, ok := answerOf(r.id, resp)
	if c.refused != nil {
		a, ok = failureAnswer(r.id, c.refused), true
	}
	if ok && !r.cancelled.Load() {
		sess.flush()
		l.release(r)
		l.out.write(a)
	}
}

// handle passes a request to the library, and returns the session it was for.
func (l *loop) handle(ctx context.Context, r *request, line []byte) (mcp.JSONRPCMessage, *session) {
	if !r.stream {
		return l.pass(ctx, l.session, line), l.session
	}
	sub := newSubscription(l.session, r.id)
	if err := l.srv.core.RegisterSession(ctx, sub); err == nil { // its ID is unique
		defer l.srv.core.UnregisterSession(ctx, sub.SessionID())
	}
	go sub.forward(ctx)
	return l.pass(ctx, sub, line), &sub.session
}

// pass hands a message to the library.
func (l *loop) pass(ctx context.Context, sess server.ClientSession, line []byte) (resp mcp.JSONRPCMessage) {
	defer func() {
		if v := recover(); v != nil { // no tool's panic comes this far
			l.srv.log.Error("message handler panicked", "err", v, "stack", string(debug.Stack()))
			resp = mcp.JSONRPCError{Error: mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: "internal error"}}
		}
	}()
	return l.srv.core.HandleMessage(l.srv.core.WithContext(ctx, sess), line)
}

// cancel ends a request that the host does not want answered any more.
func (l *loop) cancel(id json.RawMessage) {
	l.mu.Lock()
	r := l.running[string(id)]
	l.mu.Unlock()
	if r == nil {
		return // answered already, or never asked
	}
	r.cancelled.Store(true)
	r.cancel()
}

func (l *loop) done(r *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, r.key)
	if len(l.running) == 0 {
		select {
		case l.idle <- struct{}{}:
		default:
		}
	}
}

// drain lets calls end, cancels what does not, and cleans up. It waits for
// nothing longer than the times it is given: a call may ignore its ctx, and a
// host may have stopped reading.
func (l *loop) drain(grace time.Duration, end context.CancelFunc) {
	l.mu.Lock()
	l.closing = true
	for _, r := range l.running {
		if r.stream {
			r.cancel()
		}
	}
	l.mu.Unlock()
	if !l.wait(grace) {
		end()
		if !l.wait(graceCancel) {
			l.srv.log.Warn("calls do not end", "calls", l.count())
		}
	}
	end()
	ctx, cancel := context.WithTimeout(context.Background(), graceCleanup)
	defer cancel()
	l.conn.close(ctx)
}

// wait waits for the calls to end and says whether they did.
func (l *loop) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	for l.count() > 0 {
		select {
		case <-l.idle:
		case <-t.C:
			return l.count() == 0
		}
	}
	return true
}

func (l *loop) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.running)
}
