package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

type codeIn struct {
	Code    string `json:"code"`
	Timeout int    `json:"timeout" default:"300" min:"1" max:"3600"`
}

func (in codeIn) sizes() []slog.Attr {
	return []slog.Attr{slog.Int("code_bytes", len(in.Code)), slog.Int("timeout", in.Timeout)}
}

// at is the argument that core's tools have beside their own where there may be
// more sandboxes than one.
type at struct {
	SandboxID *string `json:"sandbox_id"`
}

// named is the sandbox that is asked for, or "".
func (a at) named() string {
	if a.SandboxID == nil {
		return ""
	}
	return *a.SandboxID
}

// target is the sandbox that a call is for.
func (s *set) target(ctx context.Context, a at) sandbox.Target {
	if id := a.named(); id != "" {
		return sandbox.Target{Sandbox: id}
	}
	return s.own(ctx)
}

// own is the sandbox of whoever calls.
func (s *set) own(ctx context.Context) sandbox.Target { return sandbox.Target{Lease: s.Who(ctx).Lease} }

type codeAtIn struct {
	codeIn
	at
}

// A codeOut is the first block of run_code's answer. The order of its keys is
// part of the contract.
type codeOut struct {
	Text      *string       `json:"text"`
	Stdout    string        `json:"stdout"`
	Stderr    string        `json:"stderr"`
	Error     *codeError    `json:"error"`
	Count     *uint64       `json:"execution_count"`
	Results   []resultTypes `json:"results"`
	Truncated bool          `json:"truncated"`
}

type codeError struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	Traceback string `json:"traceback"`
}

type resultTypes struct {
	Index int      `json:"index"`
	Types []string `json:"mime_types"`
}

// A codeAnswer is that block, or the one that tells of a job, and the images.
type codeAnswer struct {
	body   any
	blocks []bridge.Block
}

func (codeAnswer) plain() {}

// MarshalJSON writes the block alone.
func (a codeAnswer) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(a.body)
	return b.Bytes(), err
}

// Blocks returns the images.
func (a codeAnswer) Blocks() []bridge.Block { return a.blocks }

func (s *set) runCodeHere(ctx context.Context, tr *trace, in codeIn) (codeAnswer, error) {
	return s.runCode(ctx, tr, in, s.own(ctx))
}

func (s *set) runCodeAt(ctx context.Context, tr *trace, in codeAtIn) (codeAnswer, error) {
	return s.runCode(ctx, tr, in.codeIn, s.target(ctx, in.at))
}

func (s *set) runCode(ctx context.Context, tr *trace, in codeIn, t sandbox.Target) (codeAnswer, error) {
	if err := s.ready(ctx, t); err != nil {
		return codeAnswer{}, err
	}
	r := newRun(true)
	cell := sandbox.Cell{ID: r.id, Target: t, Code: in.Code, Timeout: time.Duration(in.Timeout) * time.Second}
	job := s.follow(ctx, tr, r, func(ctx context.Context, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		return s.Engine.RunCode(ctx, cell, emit)
	})
	if job {
		tr.add(slog.String("job", r.id))
		return codeAnswer{body: r.told}, nil
	}
	tr.in(r.exit.Sandbox)
	if r.err != nil {
		return codeAnswer{}, s.ranOut(r.err, in.Timeout)
	}
	out, blocks := s.codeOf(ctx, r)
	tr.add(slog.Int("stdout_chars", r.stdout.chars), slog.Int("stderr_chars", r.stderr.chars), slog.Int("results", len(r.results)))
	if r.exception != nil {
		tr.add(slog.String("exception", logName(r.exception.Name)))
	}
	return codeAnswer{out, blocks}, nil
}

// codeOf makes the answer for a cell that has ended.
func (s *set) codeOf(ctx context.Context, r *run) (codeOut, []bridge.Block) {
	out := codeOut{Results: []resultTypes{}}
	var text capture
	text.limit = keepBytes
	for i, res := range r.results {
		out.Results = append(out.Results, resultTypes{i, types(res.Data)})
		if plain, ok := res.Data["text/plain"]; ok && res.Main && out.Text == nil {
			text.Write([]byte(plain))
			text.end()
			out.Text = new(string)
		}
	}
	if out.Text != nil {
		*out.Text = text.shown(s.Texts, s.keep(ctx, r, "text", &text))
	}
	out.Stdout = r.stdout.shown(s.Texts, s.keep(ctx, r, "stdout", &r.stdout))
	out.Stderr = r.stderr.shown(s.Texts, s.keep(ctx, r, "stderr", &r.stderr))
	out.Truncated = text.truncated() || r.stdout.truncated() || r.stderr.truncated() || r.dropped
	if r.exit.Count != 0 {
		out.Count = &r.exit.Count
	}
	if e := r.exception; e != nil {
		out.Error = &codeError{e.Name, e.Value, strings.Join(e.Traceback, "\n")}
	}
	return out, images(r.results, r.exit.Sandbox, r.exit.Count)
}

// images returns what a host can show: all PNG and JPEG images, result by
// result, then all SVG ones.
func images(results []sandbox.Result, id string, count uint64) []bridge.Block {
	var raster, vector []bridge.Block
	n := "unknown"
	if count != 0 {
		n = strconv.FormatUint(count, 10)
	}
	for i, r := range results {
		for _, mime := range []string{"image/png", "image/jpeg"} {
			if data := r.Data[mime]; data != "" {
				raster = append(raster, bridge.Image(mime, data))
			}
		}
		if data := r.Data["image/svg+xml"]; data != "" {
			uri := "rayito://" + id + "/results/" + n + "/" + strconv.Itoa(i) + ".svg"
			vector = append(vector, bridge.File(uri, "image/svg+xml", data))
		}
	}
	return append(raster, vector...)
}

// typeOrder is how the MIME types of a result are listed; others follow it in
// the order of their names.
var typeOrder = []string{
	"text/plain", "text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "application/pdf",
	"text/latex", "application/javascript", "application/json", "e2b/data", "e2b/chart",
}

// omitted is the form of a result that names, as a JSON list, those forms of it
// that the agent has dropped because they are too big.
const omitted = "rayito/omitted"

// types lists the forms of a result, those that were dropped too.
func types(data map[string]string) []string {
	place := func(t string) int {
		if i := slices.Index(typeOrder, t); i >= 0 {
			return i
		}
		return len(typeOrder)
	}
	var dropped []string
	if json.Unmarshal([]byte(data[omitted]), &dropped) != nil {
		dropped = nil
	}
	all := make([]string, 0, len(data)+len(dropped))
	for t := range data {
		all = append(all, t)
	}
	for _, t := range dropped {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if d := place(a) - place(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return all
}

// logName keeps the name of an exception, which code can choose, to what a name
// looks like.
func logName(name string) string {
	ok := len(name) <= 40
	for _, c := range []byte(name) {
		ok = ok && (c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if !ok {
		return "?"
	}
	return name
}
