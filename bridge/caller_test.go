package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTail(t *testing.T) {
	s := New(Config{Name: "x", Version: "1", Refused: func(ctx context.Context, tool string) error {
		SetTail(ctx, Tail{Text: "refused " + tool, Name: "t", Value: []int{0}})
		return nil
	}})
	err := Add(s, Tool[echoIn, echoOut]{Name: "end", Title: "End", Description: "Ends.", Call: func(ctx context.Context, in echoIn) (echoOut, error) {
		SetTail(ctx, Tail{Text: "tail", Name: "t", Value: []int{1}})
		AddNote(ctx, Note{Code: "n", Text: "note"}) // after it, and still before it
		if in.Text == "fail" {
			return echoOut{}, &Error{Code: "c", Text: "failed"}
		}
		return echoOut(in), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args   string
		blocks []string // after the first
		meta   string
	}{
		{`{"text":"ok"}`, []string{"note", "tail"}, `{"x/notes":[{"code":"n","text":"note"}],"x/t":[1]}`},
		{`{"text":"fail"}`, []string{"note", "tail"}, `{"x/notes":[{"code":"n","text":"note"}],"x/t":[1]}`},
		{`{}`, []string{"refused end"}, `{"x/t":[0]}`},
	}
	for _, tt := range tests {
		r := ask(t, s, "end", tt.args)
		var got []string
		for _, c := range r.Result.Content[1:] {
			got = append(got, c.Text)
		}
		if !slices.Equal(got, tt.blocks) || string(r.Result.Meta) != tt.meta {
			t.Errorf("%s: %s", tt.args, r.line)
		}
		if strings.Contains(string(r.Result.StructuredContent), `"tail"`) {
			t.Errorf("%s: in the structured content: %s", tt.args, r.line)
		}
	}
}

func TestRefusedGoesFirst(t *testing.T) {
	s, _ := testServer(t, Config{Refused: func(context.Context, string) error { return &Error{Code: "forbidden", Text: "not yours"} }})
	if r := ask(t, s, "echo", `{"text":1}`); !r.Result.IsError || r.text() != "not yours" {
		t.Errorf("bad arguments: %s", r.line)
	}
	if r := ask(t, s, "echo", `{"text":"x"}`); r.Result.IsError {
		t.Errorf("good arguments: %s", r.line)
	}
}

// What a host may see can change while it is connected.
func TestToolsChanged(t *testing.T) {
	var mu sync.Mutex
	hidden := ""
	s, _ := testServer(t, Config{Shows: func(_ context.Context, tool string) bool {
		mu.Lock()
		defer mu.Unlock()
		return tool != hidden
	}})
	h := connect(t, s)
	h.say("%s", hello)
	if r := h.hear(); !strings.Contains(r.line, `"tools":{"listChanged":true}`) {
		t.Errorf("initialize: %s", r.line)
	}
	h.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	h.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if r := h.hear(); len(r.Result.Tools) != 5 {
		t.Errorf("before: %s", r.line)
	}
	mu.Lock()
	hidden = "wait"
	mu.Unlock()
	s.ToolsChanged()
	if r := h.hear(); r.Method != "notifications/tools/list_changed" {
		t.Errorf("notification: %s", r.line)
	}
	h.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	if r := h.hear(); len(r.Result.Tools) != 4 {
		t.Errorf("after: %s", r.line)
	}
}

func TestPages(t *testing.T) {
	s, _ := testServer(t, Config{})
	page := Page{URI: "docs://x", Name: "x", Title: "X", Description: "About x.", MIMEType: "text/markdown", Text: "# X\n"}
	if err := s.AddPage(page); err != nil {
		t.Fatal(err)
	}
	if s.AddPage(page) == nil || s.AddPage(Page{URI: "docs://y"}) == nil {
		t.Error("a page twice, or one without text, was taken")
	}
	h := connect(t, s)
	h.say("%s", hello)
	if r := h.hear(); !strings.Contains(r.line, `"resources":{}`) {
		t.Errorf("initialize: %s", r.line)
	}
	h.say(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`)
	if r := h.hear(); !strings.Contains(r.line, `"uri":"docs://x"`) || !strings.Contains(r.line, `"mimeType":"text/markdown"`) {
		t.Errorf("list: %s", r.line)
	}
	h.say(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"docs://x"}}`)
	if r := h.hear(); !strings.Contains(r.line, `"text":"# X\n"`) {
		t.Errorf("read: %s", r.line)
	}
	h.say(`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"docs://z"}}`)
	if r := h.hear(); r.Error == nil {
		t.Errorf("a page that there is not: %s", r.line)
	}
}

// keys is a check of tokens that can change its mind.
type keys struct {
	mu   sync.Mutex
	open map[string]error // by token; nil opens
	seen int
}

type ownerKey struct{}

func (k *keys) check(ctx context.Context, token string) (context.Context, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen++
	err, ok := k.open[token]
	if !ok {
		return nil, &Error{Code: CodeUnauthenticated, Text: "nobody knows this token"}
	}
	if err != nil {
		return nil, err
	}
	return context.WithValue(ctx, ownerKey{}, token), nil
}

func (k *keys) set(token string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open[token] = err
}

func guarded(t *testing.T, s *Server, k *keys) *site {
	t.Helper()
	b := Bearer{Realm: "test", Secret: "tok_", Check: k.check, Every: 10 * time.Millisecond}
	return serve(t, s, HTTPConfig{Inside: b.Guard, Caller: func(r *http.Request) string {
		owner, _ := r.Context().Value(ownerKey{}).(string)
		return owner
	}})
}

func TestBearer(t *testing.T) {
	s, _ := testServer(t, Config{})
	k := &keys{open: map[string]error{
		"tok_good":    nil,
		"tok_old":     &Error{Code: CodeTokenExpired, Text: "it has expired"},
		"tok_revoked": &Error{Code: CodeTokenRevoked, Text: "its owner has revoked it"},
		"tok_fast":    &Error{Code: CodeRateLimited, Text: "slower", Retryable: true, RetryAfter: 2500 * time.Millisecond},
		"tok_outage":  errors.New("dial 10.0.0.1: refused"),
	}}
	w := guarded(t, s, k)
	const bearer = "Authorization: Bearer "
	tests := []struct {
		name, path string
		headers    []string
		status     int
		challenge  string
		after      string
		code       string
	}{
		{"good", "", []string{bearer + "tok_good"}, 200, "", "", ""},
		{"another case", "", []string{"Authorization: bearer  tok_good"}, 200, "", "", ""},
		{"none", "", nil, 401, `Bearer realm="test"`, "", "unauthenticated"},
		{"another scheme", "", []string{"Authorization: Basic dG9rX2dvb2Q6"}, 401, `Bearer realm="test"`, "", "unauthenticated"},
		{"empty", "", []string{"Authorization: Bearer"}, 400, `Bearer realm="test", error="invalid_request", error_description="invalid_arguments"`, "", "invalid_arguments"},
		{"two words", "", []string{bearer + "tok_good x"}, 400, `Bearer realm="test", error="invalid_request", error_description="invalid_arguments"`, "", "invalid_arguments"},
		{"two headers", "", []string{bearer + "tok_good", bearer + "tok_good"}, 400, `Bearer realm="test", error="invalid_request", error_description="invalid_arguments"`, "", "invalid_arguments"},
		{"unknown", "", []string{bearer + "tok_bad"}, 401, `Bearer realm="test", error="invalid_token", error_description="unauthenticated"`, "", "unauthenticated"},
		{"expired", "", []string{bearer + "tok_old"}, 401, `Bearer realm="test", error="invalid_token", error_description="token_expired"`, "", "token_expired"},
		{"revoked", "", []string{bearer + "tok_revoked"}, 401, `Bearer realm="test", error="invalid_token", error_description="token_revoked"`, "", "token_revoked"},
		{"too fast", "", []string{bearer + "tok_fast"}, 429, "", "3", "rate_limited"},
		{"outage", "", []string{bearer + "tok_outage"}, 503, "", "5", "internal"},
		{"in the address", "?access_token=x", []string{bearer + "tok_good"}, 400, `Bearer realm="test", error="invalid_request", error_description="invalid_arguments"`, "", "invalid_arguments"},
		{"in the address by its look", "?q=tok_good", []string{bearer + "tok_good"}, 400, `Bearer realm="test", error="invalid_request", error_description="invalid_arguments"`, "", "invalid_arguments"},
		{"in the address, escaped", "?q=t%6fk_good", []string{bearer + "tok_good"}, 400, `Bearer realm="test", error="invalid_request", error_description="invalid_arguments"`, "", "invalid_arguments"},
		{"another address", "?q=1", []string{bearer + "tok_good"}, 200, "", "", ""},
		{"wrong host", "", []string{"Host: evil.example"}, 421, "", "", ""},
		{"wrong origin", "", []string{"Origin: http://evil.example", bearer + "tok_good"}, 403, "", "", ""},
	}
	for _, tt := range tests {
		resp, err := w.do(t.Context(), http.MethodPost, Endpoint+tt.path, hello, tt.headers...)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		body := string(raw)
		if resp.StatusCode != tt.status || resp.Header.Get("WWW-Authenticate") != tt.challenge || resp.Header.Get("Retry-After") != tt.after {
			t.Errorf("%s: %s, challenge %q, after %q: %s", tt.name, resp.Status, resp.Header.Get("WWW-Authenticate"), resp.Header.Get("Retry-After"), body)
		}
		if strings.Contains(body, "retry_after_s") != (tt.after != "") {
			t.Errorf("%s: body %s, where Retry-After is %q", tt.name, body, tt.after)
		}
		var got struct{ Code string }
		if tt.code != "" && (json.Unmarshal(raw, &got) != nil || got.Code != tt.code) {
			t.Errorf("%s: body %s, want code %s", tt.name, body, tt.code)
		}
		if strings.Contains(body, "tok_") || strings.Contains(body, "10.0.0.1") {
			t.Errorf("%s: the answer tells too much: %s", tt.name, body)
		}
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		resp, err := w.do(t.Context(), http.MethodGet, path, "")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// A message that says it is too large never gets as far as its token.
func TestBearerAfterTheSize(t *testing.T) {
	s, _ := testServer(t, Config{MaxMessage: 1000})
	k := &keys{open: map[string]error{}}
	w := guarded(t, s, k)
	if resp, body := w.post(strings.Repeat(" ", 1001), "Authorization: Bearer tok_x"); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%s: %s", resp.Status, body)
	}
	if k.seen != 0 {
		t.Error("the token was looked at")
	}
}

func TestSessionOfAnotherCaller(t *testing.T) {
	s, _ := testServer(t, Config{})
	w := guarded(t, s, &keys{open: map[string]error{"tok_a": nil, "tok_b": nil}})
	resp, _ := w.post(hello, "Authorization: Bearer tok_a")
	session := headerSession + ": " + resp.Header.Get(headerSession)
	body := toolCall(2, "echo", `{"text":"x"}`)
	if r := w.call(body, session, "Authorization: Bearer tok_a"); r[0].Result.IsError || !strings.Contains(r[0].text(), "x") {
		t.Errorf("its own: %s", r[0].line)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		resp, err := w.do(t.Context(), method, Endpoint, body, session, "Authorization: Bearer tok_b")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound || !strings.Contains(string(text), "session_not_found") {
			t.Errorf("%s by another: %s: %s", method, resp.Status, text)
		}
	}
	if r := w.call(toolCall(3, "echo", `{"text":"x"}`), session, "Authorization: Bearer tok_a"); r[0].Result.IsError {
		t.Errorf("after the other has tried to end it: %s", r[0].line)
	}
}

// Who loses the right to be here is cut off in the middle of a call, and told
// why; a stream ends.
func TestBearerIsRevoked(t *testing.T) {
	s, g := testServer(t, Config{})
	k := &keys{open: map[string]error{"tok_a": nil}}
	w := guarded(t, s, k)
	resp, _ := w.post(hello, "Authorization: Bearer tok_a")
	session := headerSession + ": " + resp.Header.Get(headerSession)
	stream, err := w.do(t.Context(), http.MethodGet, Endpoint, "", session, "Authorization: Bearer tok_a")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	answer := make(chan []reply, 1)
	go func() {
		answer <- w.call(toolCall(2, "wait", `{"gate":"never"}`), session, "Authorization: Bearer tok_a")
	}()
	<-g.started
	k.set("tok_a", &Error{Code: CodeTokenRevoked, Text: "its owner has revoked it"})
	select {
	case r := <-answer:
		last := r[len(r)-1]
		if !last.Result.IsError || !strings.Contains(string(last.Result.StructuredContent), CodeTokenRevoked) {
			t.Errorf("the call: %s", last.line)
		}
	case <-time.After(patience):
		t.Fatal("the call goes on")
	}
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, stream.Body); ended <- err }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the stream goes on")
	}
}

func TestHeader(t *testing.T) {
	s := New(Config{Name: "x", Version: "1"})
	err := Add(s, Tool[echoIn, echoOut]{Name: "header", Title: "Header", Description: "Tells.", Call: func(ctx context.Context, _ echoIn) (echoOut, error) {
		return echoOut{fmt.Sprintf("%s|%s", Header(ctx, "Idempotency-Key"), Header(ctx, "Authorization"))}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := guarded(t, s, &keys{open: map[string]error{"tok_a": nil}})
	body, headers := call2026(1, "header", `{"text":""}`, "")
	r := w.call(body, append(headers, "Idempotency-Key: k1", "Authorization: Bearer tok_a")...)
	if got := string(r[0].Result.StructuredContent); got != `{"text":"k1|"}` {
		t.Errorf("over HTTP: %s", r[0].line)
	}
	if r := ask(t, s, "header", `{"text":""}`); string(r.Result.StructuredContent) != `{"text":"|"}` {
		t.Errorf("over stdio: %s", r.line)
	}
}
