package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/bridge"
)

var update = flag.Bool("update", false, "write the golden files anew")

const longEnough = 2 * time.Minute // for what must happen

// host is an MCP client in the same process, over real pipes.
type host struct {
	t   *testing.T
	log *lockedBuffer

	in io.WriteCloser

	mu       sync.Mutex // guards what follows
	n        int
	waiting  map[int]chan reply
	progress []string
	news     chan struct{} // closed, and replaced, with every progress
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  *struct {
		Code    int
		Message string
	} `json:"error"`
	Result json.RawMessage `json:"result"`
}

// result is what a tool answered.
type result struct {
	Content []struct {
		Type, Text, Data, MIMEType string
		Resource                   struct{ URI, MIMEType, Text string }
	}
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
	Meta       json.RawMessage `json:"_meta"`
	raw        json.RawMessage
}

// text is the first block.
func (r result) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// code is the code of a failure.
func (r result) code(t *testing.T) string {
	t.Helper()
	if !r.IsError {
		t.Fatalf("no error: %s", r.raw)
	}
	return field[string](t, r.Structured, "code")
}

// field reads a member of a JSON object.
func field[T any](t *testing.T, raw json.RawMessage, name string) (v T) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	if err := json.Unmarshal(m[name], &v); err != nil {
		t.Fatalf("%s of %s: %v", name, raw, err)
	}
	return v
}

// connect serves the tools of m to a host.
func connect(t *testing.T, m *memory, edit ...func(*Config)) *host {
	t.Helper()
	h := &host{t: t, log: &lockedBuffer{}, waiting: map[int]chan reply{}, news: make(chan struct{})}
	log := slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := Config{Engine: m, Who: func(context.Context) Who { return Who{Lease: "lease-1"} }, Texts: assets.Load(assets.Spanish), Toolsets: []Toolset{Core}, Log: log}
	for _, e := range edit {
		e(&cfg)
	}
	set, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := bridge.New(bridge.Config{Name: "arenero", Version: "1", Language: cfg.Texts.Language, Log: log, Refused: set.Refused})
	if err := set.Add(srv); err != nil {
		t.Fatal(err)
	}
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	h.in = inW
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.ServeStdio(t.Context(), inR, outW); err != nil {
			t.Error(err)
		}
		outW.Close()
	}()
	go h.collect(outR)
	t.Cleanup(func() {
		inW.Close()
		<-done
		set.Close()
	})
	h.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
	return h
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
	for br := bufio.NewReader(r); ; {
		line, err := br.ReadBytes('\n')
		if err != nil {
			return
		}
		var m reply
		if err := json.Unmarshal(line, &m); err != nil {
			h.t.Errorf("line %q: %v", line, err)
			continue
		}
		h.mu.Lock()
		if m.Method == "notifications/progress" {
			var p struct{ Message string }
			if err := json.Unmarshal(m.Params, &p); err != nil {
				h.t.Error(err)
			}
			h.progress = append(h.progress, p.Message)
			close(h.news)
			h.news = make(chan struct{})
		}
		if to := h.waiting[m.ID]; to != nil {
			delete(h.waiting, m.ID)
			to <- m
		}
		h.mu.Unlock()
	}
}

// begin sends a request, and returns its id and where its answer comes.
func (h *host) begin(method string, params any) (int, <-chan reply) {
	h.t.Helper()
	h.mu.Lock()
	h.n++
	id, to := h.n, make(chan reply, 1)
	h.waiting[id] = to
	h.mu.Unlock()
	h.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id, to
}

func (h *host) send(v any) {
	h.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.in.Write(append(raw, '\n')); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) wait(to <-chan reply) reply {
	h.t.Helper()
	select {
	case r := <-to:
		return r
	case <-time.After(longEnough):
		h.t.Fatalf("no answer; log: %s", h.log)
	}
	panic("unreachable")
}

func (h *host) ask(method string, params any) reply {
	h.t.Helper()
	_, to := h.begin(method, params)
	return h.wait(to)
}

func params(tool string, args any, token any) map[string]any {
	p := map[string]any{"name": tool, "arguments": args}
	if token != nil {
		p["_meta"] = map[string]any{"progressToken": token}
	}
	return p
}

type args map[string]any

// call calls a tool.
func (h *host) call(tool string, a args) result {
	h.t.Helper()
	_, to := h.begin("tools/call", params(tool, a, nil))
	return h.result(to)
}

func (h *host) result(to <-chan reply) result {
	h.t.Helper()
	r := h.wait(to)
	if r.Error != nil {
		h.t.Fatalf("protocol error %d: %s", r.Error.Code, r.Error.Message)
	}
	var res result
	if err := json.Unmarshal(r.Result, &res); err != nil {
		h.t.Fatal(err)
	}
	res.raw = r.Result
	return res
}

// hears waits for a progress message that holds text.
func (h *host) hears(text string) {
	h.t.Helper()
	limit := time.After(longEnough)
	for {
		h.mu.Lock()
		all, news := strings.Join(h.progress, "\n"), h.news
		h.mu.Unlock()
		if strings.Contains(all, text) {
			return
		}
		select {
		case <-news:
		case <-limit:
			h.t.Fatalf("no progress %q, only %q", text, all)
		}
	}
}

// tools lists the tools, as they are sent.
func (h *host) tools() json.RawMessage {
	h.t.Helper()
	return h.ask("tools/list", map[string]any{}).Result
}

// golden compares got with a file in testdata.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	if json.Valid(got) {
		if err := json.Indent(&b, got, "", "  "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
	} else {
		b.Write(got)
	}
	file = filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs; run with -update to see how\ngot:\n%s", file, b.Bytes())
	}
}

func withJobs(c *Config) { c.Toolsets = append(c.Toolsets, Jobs) }
func withAll(c *Config)  { c.Toolsets = Toolsets() }

func withClock(clock clockwork.Clock) func(*Config) { return func(c *Config) { c.Clock = clock } }

// says is a command or cell that writes and ends.
func says(stdout, stderr string, code int) func(emit func(sandbox.Output) error) (sandbox.Exit, error) {
	return func(emit func(sandbox.Output) error) (sandbox.Exit, error) {
		for _, o := range []sandbox.Output{{Stream: sandbox.Stdout, Data: []byte(stdout)}, {Stream: sandbox.Stderr, Data: []byte(stderr)}} {
			if len(o.Data) == 0 {
				continue
			}
			if err := emit(o); err != nil {
				return sandbox.Exit{}, err
			}
		}
		return sandbox.Exit{Code: code}, nil
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

var _ fmt.Stringer = (*lockedBuffer)(nil)
