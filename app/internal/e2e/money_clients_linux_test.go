package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/arenero/arenero/app/sandbox"
)

// A spender is an MCP client that has the token, or a connection bound to it.
type spender struct {
	*client.Client
	name string
	http bool
	url  string    // of its bridge, over HTTP
	cmd  *exec.Cmd // its bridge, over stdio
	lazy bool      // it begins with a command, for which a sandbox is made
	used bool      // and that was there

	created []string // sandboxes that it asked for by themselves
	refused int      // times that a budget had no more
}

// variables are what a bridge is told.
func (p *purse) variables() []string {
	return append(p.environ(), "ARENERO_PROFILE=lab", "ARENERO_TOOLSETS=core,fleet", "ARENERO_MCP_TIMEOUT_SECONDS=3600", "ARENERO_MCP_IDLE_SECONDS=0", "ARENERO_MCP_LOG_LEVEL=DEBUG")
}

// stdio starts a bridge whose connection is bound to the token.
func (p *purse) stdio(name string) *spender {
	p.t.Helper()
	id := sandbox.NewConnectionID(nil)
	p.run("tokens", "bind", id, "agents")
	s := &spender{name: name}
	command := func(_ context.Context, name string, _, args []string) (*exec.Cmd, error) {
		s.cmd = exec.Command(name, args...)
		s.cmd.Env = p.variables()
		return s.cmd, nil
	}
	var err error
	s.Client, err = client.NewStdioMCPClientWithOptions(filepath.Join(programs, "arenero-bridge"), nil, []string{"--connection", id}, transport.WithCommandFunc(command))
	if err != nil {
		p.t.Fatal(err)
	}
	said := &logBuffer{}
	if stderr, ok := client.GetStderr(s.Client); ok {
		go copyLog(said, stderr)
	}
	p.t.Cleanup(func() {
		s.Close()
		p.listen("a bridge", said.String())
	})
	return p.greet(s)
}

var listensAt = regexp.MustCompile(`http://[0-9.:]+/mcp`)

// serve starts a bridge for those who come with tokens, and returns where.
func (p *purse) serve() string {
	p.t.Helper()
	cmd := exec.Command(filepath.Join(programs, "arenero-bridge"), "--http", "--port", "0", "--auth", "token")
	said := &logBuffer{}
	cmd.Env, cmd.Stderr = p.variables(), said
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		p.listen("the bridge that serves HTTP", said.String())
		if p.t.Failed() {
			p.t.Logf("its log:\n%s", said)
		}
	})
	comes(p.t, "the bridge says where it listens", func() bool { return listensAt.MatchString(said.String()) })
	return listensAt.FindString(said.String())
}

// web is a client with the token.
func (p *purse) web(name, url string) *spender {
	p.t.Helper()
	c, err := client.NewStreamableHttpClient(url, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + string(p.token.Secret)}))
	if err == nil {
		err = c.Start(p.t.Context())
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return p.greet(&spender{Client: c, name: name, http: true, url: url})
}

// leave ends the session of a client over HTTP. The client itself asks for that
// once, which is in vain while there is no engine that could tell whose it is.
func (p *purse) leave(s *spender) {
	p.t.Helper()
	id := s.GetSessionId()
	comes(p.t, "the session of "+s.name+" has ended", func() bool {
		req, err := http.NewRequestWithContext(p.t.Context(), http.MethodDelete, s.url, http.NoBody)
		if err != nil {
			p.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+string(p.token.Secret))
		req.Header.Set("Mcp-Session-Id", id)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			p.t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode < 300 || res.StatusCode == http.StatusNotFound
	})
}

func (p *purse) greet(s *spender) *spender {
	p.t.Helper()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-11-25" // the last one that has sessions, each with a sandbox of its own
	hello.Params.ClientInfo = mcp.Implementation{Name: s.name, Version: "1"}
	if _, err := s.Initialize(p.t.Context(), hello); err != nil {
		p.t.Fatalf("%s: %v", s.name, err)
	}
	if s.http && s.GetSessionId() == "" {
		p.t.Fatalf("%s has no session", s.name)
	}
	p.spenders = append(p.spenders, s)
	return s
}

// An outcome is what a tool answered.
type outcome struct {
	Code       string  `json:"code"` // "" is success
	RetryAfter float64 `json:"retry_after_s"`
	SandboxID  string  `json:"sandbox_id"`
	text       string
}

// use calls a tool.
func (s *spender) use(ctx context.Context, tool string, args map[string]any) (o outcome, err error) {
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, args
	res, err := s.CallTool(ctx, req)
	if err != nil {
		return o, err
	}
	text, err := json.Marshal(res)
	if err != nil {
		return o, err
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	o.text = string(text)
	if err == nil && res.IsError != (o.Code != "") {
		err = fmt.Errorf("the answer makes no sense: %s", text)
	}
	return o, err
}

// must calls a tool until it works: with faults on it may have to be asked again.
func (p *purse) must(s *spender, tool string, args map[string]any) outcome {
	p.t.Helper()
	var last outcome
	comes(p.t, s.name+": "+tool, func() bool {
		o, err := s.use(p.t.Context(), tool, args)
		last = o
		switch {
		case err != nil:
			p.t.Fatalf("%s, %s: %v", s.name, tool, err)
		case o.Code != "" && !again[sandbox.Code(o.Code)]:
			p.t.Fatalf("%s, %s: %s", s.name, tool, o.text)
		}
		return o.Code == ""
	})
	return last
}

// again are the codes after which the same may be asked again: the cloud does not
// do all it is asked, and an engine may have been killed.
var again = map[sandbox.Code]bool{
	sandbox.RateLimited: true, sandbox.CreateFailed: true, sandbox.CreateInDoubt: true, sandbox.KeyInFlight: true, sandbox.CloudDown: true,
	sandbox.InTransition: true, sandbox.Unreachable: true, sandbox.ExecInDoubt: true,
}

// spend asks for sandboxes until the budget has no more, and all that it allows
// are there.
func (p *purse) spend(s *spender, all int) error {
	ctx := p.t.Context()
	limit := time.Now().Add(enough)
	for n := 0; ; pause() {
		tool, args := "create_sandbox", map[string]any{"name": fmt.Sprintf("%s-%d", s.name, n), "hours": 1, "idle_seconds": 0}
		if s.lazy && !s.used {
			tool, args = "run_command", map[string]any{"cmd": "true"}
		}
		o, err := s.use(ctx, tool, args)
		switch {
		case time.Now().After(limit):
			return fmt.Errorf("there is no end to it: %s, %v", o.text, err)
		case err != nil:
			return fmt.Errorf("%s: %w", tool, err)
		case o.Code == "" && tool == "run_command":
			s.used = true
		case o.Code == "":
			s.created = append(s.created, o.SandboxID)
			n++
		case o.Code == string(sandbox.BudgetExceeded):
			if s.refused++; p.running() == all {
				return nil
			}
		case again[sandbox.Code(o.Code)]:
			time.Sleep(time.Duration(o.RetryAfter * float64(time.Second)))
		default:
			return fmt.Errorf("%s: %s", tool, o.text)
		}
	}
}
