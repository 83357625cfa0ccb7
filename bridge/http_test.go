package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// site is a server over HTTP on a real port, with a client.
type site struct {
	t    *testing.T
	addr string
	stop context.CancelFunc
	done chan error
}

func serve(t *testing.T, s *Server, cfg HTTPConfig) *site {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &site{t: t, addr: ln.Addr().String(), stop: stop, done: make(chan error, 1)}
	cfg.Host = w.addr
	go func() { w.done <- s.ServeListener(ctx, ln, cfg) }()
	t.Cleanup(stop)
	return w
}

// end stops the server and waits for it.
func (w *site) end() {
	w.t.Helper()
	w.stop()
	select {
	case err := <-w.done:
		if err != nil {
			w.t.Error(err)
		}
	case <-time.After(patience):
		w.t.Fatal("the server does not end")
	}
}

// do sends a request with headers "Name: value". The header Host is special, as
// in net/http.
func (w *site) do(ctx context.Context, method, path, body string, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+w.addr+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	return http.DefaultClient.Do(r)
}

func (w *site) post(body string, headers ...string) (*http.Response, string) {
	w.t.Helper()
	resp, err := w.do(w.t.Context(), http.MethodPost, Endpoint, body, headers...)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, strings.TrimSpace(string(b))
}

// begin opens a session and returns its header.
func (w *site) begin() string {
	w.t.Helper()
	resp, body := w.post(hello)
	id := resp.Header.Get(headerSession)
	if resp.StatusCode != http.StatusOK || id == "" {
		w.t.Fatalf("initialize: %s: %s", resp.Status, body)
	}
	return headerSession + ": " + id
}

// replies reads the messages of a response, JSON or events.
func replies(t *testing.T, contentType, body string) (all []reply) {
	t.Helper()
	lines := []string{body}
	if strings.HasPrefix(contentType, "text/event-stream") {
		lines = nil
		for sc := bufio.NewScanner(strings.NewReader(body)); sc.Scan(); {
			if data, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
				lines = append(lines, data)
			}
		}
	}
	for _, line := range lines {
		var r reply
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %q: %v", contentType, line, err)
		}
		r.line = line
		all = append(all, r)
	}
	return all
}

func (w *site) call(body string, headers ...string) []reply {
	w.t.Helper()
	resp, text := w.post(body, headers...)
	return replies(w.t, resp.Header.Get("Content-Type"), text)
}

var headers2026 = []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call"}

// call2026 is a call as revision 2026-07-28 has it, with its headers.
func call2026(id any, tool, args, meta string) (string, []string) {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, id, tool, args,
		strings.TrimSuffix(era2026, "}")+meta+"}"), append(headers2026, "Mcp-Name: "+tool)
}

