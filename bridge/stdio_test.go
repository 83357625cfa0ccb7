package bridge

import (
	"strings"
	"testing"
)

func TestStdioCall(t *testing.T) {
	s, _ := testServer(t, Config{})
	h := connect(t, s)
	h.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if r := h.hear(); r.Result.ProtocolVersion != "2025-11-25" {
		t.Errorf("initialize: %s", r.line)
	}
	h.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	h.say(toolCall(1, "echo", `{"text":"<hola> & ñ"}`))
	r := h.hear()
	if got, want := string(r.Result.StructuredContent), `{"text":"<hola> & ñ"}`; strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(got) != want {
		t.Errorf("structured content = %s, want %s", got, want)
	}
	if got, want := r.text(), "{\n  \"text\": \"<hola> & ñ\"\n}"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if err := h.end(); err != nil {
		t.Error(err)
	}
}
