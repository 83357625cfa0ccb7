package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// answer calls a tool over stdio.
func ask(t *testing.T, s *Server, tool, args string) reply {
	t.Helper()
	h := connect(t, s)
	h.say("%s", toolCall(1, tool, args))
	return h.hear()
}

func TestErrors(t *testing.T) {
	log := &syncBuffer{}
	tests := []struct {
		tool, text, structured string
		hidden                 string // in the log alone
	}{
		{"fail", "There is no x.", `{"code":"not_found","retryable":true,"retry_after_s":1.5,"details":{"looked":3}}`, ""},
		{"bug", "Something went wrong inside the server. It is in its log as ", `"code":"internal","retryable":false,"details":{"id":`, "10.0.0.1"},
		{"boom", "Something went wrong inside the server. It is in its log as ", `"code":"internal"`, "secret state"},
	}
	s, _ := testServer(t, Config{Log: logTo(log)})
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			r := ask(t, s, tt.tool, `{"text":"x"}`)
			if !r.Result.IsError || r.Error != nil || !strings.HasPrefix(r.text(), tt.text) {
				t.Errorf("got %s, want isError with %q", r.line, tt.text)
			}
			if got := string(r.Result.StructuredContent); !strings.Contains(got, tt.structured) {
				t.Errorf("structured content = %s, want %s", got, tt.structured)
			}
			if tt.hidden != "" && (strings.Contains(r.line, tt.hidden) || !strings.Contains(log.String(), tt.hidden)) {
				t.Errorf("%q must be in the log and not in %s", tt.hidden, r.line)
			}
		})
	}
	if !strings.Contains(log.String(), "main_test.go") {
		t.Error("the log has no stack of the panic")
	}
}

func TestBadArguments(t *testing.T) {
	for language, want := range map[string]string{
		"en": "The arguments of echo are wrong:\n- text is missing: add it, it must be a string (What to say).",
		"es": "Los argumentos de echo no valen:\n- falta text: añádelo, debe ser una cadena (What to say).",
	} {
		s, _ := testServer(t, Config{Language: language})
		r := ask(t, s, "echo", `{}`)
		if r.text() != want || !r.Result.IsError {
			t.Errorf("%s: got %s, want %q", language, r.line, want)
		}
		if got := string(r.Result.StructuredContent); !strings.Contains(got, `"code":"invalid_arguments"`) || !strings.Contains(got, `"field":"text"`) {
			t.Errorf("structured content = %s", got)
		}
		s, _ = testServer(t, Config{Language: language, BadArguments: BadArgumentsProtocol})
		if r := ask(t, s, "echo", `{}`); r.Error == nil || r.Error.Code != -32602 || r.Error.Message != want {
			t.Errorf("%s: got %s, want -32602 with %q", language, r.line, want)
		}
		w := serve(t, s, HTTPConfig{})
		if r := w.call(toolCall(1, "echo", `{}`), w.begin())[0]; r.Error == nil || r.Error.Code != -32602 || r.Error.Message != want {
			t.Errorf("%s: got %s, want -32602 with %q", language, r.line, want)
		}
	}
}

// picture is a result with more than its JSON.
type picture struct {
	Names []string       `json:"names"`
	Sizes map[string]int `json:"sizes"`
	Inner struct {
		List []struct {
			Tags []string `json:"tags"`
		} `json:"list"`
	} `json:"inner"`
	Maybe *echoOut `json:"maybe"`
}

func (picture) Blocks() []Block {
	return []Block{Image("image/png", onePixelPNG), File("x://a/b.svg", "image/svg+xml", "<svg/>"), Text("more")}
}

