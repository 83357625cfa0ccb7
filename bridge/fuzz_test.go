package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzMessage looks for lines that crash the reader of messages, or that it
// takes for requests without an ID to answer to.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{hello, toolCall(1, "echo", `{"text":"x"}`), `[]`, `{"jsonrpc":"2.0","id":null}`, `7`, `{"jsonrpc":"2.0","ID":1,"method":"x","params":[]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		m, bad := readMessage([]byte(line))
		if m.ID != nil && (!json.Valid(m.ID) || !isID(m.ID)) {
			t.Errorf("%q: id %q", line, m.ID)
		}
		if bad != nil {
			if _, err := marshal(failureAnswer(m.ID, bad)); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			return
		}
		if m.method == "" && !m.isAnswer() {
			t.Errorf("%q is taken for something", line)
		}
		if m.tool != "" && !json.Valid(m.short([]byte(line))) {
			t.Errorf("%q without arguments is no JSON", line)
		}
	})
}

// FuzzLongLine looks for messages whose ID is not found when they are too long.
func FuzzLongLine(f *testing.F) {
	for _, seed := range []string{`{"id":1}`, `{"a":[{"id":2}],"id":"x\"}"}`, `{"id":1,"id":2 , "b":{}}`, `{"i":"\\","id":-1e5}`, `{"id"`, `}{"id":1}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsRune(line, '\n') || len(line) < 2 {
			return
		}
		_, err := newLineReader(strings.NewReader(line+"\nnext"), 1).next()
		long, ok := errors.AsType[*longLine](err)
		if !ok {
			t.Fatalf("%q: %v", line, err)
		}
		if long.id != nil && !json.Valid(long.id) {
			t.Errorf("%q: id %q", line, long.id)
		}
		var m map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &m) != nil || strings.Contains(line, `\u`) || strings.Contains(line, `\U`) {
			return
		}
		want := m["id"]
		if len(want) == 0 || !isID(want) || len(want) >= longestID-1 || strings.Count(line, `"id"`) > 1 {
			return
		}
		if !bytes.Equal(long.id, want) {
			t.Errorf("%q: id %q, want %q", line, long.id, want)
		}
	})
}

func TestLineReader(t *testing.T) {
	r := newLineReader(strings.NewReader("a\r\n\n  b  \n"+strings.Repeat("x", 100)+"\nc"), 50)
	var got []string
	for {
		line, err := r.next()
		if _, ok := errors.AsType[*longLine](err); ok {
			got = append(got, "too long")
			continue
		}
		got = append(got, string(line))
		if err == io.EOF {
			break
		}
	}
	if g, w := strings.Join(got, "|"), "a||b|too long|c"; g != w {
		t.Errorf("lines = %s, want %s", g, w)
	}
}
