package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	hello   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	era2026 = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
)

func TestStdioCall(t *testing.T) {
	s, _ := testServer(t, Config{})
	h := connect(t, s)
	h.say(hello)
	if r := h.hear(); r.Result.ProtocolVersion != "2025-11-25" {
		t.Errorf("initialize: %s", r.line)
	}
	h.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	h.say(toolCall(1, "echo", `{"text":"<hola> & ñ"}`))
	r := h.hear()
	var out echoOut
	if err := json.Unmarshal(r.Result.StructuredContent, &out); err != nil || out.Text != "<hola> & ñ" {
		t.Errorf("structured content = %s: %v", r.Result.StructuredContent, err)
	}
	if got, want := r.text(), "{\n  \"text\": \"<hola> & ñ\"\n}"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if err := h.end(); err != nil {
		t.Error(err)
	}
}

// What a host may send by mistake, and what it gets. The server goes on after
// each: a ping behind it is answered.
func TestStdioBadMessages(t *testing.T) {
	tests := []struct {
		name, line string
		wantID     string
		wantCode   int // 0: no answer
	}{
		{"no JSON", `{"jsonrpc":`, "null", -32700},
		{"text", `hello`, "null", -32700},
		{"two on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, "null", -32700},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", "1", -32700},
		{"invalid UTF-8 in the id", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "null", -32700},
		{"invalid UTF-8 and no id", "{\"jsonrpc\":\"2.0\",\"method\":\"p\xff\"}", "null", -32700},
		{"invalid UTF-8 in an answer", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}", "null", -32700},
		{"invalid UTF-8 and cut short", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff", "null", -32700},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", -32600},
		{"empty batch", `[]`, "null", -32600},
		{"a number", `7`, "null", -32600},
		{"version 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", -32600},
		{"no version", `{"id":"x","method":"ping"}`, `"x"`, -32600},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "1", -32600},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, "1", -32600},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", -32600},
		{"params is a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, "1", -32602},
		{"params is a string", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}`, "1", -32602},
		{"tool name is a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, "1", -32602},
		{"no tool name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, "1", -32602},
		{"cursor is a number", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}`, "1", -32602},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"tools/dance"}`, "1", -32601},
		{"unknown tool", toolCall(1, "dance", `{}`), "1", -32602},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/dance"}`, "", 0},
		{"answer to nothing", `{"jsonrpc":"2.0","id":9,"result":{}}`, "", 0},
		{"cancels nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, "", 0},
		{"cancels no id", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, "", 0},
		{"blank", ``, "", 0},
		{"spaces and a carriage return", "  \r", "", 0},
		{"initialize without params", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, "1", 1}, // served: nothing in it is needed
	}
	s, _ := testServer(t, Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := connect(t, s)
			h.say("%s", tt.line)
			if tt.wantCode != 0 {
				r := h.hear()
				code := 1
				if r.Error != nil {
					code = r.Error.Code
				}
				if string(r.ID) != tt.wantID || code != tt.wantCode {
					t.Errorf("got %s, want id %s and code %d", r.line, tt.wantID, tt.wantCode)
				}
				if r.Error != nil && strings.Contains(r.Error.Message, "Go ") {
					t.Errorf("the message tells of Go types: %s", r.line)
				}
			}
			h.say(`{"jsonrpc":"2.0","id":"after","method":"ping"}`)
			if r := h.hear(); string(r.ID) != `"after"` || r.Error != nil {
				t.Errorf("ping: %s", r.line)
			}
			if more := h.rest(); len(more) > 0 {
				t.Errorf("more came: %s", more[0].line)
			}
		})
	}
}

// IDs come back as they were written.
func TestStdioIDs(t *testing.T) {
	s, _ := testServer(t, Config{})
	h := connect(t, s)
	for _, id := range []string{`9007199254740993`, `-1`, `17.5`, `1e3`, `"7"`, `7`, `"a\u0062"`, `""`, `"ñ"`, `123456789012345678901234567890`} {
		h.say(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id)
		if r := h.hear(); string(r.ID) != id {
			t.Errorf("id %s came back as %s", id, r.ID)
		}
		h.say("%s", toolCall(id, "echo", `{"text":"x"}`))
		if r := h.hear(); string(r.ID) != id || r.Result.IsError {
			t.Errorf("id %s came back as %s", id, r.line)
		}
	}
}

