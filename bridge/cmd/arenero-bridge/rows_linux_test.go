package main_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

// What the environment says is what AWS is asked for.
func TestR04_R08_R20_R24_R25_R33_RecordedRequest(t *testing.T) {
	r, aws := recorded(t)
	aws["ARENERO_HOME"], aws["RAYITO_TEMPLATE"] = home(t), "arenero-local"
	const role = "arn:aws:iam::000000000000:role/of-sandboxes"
	arn := "arn:aws:lambda:" + aws["AWS_REGION"] + ":000000000000:microvm-image:arenero-local"
	disabled := map[string]any{"disabled": map[string]any{}}
	idle := func(seconds, life float64) any {
		return map[string]any{"maxIdleDurationSeconds": seconds, "suspendedDurationSeconds": life, "autoResumeEnabled": true}
	}
	tests := []struct {
		name string
		vars map[string]string
		want map[string]any // members of the request; nil: it is not there
	}{
		{"defaults", nil, map[string]any{
			"maximumDurationInSeconds": 3600.0, "idlePolicy": idle(300, 3600), "executionRoleArn": nil, "logging": disabled, "imageVersion": nil,
		}},
		{"times", map[string]string{"RAYITO_MCP_TIMEOUT_SECONDS": "7200", "RAYITO_MCP_IDLE_SECONDS": "60"}, map[string]any{
			"maximumDurationInSeconds": 7200.0, "idlePolicy": idle(60, 7200),
		}},
		{"never asleep", map[string]string{"RAYITO_MCP_IDLE_SECONDS": "0", "RAYITO_MCP_TIMEOUT_SECONDS": "600"}, map[string]any{
			"maximumDurationInSeconds": 600.0, "idlePolicy": nil,
		}},
		{"role", map[string]string{"RAYITO_EXECUTION_ROLE_ARN": role}, map[string]any{
			"executionRoleArn": role, "logging": map[string]any{"cloudWatch": map[string]any{"logGroup": "/aws/lambda-microvms/arenero-local"}},
		}},
		{"version", map[string]string{"RAYITO_TEMPLATE_VERSION": "1.0"}, map[string]any{"imageVersion": "1.0"}},
		{"ARN", map[string]string{"RAYITO_TEMPLATE": arn}, map[string]any{"imageIdentifier": arn}},
	}
	for i, tt := range tests {
		vars := maps.Clone(aws)
		maps.Copy(vars, tt.vars)
		h := start(t, vars)
		h.greet()
		if res := h.call("run_command", args{"cmd": "true"}); res.IsError {
			t.Fatalf("%s: %+v; log: %s", tt.name, res, h.stderr)
		}
		h.leave()
		all := r.runs()
		if len(all) != i+1 {
			t.Fatalf("%s: %d creates, want %d", tt.name, len(all), i+1)
		}
		for member, want := range tt.want {
			got, there := all[i][member]
			if w, g := asJSON(t, want), asJSON(t, got); w != g || want == nil && there {
				t.Errorf("%s: %s is %s, want %s", tt.name, member, g, w)
			}
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The access token of the environment opens the sandbox's agent, and is nowhere
// but with those who need it.
func TestAccessTokenOpensTheSandbox(t *testing.T) {
	r, vars := recorded(t)
	dir := home(t)
	raw := []byte("sixteen bytes or more, as it is")
	token := base64.RawURLEncoding.EncodeToString(raw)
	vars["ARENERO_HOME"], vars["RAYITO_TEMPLATE"], vars["RAYITO_MCP_LOG_LEVEL"] = dir, "arenero-local", "DEBUG"
	vars["RAYITO_ACCESS_TOKEN"] = base64.URLEncoding.EncodeToString(raw) // padded
	h := start(t, vars)
	h.greet()
	if res := h.call("run_command", args{"cmd": "env; echo kept >f"}); res.IsError || strings.Contains(res.text(), token) {
		t.Fatalf("first call: %+v; log: %s", res, h.stderr)
	}
	digest := sha256.Sum256(raw)
	all := r.runs()
	if len(all) != 1 {
		t.Fatalf("%d creates", len(all))
	}
	var payload map[string]any
	if err := json.Unmarshal([]byte(all[0]["runHookPayload"].(string)), &payload); err != nil {
		t.Fatal(err)
	}
	if got, want := payload["token_sha256"], hex.EncodeToString(digest[:]); got != want || payload["v"] != 1.0 || len(payload) != 2 {
		t.Errorf("payload = %v, want the digest %s", payload, want)
	}
	if strings.Contains(asJSON(t, all[0]), token) {
		t.Error("the token itself is sent to AWS")
	}
	holders := holding(t, dir, token)
	keys := filepath.Join(dir, "state", "keys")
	if len(holders) != 1 || filepath.Dir(holders[0]) != keys {
		t.Errorf("the token is in %v, want one file in %s", holders, keys)
	}
	for _, name := range holders {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	for _, name := range lines {
		if line, err := os.ReadFile(name); err == nil && strings.Contains(string(line), token) {
			t.Errorf("an argument holds the token: %q", line)
		}
	}
	// The next engine has it too.
	status, err := client(dir).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if res := h.call("run_command", args{"cmd": "cat f"}); res.IsError || res.Data["stdout"] != "kept\n" {
		t.Errorf("after the engine was killed: %+v; log: %s", res, h.stderr)
	}
	h.leave()
	eventually(t, "the token is forgotten with the sandbox", func() bool { return len(holding(t, dir, token)) == 0 })
	if strings.Contains(h.stderr.String(), token) {
		t.Error("the log of the bridge holds the token")
	}
}

// holding lists the files below dir that hold a text.
func holding(t *testing.T, dir, text string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var raw []byte
			if raw, err = os.ReadFile(path); err == nil && strings.Contains(string(raw), text) {
				found = append(found, path)
			}
		}
		if os.IsNotExist(err) {
			err = nil // it has just gone
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The bridge has three names, and is the same by each.
func TestR12_NamesOfTheBridge(t *testing.T) {
	alias := filepath.Join(programs, "arenero-mcp")
	if err := os.Symlink("arenero-bridge", alias); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(alias) })
	ways := [][]string{{"arenero-bridge"}, {"arenero-mcp"}, {"arenero", "bridge"}}
	var first string
	for _, way := range ways {
		for _, flag := range []string{"--help", "-h"} {
			out, err := exec.Command(filepath.Join(programs, way[0]), append(way[1:len(way):len(way)], flag)...).CombinedOutput()
			if err != nil {
				t.Errorf("%v %s: %v", way, flag, err)
			}
			if first == "" {
				first = string(out)
			}
			if string(out) != first || !strings.Contains(first, "--http") {
				t.Errorf("%v %s says %q, and the first way %q", way, flag, out, first)
			}
		}
		if text := refused(t, filepath.Join(programs, way[0]), nil, append(way[1:len(way):len(way)], "--port", "1")...); !strings.Contains(text, "--http") {
			t.Errorf("%v: %q", way, text)
		}
	}
	for _, way := range ways[1:] {
		h := startCommand(t, exec.Command(filepath.Join(programs, way[0]), way[1:]...), map[string]string{"ARENERO_HOME": home(t)})
		h.greet()
		if res := h.call("run_command", args{"cmd": "echo served"}); res.Data["stdout"] != "served\n" {
			t.Errorf("%v: %+v; log: %s", way, res, h.stderr)
		}
		if code := h.leave(); code != 0 {
			t.Errorf("%v: exit code %d", way, code)
		}
	}
}

// A bridge that has lost the rest of Arenero says what to install, to the model
// too.
func TestR17_PartsThatAreMissing(t *testing.T) {
	dir := home(t)
	h := start(t, map[string]string{"ARENERO_HOME": dir})
	h.greet()
	h.call("run_command", args{"cmd": "true"}) // starts the engine
	h.leave()
	h = startCommand(t, exec.Command(lone(t)), map[string]string{"ARENERO_HOME": dir})
	h.greet()
	if err := client(dir).Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine has ended", func() bool {
		_, err := client(dir).Status(t.Context())
		return err != nil
	})
	if res := h.call("run_command", args{"cmd": "true"}); !res.IsError || res.Data["code"] != "app_unreachable" || !strings.Contains(res.text(), "make build") {
		t.Errorf("result = %+v", res)
	}
}

func TestR47_ShellAndUser(t *testing.T) {
	h := start(t, map[string]string{"ARENERO_HOME": home(t)})
	h.greet()
	cmd := `tr '\0' '|' </proc/$$/cmdline; id -un; pwd`
	res := h.call("run_command", args{"cmd": cmd})
	if want := "/bin/sh|-c|" + cmd + "|user\n/home/user\n"; res.Data["stdout"] != want {
		t.Errorf("result = %+v, want %q", res, want)
	}
}

// Images travel as they are, up to the size at which the agent drops them.
func TestR101_LargeImages(t *testing.T) {
	h := start(t, map[string]string{"ARENERO_HOME": home(t)})
	h.greet()
	for _, tt := range []struct {
		bytes int
		sent  bool
	}{{6 << 20, true}, {6<<20 + 1, false}} { // in base64 8 MiB, and more
		res := h.call("run_code", args{"code": `
import hashlib, random
class Image:
    def __init__(self, n): self.raw = random.Random(1).randbytes(n)
    def __repr__(self): return hashlib.sha256(self.raw).hexdigest()
    def _repr_png_(self): return self.raw
Image(` + strconv.Itoa(tt.bytes) + `)`})
		if res.IsError {
			t.Fatalf("%d bytes: %.500s", tt.bytes, res.text())
		}
		var first struct {
			Text    string
			Error   any
			Results []struct {
				Types []string `json:"mime_types"`
			}
		}
		if err := json.Unmarshal([]byte(res.Content[0].Text), &first); err != nil || len(first.Results) != 1 {
			t.Fatalf("%d bytes: %.500s, %v", tt.bytes, res.Content[0].Text, err)
		}
		if types := first.Results[0].Types; !slices.Contains(types, "image/png") || slices.Contains(types, "rayito/omitted") == tt.sent {
			t.Errorf("%d bytes: listed as %v", tt.bytes, types)
		}
		if sent := len(res.Content) == 2; sent != tt.sent {
			t.Errorf("%d bytes: %d blocks", tt.bytes, len(res.Content))
			continue
		}
		if !tt.sent {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(res.Content[1].Data)
		if sum := sha256.Sum256(raw); err != nil || hex.EncodeToString(sum[:]) != first.Text || len(raw) != tt.bytes {
			t.Errorf("the image has changed: %d bytes, %v", len(raw), err)
		}
	}
}

// A sandbox of the same image can be found and ended from elsewhere.
func TestR99_FoundAndEndedFromElsewhere(t *testing.T) {
	aws := cloud(t)
	aws["RAYITO_TEMPLATE"] = "arenero-local"
	bridge := func(args ...string) (*host, map[string]string) {
		vars := maps.Clone(aws)
		vars["ARENERO_HOME"] = home(t)
		h := start(t, vars, args...)
		h.greet()
		return h, vars
	}
	listed := func(h *host) (ids []string, current string) {
		t.Helper()
		res := h.call("list_sandboxes", args{})
		for _, s := range res.Data["sandboxes"].([]any) {
			m := s.(map[string]any)
			ids = append(ids, m["sandbox_id"].(string))
			if m["current"] == true {
				current = m["sandbox_id"].(string)
			}
		}
		return ids, current
	}
	theirs, _ := bridge()
	theirs.call("run_command", args{"cmd": "true"})
	_, id := listed(theirs)
	if id == "" {
		t.Fatal("it has no sandbox")
	}
	ours, vars := bridge("--connection", "c-1")
	if ids, current := listed(ours); !slices.Equal(ids, []string{id}) || current != "" {
		t.Errorf("listed before our first call: %v, current %q", ids, current)
	}
	ours.call("run_command", args{"cmd": "true"})
	if ids, current := listed(ours); len(ids) != 2 || !slices.Contains(ids, id) || current == id || current == "" {
		t.Errorf("listed: %v, current %q", ids, current)
	}

	cmd := exec.Command(filepath.Join(programs, "arenero"), "kill", id)
	cmd.Env = []string{"ARENERO_HOME=" + vars["ARENERO_HOME"]}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), id) {
		t.Errorf("kill: %v: %s", err, out)
	}
	eventually(t, "it is not listed any more", func() bool {
		ids, _ := listed(ours)
		return !slices.Contains(ids, id)
	})
	if res := theirs.call("run_command", args{"cmd": "true"}); !res.IsError || res.Data["code"] != string(sandbox.Gone) {
		t.Errorf("whose it was is told: %+v", res)
	}
	theirs.call("run_command", args{"cmd": "true"})
	_, id = listed(theirs)
	if res := ours.call("terminate_sandbox", args{"sandbox_id": id}); res.IsError {
		t.Errorf("terminate_sandbox: %+v", res)
	}
	if res := ours.call("run_command", args{"cmd": "echo on"}); res.Data["stdout"] != "on\n" {
		t.Errorf("our own: %+v", res)
	}
}

