package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A caller is an MCP client over HTTP with a token.
type caller struct {
	t       *testing.T
	url     string
	headers map[string]string
	n       int
}

// send sends a request, and returns the answer with its body.
func (c *caller) send(method string, params any) (*http.Response, []byte) {
	c.t.Helper()
	c.n++
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.n, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, bytes.NewReader(raw))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res, body
}

// greet begins a session.
func greetAs(t *testing.T, url string, token sandbox.Secret) *caller {
	t.Helper()
	c := &caller{t: t, url: url, headers: map[string]string{"Authorization": "Bearer " + string(token)}}
	res, body := c.send("initialize", hello)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("initialize: %s: %s", res.Status, body)
	}
	c.headers["Mcp-Session-Id"] = res.Header.Get("Mcp-Session-Id")
	c.headers["MCP-Protocol-Version"] = "2025-11-25"
	return c
}

func (c *caller) ask(method string, params any) reply {
	c.t.Helper()
	res, body := c.send(method, params)
	for line := range strings.SplitSeq(string(body), "\n") {
		var r reply
		if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &r) == nil && r.ID == c.n {
			return r
		}
	}
	c.t.Fatalf("%s: %s: %s", method, res.Status, body)
	return reply{}
}

func (c *caller) call(tool string, a args) result {
	c.t.Helper()
	r := c.ask("tools/call", map[string]any{"name": tool, "arguments": a})
	var res result
	if err := json.Unmarshal(r.Result, &res); err != nil {
		c.t.Fatalf("%s: %+v: %v", tool, r, err)
	}
	return res
}