// A cancellation written right behind its call finds it, and the call gets no
// answer. The library loses it.
func TestStdioCancelBehindCall(t *testing.T) {
	s, g := testServer(t, Config{})
	h := connect(t, s)
	for i := range 200 {
		name := fmt.Sprint(i)
		fmt.Fprintf(h.in, "%s\n%s\n", toolCall(i, "wait", fmt.Sprintf(`{"gate":%q}`, name)),
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
	}
	h.say(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	if r := h.hear(); string(r.ID) != `"last"` {
		t.Errorf("a cancelled call was answered: %s", r.line)
	}
	if more := h.rest(); len(more) > 0 {
		t.Errorf("a cancelled call was answered: %s", more[0].line)
	}
	// Each has ended as cancelled, or was never begun.
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // the last may still be on their way out
		if len(g.ended) == len(g.started) {
			return
		}
	}
	t.Errorf("%d calls began and %d were cancelled", len(g.started), len(g.ended))
}

// A cancellation finds calls that wait for a place to run.
func TestStdioCancelWaitingCall(t *testing.T) {
	s, g := testServer(t, Config{MaxCalls: 1})
	h := connect(t, s)
	h.say("%s", toolCall(1, "wait", `{"gate":"first"}`))
	<-g.started
	h.say("%s", toolCall(2, "wait", `{"gate":"second"}`))
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	h.say(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if r := h.hear(); string(r.ID) != "3" {
		t.Errorf("got %s, want the ping's answer", r.line)
	}
	close(g.gate("first"))
	if r := h.hear(); string(r.ID) != "1" || r.Result.IsError {
		t.Errorf("got %s, want the first call's answer", r.line)
	}
	h.end()
	select {
	case name := <-g.started:
		t.Errorf("the cancelled call %s was begun", name)
	default:
	}
}

// "7" and 7 are two requests.
func TestStdioCancelComparesIDsAsWritten(t *testing.T) {
	s, g := testServer(t, Config{})
	h := connect(t, s)
	h.say("%s", toolCall(7, "wait", `{"gate":"number"}`))
	h.say("%s", toolCall(`"7"`, "wait", `{"gate":"string"}`))
	<-g.started
	<-g.started
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}`)
	if got := <-g.ended; got != "string" {
		t.Errorf("the call with the %s was cancelled, want the string", got)
	}
	close(g.gate("number"))
	if r := h.hear(); string(r.ID) != "7" || r.Result.IsError {
		t.Errorf("got %s, want the answer to 7", r.line)
	}
}

func TestStdioSameIDTwice(t *testing.T) {
	s, g := testServer(t, Config{})
	h := connect(t, s)
	h.say("%s", toolCall(1, "wait", `{"gate":"a"}`))
	<-g.started
	h.say("%s", toolCall(1, "echo", `{"text":"x"}`))
	if r := h.hear(); r.Error == nil || r.Error.Code != -32600 {
		t.Errorf("got %s, want -32600", r.line)
	}
	close(g.gate("a"))
	if r := h.hear(); string(r.ID) != "1" || r.Error != nil {
		t.Errorf("got %s, want the first call's answer", r.line)
	}
	h.say("%s", toolCall(1, "echo", `{"text":"x"}`)) // the ID is free again
	if r := h.hear(); r.Error != nil {
		t.Errorf("got %s, want an answer", r.line)
	}
}

// Whatever runs, the reader is free: the library makes a ping wait behind 100
// calls.
func TestStdioPingBehindManyCalls(t *testing.T) {
	s, g := testServer(t, Config{})
	h := connect(t, s)
	const calls = 600 // more than run at once
	for i := range calls {
		h.say("%s", toolCall(i, "wait", `{"gate":"all"}`))
	}
	h.say(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	h.say(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	ids := []string{string(h.hear().ID), string(h.hear().ID)}
	slices.Sort(ids)
	if want := []string{`"list"`, `"ping"`}; !slices.Equal(ids, want) {
		t.Errorf("answered first: %v, want %v", ids, want)
	}
	for range maxCalls { // that many run at once, and no more
		<-g.started
	}
	select {
	case <-g.started:
		t.Errorf("more than %d calls run at once", maxCalls)
	default:
	}
	close(g.gate("all"))
	for range calls {
		if r := h.hear(); r.Error != nil || r.Result.IsError {
			t.Fatalf("got %s", r.line)
		}
	}
}

// Nothing is answered before initialize, even if it is asked behind it at once.
func TestStdioInitializeIsAnsweredFirst(t *testing.T) {
	s, _ := testServer(t, Config{})
	for range 50 {
		h := connect(t, s)
		fmt.Fprintf(h.in, "%s\n%s\n%s\n", hello, toolCall(1, "echo", `{"text":"x"}`), `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if r := h.hear(); string(r.ID) != "0" {
			t.Fatalf("answered first: %s", r.line)
		}
		h.rest()
	}
}