// lone is the bridge with no other program beside it, so that it can start none.
func lone(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(programs, "arenero-bridge"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "arenero-bridge")
	if err := os.WriteFile(path, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestComesBackToALateEngine has the engine away for longer than the bridge
// looks for it: the sandbox and what is in it are there all the same once
// somebody starts one, though no call is made meanwhile.
func TestComesBackToALateEngine(t *testing.T) {
	dir := home(t)
	vars := map[string]string{"ARENERO_HOME": dir}
	engine := func() *exec.Cmd {
		cmd := exec.Command(filepath.Join(programs, "arenero"), "engine")
		cmd.Env = []string{"ARENERO_HOME=" + dir}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
		eventually(t, "the engine answers", func() bool {
			_, err := client(dir).Status(t.Context())
			return err == nil
		})
		return cmd
	}
	first := engine()
	h := startCommand(t, exec.Command(lone(t)), vars)
	h.greet()
	if res := h.call("write_file", args{"path": "kept", "content": "kept"}); res.IsError {
		t.Fatalf("write_file: %+v", res)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	eventually(t, "the bridge has given up", func() bool { return strings.Contains(h.stderr.String(), "no lease") })
	engine()
	eventually(t, "the lease is held again", func() bool {
		for _, l := range snapshot(t, dir).Leases {
			if l.Attached {
				return true
			}
		}
		return false
	})
	if res := h.call("read_file", args{"path": "kept"}); res.IsError || !strings.Contains(res.text(), "kept") {
		t.Errorf("read_file: %+v", res)
	}
	if n := len(sandboxes(t, dir)); n != 1 {
		t.Errorf("%d sandboxes, want the first alone", n)
	}
}
