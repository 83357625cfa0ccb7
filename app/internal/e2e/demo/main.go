// Demo shows the main job on this computer, as an AI app has it done: an MCP
// client starts arenero-bridge, which starts what else is needed, and has its
// tools create a sandbox, run a command and some Python in it, put it to sleep,
// wake it with its variables, and end it. Every step is timed. "make demo"
// builds and runs it.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"golang.org/x/term"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

const intro = `What an AI app does with Arenero: an MCP client starts arenero-bridge and calls its tools.
The code runs in a sandbox: a process tree of this computer that is kept from the rest of it.

`

const outro = `
That took %.1f s, and nothing of it runs any more. To give your own AI app such sandboxes:
bin/arenero hosts list names the apps there are, bin/arenero hosts install NAME connects one.
`

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Short, since sockets are in it, and apart from what the user has.
	home, err := os.MkdirTemp("", "ar")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	s := session{home: home, env: []string{"ARENERO_HOME=" + home, "ARENERO_TOOLSETS=core,fleet", "ARENERO_LANG=en", "ARENERO_MCP_LOG_LEVEL=WARNING"}}
	out := screen{os.Stdout, term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""}
	fmt.Print(intro)
	begin := time.Now()
	if err := errors.Join(s.show(ctx, out), s.close()); err != nil {
		return err
	}
	fmt.Printf(outro, time.Since(begin).Seconds())
	return nil
}

// show takes all steps.
func (s *session) show(ctx context.Context, out screen) error {
	for _, st := range []step{
		{"start arenero-bridge", "", s.start},
		{"create_sandbox", "", s.create},
		{"run_command", "$ " + lookAround, func(ctx context.Context) (string, error) { return s.command(ctx, lookAround) }},
		{"run_code", ">>> x = 6 * 7; x", func(ctx context.Context) (string, error) { return s.python(ctx, "x = 6 * 7; x") }},
		{"run_code", ">>> " + drawing, s.plot},
		{"suspend_sandbox", "", func(ctx context.Context) (string, error) { return s.change(ctx, "suspend_sandbox", "it uses no CPU") }},
		{"resume_sandbox", "", func(ctx context.Context) (string, error) { return s.change(ctx, "resume_sandbox", "") }},
		{"run_code", ">>> x + 1", func(ctx context.Context) (string, error) {
			answer, err := s.python(ctx, "x + 1")
			return answer + "  (x is still there)", err
		}},
		{"terminate_sandbox", "", func(ctx context.Context) (string, error) {
			return s.change(ctx, "terminate_sandbox", "its files and processes are gone")
		}},
	} {
		begin := time.Now()
		answer, err := st.do(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
		out.show(st, time.Since(begin), answer)
	}
	return nil
}

// A step is one thing that the client does: it starts the bridge or calls a
// tool of that name, with an input worth showing.
type step struct {
	name, input string
	do          func(context.Context) (answer string, err error)
}

// A screen shows steps, in colours where they can be seen.
type screen struct {
	w      io.Writer
	colour bool
}

// Of ECMA-48, select graphic rendition.
const (
	bold  = "1"
	dim   = "2"
	green = "32"
	blue  = "36"
)

func (s screen) paint(how, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + how + "m" + text + "\x1b[0m"
}

// show prints the name of a step, how long it took, its input and the answer.
func (s screen) show(st step, took time.Duration, answer string) {
	head := s.paint(bold, fmt.Sprintf("%-20s", st.name)) + s.paint(dim, fmt.Sprintf(" %6.0f ms", float64(took.Microseconds())/1000))
	if st.input != "" {
		fmt.Fprintf(s.w, "%s   %s\n", head, s.paint(blue, st.input))
		head = strings.Repeat(" ", 30)
	}
	fmt.Fprintf(s.w, "%s   %s\n", head, s.paint(green, "→ "+answer))
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
	return fmt.Sprintf("%d tools: %s, …", len(names), strings.Join(names[:min(3, len(names))], ", ")), nil
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
	return made.State + ": " + made.ID, err
}

// change puts the sandbox into another state. It returns that, and what it means.
func (s *session) change(ctx context.Context, tool, meaning string) (string, error) {
	var now struct {
		State string `json:"state"`
	}
	_, err := s.call(ctx, tool, map[string]any{"sandbox_id": s.id}, &now)
	if meaning != "" {
		now.State += ": " + meaning
	}
	return now.State, err
}

// lookAround shows who and where one is in a sandbox, and how many processes
// there are to see.
const lookAround = "whoami; pwd; ls -d /proc/[0-9]* | wc -l"

func (s *session) command(ctx context.Context, cmd string) (string, error) {
	var out struct {
		Stdout   string `json:"stdout"`
		Stderr   string `json:"stderr"`
		ExitCode int    `json:"exit_code"`
	}
	if _, err := s.call(ctx, "run_command", map[string]any{"cmd": cmd, "sandbox_id": s.id}, &out); err != nil {
		return "", err
	}
	if out.ExitCode != 0 {
		return "", fmt.Errorf("exit code %d: %s", out.ExitCode, out.Stderr)
	}
	here, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return "", err
	}
	answer := strings.Join(strings.Fields(out.Stdout), ", ") + " processes"
	if len(here) > 0 {
		answer += fmt.Sprintf(" (this computer has %d)", len(here))
	}
	return answer, nil
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

// python runs code and returns the value of its last expression.
func (s *session) python(ctx context.Context, code string) (string, error) {
	text, _, err := s.cell(ctx, code)
	return text, err
}

const drawing = "import matplotlib.pyplot as p; p.plot([1, 4, 9, 16])"

func (s *session) plot(ctx context.Context) (string, error) {
	_, res, err := s.cell(ctx, drawing)
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
			return fmt.Sprintf("a picture, %s of %d bytes: see %s", image.MIMEType, len(png), file), os.WriteFile(file, png, 0o644)
		}
	}
	return "", errors.New("no picture came")
}
