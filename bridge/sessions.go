package bridge

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// sessions are those of one handler. To the library it is where session IDs
// come from.
type sessions struct {
	h      *Handler
	shared *Conn // of requests without a session

	mu   sync.Mutex
	open map[string]*httpSession
}

// httpSession is one connection over HTTP, as revisions before 2026-07-28 have
// them.
type httpSession struct {
	conn   *Conn
	caller string
	ctx    context.Context
	end    context.CancelFunc

	mu      sync.Mutex
	busy    int
	last    time.Time
	running map[string]func() // cancels, by ID as written
}

func newSessions(h *Handler) *sessions {
	return &sessions{h: h, shared: h.srv.newConn(HTTP, ""), open: map[string]*httpSession{}}
}

func (s *sessions) room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) < orDefault(s.h.cfg.MaxSessions, maxSessions)
}

// enter finds a session of a caller and keeps it from ending as idle.
func (s *sessions) enter(id, caller string) *httpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.open[id]
	if sess == nil || sess.caller != caller {
		return nil
	}
	sess.mu.Lock()
	defer sess.mu.Unlock()
	sess.busy++
	return sess
}

func (s *httpSession) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.last = time.Now()
}

// register notes a request, so that it can be cancelled by its ID.
func (s *httpSession) register(id json.RawMessage, cancel func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[string(id)] != nil {
		return false
	}
	s.running[string(id)] = cancel
	return true
}

func (s *httpSession) done(id json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, string(id))
}

func (s *httpSession) cancel(id json.RawMessage) {
	s.mu.Lock()
	cancel := s.running[string(id)]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// sweep ends the sessions that have been idle for too long.
func (s *sessions) sweep(now time.Time) {
	limit := orDefault(s.h.cfg.IdleTime, idleTime)
	for id, sess := range s.all() {
		sess.mu.Lock()
		idle := sess.busy == 0 && now.Sub(sess.last) >= limit
		sess.mu.Unlock()
		if idle {
			s.drop(id)
		}
	}
}

// drop ends a session for the library too, which keeps state of its own and
// gives it up only on a request to do so.
func (s *sessions) drop(id string) {
	r, err := http.NewRequest(http.MethodDelete, Endpoint, nil)
	if err != nil {
		panic(err) // constants
	}
	r.Header.Set(headerSession, id)
	s.h.lib.ServeHTTP(discard{}, r)
}

func (s *sessions) all() map[string]*httpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]*httpSession, len(s.open))
	for id, sess := range s.open {
		all[id] = sess
	}
	return all
}

// closeAll ends every connection and waits for their clean-ups.
func (s *sessions) closeAll(ctx context.Context) {
	var wg sync.WaitGroup
	for id, sess := range s.all() {
		wg.Go(func() {
			s.drop(id)
			sess.conn.close(ctx)
		})
	}
	wg.Go(func() { s.shared.close(ctx) })
	wg.Wait()
}

// ResolveSessionIdManager gives the library the session IDs for one request.
func (s *sessions) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	ids := &sessionIDs{sessions: s}
	if r != nil {
		ids.x, _ = r.Context().Value(exchangeKey{}).(*exchange)
		ids.caller = s.h.caller(r)
	}
	return ids
}

// sessionIDs makes, checks and ends sessions on behalf of one request.
type sessionIDs struct {
	*sessions
	x      *exchange
	caller string
}

// Generate begins a session.
func (s *sessionIDs) Generate() string {
	id := rand.Text()
	conn := s.h.srv.newConn(HTTP, id)
	ctx, end := context.WithCancel(s.h.life)
	sess := &httpSession{conn: conn, caller: s.caller, ctx: ctx, end: end, last: time.Now(), running: map[string]func(){}}
	if s.x != nil {
		conn.setClient(s.x.client())
	}
	s.mu.Lock()
	s.open[id] = sess
	s.mu.Unlock()
	conn.open(ctx)
	return id
}

// Validate says whether a session is open.
func (s *sessionIDs) Validate(id string) (terminated bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] == nil {
		return false, errors.New("no such session")
	}
	return false, nil
}

// Terminate ends a session and cancels what runs in it.
func (s *sessionIDs) Terminate(id string) (forbidden bool, err error) {
	s.mu.Lock()
	sess := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if sess == nil {
		return false, nil
	}
	sess.end()
	go func() {
		ctx := context.WithoutCancel(sess.ctx)
		wait, cancel := context.WithTimeout(ctx, graceCancel)
		defer cancel()
		sess.conn.settle(wait)
		ctx, cancelled := context.WithTimeout(ctx, time.Minute)
		defer cancelled()
		sess.conn.close(ctx)
	}()
	return false, nil
}

// discard is where the answer to a request of our own goes.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
