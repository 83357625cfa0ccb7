package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = 2 * time.Minute

// TestMain makes the test binary a server too, for tests over real pipes.
func TestMain(m *testing.M) {
	if os.Getenv("BRIDGE_TEST_SERVER") != "" {
		os.Exit(serveForTest())
	}
	os.Exit(m.Run())
}

// host is a client over real pipes, that says exactly what it is told to.
type host struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan string // what the server writes; closed at its end
	done  chan error  // what ServeStdio returned
	log   *syncBuffer
}

// connect serves one host in this process.
func connect(t *testing.T, s *Server) *host {
	t.Helper()
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	h := &host{t: t, in: inW, lines: make(chan string, 10000), done: make(chan error, 1)}
	go func() {
		err := s.ServeStdio(t.Context(), inR, outW)
		outW.Close()
		h.done <- err
	}()
	go h.collect(outR)
	t.Cleanup(func() { inW.Close() })
	return h
}

// start runs this test binary as a server process.
func start(t *testing.T, mode string, args ...string) (*host, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "BRIDGE_TEST_SERVER="+mode)
	h := &host{t: t, lines: make(chan string, 10000), done: make(chan error, 1), log: &syncBuffer{}}
	cmd.Stderr = h.log
	var err error
	if h.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	outR, outW := pipe(t)
	cmd.Stdout = outW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	outW.Close()
	go h.collect(outR)
	go func() { h.done <- cmd.Wait() }()
	t.Cleanup(func() { h.in.Close(); cmd.Process.Kill() })
	return h, cmd
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

func (h *host) collect(r io.Reader) {
	defer close(h.lines)
	for br := bufio.NewReader(r); ; {
		line, err := br.ReadString('\n')
		if line != "" {
			h.lines <- line
		}
		if err != nil {
			return
		}
	}
}

func (h *host) say(format string, args ...any) {
	h.t.Helper()
	if _, err := fmt.Fprintf(h.in, format+"\n", args...); err != nil {
		h.t.Fatal(err)
	}
}

// hear returns the next line.
func (h *host) hear() reply {
	h.t.Helper()
	select {
	case line, ok := <-h.lines:
		if !ok {
			h.t.Fatalf("the server ended; log: %v", h.log)
		}
		var r reply
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			h.t.Fatalf("line %q: %v", line, err)
		}
		r.line = strings.TrimSuffix(line, "\n")
		return r
	case <-time.After(patience):
		h.t.Fatalf("the server says nothing; log: %v", h.log)
	}
	panic("unreachable")
}

// rest returns all lines up to the server's end.
func (h *host) rest() (all []reply) {
	h.t.Helper()
	h.in.Close()
	for line := range h.lines {
		var r reply
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			h.t.Fatalf("line %q: %v", line, err)
		}
		r.line = strings.TrimSuffix(line, "\n")
		all = append(all, r)
	}
	return all
}

// end closes the input and waits for the server to be gone.
func (h *host) end() error {
	h.t.Helper()
	h.in.Close()
	select {
	case err := <-h.done:
		return err
	case <-time.After(patience):
		h.t.Fatal("the server does not end")
	}
	return nil
}

type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  *rpcError       `json:"error"`
	Result struct {
		Content []struct {
			Type, Text, Data, MIMEType string
			Resource                   struct{ URI, MIMEType, Text string }
		}
		StructuredContent json.RawMessage
		IsError           bool
		ResultType        string
		Tools             []struct {
			Name, Title, Description  string
			InputSchema, OutputSchema json.RawMessage
			Annotations               json.RawMessage
		}
		ProtocolVersion string
		Meta            json.RawMessage `json:"_meta"`
	} `json:"result"`

	line string
}

// text is the first block's text.
func (r reply) text() string {
	if len(r.Result.Content) == 0 {
		return ""
	}
	return r.Result.Content[0].Text
}

func toolCall(id any, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// gates holds calls of the tool "wait" back until a test lets them go.
type gates struct {
	mu      sync.Mutex
	open    map[string]chan struct{}
	started chan string
	ended   chan string // gets "name: cause" when a call was cancelled
}

func (g *gates) gate(name string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[name] == nil {
		g.open[name] = make(chan struct{})
	}
	return g.open[name]
}

type echoIn struct {
	Text string `json:"text" doc:"What to say."`
}

type echoOut struct {
	Text string `json:"text" doc:"What was said."`
}

type waitIn struct {
	Gate  string `json:"gate"`
	Deaf  bool   `json:"deaf,omitempty" doc:"Whether to ignore ctx."`
	Steps int    `json:"steps,omitempty" doc:"Progress messages before the result."`
}

// testServer has the tools echo, wait, fail, bug and boom.
func testServer(t testing.TB, cfg Config) (*Server, *gates) {
	t.Helper()
	cfg.Name, cfg.Version = "test", "1"
	s := New(cfg)
	g := &gates{open: map[string]chan struct{}{}, started: make(chan string, 10000), ended: make(chan string, 10000)}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(Add(s, Tool[echoIn, echoOut]{
		Name: "echo", Title: "Echo", Description: "Says it back.",
		Hints: Hints{ReadOnly: true, Idempotent: true},
		Call:  func(_ context.Context, in echoIn) (echoOut, error) { return echoOut(in), nil },
	}))
	must(Add(s, Tool[waitIn, struct{}]{
		Name: "wait", Title: "Wait", Description: "Waits for its gate to open.",
		Call: func(ctx context.Context, in waitIn) (struct{}, error) {
			g.started <- in.Gate
			for i := range in.Steps {
				Progress(ctx, float64(i+1), float64(in.Steps), "step")
			}
			if in.Deaf {
				ctx = context.WithoutCancel(ctx)
			}
			select {
			case <-g.gate(in.Gate):
				return struct{}{}, nil
			case <-ctx.Done():
				g.ended <- in.Gate
				return struct{}{}, ctx.Err()
			}
		},
	}))
	must(Add(s, Tool[echoIn, echoOut]{
		Name: "fail", Title: "Fail", Description: "Fails as it should.",
		Call: func(_ context.Context, in echoIn) (echoOut, error) {
			return echoOut{}, fmt.Errorf("wrapped: %w", &Error{
				Code: "not_found", Text: "There is no " + in.Text + ".", Retryable: true,
				RetryAfter: 1500 * time.Millisecond, Details: map[string]any{"looked": 3},
			})
		},
	}))
	must(Add(s, Tool[echoIn, echoOut]{
		Name: "bug", Title: "Bug", Description: "Fails as it should not.",
		Call: func(context.Context, echoIn) (echoOut, error) { return echoOut{}, fmt.Errorf("dial 10.0.0.1: refused") },
	}))
	must(Add(s, Tool[echoIn, echoOut]{
		Name: "boom", Title: "Boom", Description: "Panics.",
		Call: func(context.Context, echoIn) (echoOut, error) { panic("secret state") },
	}))
	return s, g
}

func logTo(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