// All progress arrives, in order and before the result, also in a burst. The
// library drops most of a burst, and sends some after the result.
func TestStdioProgress(t *testing.T) {
	s, g := testServer(t, Config{})
	h := connect(t, s)
	const steps = 2000
	close(g.gate("open"))
	for round := range 10 {
		h.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait","arguments":{"gate":"open","steps":%d},"_meta":{"progressToken":"t%d"}}}`, round, steps, round)
		for i := 1; i <= steps; i++ {
			var p struct {
				ProgressToken   string
				Progress, Total int
				Message         string
			}
			r := h.hear()
			if err := json.Unmarshal(r.Params, &p); err != nil || r.Method != "notifications/progress" {
				t.Fatalf("got %s, want progress %d", r.line, i)
			}
			if p.Progress != i || p.Total != steps || p.Message != "step" || p.ProgressToken != fmt.Sprintf("t%d", round) {
				t.Fatalf("got %s, want progress %d", r.line, i)
			}
		}
		if r := h.hear(); string(r.ID) != fmt.Sprint(round) || r.Result.IsError {
			t.Fatalf("got %s, want the result", r.line)
		}
	}
	h.say("%s", toolCall(99, "wait", `{"gate":"open","steps":5}`)) // without a token
	if r := h.hear(); string(r.ID) != "99" {
		t.Errorf("got %s, want no progress, since nobody asked for it", r.line)
	}
}

// What was asked before the input ended is answered. The library answers 7 to 20
// of 20.
func TestStdioAnswersAtEOF(t *testing.T) {
	s, _ := testServer(t, Config{})
	for range 20 {
		h := connect(t, s)
		for i := range 20 {
			h.say("%s", toolCall(i, "echo", `{"text":"x"}`))
		}
		fmt.Fprint(h.in, `{"jsonrpc":"2.0","id":"last","method":"ping"}`) // without a newline
		if got := h.rest(); len(got) != 21 {
			t.Fatalf("%d of 21 requests were answered", len(got))
		}
	}
}

// Calls that obey their ctx get to answer when the input has ended.
func TestStdioCancelsAtEOF(t *testing.T) {
	s, g := testServer(t, Config{Grace: time.Millisecond})
	h := connect(t, s)
	h.say("%s", toolCall(1, "wait", `{"gate":"never"}`))
	<-g.started
	got := h.rest()
	if len(got) != 1 || !got[0].Result.IsError || !strings.Contains(string(got[0].Result.StructuredContent), `"cancelled"`) {
		t.Errorf("got %v, want one answer with the code cancelled", got)
	}
}

// A long message is refused under its own ID, wherever in the message that
// stands, and the next one is served.
func TestStdioLongMessage(t *testing.T) {
	s, _ := testServer(t, Config{MaxMessage: 1000})
	long := strings.Repeat(`x\"{[,:`, 20_000)
	tests := []struct{ name, line, wantID string }{
		{"id first", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":1,"a":"` + long + `"}}`, "7"},
		{"id last", `{"method":"tools/call","params":{"id":1,"a":["` + long + `"]},"jsonrpc":"2.0","id":"a,\"}" }`, `"a,\"}"`},
		{"id between", `{"x":"` + long + `", "id" : 8 , "y":"` + long + `"}`, "8"},
		{"no id", `{"method":"` + long + `"}`, "null"},
		{"long id", `{"id":"` + long + `"}`, "null"},
		{"object id", `{"id":{},"x":"` + long + `"}`, "null"},
		{"no JSON", long, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := connect(t, s)
			h.say("%s", tt.line)
			if r := h.hear(); string(r.ID) != tt.wantID || r.Error == nil || r.Error.Code != -32600 {
				t.Errorf("got %s, want -32600 for id %s", r.line, tt.wantID)
			}
			h.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			if r := h.hear(); string(r.ID) != "1" || r.Error != nil {
				t.Errorf("ping: %s", r.line)
			}
		})
	}
}

