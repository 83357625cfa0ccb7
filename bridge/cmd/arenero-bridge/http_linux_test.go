package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

var served = regexp.MustCompile(`http://\S+/mcp`)

// serve starts the bridge in HTTP mode and returns its address.
func serve(t *testing.T, vars map[string]string, args ...string) (*host, string) {
	t.Helper()
	h := start(t, vars, append([]string{"--http", "--port", "0"}, args...)...)
	eventually(t, "the bridge serves HTTP", func() bool { return served.MatchString(h.stderr.String()) })
	return h, served.FindString(h.stderr.String())
}

// A session is an MCP client over HTTP.
type session struct {
	t   *testing.T
	url string
	id  string
	n   int
}

func greetHTTP(t *testing.T, address string) *session {
	t.Helper()
	s := &session{t: t, url: address}
	s.ask("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "web", "version": "1"},
	})
	return s
}

func (s *session) ask(method string, params any) reply {
	s.t.Helper()
	s.n++
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.n, "method": method, "params": params})
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url, bytes.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if s.id != "" {
		req.Header.Set("Mcp-Session-Id", s.id)
		req.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		s.id = id
	}
	for line := range strings.SplitSeq(string(body), "\n") {
		line = strings.TrimPrefix(line, "data: ")
		var r reply
		if json.Unmarshal([]byte(line), &r) == nil && r.ID == s.n {
			return r
		}
	}
	s.t.Fatalf("%s: status %d: %s", method, res.StatusCode, body)
	return reply{}
}

func (s *session) call(tool string, a args) result {
	s.t.Helper()
	r := s.ask("tools/call", map[string]any{"name": tool, "arguments": a})
	var res result
	if err := json.Unmarshal(r.Result, &res); err != nil {
		s.t.Fatal(err)
	}
	return res
}

func TestR81_R83_R85_R88_ClientsShareOneSandbox(t *testing.T) {
	dir := home(t)
	h, address := serve(t, map[string]string{"ARENERO_HOME": dir})
	one, two := greetHTTP(t, address), greetHTTP(t, address)
	if r := one.ask("tools/list", map[string]any{}); strings.Count(string(r.Result), `"inputSchema"`) != 6 {
		t.Errorf("tools = %s", r.Result)
	}
	if r := one.call("write_file", args{"path": "f", "content": "shared"}); r.IsError {
		t.Fatalf("write_file: %+v", r)
	}
	if r := two.call("read_file", args{"path": "f"}); r.Data["content"] != "shared" {
		t.Errorf("read_file by another client: %+v", r)
	}
	if n := len(sandboxes(t, dir)); n != 1 {
		t.Errorf("%d sandboxes, want 1", n)
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := h.exit(); code != 0 {
		t.Errorf("exit code = %d; log: %s", code, h.stderr)
	}
	eventually(t, "the sandbox has ended with the server", func() bool {
		all := sandboxes(t, dir)
		return all[0].State == sandbox.Terminated && all[0].EndReason == sandbox.EndClosed
	})
}

func TestR86_R87_R96_RX5_HostAndOrigin(t *testing.T) {
	_, address := serve(t, map[string]string{"ARENERO_HOME": home(t)})
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, host, origin string
		want               int
	}{
		{"right pair", u.Host, "http://" + u.Host, 200},
		{"no origin", u.Host, "", 200},
		{"another spelling", "localhost:" + u.Port(), "", 421},
		{"no port", "127.0.0.1", "", 421},
		{"another name", "evil.example:" + u.Port(), "", 421},
		{"foreign origin", u.Host, "http://evil.example", 403},
		{"origin null", u.Host, "null", 403},
		{"origin over TLS", u.Host, "https://" + u.Host, 403},
	}
	for _, tt := range tests {
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tt.host
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if tt.origin != "" {
			req.Header.Set("Origin", tt.origin)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, res.StatusCode, tt.want)
		}
		if tt.want == 421 && !strings.Contains(string(text), u.Host) {
			t.Errorf("%s: %q does not say how to spell it", tt.name, text)
		}
	}
}

