package bridge

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// stream is the response to one request. The library writes an answer to it and
// may turn it into an event stream; a tool's progress does so too, and then the
// answer becomes the last event. The status goes out with the first byte.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	accepts bool            // whether the client takes event streams
	id      json.RawMessage // of the request, as it was written
	call    *call           // nil: none
	hold    bool            // the answer waits for finish

	mu        sync.Mutex
	header    http.Header // the library's, until it goes out
	status    int
	held      []byte
	sent      bool // the header is out
	events    bool // the response is an event stream
	answered  bool // the library has answered
	cancelled bool // the client wants no answer
	over      bool
	timer     *time.Timer
}

func newStream(w http.ResponseWriter, r *http.Request, c *call) *stream {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return &stream{
		w: w, control: http.NewResponseController(w), header: http.Header{}, call: c,
		accepts: strings.Contains(accept, "text/event-stream") || strings.Contains(accept, "*/*"),
	}
}

// Header returns the library's view of the header.
func (s *stream) Header() http.Header { return s.header }

// WriteHeader keeps the status for later.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == 0 {
		s.status = status
	}
}

// Write takes a piece of the library's answer: an event, or all of it.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelled {
		return len(p), nil
	}
	isJSON := len(p) > 0 && p[0] == '{'
	if isJSON {
		s.answered = true
		p, s.status = s.mend(p, s.status)
	}
	if s.hold {
		s.held = append(s.held, p...)
		return len(p), nil
	}
	if !s.sent {
		s.sendHeader(strings.HasPrefix(s.header.Get("Content-Type"), "text/event-stream"))
	}
	if s.events && isJSON {
		return len(p), s.event(p)
	}
	_, err := s.w.Write(p)
	return len(p), err
}

// mend makes the library's answer ours: with the ID as it was written, with what
// a tool refused, and without the names of Go types.
func (s *stream) mend(p []byte, status int) ([]byte, int) {
	var a struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	refused := s.call != nil && s.call.refused != nil
	if s.id == nil || json.Unmarshal(p, &a) != nil || !refused && a.Error == nil && bytes.Equal(a.ID, s.id) {
		return p, status
	}
	ours := answer{JSONRPC: "2.0", ID: s.id, Error: a.Error}
	switch {
	case refused:
		ours.Error = s.call.refused
		if ours.Error.Code == mcp.MISSING_REQUIRED_CLIENT_CAPABILITY {
			status = http.StatusBadRequest
		}
	case a.Error == nil:
		ours.Result = a.Result
	case a.Error.Code == mcp.INVALID_REQUEST && strings.Contains(a.Error.Message, "unparsable"):
		ours.Error = &rpcError{Code: mcp.INVALID_PARAMS, Message: "params do not fit the method"}
	default:
		ours.Error = a.Error.plain()
	}
	b, err := marshal(ours)
	if err != nil {
		return p, status
	}
	return b, status
}

// Flush sends what the library has written.
func (s *stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelled {
		return
	}
	if !s.sent {
		if s.status == 0 {
			return // it says so after nothing
		}
		s.sendHeader(strings.HasPrefix(s.header.Get("Content-Type"), "text/event-stream"))
	}
	_ = s.control.Flush()
}

func (s *stream) sendHeader(events bool) {
	s.sent, s.events = true, events
	maps.Copy(s.w.Header(), s.header)
	if events {
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Cache-Control", "no-cache")
		s.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold progress back
	}
	s.w.WriteHeader(orDefault(s.status, http.StatusOK))
}

func (s *stream) event(data []byte) error {
	var b bytes.Buffer
	b.WriteString("event: message\ndata: ")
	b.Write(bytes.TrimSpace(data))
	b.WriteString("\n\n")
	_, err := s.w.Write(b.Bytes())
	_ = s.control.Flush()
	return err
}

// notify sends a notification ahead of the answer.
func (s *stream) notify(method string, params any) {
	b, err := marshal(notification{"2.0", method, params})
	if err != nil {
		return // texts and numbers
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.cancelled || !s.accepts {
		return
	}
	if !s.sent {
		s.sendHeader(true)
	}
	if s.events {
		_ = s.event(b) // a client that is gone ends the call by its ctx
	}
}

// keepAlive sends a comment when nothing else has been sent for a while: clients
// and proxies give up on silent responses after a minute or five. It turns the
// response into an event stream if it may.
func (s *stream) keepAlive(every time.Duration, turn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(every, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.over || s.cancelled || s.timer == nil {
			return
		}
		if !s.sent && turn && s.accepts {
			s.sendHeader(true)
		}
		if s.sent && s.events {
			_, _ = s.w.Write([]byte(": still here\n\n"))
			_ = s.control.Flush()
		}
		s.timer.Reset(every)
	})
}

// cutOff answers a call that was ended from outside, of which the library says
// nothing.
func (s *stream) cutOff(srv *Server, why *Error) {
	s.mu.Lock()
	answered := s.answered
	s.mu.Unlock()
	if answered || s.call == nil || s.call.tool == "" {
		return
	}
	b, err := marshal(answer{JSONRPC: "2.0", ID: s.id, Result: resultOf(srv.failed(s.call, why))})
	if err != nil {
		return // texts and numbers
	}
	s.header.Set("Content-Type", "application/json")
	_, _ = s.Write(b)
}

// cancel notes that the client wants no answer.
func (s *stream) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = true
}

// fail answers what nobody expected.
func (s *stream) fail() {
	s.mu.Lock()
	sent := s.sent
	s.mu.Unlock()
	a := failureAnswer(s.id, &rpcError{Code: mcp.INTERNAL_ERROR, Message: "internal error"})
	if sent {
		if b, err := marshal(a); err == nil {
			_, _ = s.Write(b)
		}
		return
	}
	writeAnswer(s, http.StatusInternalServerError, a)
}

// finish sends the header if nothing else has. A cancelled request ends as an
// event stream without an answer.
func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if !s.sent {
		s.sendHeader(s.cancelled)
	}
	if len(s.held) > 0 {
		_, _ = s.w.Write(s.held)
	}
}
