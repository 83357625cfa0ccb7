// Demo shows the main job on this computer, as an AI app has it done: an MCP
// client starts arenero-bridge, which starts what else is needed, and has its
// tools create a sandbox, run a command and some Python in it, put it to sleep,
// wake it with its variables, and end it. Every line is timed. "make demo"
// builds and runs it.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Short, since sockets are in it, and apart from what the user has.
	home, err := os.MkdirTemp("", "ar")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	s := session{home: home, env: []string{"ARENERO_HOME=" + home, "ARENERO_TOOLSETS=core,fleet", "ARENERO_LANG=en", "ARENERO_MCP_LOG_LEVEL=WARNING"}}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, part := range []struct {
		what string
		do   func(context.Context) (string, error)
	}{
		{"start the bridge", s.start},
		{"create a sandbox", s.create},
		{"run a command", s.command},
		{"run Python", func(ctx context.Context) (string, error) { return s.python(ctx, "x = 6 * 7; x") }},
		{"draw a plot", s.plot},
		{"suspend", func(ctx context.Context) (string, error) { return s.change(ctx, "suspend_sandbox") }},
		{"resume", func(ctx context.Context) (string, error) { return s.change(ctx, "resume_sandbox") }},
		{"Python remembers", func(ctx context.Context) (string, error) { return s.python(ctx, "x + 1") }},
		{"kill", func(ctx context.Context) (string, error) { return s.change(ctx, "terminate_sandbox") }},
	} {
		begin := time.Now()
		got, err := part.do(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", part.what, err)
		}
		fmt.Printf("%-18s %7.1f ms   %s\n", part.what, float64(time.Since(begin).Microseconds())/1000, got)
	}
	return nil
}

// A session is what an MCP host has: a bridge and, once it is created, the id
// of a sandbox.
type session struct {
	home   string
	env    []string
	client *client.Client
	id     string
}

// start runs the bridge and lists its tools. Neither needs an engine yet.
func (s *session) start(ctx context.Context) (string, error) {
	var err error
	if s.client, err = client.NewStdioMCPClient(filepath.Join("bin", "arenero-bridge"), s.env); err != nil {
		return "", fmt.Errorf("%w; \"make build-core\" makes it", err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "demo", Version: "1"}
	if _, err := s.client.Initialize(ctx, hello); err != nil {
		return "", err
	}
	list, err := s.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return "", err
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return fmt.Sprintf("%d tools: %s, …", len(names), strings.Join(names[:min(4, len(names))], ", ")), nil
}

// close ends the bridge, the engine and all it started.
func (s *session) close() error {
	if s.client == nil {
		return nil
	}
	err := s.client.Close()
	engine := exec.Command(filepath.Join("bin", "arenero"), "engine", "--stop")
	engine.Env = append(os.Environ(), s.env...)
	if out, stopErr := engine.CombinedOutput(); stopErr != nil {
		err = errors.Join(err, fmt.Errorf("stop the engine: %w: %s", stopErr, out))
	}
	return errors.Join(err, s.endCloud())
}

// endCloud ends the local cloud. It would end by itself, but it outlives its
// engine for a while so that the next one finds the sandboxes again.
func (s *session) endCloud() error {
	file := filepath.Join(s.home, "state", "cloud", "running.json")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var running struct{ PID int }
	if err := errors.Join(err, json.Unmarshal(data, &running)); err != nil {
		return err
	}
	cloud, err := os.FindProcess(running.PID)
	if err != nil {
		return err
	}
	if err := cloud.Signal(os.Interrupt); err != nil {
		return err
	}
	for range 500 { // it takes the file away last
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the cloud does not end")
}

// call has a tool do its work, and reads its result into out.
func (s *session) call(ctx context.Context, tool string, args map[string]any, out any) (*mcp.CallToolResult, error) {
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, args
	res, err := s.client.CallTool(ctx, req)
	if err != nil {
		return nil, err
	}
	text, ok := mcp.AsTextContent(res.Content[0])
	if !ok || res.IsError {
		return nil, fmt.Errorf("%s: %v", tool, res.Content)
	}
	return res, json.Unmarshal([]byte(text.Text), out)
}

func (s *session) create(ctx context.Context) (string, error) {
	var made struct {
		ID    string `json:"sandbox_id"`
		State string `json:"state"`
	}
	_, err := s.call(ctx, "create_sandbox", map[string]any{}, &made)
	s.id = made.ID
	return made.ID + " is " + made.State, err
}

// change puts the sandbox into another state.
func (s *session) change(ctx context.Context, tool string) (string, error) {
	var now struct {
		State string `json:"state"`
	}
	_, err := s.call(ctx, tool, map[string]any{"sandbox_id": s.id}, &now)
	return now.State, err
}

func (s *session) command(ctx context.Context) (string, error) {
	var out struct {
		Stdout   string `json:"stdout"`
		ExitCode int    `json:"exit_code"`
	}
	_, err := s.call(ctx, "run_command", map[string]any{
		"cmd": `echo "$(id -un) in $PWD, with $(ls -d /proc/[0-9]* | wc -l) processes to see"`, "sandbox_id": s.id,
	}, &out)
	return fmt.Sprintf("%s (exit code %d)", strings.TrimSpace(out.Stdout), out.ExitCode), err
}

// cell runs code and fails if it raised.
func (s *session) cell(ctx context.Context, code string) (text string, res *mcp.CallToolResult, err error) {
	var out struct {
		Text  *string `json:"text"`
		Error *struct {
			Name, Value string
		} `json:"error"`
	}
	res, err = s.call(ctx, "run_code", map[string]any{"code": code, "sandbox_id": s.id}, &out)
	switch {
	case err != nil:
	case out.Error != nil:
		err = fmt.Errorf("%s: %s", out.Error.Name, out.Error.Value)
	case out.Text != nil:
		text = *out.Text
	}
	return text, res, err
}

// python runs code and shows the value of its last expression.
func (s *session) python(ctx context.Context, code string) (string, error) {
	text, _, err := s.cell(ctx, code)
	return code + "  ⇒  " + text, err
}

func (s *session) plot(ctx context.Context) (string, error) {
	_, res, err := s.cell(ctx, `import matplotlib.pyplot as plt
plt.plot([n * n for n in range(10)])
plt.show()`)
	if err != nil {
		return "", err
	}
	for _, block := range res.Content {
		if image, ok := mcp.AsImageContent(block); ok {
			png, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(image.Data, "\n", ""))
			if err != nil {
				return "", err
			}
			file := filepath.Join("bin", "demo-plot.png")
			return fmt.Sprintf("%d bytes of %s, kept in %s", len(png), image.MIMEType, file), os.WriteFile(file, png, 0o644)
		}
	}
	return "", errors.New("no picture came")
}
