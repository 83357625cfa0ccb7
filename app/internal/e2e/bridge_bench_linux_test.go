package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkBridge measures what an MCP host notices of arenero-bridge, beside
// two servers that do nothing: the smallest one on the same library, and the
// reference server, which runs on Node. All take turns, so that each has the
// same share of whatever else the computer does.
func BenchmarkBridge(b *testing.B) {
	r := newEngineRig(b)
	ours, hello, node := r.bridge(b), buildHello(b), referenceServer(b)
	servers := []*mcpProgram{ours, hello, node}
	// The engine is up, as it is for all bridges but the first.
	ours.serve(b, func(s *mcpServer) { s.call(b) })
	for b.Loop() {
		for _, f := range [][]figure{coldStarts(b, servers), footprints(b, servers), roundTrips(b, servers)} {
			printFigures(f)
		}
	}
}

// An mcpProgram is an MCP server over stdio that a host might start.
type mcpProgram struct {
	name string
	argv []string
	env  []string
	tool string // its cheapest tool
	args map[string]any
}

// bridge builds arenero-bridge, as it is released, beside the other programs.
func (r *engineRig) bridge(b *testing.B) *mcpProgram {
	b.Helper()
	p := &mcpProgram{
		name: "arenero-bridge", argv: []string{filepath.Join(programs, "arenero-bridge")},
		env:  []string{"ARENERO_HOME=" + r.home, "ARENERO_MCP_LOG_LEVEL=WARNING", "HOME=" + r.home},
		tool: "run_command", args: map[string]any{"cmd": "true"},
	}
	goBuild(b, ".", p.argv[0], "github.com/arenero/arenero/bridge/cmd/arenero-bridge")
	return p
}

func buildHello(b *testing.B) *mcpProgram {
	b.Helper()
	const library = "github.com/mark3labs/mcp-go"
	if ours, theirs := versionOf(b, ".", library), versionOf(b, "hello", library); ours != theirs {
		b.Fatalf("the bridge is on %s of %s, hello on %s: `go get` the same in app/internal/e2e/hello", ours, library, theirs)
	}
	p := &mcpProgram{name: "hello on the same library", argv: []string{filepath.Join(programs, "hello")}, tool: "hello", args: map[string]any{"name": "you"}}
	goBuild(b, "hello", p.argv[0], ".")
	return p
}

func referenceServer(b *testing.B) *mcpProgram {
	b.Helper()
	script, err := filepath.Abs("js/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil {
		b.Fatal("the reference server is missing; run `make setup`")
	}
	return &mcpProgram{name: "reference server, Node", argv: []string{need(b, "node"), script, "stdio"}, tool: "echo", args: map[string]any{"message": "you"}}
}

// goBuild builds a program of the module in dir the way releases are built.
func goBuild(b *testing.B, dir, out, pkg string) {
	b.Helper()
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build %s: %v\n%s", pkg, err, text)
	}
}

