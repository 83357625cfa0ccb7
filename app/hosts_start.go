package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A startedServer is what a server said when it was started as a host would.
type startedServer struct {
	Took  time.Duration // until the list of tools was there
	Tools []string
	Name  string
	Ended bool // in time, when its input was closed
}

// A startError is why a server can't be used.
type startError struct {
	what   string // of the texts: "missing", "exits", "silent", "stdout", "answer"
	detail string
}

func (e *startError) Error() string { return e.what + ": " + e.detail }

const (
	initializeRequest = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"arenero doctor","version":"1"}}}`
	initializedNote   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	listRequest       = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`

	endWithin = 10 * time.Second // for it to end

	maxAnswer = 8 << 20 // bytes of one line
	maxSaid   = 2 << 10 // of what a server says on standard error, to show
)

// start starts a server as a host does, asks it who it is and which tools it
// has, and ends it by closing its input. within is the host's patience.
func start(ctx context.Context, argv, env []string, within time.Duration) (startedServer, error) {
	limit, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(limit, argv[0], argv[1:]...)
	cmd.Env = env
	cmd.WaitDelay = time.Second
	said := &tail{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return startedServer{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return startedServer{}, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return startedServer{}, &startError{"missing", err.Error()}
	}
	// What it has started itself may keep the pipe open for longer.
	defer context.AfterFunc(limit, func() { out.Close() })()
	got, err := converse(in, out)
	got.Took = time.Since(begun)
	silent := errors.Is(limit.Err(), context.DeadlineExceeded)
	in.Close()
	end := time.AfterFunc(endWithin, cancel)
	io.Copy(io.Discard, out)
	exit := cmd.Wait()
	got.Ended = end.Stop()
	switch {
	case ctx.Err() != nil:
		return got, ctx.Err()
	case err == nil:
		return got, nil
	case silent:
		return got, &startError{"silent", said.String()}
	case errors.Is(err, io.EOF):
		return got, &startError{"exits", strings.TrimSpace(fmt.Sprintf("%v. %s", exitText(exit), said))}
	}
	return got, err
}

func exitText(err error) string {
	if err == nil {
		return "exit code 0"
	}
	return err.Error()
}

// converse asks for what a host asks first.
func converse(in io.Writer, out io.Reader) (startedServer, error) {
	var got startedServer
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxAnswer)
	// A server that has gone tells more by the end of its output.
	io.WriteString(in, initializeRequest+"\n")
	var hello struct {
		ServerInfo struct{ Name string }
	}
	if err := answer(lines, 1, &hello); err != nil {
		return got, err
	}
	got.Name = hello.ServerInfo.Name
	io.WriteString(in, initializedNote+"\n"+listRequest+"\n")
	return got, tools(&got, func(v any) error { return answer(lines, 2, v) })
}

func tools(got *startedServer, read func(any) error) error {
	var list struct {
		Tools []struct{ Name string }
	}
	if err := read(&list); err != nil {
		return err
	}
	for _, t := range list.Tools {
		got.Tools = append(got.Tools, t.Name)
	}
	return nil
}

// answer reads lines up to the answer with an id. Every line must be of the
// protocol: some hosts give up at the first that is not.
func answer(lines *bufio.Scanner, id int, into any) error {
	for lines.Scan() {
		if done, err := message(lines.Bytes(), id, into); done || err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return &startError{"stdout", err.Error()}
	}
	return io.EOF
}

// message reads one message, and tells whether it is the answer with the id.
func message(line []byte, id int, into any) (done bool, err error) {
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(line, &m) != nil || m.JSONRPC != "2.0" {
		return false, &startError{"stdout", shorten(string(line), 120)}
	}
	switch {
	case m.Method != "" || string(m.ID) != fmt.Sprint(id):
		return false, nil
	case m.Error != nil:
		return false, &startError{"answer", m.Error.Message}
	}
	if err := json.Unmarshal(m.Result, into); err != nil {
		return false, &startError{"answer", err.Error()}
	}
	return true, nil
}

// call asks a server over HTTP, as hosts whose entries have an address do.
func call(ctx context.Context, url string, within time.Duration) (startedServer, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	got := startedServer{Ended: true} // which is not ours to ask of it
	begun := time.Now()
	session := ""
	post := func(body string, id int, into any) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return &startError{"answer", err.Error()}
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("MCP-Protocol-Version", "2025-06-18")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return &startError{"unreachable", err.Error()}
		}
		defer res.Body.Close()
		if s := res.Header.Get("Mcp-Session-Id"); s != "" {
			session = s
		}
		if res.StatusCode >= 300 {
			return &startError{"answer", res.Status}
		}
		if into == nil {
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return &startError{"answer", err.Error()}
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(strings.TrimPrefix(line, "data:"))
			if !strings.HasPrefix(line, "{") {
				continue // an event's other fields
			}
			if done, err := message([]byte(line), id, into); done || err != nil {
				return err
			}
		}
		return &startError{"answer", "there is none"}
	}
	var hello struct {
		ServerInfo struct{ Name string }
	}
	if err := post(initializeRequest, 1, &hello); err != nil {
		return got, err
	}
	got.Name = hello.ServerInfo.Name
	if err := post(initializedNote, 0, nil); err != nil {
		return got, err
	}
	err := tools(&got, func(v any) error { return post(listRequest, 2, v) })
	got.Took = time.Since(begun)
	return got, err
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - maxSaid; n > 0 {
		t.text = bytes.Clone(t.text[n:])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return shorten(strings.Join(strings.Fields(string(t.text)), " "), 300)
}

// shorten cuts s to so many characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