func TestHTTPGuard(t *testing.T) {
	s, _ := testServer(t, Config{})
	w := serve(t, s, HTTPConfig{Hosts: []string{"sandbox.example:80"}, Origins: []string{"https://sandbox.example"}})
	_, port, _ := net.SplitHostPort(w.addr)
	tests := []struct {
		name, method, path string
		headers            []string
		want               int
	}{
		{"as configured", "POST", "/mcp", nil, 200},
		{"host more", "POST", "/mcp", []string{"Host: sandbox.example:80"}, 200},
		{"host by another name", "POST", "/mcp", []string{"Host: localhost:" + port}, 421},
		{"host without port", "POST", "/mcp", []string{"Host: 127.0.0.1"}, 421},
		{"host with another port", "POST", "/mcp", []string{"Host: 127.0.0.1:1"}, 421},
		{"foreign host", "POST", "/mcp", []string{"Host: evil.example"}, 421},
		{"foreign host, GET", "GET", "/mcp", []string{"Host: evil.example"}, 421},
		{"foreign host, no path", "GET", "/", []string{"Host: evil.example"}, 421},
		{"origin", "POST", "/mcp", []string{"Origin: http://" + w.addr}, 200},
		{"origin more", "POST", "/mcp", []string{"Origin: https://sandbox.example"}, 200},
		{"foreign origin", "POST", "/mcp", []string{"Origin: http://evil.example"}, 403},
		{"foreign origin, DELETE", "DELETE", "/mcp", []string{"Origin: http://evil.example"}, 403},
		{"origin by another name", "POST", "/mcp", []string{"Origin: http://localhost:" + port}, 403},
		{"origin by https", "POST", "/mcp", []string{"Origin: https://" + w.addr}, 403},
		{"origin of a file", "POST", "/mcp", []string{"Origin: null"}, 403},
		{"two origins", "POST", "/mcp", []string{"Origin: http://" + w.addr, "Origin: http://evil.example"}, 403},
		{"other path", "POST", "/", nil, 404},
		{"path with a slash", "POST", "/mcp/", nil, 404},
		{"no authorization server", "GET", "/.well-known/oauth-protected-resource/mcp", nil, 404},
		{"PUT", "PUT", "/mcp", nil, 405},
		{"preflight", "OPTIONS", "/mcp", nil, 405},
		{"GET without session", "GET", "/mcp", nil, 400},
		{"GET with a forged session", "GET", "/mcp", []string{headerSession + ": mcp-session-1"}, 404},
		{"DELETE with a forged session", "DELETE", "/mcp", []string{headerSession + ": mcp-session-1"}, 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := w.do(t.Context(), tt.method, tt.path, hello, tt.headers...)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.want {
				t.Errorf("status = %d, want %d", resp.StatusCode, tt.want)
			}
			for name := range resp.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("a header lets web pages in: %s", name)
				}
			}
		})
	}
}

func TestHTTPBodyLimit(t *testing.T) {
	s, _ := testServer(t, Config{})
	w := serve(t, s, HTTPConfig{})
	long := toolCall(1, "echo", `{"text":"`+strings.Repeat("x", maxBody)+`"}`)
	resp, _ := w.post(long)
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status = %s, want 413", resp.Status)
	}
	// Without a length, as chunks.
	r, err := http.NewRequest(http.MethodPost, "http://"+w.addr+Endpoint, io.NopCloser(strings.NewReader(long)))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(r); err == nil { // the server may hang up first
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status of chunks = %s, want 413", resp.Status)
		}
	}
	text := strings.Repeat("x", maxBody-1000)
	if got := w.call(toolCall(1, "echo", `{"text":"`+text+`"}`), w.begin()); len(got) != 1 || !strings.Contains(string(got[0].Result.StructuredContent), text) {
		t.Error("a message just below the limit was not served")
	}
}

