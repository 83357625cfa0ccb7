package main_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

func TestR01_R14_OneVariableIsEnough(t *testing.T) {
	h := start(t, map[string]string{"ARENERO_HOME": home(t)})
	h.greet()
	r := h.call("run_command", args{"cmd": "echo hello; id -u; exit 3"})
	if r.IsError || r.Data["stdout"] != "hello\n1000\n" || r.Data["exit_code"] != 3.0 {
		t.Errorf("result = %+v; log: %s", r, h.stderr)
	}
}

func TestR02_R03_R58_R97_ASandboxForEachBridge(t *testing.T) {
	dir := home(t)
	one, two := start(t, map[string]string{"ARENERO_HOME": dir}), start(t, map[string]string{"ARENERO_HOME": dir})
	one.greet()
	two.greet()
	one.wait(one.begin("tools/list", map[string]any{}))
	if r := one.call("list_sandboxes", args{}); r.IsError || len(r.Data["sandboxes"].([]any)) != 0 {
		t.Fatalf("before the first call: %+v", r)
	}
	for range 3 {
		one.call("run_command", args{"cmd": "true"})
		two.call("run_command", args{"cmd": "true"})
	}
	all := sandboxes(t, dir)
	if len(all) != 2 {
		t.Errorf("%d sandboxes, want 2", len(all))
	}
	current := 0
	for _, s := range one.call("list_sandboxes", args{}).Data["sandboxes"].([]any) {
		if s.(map[string]any)["current"] == true {
			current++
		}
	}
	if current != 1 {
		t.Errorf("%d sandboxes are current, want 1", current)
	}
}

func TestR06_R78_R95_R104_EndOfInputEndsTheSandbox(t *testing.T) {
	dir := home(t)
	h := start(t, map[string]string{"ARENERO_HOME": dir})
	h.greet()
	h.call("run_command", args{"cmd": "true"})
	if code := h.leave(); code != 0 {
		t.Errorf("exit code = %d; log: %s", code, h.stderr)
	}
	eventually(t, "the sandbox has ended because its bridge did", func() bool {
		all := sandboxes(t, dir)
		return len(all) == 1 && all[0].State == sandbox.Terminated && all[0].EndReason == sandbox.EndClosed
	})
}

func TestR98_KilledBridgeLeaksNothing(t *testing.T) {
	dir := home(t)
	h := start(t, map[string]string{"ARENERO_HOME": dir})
	h.greet()
	h.call("run_command", args{"cmd": "true"})
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the sandbox has ended because its bridge was killed", func() bool {
		all := sandboxes(t, dir)
		return len(all) == 1 && all[0].State == sandbox.Terminated && all[0].EndReason == sandbox.EndCut
	})
}

func TestR42_R60_R62_R63_R94_Code(t *testing.T) {
	h := start(t, map[string]string{"ARENERO_HOME": home(t)})
	h.greet()
	type code struct {
		Text  *string
		Error *struct{ Name string }
		Count int `json:"execution_count"`
	}
	run := func(a args) (c code, r result) {
		t.Helper()
		r = h.call("run_code", a)
		if r.IsError {
			t.Fatalf("%v: %+v", a, r)
		}
		if err := json.Unmarshal([]byte(r.Content[0].Text), &c); err != nil {
			t.Fatal(err)
		}
		return c, r
	}
	if _, r := run(args{"code": "x = 20"}); len(r.Content) != 1 {
		t.Errorf("blocks = %+v", r.Content)
	}
	if c, _ := run(args{"code": "x + 1"}); c.Text == nil || *c.Text != "21" || c.Count != 2 {
		t.Errorf("state does not persist: %+v", c)
	}
	if c, _ := run(args{"code": "1/0"}); c.Error == nil || c.Error.Name != "ZeroDivisionError" || c.Text != nil {
		t.Errorf("exception = %+v", c)
	}
	if c, _ := run(args{"code": "import time\nwhile True: time.sleep(0.01)", "timeout": 1}); c.Error == nil || c.Error.Name != "ExecutionTimeout" {
		t.Errorf("over its time: %+v", c)
	}
	_, r := run(args{"code": "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()"})
	if len(r.Content) != 2 || r.Content[1].Type != "image" || r.Content[1].MIMEType != "image/png" {
		t.Fatalf("a plot = %.500s (is python3-matplotlib there? run make setup)", r.text())
	}
	raw, err := base64.StdEncoding.DecodeString(r.Content[1].Data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(raw)); err != nil {
		t.Errorf("the plot is no image: %v", err)
	}
}