func TestR89_WildcardIsRefused(t *testing.T) {
	for _, host := range []string{"0.0.0.0", "::", "[::]", "0", ""} {
		if text := refused(t, filepath.Join(programs, "arenero-bridge"), map[string]string{"RAYITO_TEMPLATE": "x"}, "--http", "--host", host); !strings.Contains(text, "--host") {
			t.Errorf("%q", text)
		}
	}
}

func TestR90_PublicAddressWarns(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		h, address := serve(t, map[string]string{"ARENERO_HOME": home(t), "ARENERO_LANG": "es"}, "--host", ip.IP.String())
		if n := strings.Count(h.stderr.String(), "no hay autenticación"); n != 1 {
			t.Errorf("%d warnings, want 1: %s", n, h.stderr)
		}
		if r := greetHTTP(t, address).ask("tools/list", map[string]any{}); r.Error != nil {
			t.Errorf("it does not answer: %+v", r.Error)
		}
		return
	}
	t.Log("this computer has no address but loopback ones: only those are tried")
	h, _ := serve(t, map[string]string{"ARENERO_HOME": home(t)}, "--host", "127.0.0.2")
	if strings.Contains(h.stderr.String(), "no authentication") {
		t.Errorf("a warning about loopback: %s", h.stderr)
	}
}

// cloud is the local cloud as any AWS SDK sees it, and the variables that lead
// to it.
func cloud(t *testing.T) map[string]string {
	t.Helper()
	cmd := exec.Command(filepath.Join(programs, "arenero"), "cloud", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--json")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	var info struct{ Endpoint, AccessKeyID, SecretAccessKey, Region string }
	if err := json.NewDecoder(out).Decode(&info); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"AWS_ENDPOINT_URL_LAMBDA_MICROVMS": info.Endpoint, "AWS_ACCESS_KEY_ID": info.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY": info.SecretAccessKey, "AWS_REGION": info.Region,
	}
}

func TestR20_R21_R22_R26_R67_DropInForTheSeed(t *testing.T) {
	vars := cloud(t)
	vars["ARENERO_HOME"] = home(t)
	vars["RAYITO_MCP_LOG_LEVEL"] = "debug"
	h := start(t, vars)
	h.greet()
	if r := h.wait(h.begin("tools/list", map[string]any{})); r.Error != nil || strings.Count(string(r.Result), `"inputSchema"`) != 6 {
		t.Errorf("tools/list without a template: %+v", r)
	}
	if r := h.call("list_sandboxes", args{}); r.IsError {
		t.Errorf("list_sandboxes without a template: %+v", r)
	}
	if r := h.call("run_command", args{"cmd": "true"}); !r.IsError || !strings.Contains(r.text(), "RAYITO_TEMPLATE") || r.Data["code"] != "no_template" {
		t.Errorf("run_command without a template: %+v", r)
	}
	h.leave()
	for _, template := range []string{"arenero-local", "arn:aws:lambda:" + vars["AWS_REGION"] + ":000000000000:microvm-image:arenero-local"} {
		vars["RAYITO_TEMPLATE"] = template
		h = start(t, vars)
		h.greet()
		if r := h.call("run_command", args{"cmd": "echo hola"}); r.IsError || r.Data["stdout"] != "hola\n" {
			t.Errorf("with %s: %+v; log: %s", template, r, h.stderr)
		}
		r := h.call("list_sandboxes", args{})
		if list, _ := r.Data["sandboxes"].([]any); len(list) != 1 || list[0].(map[string]any)["current"] != true {
			t.Errorf("list_sandboxes with %s: %+v", template, r)
		}
		if secret := vars["AWS_SECRET_ACCESS_KEY"]; strings.Contains(h.stderr.String(), secret) {
			t.Error("the log holds the key")
		}
		h.leave()
	}
	vars["RAYITO_TEMPLATE"] = "no-such-image"
	h = start(t, vars)
	h.greet()
	if r := h.call("run_command", args{"cmd": "true"}); !r.IsError || !strings.Contains(r.text(), "no-such-image") {
		t.Errorf("with an image that there is not: %+v", r)
	}
}