func TestHTTPBadMessages(t *testing.T) {
	s, _ := testServer(t, Config{})
	w := serve(t, s, HTTPConfig{})
	sess := w.begin()
	tests := []struct {
		name, body string
		status     int
		id         string
		code       int
	}{
		{"no JSON", `{"jsonrpc"`, 400, "null", -32700},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", 400, "1", -32700},
		{"nothing", ``, 400, "null", -32700},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 400, "null", -32600},
		{"version 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, "1", -32600},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, "null", -32600},
		{"unknown method", `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/dance"}`, 200, "9007199254740993", -32601},
		{"unknown tool", toolCall(1, "dance", "{}"), 200, "1", -32602},
		{"params is a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, 200, "1", -32602},
		{"cursor is a number", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}`, 200, "1", -32602},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := w.post(tt.body, sess)
			got := replies(t, resp.Header.Get("Content-Type"), body)[0]
			if resp.StatusCode != tt.status || string(got.ID) != tt.id || got.Error == nil || got.Error.Code != tt.code || strings.Count(string(body), "not found") > 1 {
				t.Errorf("got %s: %s, want %d, id %s, code %d", resp.Status, body, tt.status, tt.id, tt.code)
			}
		})
	}
	for _, kind := range []string{"text/plain", "multipart/form-data", ""} { // what web pages may send unasked
		r, err := http.NewRequest(http.MethodPost, "http://"+w.addr+Endpoint, strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("content type %q: %s, want 400", kind, resp.Status)
		}
	}
}

// IDs come back as they were written.
func TestHTTPIDs(t *testing.T) {
	s, _ := testServer(t, Config{})
	w := serve(t, s, HTTPConfig{})
	sess := w.begin()
	for _, id := range []string{`9007199254740993`, `17.5`, `1e3`, `"7"`, `"a\u0062"`, `123456789012345678901234567890`} {
		if r := w.call(toolCall(id, "echo", `{"text":"x"}`), sess)[0]; string(r.ID) != id || r.Result.IsError {
			t.Errorf("id %s came back as %s", id, r.line)
		}
		body, headers := call2026(id, "echo", `{"text":"x"}`, "")
		if r := w.call(body, headers...)[0]; string(r.ID) != id || r.Result.IsError {
			t.Errorf("id %s came back as %s", id, r.line)
		}
	}
}

func TestHTTPSessions(t *testing.T) {
	s, _ := testServer(t, Config{})
	h, err := s.HTTP(HTTPConfig{Host: "h:1", MaxSessions: 3, Caller: func(r *http.Request) string { return r.Header.Get("X-Caller") }})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	do := func(method, body, session, caller string) *recorder {
		t.Helper()
		r, err := http.NewRequest(method, Endpoint, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "h:1"
		r.Header.Set("Content-Type", "application/json")
		if session != "" {
			r.Header.Set(headerSession, session)
		}
		r.Header.Set("X-Caller", caller)
		w := &recorder{header: http.Header{}}
		h.ServeHTTP(w, r)
		return w
	}
	begin := func(caller string) string { t.Helper(); return do("POST", hello, "", caller).header.Get(headerSession) }
	status := func(want int, method, session, caller, why string) {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		if method == "DELETE" {
			body = ""
		}
		if got := do(method, body, session, caller).status; got != want {
			t.Errorf("%s: status = %d, want %d", why, got, want)
		}
	}
	a := begin("ann")
	status(200, "POST", a, "ann", "own session")
	status(404, "POST", a, "bob", "session of another caller")
	status(404, "DELETE", a, "bob", "ending the session of another caller")
	status(404, "POST", "mcp-session-2f1d7d6c-5b7e-4a3c-9a55-000000000000", "ann", "forged session")
	status(400, "POST", "", "ann", "no session")
	b, c := begin("ann"), begin("ann")
	if got := do("POST", hello, "", "ann"); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("one session too many: status = %d, want 503 with Retry-After", got.status)
	}
	status(200, "DELETE", c, "ann", "ending a session")
	status(404, "POST", c, "ann", "ended session")
	h.sessions.sweep(time.Now().Add(idleTime - time.Minute))
	status(200, "POST", b, "ann", "not yet idle")
	h.sessions.sweep(time.Now().Add(idleTime + time.Second))
	status(404, "POST", a, "ann", "idle session")
	status(404, "POST", b, "ann", "idle session")
	if begin("ann") == "" {
		t.Error("there is room again, but no session")
	}
}

// recorder is a response writer without a network.
type recorder struct {
	header http.Header
	status int
	body   strings.Builder
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

func (r *recorder) WriteHeader(status int) { r.status = status }

// A session with a call in flight is not idle.
func TestHTTPSweepSparesBusySessions(t *testing.T) {
	s, g := testServer(t, Config{})
	h, err := s.HTTP(HTTPConfig{Host: "h:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	do := func(body, session string) *recorder {
		r, err := http.NewRequest(http.MethodPost, Endpoint, strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		r.Host = "h:1"
		r.Header.Set("Content-Type", "application/json")
		if session != "" {
			r.Header.Set(headerSession, session)
		}
		w := &recorder{header: http.Header{}}
		h.ServeHTTP(w, r)
		return w
	}
	sess := do(hello, "").header.Get(headerSession)
	got := make(chan *recorder, 1)
	go func() { got <- do(toolCall(1, "wait", `{"gate":"a"}`), sess) }()
	select {
	case <-g.started:
	case w := <-got:
		t.Fatalf("no call: %d %s", w.status, w.body.String())
	}
	h.sessions.sweep(time.Now().Add(2 * idleTime))
	close(g.gate("a"))
	if w := <-got; w.status != http.StatusOK || strings.Contains(w.body.String(), `"isError":true`) {
		t.Errorf("the call in a busy session failed: %d %s", w.status, w.body.String())
	}
	if w := do(toolCall(2, "wait", `{"gate":"a"}`), sess); w.status != http.StatusOK {
		t.Errorf("the session was swept while it was busy: %d %s", w.status, w.body.String())
	}
}

// Only the session that made a call can cancel it, under the ID as written.
func TestHTTPCancel(t *testing.T) {
	cancel := func(id string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	}
	cancel2026 := func(id string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,%s}}`, id, era2026)
	}
	cancelHeaders := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: notifications/cancelled"}
	for _, era := range []string{"session", "2026"} {
		t.Run(era, func(t *testing.T) {
			s, g := testServer(t, Config{})
			w := serve(t, s, HTTPConfig{})
			mine, other := w.begin(), w.begin()
			body, headers := toolCall(7, "wait", `{"gate":"a"}`), []string{mine}
			if era == "2026" {
				body, headers = call2026(7, "wait", `{"gate":"a"}`, "")
			}
			got := make(chan []reply, 1)
			go func() { got <- w.call(body, headers...) }()
			<-g.started
			for _, attack := range [][]string{
				{cancel("7"), other},
				{cancel(`"7"`), mine},
				append([]string{cancel2026("7")}, cancelHeaders...),
				append([]string{cancel2026("7"), mine}, cancelHeaders...),
			} {
				if resp, _ := w.post(attack[0], attack[1:]...); resp.StatusCode != http.StatusAccepted {
					t.Errorf("%s: %s, want 202", attack[0], resp.Status)
				}
			}
			if resp, _ := w.post(cancel("7")); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("without a session: %s, want 400", resp.Status)
			}
			close(g.gate("a"))
			if r := <-got; len(r) != 1 || r[0].Result.IsError {
				t.Errorf("the call was cancelled by someone else: %v", r)
			}
			if len(g.ended) > 0 {
				t.Error("the call was cancelled by someone else")
			}
		})
	}
	t.Run("by its session", func(t *testing.T) {
		s, g := testServer(t, Config{})
		w := serve(t, s, HTTPConfig{})
		mine := w.begin()
		got := make(chan []reply, 1)
		go func() { got <- w.call(toolCall(7, "wait", `{"gate":"a"}`), mine) }()
		<-g.started
		w.post(cancel("7"), mine)
		<-g.ended
		if r := <-got; len(r) != 0 {
			t.Errorf("a cancelled call was answered: %s", r[0].line)
		}
	})
}

// Who hangs up wants no answer: what runs for nobody costs.
func TestHTTPDisconnectCancels(t *testing.T) {
	s, g := testServer(t, Config{})
	w := serve(t, s, HTTPConfig{})
	body, headers := call2026(1, "wait", `{"gate":"a"}`, "")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-g.started
		cancel()
	}()
	if resp, err := w.do(ctx, http.MethodPost, Endpoint, body, headers...); err == nil {
		resp.Body.Close()
	}
	<-g.ended
}

func TestHTTPDeleteCancels(t *testing.T) {
	s, g := testServer(t, Config{})
	w := serve(t, s, HTTPConfig{})
	sess := w.begin()
	go w.do(t.Context(), http.MethodPost, Endpoint, toolCall(1, "wait", `{"gate":"a"}`), sess)
	<-g.started
	resp, err := w.do(t.Context(), http.MethodDelete, Endpoint, "", sess)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-g.ended
}

// All progress arrives, in order and before the result. The library loses one in
// each third call.
// A client that waits for long hears that the server is there.
// At the end calls may end too; those that don't are cancelled, and nothing
// keeps the server.