func TestBlocks(t *testing.T) {
	shared := []struct {
		Tags []string `json:"tags"`
	}{{}}
	draw := func(context.Context, struct{}) (picture, error) {
		p := picture{}
		p.Inner.List = shared
		return p, nil
	}
	s := New(Config{Name: "x", Version: "1"})
	for name, isPlain := range map[string]bool{"draw": false, "plain": true} {
		if err := Add(s, Tool[struct{}, picture]{Name: name, Title: "Draw", Description: "Draws.", Plain: isPlain, Call: draw}); err != nil {
			t.Fatal(err)
		}
	}
	r := ask(t, s, "draw", `{}`)
	if got, want := string(r.Result.StructuredContent), `{"names":[],"sizes":{},"inner":{"list":[{"tags":[]}]},"maybe":null}`; got != want {
		t.Errorf("structured content = %s, want %s", got, want)
	}
	if shared[0].Tags != nil {
		t.Error("what the tool shares with its result was changed")
	}
	c := r.Result.Content
	if len(c) != 4 || c[0].Type != "text" || c[1].Type != "image" || c[1].Data != onePixelPNG || c[1].MIMEType != "image/png" ||
		c[2].Type != "resource" || c[2].Resource.URI != "x://a/b.svg" || c[2].Resource.Text != "<svg/>" || c[3].Text != "more" {
		t.Errorf("content: %s", r.line)
	}
	if r := ask(t, s, "plain", `{}`); r.Result.StructuredContent != nil || len(r.Result.Content) != 4 {
		t.Errorf("plain: %s", r.line)
	}
	h := connect(t, s)
	h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, tool := range h.hear().Result.Tools {
		if (tool.OutputSchema == nil) != (tool.Name == "plain") {
			t.Errorf("%s: output schema %s", tool.Name, tool.OutputSchema)
		}
	}
}

// Results, good and bad, fit the output schema that the listing shows.
func TestResultsFitTheirSchema(t *testing.T) {
	s, g := testServer(t, Config{})
	close(g.gate("a"))
	h := connect(t, s)
	h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	list := h.hear().Result.Tools
	if len(list) != 5 {
		t.Fatalf("%d tools", len(list))
	}
	for _, tool := range list {
		schema := resolve(t, tool.OutputSchema)
		for _, args := range []string{`{"text":"x"}`, `{"gate":"a"}`, `{}`} {
			r := ask(t, s, tool.Name, args)
			var v any
			if err := json.Unmarshal(r.Result.StructuredContent, &v); err != nil {
				t.Fatalf("%s: %v", r.line, err)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %s: %v", tool.Name, r.Result.StructuredContent, err)
			}
		}
		resolve(t, tool.InputSchema)
	}
}

func TestToolListing(t *testing.T) {
	s, _ := testServer(t, Config{Shows: func(_ context.Context, tool string) bool { return tool != "fail" }})
	h := connect(t, s)
	h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	r := h.hear()
	var names []string
	for _, tool := range r.Result.Tools {
		names = append(names, tool.Name)
	}
	if want := []string{"echo", "wait", "bug", "boom"}; !slices.Equal(names, want) { // as they were added
		t.Errorf("tools = %v, want %v", names, want)
	}
	echo := r.Result.Tools[0]
	if got, want := string(echo.Annotations), `{"title":"Echo","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`; got != want {
		t.Errorf("annotations = %s, want %s", got, want)
	}
	if echo.Title != "Echo" || echo.Description != "Says it back." {
		t.Errorf("echo: %+v", echo)
	}
	h.say("%s", toolCall(2, "fail", `{"text":"x"}`))
	if r := h.hear(); r.Error != nil || r.text() != "There is no x." {
		t.Errorf("a tool that is hidden has to answer for itself: %s", r.line)
	}
}