// tools are the names that are listed.
func toolsOf(t *testing.T, r reply) (names []string) {
	t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(r.Result, &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

var (
	readTools = []string{"list_sandboxes", "get_sandbox", "list_templates", "quote", "get_balance", "get_events"}
	all       = map[string]string{"ARENERO_TOOLSETS": "core,fleet,jobs", "ARENERO_LANG": "es"}
)

// tokens serves HTTP with tokens, and makes one for each list of scopes.
func tokens(t *testing.T, scopes ...[]sandbox.Scope) (dir, url string, h *host, made []control.NewToken) {
	t.Helper()
	dir = home(t)
	// No toolsets are asked for: with tokens there are all.
	h, url = serve(t, map[string]string{"ARENERO_LANG": "es", "ARENERO_HOME": dir}, "--auth", "token")
	// The first token that is looked at starts the engine.
	c := &caller{t: t, url: url, headers: map[string]string{"Authorization": "Bearer arenero_agt_000000000000000000000000000000000000"}}
	res, body := c.send("initialize", hello)
	if res.StatusCode != http.StatusUnauthorized || !strings.Contains(res.Header.Get("WWW-Authenticate"), `error="invalid_token"`) {
		t.Fatalf("a token that nobody made: %s, %s: %s", res.Status, res.Header.Get("WWW-Authenticate"), body)
	}
	for _, s := range scopes {
		token, err := client(dir).CreateToken(t.Context(), sandbox.Grant{
			Name: "t" + string(rune('a'+len(made))), Scopes: s, Period: sandbox.PeriodNone, Burst: sandbox.BurstStrict, ExpiresAt: time.Now().Add(240 * time.Hour), Rate: 6000,
		})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, token)
	}
	return dir, url, h, made
}

func TestHTTPWithTokens(t *testing.T) {
	dir, url, h, made := tokens(t, sandbox.AgentScopes(), sandbox.AgentScopes(), []sandbox.Scope{sandbox.ScopeRead})
	nobody := &caller{t: t, url: url}
	if res, body := nobody.send("initialize", hello); res.StatusCode != 401 || res.Header.Get("WWW-Authenticate") != `Bearer realm="arenero"` || !strings.Contains(string(body), "Hace falta un token") {
		t.Errorf("without a token: %s, %s: %s", res.Status, res.Header.Get("WWW-Authenticate"), body)
	}
	inAddress := &caller{t: t, url: url + "?key=" + string(made[0].Secret)}
	if res, body := inAddress.send("initialize", hello); res.StatusCode != 400 {
		t.Errorf("with the token in the address: %s: %s", res.Status, body)
	}

	// One sandbox for each grant and session.
	one, two, other := greetAs(t, url, made[0].Secret), greetAs(t, url, made[0].Secret), greetAs(t, url, made[1].Secret)
	for i, c := range []*caller{one, two, other} {
		name := string(rune('a' + i))
		if r := c.call("write_file", args{"path": "mine", "content": name}); r.IsError {
			t.Fatalf("write_file: %+v; log: %s", r, h.stderr)
		}
	}
	for i, c := range []*caller{one, two, other} {
		if r := c.call("read_file", args{"path": "mine"}); r.Data["content"] != string(rune('a'+i)) {
			t.Errorf("client %d: %+v", i, r)
		}
	}
	if n := len(sandboxes(t, dir)); n != 3 {
		t.Errorf("%d sandboxes, want 3", n)
	}
	// Lists have one's own; others' are out of reach.
	list, _ := other.call("list_sandboxes", args{}).Data["sandboxes"].([]any)
	if len(list) != 1 {
		t.Errorf("list_sandboxes: %v", list)
	}
	var ofOne string
	for _, b := range sandboxes(t, dir) {
		if b.Grant == made[0].Grant.ID {
			ofOne = b.ID
		}
	}
	if r := other.call("run_command", args{"cmd": "true", "sandbox_id": ofOne}); r.Data["code"] != "forbidden_scope" {
		t.Errorf("in the sandbox of another: %+v", r)
	}
	// A session is its grant's alone.
	thief := &caller{t: t, url: url, headers: maps.Clone(one.headers)}
	thief.headers["Authorization"] = "Bearer " + string(made[1].Secret)
	if res, body := thief.send("tools/list", map[string]any{}); res.StatusCode != 404 || !strings.Contains(string(body), "session_not_found") {
		t.Errorf("the session of another: %s: %s", res.Status, body)
	}
	// Without sessions there is one for the grant.
	for i := range 2 {
		c := &caller{t: t, url: url, headers: map[string]string{
			"Authorization": "Bearer " + string(made[1].Secret), "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "run_command",
		}}
		r := c.ask("tools/call", map[string]any{
			"name": "run_command", "arguments": args{"cmd": "echo x >>f; wc -l <f"},
			"_meta": map[string]any{
				"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": map[string]any{"name": "c", "version": "1"},
				"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			},
		})
		var res result
		if err := json.Unmarshal(r.Result, &res); err != nil || res.Data["stdout"] != string(rune('1'+i))+"\n" {
			t.Errorf("without a session, call %d: %+v, %v", i, r, err)
		}
	}
	// A grant sees what it may call; what it may not says why.
	reader := greetAs(t, url, made[2].Secret)
	if got := toolsOf(t, reader.ask("tools/list", map[string]any{})); !slices.Equal(got, readTools) {
		t.Errorf("tools of a reader: %v", got)
	}
	for _, a := range []args{{"cmd": "true"}, {"cmd": 1}} { // the arguments matter less
		if r := reader.call("run_command", a); !r.IsError || r.Data["code"] != "forbidden_scope" || !strings.Contains(r.text(), "rent") {
			t.Errorf("run_command of a reader: %+v", r)
		}
	}
	if r := reader.call("get_balance", args{}); r.IsError || r.Data["grant"].(map[string]any)["name"] != "tc" {
		t.Errorf("get_balance: %+v", r)
	}
	// A key in the header is one in the arguments.
	one.headers["Idempotency-Key"] = "k-1"
	first, again := one.call("create_sandbox", args{"name": "x", "hours": 0.1}), one.call("create_sandbox", args{"name": "x", "hours": 0.1, "idempotency_key": "k-1"})
	if first.IsError || again.IsError || first.Data["idempotent_replay"] != false || again.Data["idempotent_replay"] != true ||
		again.Data["reason"] != "idempotency_key" || first.Data["sandbox_id"] != again.Data["sandbox_id"] {
		t.Errorf("with the same key: %+v, then %+v", first, again)
	}
	if r := one.call("create_sandbox", args{"name": "x", "idempotency_key": "k-2"}); r.Data["code"] != "invalid_arguments" {
		t.Errorf("two keys: %+v", r)
	}
	// Revoked means at once.
	if _, err := client(dir).RevokeToken(t.Context(), control.TokenRevocation{Grant: made[1].Grant.ID}); err != nil {
		t.Fatal(err)
	}
	res, body := other.send("tools/call", map[string]any{"name": "run_command", "arguments": args{"cmd": "true"}})
	if !strings.Contains(string(body), "token_revoked") {
		t.Errorf("right after it was revoked: %s: %s", res.Status, body)
	}
	eventually(t, "the token opens nothing", func() bool {
		res, body := other.send("tools/list", map[string]any{})
		return res.StatusCode == 401 && strings.Contains(string(body), "token_revoked") && strings.Contains(res.Header.Get("WWW-Authenticate"), "invalid_token")
	})
	if r := one.call("run_command", args{"cmd": "echo still"}); r.Data["stdout"] != "still\n" {
		t.Errorf("the other grant: %+v", r)
	}
	// No token is anywhere but where it was given.
	for _, token := range made {
		if strings.Contains(h.stderr.String(), string(token.Secret)) {
			t.Error("the log of the bridge has a token")
		}
		nowhere(t, dir, string(token.Secret))
	}
}

// nowhere checks that no file has a text.
func nowhere(t *testing.T, dir, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/cloud/") {
			return nil // what is gone by now, and the sandboxes' own files
		}
		raw, err := os.ReadFile(path)
		if err == nil && bytes.Contains(raw, []byte(text)) {
			t.Errorf("%s has the token", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The end of a session is the end of its sandbox.
func TestTokenSessionsEndTheirSandbox(t *testing.T) {
	dir, url, _, made := tokens(t, sandbox.AgentScopes())
	c := greetAs(t, url, made[0].Secret)
	if r := c.call("run_command", args{"cmd": "true"}); r.IsError {
		t.Fatalf("%+v", r)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	eventually(t, "the sandbox has ended with its session", func() bool {
		all := sandboxes(t, dir)
		return len(all) == 1 && all[0].State == sandbox.Terminated && all[0].EndReason == sandbox.EndClosed
	})
}

// Over stdio the grant of the connection says what is listed, and a change of it
// reaches the host.
func TestToolsOfAConnection(t *testing.T) {
	dir := home(t)
	id := sandbox.NewConnectionID(nil)
	vars := maps.Clone(all)
	vars["ARENERO_HOME"] = dir
	h := start(t, vars, "--connection", id)
	h.greet()
	h.in.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))
	if got := toolsOf(t, h.wait(h.begin("tools/list", map[string]any{}))); len(got) != 19 {
		t.Errorf("%d tools before there is an engine: %v", len(got), got)
	}
	if r := h.call("run_command", args{"cmd": "true"}); r.IsError {
		t.Fatalf("%+v; log: %s", r, h.stderr)
	}
	token, err := client(dir).CreateToken(t.Context(), sandbox.Grant{
		Name: "reader", Scopes: []sandbox.Scope{sandbox.ScopeRead}, Period: sandbox.PeriodNone, Burst: sandbox.BurstStrict, ExpiresAt: time.Now().Add(240 * time.Hour), Rate: 6000,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := client(dir).Bind(t.Context(), control.Binding{Connection: id, Grant: token.Grant.ID}); err != nil {
		t.Fatal(err)
	}
	if r := h.call("run_command", args{"cmd": "true"}); r.Data["code"] != "forbidden_scope" || !strings.Contains(r.text(), "rent") {
		t.Errorf("a tool that is not allowed any more: %+v", r)
	}
	eventually(t, "the host hears of other tools", func() bool {
		h.call("get_balance", args{})
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.ContainsFunc(h.lines, func(l string) bool { return strings.Contains(l, "notifications/tools/list_changed") })
	})
	if got := toolsOf(t, h.wait(h.begin("tools/list", map[string]any{}))); !slices.Equal(got, readTools) {
		t.Errorf("tools of a reader: %v", got)
	}
}

// A sandbox whose cloud was killed has ended in a way its owner hears of, with
// each answer.
func TestA30_AlertsOverStdio(t *testing.T) {
	dir := home(t)
	vars := maps.Clone(all)
	vars["ARENERO_HOME"] = dir
	h := start(t, vars, "--connection", sandbox.NewConnectionID(nil))
	h.greet()
	first := h.call("run_code", args{"code": "1+1"})
	if first.IsError || strings.Contains(first.Alerts, "terminado") { // others there may be, as of old prices
		t.Fatalf("%+v; log: %s", first, h.stderr)
	}
	killCloud(t, dir)
	told := func(alerts string) bool {
		return strings.HasPrefix(alerts, "[avisos 24 h: ") && strings.Contains(alerts, "Z sandbox micr…") && strings.Contains(alerts, " terminado: ")
	}
	eventually(t, "answers tell of it", func() bool { return told(h.call("list_sandboxes", args{}).Alerts) })
	for {
		r := h.call("run_code", args{"code": "1+1"})
		if !told(r.Alerts) {
			t.Fatalf("an answer without alerts: %+v", r)
		}
		if r.IsError { // once: the old one is gone
			continue
		}
		if r.Content[0] != first.Content[0] {
			t.Errorf("the first block was %+v and is %+v", first.Content[0], r.Content[0])
		}
		break
	}
	if r := h.call("get_events", args{}); r.IsError || !strings.Contains(r.text(), `"kind": "sandbox.ended"`) {
		t.Errorf("get_events: %+v", r)
	}
}