// Ten megabytes of arguments are served, and more are refused.
func TestStdioTenMegabytes(t *testing.T) {
	s := New(Config{Name: "x", Version: "1"})
	err := Add(s, Tool[echoIn, echoOut]{Name: "size", Title: "Size", Description: "Counts.", Call: func(_ context.Context, in echoIn) (echoOut, error) {
		return echoOut{fmt.Sprint(len(in.Text))}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	h := connect(t, s)
	for size, want := range map[int]string{10 << 20: `"text":"10485760"`, 17 << 20: "longer than 16777216 bytes"} {
		go fmt.Fprintln(h.in, toolCall(1, "size", `{"text":"`+strings.Repeat("x", size)+`"}`))
		if r := h.hear(); !strings.Contains(r.line, want) || string(r.ID) != "1" {
			t.Errorf("%d bytes: got %.200s, want %s", size, r.line, want)
		}
	}
}

// Over stdio a revision 2026-07-28 host needs no handshake, and each message of
// a subscription carries its ID as it was written.
func TestStdioModern(t *testing.T) {
	s := fixture(Config{})
	h := connect(t, s)
	h.say(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{%s}}`, era2026)
	if r := h.hear(); !strings.Contains(r.line, `"2026-07-28"`) || r.Result.ResultType != "complete" {
		t.Errorf("discover: %s", r.line)
	}
	h.say(`{"jsonrpc":"2.0","id":"tools","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},%s}}`, era2026)
	h.say(`{"jsonrpc":"2.0","id":12345678901234567890,"method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true},%s}}`, era2026)
	for range 2 {
		if r := h.hear(); r.Method != "notifications/subscriptions/acknowledged" {
			t.Fatalf("got %s, want an acknowledgement", r.line)
		}
	}
	h.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"test_trigger_tool_change",%s}}`, era2026)
	changed := 0
	for range 3 { // two changes and the result, in some order
		r := h.hear()
		switch {
		case r.Method == "notifications/tools/list_changed":
			changed++
			if !strings.Contains(string(r.Params), `"io.modelcontextprotocol/subscriptionId":"tools"`) {
				t.Errorf("no subscription ID: %s", r.line)
			}
		case string(r.ID) != "2":
			t.Errorf("got %s", r.line)
		}
	}
	if changed != 2 {
		t.Errorf("heard of %d changes, want 2", changed)
	}
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"tools"}}`)
	h.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"test_trigger_prompt_change",%s}}`, era2026)
	for range 3 {
		if r := h.hear(); r.Method != "" && !strings.Contains(string(r.Params), `"io.modelcontextprotocol/subscriptionId":12345678901234567890`) {
			t.Errorf("got %s, want the ID of the subscription", r.line)
		}
	}
	for _, r := range h.rest() {
		if string(r.ID) == `"tools"` {
			t.Errorf("a cancelled subscription was answered: %s", r.line)
		}
	}
}

// A host of an earlier revision hears of changes by itself.
func TestStdioListChanged(t *testing.T) {
	h := connect(t, fixture(Config{}))
	h.say(hello)
	h.hear()
	h.say("%s", toolCall(1, "test_trigger_tool_change", `{}`))
	changed := 0
	for range 3 {
		if r := h.hear(); r.Method == "notifications/tools/list_changed" {
			changed++
		}
	}
	if changed != 2 {
		t.Errorf("heard of %d changes, want 2", changed)
	}
}

// Two servers in one process share nothing. The library's sessions over stdio
// are one.
func TestStdioTwoServers(t *testing.T) {
	s, g := testServer(t, Config{})
	a, b := connect(t, s), connect(t, s)
	a.say("%s", toolCall(1, "wait", `{"gate":"a"}`))
	b.say("%s", toolCall(1, "wait", `{"gate":"b"}`))
	<-g.started
	<-g.started
	a.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := <-g.ended; got != "a" {
		t.Errorf("the call of %s was cancelled", got)
	}
	close(g.gate("b"))
	if r := b.hear(); r.Result.IsError {
		t.Errorf("got %s", r.line)
	}
}

// The process is gone soon after its input, whatever runs.
// A host that reads nothing can't keep the process alive.
// A host that closes its reading end is gone.
// Whatever prints, standard output carries messages only.
func TestStdioEndsWithCtx(t *testing.T) {
	s, g := testServer(t, Config{Grace: time.Millisecond})
	r, _ := pipe(t)
	_, w := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(ctx, r, w) }()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("it does not end")
	}
	_ = g
}