func TestR52_R54_R55_R70_RX9_Files(t *testing.T) {
	h := start(t, map[string]string{"ARENERO_HOME": home(t), "ARENERO_LANG": "es"})
	h.greet()
	for _, content := range []string{"first, and long\n", "ñ\n"} {
		if r := h.call("write_file", args{"path": "a/b/c.txt", "content": content}); r.IsError || r.Data["path"] != "/home/user/a/b/c.txt" {
			t.Fatalf("write_file: %+v", r)
		}
	}
	if r := h.call("read_file", args{"path": "/home/user/a/b/c.txt"}); r.Data["content"] != "ñ\n" || r.Data["size"] != 3.0 {
		t.Errorf("read_file: %+v", r)
	}
	h.call("run_command", args{"cmd": "ln -s c.txt a/b/link; printf '\\377' >bin; mkfifo fifo"})
	for path, want := range map[string]string{
		"none": "Ruta no encontrada", "a": "directorio", "a/b/link": "enlace", "fifo": "archivo normal", "bin": "UTF-8", "": "",
	} {
		if r := h.call("read_file", args{"path": path}); !r.IsError || !strings.Contains(r.text(), want) || r.Data["code"] == "internal" {
			t.Errorf("read_file of %q: %+v", path, r)
		}
	}
	r := h.call("list_files", args{"depth": 3})
	var paths []string
	for _, e := range r.Data["entries"].([]any) {
		paths = append(paths, e.(map[string]any)["path"].(string))
	}
	if !slices.Contains(paths, "/home/user/a/b/c.txt") {
		t.Errorf("list_files: %q", paths)
	}
}

func TestR41_WholeOutputStaysInTheSandbox(t *testing.T) {
	h := start(t, map[string]string{"ARENERO_HOME": home(t), "ARENERO_LANG": "en"})
	h.greet()
	r := h.call("run_command", args{"cmd": "seq 100000"})
	text := r.Data["stdout"].(string)
	marker := text[strings.LastIndexByte(text, '\n')+1:]
	_, path, ok := strings.Cut(strings.TrimSuffix(marker, "]"), " in the sandbox, in ")
	if !ok || r.Data["truncated"] != true {
		t.Fatalf("marker = %q", marker)
	}
	if r := h.call("run_command", args{"cmd": "seq 100000 | cmp - " + path + " && echo same"}); r.Data["stdout"] != "same\n" {
		t.Errorf("the file differs: %+v", r)
	}
}

func TestR37_OnlyTheProtocolOnStandardOutput(t *testing.T) {
	h := start(t, map[string]string{"ARENERO_HOME": home(t), "RAYITO_MCP_LOG_LEVEL": "DEBUG"})
	h.greet()
	h.call("run_command", args{"cmd": "echo x"})
	h.call("read_file", args{"path": "none"})
	h.call("run_command", args{"cmd": 5})
	h.leave()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, line := range h.lines {
		var m struct{ JSONRPC string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("line %q", line)
		}
	}
	if !strings.Contains(h.stderr.String(), "level=DEBUG") {
		t.Errorf("the log is not on standard error: %s", h.stderr)
	}
}

