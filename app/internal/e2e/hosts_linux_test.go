package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// buildBridge builds arenero-bridge beside the other programs.
func buildBridge(t testing.TB) {
	t.Helper()
	build := exec.Command("go", "build", "-trimpath", "-o", programs, "github.com/arenero/arenero/bridge/cmd/arenero-bridge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the bridge: %v\n%s", err, out)
	}
}

// An mcpEntry is a host's entry.
type mcpEntry struct {
	Command string
	Args    []string
}

// connect starts what an entry says as a host does: with six variables, and
// those that lead to the home of this test.
func (r *engineRig) connect(t *testing.T, e mcpEntry, vars ...string) *client.Client {
	t.Helper()
	command := func(ctx context.Context, command string, _ []string, args []string) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, command, args...)
		cmd.Env = append([]string{
			"HOME=" + r.home, "LOGNAME=ana", "PATH=/usr/bin:/bin", "SHELL=/bin/sh", "TERM=dumb", "USER=ana", "ARENERO_HOME=" + r.home,
		}, vars...)
		return cmd, nil
	}
	c, err := client.NewStdioMCPClientWithOptions(e.Command, nil, e.Args, transport.WithCommandFunc(command))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "cursor", Version: "1"}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return c
}

// runCommand has a tool run a command, and returns all that it answers.
func runCommand(t *testing.T, c *client.Client, command string) string {
	t.Helper()
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = "run_command", map[string]any{"cmd": command}
	res, err := c.CallTool(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := mcp.AsTextContent(res.Content[0])
	return text.Text
}

// TestHostsWholeWay installs an entry into the home of a played Cursor, starts
// exactly what it says, runs a command in the sandbox that this leads to, and
// takes the entry out again.
func TestHostsWholeWay(t *testing.T) {
	buildBridge(t)
	r := newEngineRig(t)
	const before = "{\r\n\t// keep me\r\n\t\"mcpServers\": {\r\n\t\t\"other\": { \"command\" : \"other\" }\r\n\t}\r\n}"
	file := filepath.Join(r.home, ".cursor", "mcp.json")
	put(t, file, before, 0o640)
	put(t, filepath.Join(r.home, ".config", "Cursor", "User", "globalStorage", "state.vscdb"), "", 0o600) // it was here
	run := func(args ...string) string {
		out, err := r.command(append([]string{"hosts"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("arenero hosts %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("install", "cursor")
	e := entryOf(t, file)

	// What the user's shell says of AWS is not for this connection, which was
	// installed for this computer.
	c := r.connect(t, e, "AWS_REGION=eu-west-1", "RAYITO_TEMPLATE=none")
	if list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{}); err != nil || len(list.Tools) < 12 {
		t.Errorf("tools: %v, %v", list, err)
	}
	if got := runCommand(t, c, "echo $((6*7))"); !strings.Contains(got, `"42\n"`) {
		t.Errorf("run_command answers %s", got)
	}
	snap, err := r.command("ls", "--json").Output()
	if err != nil || !strings.Contains(string(snap), `"current"`) {
		t.Errorf("ls: %s, %v", snap, err)
	}
	c.Close()

	// A profile that is not here is an error that says so.
	settings := filepath.Join(r.home, "config", "settings.json")
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	put(t, settings, strings.Replace(string(text), `"profile": "local"`, `"profile": "prod"`, 1), 0o600)
	if got := runCommand(t, r.connect(t, e), "true"); !strings.Contains(got, "prod") {
		t.Errorf("with a profile that is not there: %s", got)
	}

	run("remove", "cursor")
	after, err := os.ReadFile(file)
	if err != nil || string(after) != before {
		t.Errorf("after the removal: %q, %v, want %q", after, err, before)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode: %v, %v", info, err)
	}
}

// TestR91InspectorStartsOurServer runs the command that we print for the MCP
// inspector, with its flag for terminals.
func TestR91InspectorStartsOurServer(t *testing.T) {
	need(t, "node")
	inspector, err := filepath.Abs("../../../bridge/conformance/node_modules/.bin/mcp-inspector")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(inspector); err != nil {
		t.Fatal("the inspector is missing; run `make setup`")
	}
	buildBridge(t)
	r := newEngineRig(t)
	line, err := r.command("hosts", "print", "inspector").Output()
	if err != nil {
		t.Fatal(err)
	}
	args, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "npx @modelcontextprotocol/inspector ")
	if !ok {
		t.Fatalf("printed: %s", line)
	}
	out, err := exec.Command("sh", "-c", "'"+inspector+"' --cli "+args+" --method tools/list").CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"run_command"`) {
		t.Errorf("inspector: %v\n%s", err, out)
	}
}

var comment = regexp.MustCompile(`(?m)^\s*//.*$`)

// entryOf reads our entry as a host would.
func entryOf(t *testing.T, file string) mcpEntry {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Servers map[string]mcpEntry `json:"mcpServers"`
	}
	if err := json.Unmarshal(comment.ReplaceAll(text, nil), &doc); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	e, ok := doc.Servers["arenero"]
	if !ok || e.Command != filepath.Join(programs, "arenero-bridge") || len(e.Args) != 2 {
		t.Fatalf("entry = %+v in\n%s", e, text)
	}
	return e
}

func put(t testing.TB, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}