// versionOf is that of an outside module in the module in dir.
func versionOf(b *testing.B, dir, module string) string {
	b.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("go list -m %s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}

// An mcpServer is an mcpProgram that runs and has been greeted.
type mcpServer struct {
	*mcpProgram
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	id     int
	took   time.Duration // from before its start to the answer to initialize
}

const mcpHello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`

// serve starts p, has use use it, and ends it as hosts do.
func (p *mcpProgram) serve(b *testing.B, use func(*mcpServer)) {
	b.Helper()
	s := p.start(b)
	use(s)
	s.leave(b)
}

func (p *mcpProgram) start(b *testing.B) *mcpServer {
	b.Helper()
	s := &mcpServer{mcpProgram: p, cmd: exec.Command(p.argv[0], p.argv[1:]...)}
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, p.env...)
	s.cmd.Stderr = &s.stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	begin := time.Now()
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	s.ask(b, "initialize", json.RawMessage(mcpHello))
	s.took = time.Since(begin)
	fmt.Fprintln(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *mcpServer) leave(b *testing.B) {
	b.Helper()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		b.Fatalf("%s: %v\n%s", s.name, err, &s.stderr)
	}
}

// ask makes a request and reads on until its answer has come.
func (s *mcpServer) ask(b *testing.B, method string, params any) json.RawMessage {
	b.Helper()
	s.id++
	req, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.in.Write(append(req, '\n')); err != nil {
		b.Fatal(err)
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			s.cmd.Wait()
			b.Fatalf("%s: %s: %v\n%s", s.name, method, err, &s.stderr)
		}
		var answer struct {
			ID     *int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			b.Fatalf("%s said %q: %v", s.name, line, err)
		}
		if answer.ID == nil || *answer.ID != s.id {
			continue
		}
		if answer.Error != nil {
			b.Fatalf("%s: %s: %s", s.name, method, answer.Error)
		}
		return answer.Result
	}
}

// callTool calls a tool that must not fail, and returns its text.
func (s *mcpServer) callTool(b *testing.B, tool string, args map[string]any) string {
	b.Helper()
	var res struct {
		IsError bool
		Content []struct{ Text string }
	}
	raw := s.ask(b, "tools/call", map[string]any{"name": tool, "arguments": args})
	if err := json.Unmarshal(raw, &res); err != nil || res.IsError || len(res.Content) == 0 {
		b.Fatalf("%s: %s: %v: %s", s.name, tool, err, raw)
	}
	return res.Content[0].Text
}

// call calls the cheapest tool.
func (s *mcpServer) call(b *testing.B) time.Duration {
	b.Helper()
	begin := time.Now()
	s.callTool(b, s.tool, s.args)
	return time.Since(begin)
}

// coldStarts is from the start of the process to its answer to initialize.
func coldStarts(b *testing.B, servers []*mcpProgram) []figure {
	took := make([][]time.Duration, len(servers))
	for round := range 43 {
		for i, p := range servers {
			p.serve(b, func(s *mcpServer) {
				if round >= 3 {
					took[i] = append(took[i], s.took)
				}
			})
		}
	}
	const what = "bridge, start to the answer to initialize"
	ours := median(took[0])
	return []figure{
		beside(what, ours, servers[1].name, median(took[1]), 0.6),
		beside(what, ours, servers[2].name, median(took[2]), 0),
	}
}

// footprints is the memory that each has after a hundred calls.
func footprints(b *testing.B, servers []*mcpProgram) []figure {
	has := make([][]int, len(servers))
	for range 7 {
		for i, p := range servers {
			p.serve(b, func(s *mcpServer) {
				for range 100 {
					s.call(b)
				}
				has[i] = append(has[i], resident(b, s.cmd.Process.Pid))
			})
		}
	}
	mib := func(i int) float64 { return float64(median(has[i])) / (1 << 20) }
	const what = "bridge, resident after 100 calls"
	return []figure{
		{what: what, ours: mib(0), theirs: 14, unit: "MiB", goal: 1},
		{what, servers[2].name, mib(0), mib(2), "MiB", 1. / 8},
		{what, servers[1].name, mib(0), mib(1), "MiB", 0},
	}
}

// roundTrips is a call from the host to a process in the sandbox and back,
// beside what that process alone costs in the same jail, and beside the call of
// a tool that does nothing.
func roundTrips(b *testing.B, servers []*mcpProgram) []figure {
	var running []*mcpServer
	for _, p := range servers {
		s := p.start(b)
		defer s.leave(b)
		running = append(running, s)
	}
	alone := [][]string{{"/bin/sh", "-c", "true"}, {"/bin/true"}}
	took, bare := make([][]time.Duration, len(servers)), make([][]time.Duration, len(alone))
	for round := range 21 {
		for i, s := range running {
			for range 20 {
				if t := s.call(b); round > 0 {
					took[i] = append(took[i], t)
				}
			}
		}
		for i, argv := range alone {
			var out struct{ Stdout string }
			cmd := "exec python3 -c '" + forkExecScript + "' 20 '" + strings.Join(argv, "' '") + "'"
			text := running[0].callTool(b, "run_command", map[string]any{"cmd": cmd})
			if err := json.Unmarshal([]byte(text), &out); err != nil {
				b.Fatalf("%q: %v", text, err)
			}
			bare[i] = append(bare[i], durations(b, out.Stdout)...)
		}
	}
	const what = "warm run_command true, host to process and back"
	ours := median(took[0])
	return []figure{
		beside(what, ours, "fork+exec of sh -c true in the jail", median(bare[0]), 3),
		beside(what, ours, "fork+exec of true in the jail", median(bare[1]), 3),
		beside(what, ours, "a call of "+servers[1].name, median(took[1]), 0),
		beside(what, ours, "a call of "+servers[2].name, median(took[2]), 0),
	}
}