func TestRX7_NoCanaryInAnyLog(t *testing.T) {
	const canary = "kanarienvogel"
	dir := home(t)
	h := start(t, map[string]string{"ARENERO_HOME": dir, "ARENERO_MCP_LOG_LEVEL": "DEBUG"}, "--connection", "c-1")
	h.greet()
	calls := []struct {
		tool string
		args args
	}{
		{"run_code", args{"code": "print('" + canary + "')\n'" + canary + "'"}},
		{"run_code", args{"code": "raise ValueError('" + canary + "')"}},
		{"run_command", args{"cmd": "echo " + canary + "; echo " + canary + " >&2; exit 9"}},
		{"run_command", args{"cmd": "true", "cwd": "/" + canary}},
		{"run_command", args{"cmd": "echo " + canary + "; exec sleep 60", "timeout": 1}},
		{"write_file", args{"path": canary + "/f", "content": canary}},
		{"read_file", args{"path": canary + "/f"}},
		{"read_file", args{"path": canary}},
		{"read_file", args{"path": "/" + canary}},
		{"write_file", args{"path": "/proc/" + canary, "content": canary}},
		{"list_files", args{"path": "/" + canary}},
		{"start_command", args{"cmd": "echo " + canary}},
		{"run_command", args{"cmd": canary, canary: canary}},
	}
	for _, c := range calls {
		h.call(c.tool, c.args)
	}
	h.leave()
	logs := map[string]string{"the bridge": h.stderr.String()}
	err := filepath.WalkDir(filepath.Join(dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var raw []byte
			if raw, err = os.ReadFile(path); err == nil {
				logs[path] = string(raw)
			}
		}
		if os.IsNotExist(err) {
			err = nil // it has just ended
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(logs) < 3 {
		t.Fatalf("only %d logs found", len(logs))
	}
	for name, log := range logs {
		for line := range strings.SplitSeq(log, "\n") {
			if strings.Contains(line, canary) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// Every argument of every tool is tried, and what is no call of a tool at all.
// Not even a refusal repeats it where it would stay.
func TestR37_RX7_NoCanaryOfAnyArgument(t *testing.T) {
	const canary = "kanarienvogel"
	dir := home(t)
	h := start(t, map[string]string{"ARENERO_HOME": dir, "ARENERO_MCP_LOG_LEVEL": "DEBUG"}, "--connection", "c-1")
	h.greet()
	for _, line := range []string{
		canary, `{"` + canary + `"`, `{"jsonrpc":"2.0","id":"` + canary + `","method":"` + canary + `","params":{"` + canary + `":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/` + canary + `","params":{"` + canary + `":1}}`, "[\"" + canary + "\"]", "\xff" + canary,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"run_command","arguments":"` + canary + `"}}`,
		`{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"` + canary + `","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":"c","method":"resources/read","params":{"uri":"` + canary + `:"}}`,
	} {
		if _, err := io.WriteString(h.in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Properties map[string]struct{ Type any }
				Required   []string
			}
		}
	}
	if err := json.Unmarshal(h.wait(h.begin("tools/list", map[string]any{})).Result, &list); err != nil || len(list.Tools) < 10 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	for _, tool := range list.Tools {
		for name := range tool.InputSchema.Properties {
			a := args{}
			for _, other := range tool.InputSchema.Required {
				a[other] = map[bool]any{true: "x", false: 1}[tool.InputSchema.Properties[other].Type == "string"]
			}
			a[name] = canary
			h.call(tool.Name, a)
		}
		h.call(tool.Name, args{canary: canary})
	}
	h.leave()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, line := range h.lines {
		var m struct{ JSONRPC string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("line %q on standard output", line)
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, "state", "log", "*"))
	if err != nil || len(logs) < 2 {
		t.Fatalf("logs %v, %v", logs, err)
	}
	texts := map[string]string{"the bridge": h.stderr.String()}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	for name, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			if strings.Contains(line, canary) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

func TestR15_WithoutTheRestOfArenero(t *testing.T) {
	alone := filepath.Join(t.TempDir(), "arenero-bridge")
	if err := os.Link(filepath.Join(programs, "arenero-bridge"), alone); err != nil {
		raw, err := os.ReadFile(filepath.Join(programs, "arenero-bridge"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(alone, raw, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if text := refused(t, alone, map[string]string{"ARENERO_HOME": t.TempDir()}); !strings.Contains(text, "make build") {
		t.Errorf("%q does not say what to do", text)
	}
}

func TestR30_R34_R35_R38_RX4_BadStarts(t *testing.T) {
	program := filepath.Join(programs, "arenero-bridge")
	for name, value := range map[string]string{
		"RAYITO_MCP_TIMEOUT_SECONDS": "59", "RAYITO_MCP_IDLE_SECONDS": "3600", "RAYITO_MCP_LOG_LEVEL": "TRACE", "ARENERO_LANG": "xx", "ARENERO_TOOLSETS": "x",
	} {
		if text := refused(t, program, map[string]string{name: value}); !strings.Contains(text, name) {
			t.Errorf("%q does not name %s", text, name)
		}
	}
	refused(t, program, map[string]string{"RAYITO_TEMPLATE": "a", "ARENERO_TEMPLATE": "b"})
	refused(t, program, nil, "--port", "9000")
	refused(t, program, nil, "--nonsense")
}

func TestR11_Help(t *testing.T) {
	for _, flag := range []string{"--help", "-h", "--version"} {
		cmd := exec.Command(filepath.Join(programs, "arenero-bridge"), flag)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", flag, err)
		}
		if stdout.Len() > 0 || !strings.Contains(stderr.String(), "arenero-bridge") {
			t.Errorf("%s: %q on standard output, %q on the other", flag, stdout.String(), stderr.String())
		}
	}
}

// The program ends with its input, whatever it is doing.
func TestEndOfInput(t *testing.T) {
	vars := map[string]string{"ARENERO_HOME": home(t)}
	if code := start(t, vars).leave(); code != 0 {
		t.Errorf("before the handshake: exit code %d", code)
	}
	h := start(t, vars)
	h.greet()
	h.call("run_command", args{"cmd": "true"})
	h.begin("tools/call", map[string]any{"name": "run_command", "arguments": args{"cmd": "sleep 1000"}})
	h.begin("tools/call", map[string]any{"name": "run_code", "arguments": args{"code": "import time; time.sleep(1000)"}})
	if code := h.leave(); code != 0 {
		t.Errorf("in the middle of calls: exit code %d; log: %s", code, h.stderr)
	}
	h = start(t, vars)
	h.greet()
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := h.exit(); code != 0 {
		t.Errorf("after a signal: exit code %d", code)
	}
}

// A host that is killed may leave our input open, in the hands of its children.
func TestEndOfParent(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", `exec 3<&0; "$0" <&3 & exec sleep 1000 >/dev/null 2>&1`, filepath.Join(programs, "arenero-bridge"))
	h := startCommand(t, cmd, map[string]string{"ARENERO_HOME": home(t), "PATH": os.Getenv("PATH")})
	h.greet()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	h.exit() // once the bridge too has let go of standard output
	if !strings.Contains(h.stderr.String(), "the host has ended") {
		t.Errorf("log = %s", h.stderr)
	}
}

func TestR93_ProgressOfCreation(t *testing.T) {
	h := start(t, map[string]string{"ARENERO_HOME": home(t), "ARENERO_LANG": "en"})
	h.greet()
	h.call("run_command", args{"cmd": "echo one; echo two"})
	h.mu.Lock()
	defer h.mu.Unlock()
	all := strings.Join(h.notes, "\n")
	if !strings.Contains(all, "Creating the sandbox") || !strings.Contains(all, "one\ntwo") {
		t.Errorf("progress = %q", all)
	}
}

func TestR05_FleetAndJobsOfAConnection(t *testing.T) {
	h := start(t, map[string]string{"ARENERO_HOME": home(t)}, "--connection", "c-1")
	h.greet()
	r := h.call("create_sandbox", args{"name": "second", "hours": 1})
	id, _ := r.Data["sandbox_id"].(string)
	if id == "" || r.Data["state"] != "RUNNING" {
		t.Fatalf("create_sandbox: %+v; log: %s", r, h.stderr)
	}
	h.call("run_command", args{"cmd": "echo there >where", "sandbox_id": id})
	h.call("run_command", args{"cmd": "echo here >where"})
	if r := h.call("read_file", args{"path": "where", "sandbox_id": id}); r.Data["content"] != "there\n" {
		t.Errorf("in the second sandbox: %+v", r)
	}
	if r := h.call("read_file", args{"path": "where"}); r.Data["content"] != "here\n" {
		t.Errorf("in the first sandbox: %+v", r)
	}
	for _, step := range []struct{ tool, state string }{
		{"suspend_sandbox", "SUSPENDED"}, {"get_sandbox", "SUSPENDED"}, {"resume_sandbox", "RUNNING"}, {"suspend_sandbox", "SUSPENDED"},
	} {
		if r := h.call(step.tool, args{"sandbox_id": id}); r.Data["state"] != step.state {
			t.Errorf("%s: %+v, want %s", step.tool, r, step.state)
		}
	}
	if r := h.call("run_command", args{"cmd": "cat where", "sandbox_id": id}); r.Data["stdout"] != "there\n" { // R5: it wakes by itself
		t.Errorf("after its sleep: %+v", r)
	}
	r = h.call("start_command", args{"cmd": "echo begun; read x; echo never", "sandbox_id": id})
	job, _ := r.Data["job_id"].(string)
	if job == "" {
		t.Fatalf("start_command: %+v", r)
	}
	r = h.call("start_command", args{"cmd": "echo begun; exec sleep 1000"})
	job = r.Data["job_id"].(string)
	if r := h.call("read_output", args{"job_id": job, "wait": 45}); r.Data["stdout"] != "begun\n" || r.Data["status"] != "running" {
		t.Errorf("read_output: %+v", r)
	}
	if r := h.call("stop_command", args{"job_id": job}); r.IsError || r.Data["status"] != "exited" {
		t.Errorf("stop_command: %+v", r)
	}
	if r := h.call("terminate_sandbox", args{"sandbox_id": id}); r.IsError {
		t.Errorf("terminate_sandbox: %+v", r)
	}
	if r := h.call("run_command", args{"cmd": "true", "sandbox_id": id}); !r.IsError || r.Data["code"] != "sandbox_gone" && r.Data["code"] != "not_found" {
		t.Errorf("in a sandbox that has ended: %+v", r)
	}
}