func TestNotes(t *testing.T) {
	s := New(Config{Name: "x", Version: "1"})
	err := Add(s, Tool[echoIn, echoOut]{Name: "note", Title: "Note", Description: "Notes.", Call: func(ctx context.Context, in echoIn) (echoOut, error) {
		AddNote(ctx, Note{Code: "state_lost", Text: "It is a new one."})
		if in.Text == "fail" {
			return echoOut{}, &Error{Code: "c", Text: "failed"}
		}
		return echoOut(in), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"ok", "fail"} {
		r := ask(t, s, "note", fmt.Sprintf(`{"text":%q}`, text))
		c := r.Result.Content
		if len(c) != 2 || c[1].Text != "It is a new one." || r.Result.IsError != (text == "fail") {
			t.Errorf("content: %s", r.line)
		}
		if got, want := string(r.Result.Meta), `{"x/notes":[{"code":"state_lost","text":"It is a new one."}]}`; got != want {
			t.Errorf("_meta = %s, want %s", got, want)
		}
	}
}

func TestSetupAndCleanup(t *testing.T) {
	release := make(chan struct{})
	var mu sync.Mutex
	var events []string
	note := func(text string) { mu.Lock(); defer mu.Unlock(); events = append(events, text) }
	cfg := Config{
		Setup: func(_ context.Context, c *Conn) error {
			<-release
			c.Value = 7
			note("setup " + string(c.Transport))
			return nil
		},
		Cleanup: func(_ context.Context, c *Conn) { note(fmt.Sprint("cleanup ", c.Value, " ", c.Client().Name)) },
	}
	cfg.Name, cfg.Version = "x", "1"
	s := New(cfg)
	err := Add(s, Tool[struct{}, echoOut]{Name: "value", Title: "Value", Description: "Tells.", Call: func(ctx context.Context, _ struct{}) (echoOut, error) {
		return echoOut{fmt.Sprint(ConnOf(ctx).Value)}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	h := connect(t, s)
	h.say("%s", toolCall(1, "value", `{}`))
	h.say(hello)
	if r := h.hear(); string(r.ID) != "0" {
		t.Errorf("set-up delays the handshake: %s", r.line)
	}
	h.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if r := h.hear(); string(r.ID) != "2" {
		t.Errorf("set-up delays the listing: %s", r.line)
	}
	close(release)
	if r := h.hear(); string(r.Result.StructuredContent) != `{"text":"7"}` {
		t.Errorf("got %s", r.line)
	}
	h.end()
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"setup stdio", "cleanup 7 t"}; !slices.Equal(events, want) {
		t.Errorf("events = %v, want %v", events, want)
	}
}

func TestSetupFails(t *testing.T) {
	for name, setup := range map[string]func(context.Context, *Conn) error{
		"error": func(context.Context, *Conn) error {
			return &Error{Code: "app_unreachable", Text: "The app does not answer."}
		},
		"bug":   func(context.Context, *Conn) error { return errors.New("dial unix: refused") },
		"panic": func(context.Context, *Conn) error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			cleaned := make(chan bool, 1)
			s, _ := testServer(t, Config{Setup: setup, Cleanup: func(context.Context, *Conn) { cleaned <- true }})
			h := connect(t, s)
			h.say("%s", toolCall(1, "echo", `{"text":"x"}`))
			want := "Something went wrong"
			if name == "error" {
				want = "The app does not answer."
			}
			if r := h.hear(); !r.Result.IsError || !strings.HasPrefix(r.text(), want) {
				t.Errorf("got %s, want %q", r.line, want)
			}
			h.end()
			<-cleaned
		})
	}
}

// Progress grows even if a tool says otherwise, and nothing follows the result.
func TestProgressGrows(t *testing.T) {
	s := New(Config{Name: "x", Version: "1"})
	late := make(chan func(), 1)
	err := Add(s, Tool[struct{}, struct{}]{Name: "go_on", Title: "Go on", Description: "Goes on.", Call: func(ctx context.Context, _ struct{}) (struct{}, error) {
		for _, done := range []float64{0, 5, 3, 5, 100} {
			Progress(ctx, done, 0, "")
		}
		late <- func() { Progress(ctx, 1000, 0, "too late") }
		return struct{}{}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	h := connect(t, s)
	h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"go_on","_meta":{"progressToken":7}}}`)
	for _, want := range []string{"0", "5", "6", "7", "100"} {
		if r := h.hear(); string(r.Params) != `{"progressToken":7,"progress":`+want+`}` {
			t.Errorf("got %s, want progress %s", r.Params, want)
		}
	}
	h.hear()
	(<-late)()
	tokens(t, h, late)
	if more := h.rest(); len(more) > 0 {
		t.Errorf("after the result: %s", more[0].line)
	}
	Progress(context.Background(), 1, 0, "") // outside a call: nothing
	if WantsProgress(context.Background()) {
		t.Error("nobody wants progress")
	}
}

// tokens checks what is a progress token. Others get the result alone.
func tokens(t *testing.T, h *host, late <-chan func()) {
	for token, is := range map[string]bool{
		"18446744073709551617": true, "-1": true, `"a<\u00e1"`: true, `""`: true, "0": true,
		"[]": false, "{}": false, "true": false, "null": false, "1.5": false, "1e3": false,
	} {
		h.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"go_on","_meta":{"progressToken":%s}}}`, token)
		n := 0
		for {
			r := h.hear()
			if r.ID != nil {
				if r.Error != nil || r.Result.IsError {
					t.Fatalf("token %s: %s", token, r.line)
				}
				break
			}
			if n++; !strings.Contains(r.line, `"progressToken":`+token+`,`) {
				t.Errorf("token %s: %s", token, r.line)
			}
		}
		if is != (n == 5) || !is && n > 0 {
			t.Errorf("token %s: %d notifications", token, n)
		}
		<-late
	}
}
