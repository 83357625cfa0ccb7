package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// post takes one message.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	body, ok := h.body(w, r)
	if !ok {
		return
	}
	m, bad := readMessage(body)
	if bad != nil {
		status := http.StatusBadRequest
		if bad.Code == mcp.INVALID_PARAMS && !modern(r) {
			status = http.StatusOK // earlier revisions keep HTTP and JSON-RPC apart
		}
		writeAnswer(w, status, failureAnswer(m.ID, bad))
		return
	}
	x := &exchange{Handler: h, m: m, body: body}
	if !modern(r) && m.method != string(mcp.MethodInitialize) {
		if x.sess = h.session(w, r); x.sess == nil {
			return
		}
		defer x.sess.leave()
	}
	switch {
	case m.ID == nil && m.method == string(mcp.MethodNotificationCancelled):
		// Only a session knows its own requests. Without one, a request is
		// cancelled by closing its connection.
		if x.sess != nil {
			x.sess.cancel(m.cancels())
		}
		w.WriteHeader(http.StatusAccepted)
	case m.method == string(mcp.MethodInitialize) && !h.sessions.room():
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
	default:
		x.serve(w, r)
	}
}

func (h *Handler) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.maxBody)))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		tooLarge(w, h.maxBody)
		return nil, false
	}
	if err != nil {
		http.Error(w, "the body can't be read", http.StatusBadRequest)
		return nil, false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, true
}

func tooLarge(w http.ResponseWriter, limit int) {
	w.Header().Set("Connection", "close")
	http.Error(w, fmt.Sprintf("the message is longer than %d bytes", limit), http.StatusRequestEntityTooLarge)
}

// modern says whether r speaks the revision without sessions.
func modern(r *http.Request) bool {
	return mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
}

// session finds the session of r and enters it, or answers that there is none.
func (h *Handler) session(w http.ResponseWriter, r *http.Request) *httpSession {
	id := r.Header.Get(headerSession)
	if id == "" {
		http.Error(w, headerSession+" is missing: initialize first", http.StatusBadRequest)
		return nil
	}
	s := h.sessions.enter(id, h.caller(r))
	if s == nil { // the same answer for those of others
		http.Error(w, "session_not_found: there is no such session: initialize again", http.StatusNotFound)
	}
	return s
}

func (h *Handler) caller(r *http.Request) string {
	if h.cfg.Caller == nil {
		return ""
	}
	return h.cfg.Caller(r)
}

// getOrDelete opens the stream of a session, or ends the session.
func (h *Handler) getOrDelete(w http.ResponseWriter, r *http.Request) {
	if modern(r) {
		h.lib.ServeHTTP(w, r) // refuses them
		return
	}
	s := h.session(w, r)
	if s == nil {
		return
	}
	defer s.leave()
	if r.Method == http.MethodDelete {
		h.lib.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer h.stream(r, cancel)()
	defer context.AfterFunc(s.ctx, cancel)()
	out := newStream(w, r, nil)
	defer out.finish()
	out.keepAlive(orDefault(h.cfg.KeepAlive, keepAlive), false)
	h.lib.ServeHTTP(out, r.WithContext(ctx))
}

// stream notes a request that never ends by itself, until the returned function
// is called.
func (h *Handler) stream(r *http.Request, cancel context.CancelFunc) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[r] = cancel
	if h.closing {
		cancel()
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.streams, r)
	}
}

func writeAnswer(w http.ResponseWriter, status int, a answer) {
	b, err := marshal(a)
	if err != nil {
		panic(err) // texts and numbers
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // who is gone does not matter
}

// exchange is one message over HTTP and its answer.
type exchange struct {
	*Handler
	m    *message
	body []byte
	sess *httpSession // nil: there is none
}

// serve passes the message to the library.
func (x *exchange) serve(w http.ResponseWriter, r *http.Request) {
	conn := x.sessions.shared
	if x.sess != nil {
		conn = x.sess.conn
	}
	// A request ends when its client is gone: over HTTP nobody could fetch the
	// answer any more, and what runs for nobody costs.
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(x.life, cancel)()
	if x.sess != nil {
		defer context.AfterFunc(x.sess.ctx, cancel)()
	}
	c := &call{conn: conn, tool: x.m.tool, log: x.srv.log, header: r.Header, token: x.m.token}
	out := newStream(w, r, c)
	if !x.m.isAnswer() { // IDs of ours are not those of the client
		out.id = x.m.ID
	}
	// The library registers a session after it has written that it is there: a
	// quick client would find half of it.
	out.hold = x.m.method == string(mcp.MethodInitialize)
	defer out.finish()
	defer func() {
		if v := recover(); v != nil { // no tool's panic comes this far
			x.srv.log.Error("message handler panicked", "err", v, "stack", string(debug.Stack()))
			out.fail()
		}
	}()
	if x.sess != nil && out.id != nil {
		if !x.sess.register(x.m.ID, func() { out.cancel(); cancel() }) {
			writeAnswer(out, http.StatusOK, failureAnswer(x.m.ID, &rpcError{
				Code: mcp.INVALID_REQUEST, Message: "there is a request with this id already",
			}))
			return
		}
		defer x.sess.done(x.m.ID)
	}
	if x.m.method == string(mcp.MethodSubscriptionsListen) {
		defer x.stream(r, cancel)()
		out.keepAlive(orDefault(x.cfg.KeepAlive, keepAlive), false)
	}
	if x.m.tool != "" {
		conn.open(x.life)
		c.send = out.notify
		out.keepAlive(orDefault(x.cfg.KeepAlive, keepAlive), true)
		select {
		case conn.calls <- struct{}{}:
			defer func() { <-conn.calls }()
		case <-ctx.Done():
		}
	}
	r = r.WithContext(withCall(withExchange(ctx, x), c))
	r.Body = io.NopCloser(bytes.NewReader(x.srv.trim(c, x.m, x.body)))
	x.lib.ServeHTTP(out, r)
	if why, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		out.cutOff(x.srv, why)
	}
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// client is what the host of an initialize request says about itself.
func (x *exchange) client() (info mcp.Implementation) {
	var params struct {
		Info mcp.Implementation `json:"clientInfo"`
	}
	_ = json.Unmarshal(x.m.Params, &params) // the library answers what is wrong
	return params.Info
}