// The engine may be killed at any time: the command goes on, and its host gets
// all of its output.
func TestKilledEngineLosesNothing(t *testing.T) {
	dir := home(t)
	h := start(t, map[string]string{"ARENERO_HOME": dir})
	h.greet()
	r := h.overAKilledEngine(dir, "run_command", args{"cmd": "echo run >>runs; for i in $(seq 20); do echo $i; sleep 0.1; done; cat runs"})
	if r.IsError || r.Data["stdout"] != toTwenty+"run\n" || r.Data["exit_code"] != 0.0 {
		t.Errorf("result = %+v; log: %s", r, h.stderr)
	}
	if n := len(sandboxes(t, dir)); n != 1 {
		t.Errorf("%d sandboxes, want 1", n)
	}
}

// So does a cell, which runs once.
func TestKilledEngineLosesNoCell(t *testing.T) {
	dir := home(t)
	h := start(t, map[string]string{"ARENERO_HOME": dir})
	h.greet()
	r := h.overAKilledEngine(dir, "run_code", args{"code": `import time
print("run", file=open("runs", "a"))
for i in range(1, 21):
    print(i, flush=True)
    time.sleep(0.1)
open("runs").read()`})
	var got struct {
		Text   *string
		Stdout string
		Error  any
		Count  int `json:"execution_count"`
	}
	if r.IsError || len(r.Content) == 0 || json.Unmarshal([]byte(r.Content[0].Text), &got) != nil {
		t.Fatalf("result = %+v; log: %s", r, h.stderr)
	}
	if got.Text == nil || *got.Text != `'run\n'` || got.Stdout != toTwenty || got.Error != nil || got.Count != 1 {
		t.Errorf("result = %s; log: %s", r.text(), h.stderr)
	}
	if n := len(sandboxes(t, dir)); n != 1 {
		t.Errorf("%d sandboxes, want 1", n)
	}
}

const toTwenty = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n"

// overAKilledEngine makes a call that counts, and kills the engine once the
// count is at three.
func (h *host) overAKilledEngine(dir, tool string, a args) result {
	h.t.Helper()
	to := h.begin("tools/call", map[string]any{"name": tool, "arguments": a, "_meta": map[string]any{"progressToken": 1}})
	eventually(h.t, "it has begun to count", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return strings.Contains(strings.Join(h.notes, "\n"), "3")
	})
	status, err := client(dir).Status(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
		h.t.Fatal(err)
	}
	r := h.result(to)
	if now, err := client(dir).Status(h.t.Context()); err != nil || now.PID == status.PID {
		h.t.Errorf("the engine is %+v, %v; want another than process %d", now, err, status.PID)
	}
	return r
}

func TestR72_KilledCloudIsReportedThenReplaced(t *testing.T) {
	dir := home(t)
	h := start(t, map[string]string{"ARENERO_HOME": dir, "ARENERO_LANG": "en"})
	h.greet()
	to := h.begin("tools/call", map[string]any{
		"name": "run_command", "arguments": args{"cmd": "echo begun; sleep 1000", "timeout": 3600}, "_meta": map[string]any{"progressToken": 1},
	})
	eventually(t, "the command has begun", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return strings.Contains(strings.Join(h.notes, "\n"), "begun")
	})
	killCloud(t, dir)
	if r := h.result(to); !r.IsError || r.Data["code"] != "sandbox_gone" {
		t.Errorf("the call in flight: %+v", r)
	}
	r := h.call("run_command", args{"cmd": "echo again"})
	if r.IsError || r.Data["stdout"] != "again\n" || !strings.Contains(r.text(), "is gone, and this is a new one") {
		t.Errorf("the next call: %+v", r)
	}
}

// killCloud kills the local cloud of a home, and what is in it.
func killCloud(t *testing.T, dir string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "state", "cloud", "running.json"))
	if err != nil {
		t.Fatal(err)
	}
	var running struct{ PID int }
	if err := json.Unmarshal(raw, &running); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(running.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
