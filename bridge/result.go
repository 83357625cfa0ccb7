package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"
)

// An Error tells a model what went wrong, and whether trying again may help.
// It reaches the model as a result with isError, with Text as its content and
// the rest as structuredContent.
type Error struct {
	Code       string // stable, in English: "not_found"
	Text       string // for the model and the person behind it; no secrets
	Retryable  bool
	RetryAfter time.Duration // zero: not said
	Details    map[string]any
	Err        error // the cause, for the log alone
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return e.Text + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// The codes this package itself uses.
const (
	CodeInvalidArguments = "invalid_arguments"
	CodeInternal         = "internal"
	CodeCancelled        = "cancelled"

	// Of requests over HTTP that are not let in; see [Bearer].
	CodeUnauthenticated = "unauthenticated"
	CodeTokenExpired    = "token_expired"
	CodeTokenRevoked    = "token_revoked"
	CodeRateLimited     = "rate_limited"
)

// failure is the structuredContent of a failed call. Output schemas allow it
// beside the result, since the TypeScript SDK before 2.0 checks that of failed
// calls too, and would hide the text from the model if it did not fit.
type failure struct {
	Code       string         `json:"code"`
	Retryable  bool           `json:"retryable"`
	RetryAfter float64        `json:"retry_after_s,omitempty"`
	Details    map[string]any `json:"details"`
}

// Blocks is met by results that show more than their JSON: images and files.
// They follow the block with the JSON.
type Blocks interface {
	Blocks() []Block
}

// A Block is a part of a result's content: a text, an image or a small file.
type Block struct {
	text string
	data string // base64
	mime string
	uri  string
}

// Text is a block of text.
func Text(s string) Block { return Block{text: s} }

// Image is an image, in base64.
func Image(mime, base64 string) Block { return Block{mime: mime, data: base64} }

// File is a text file with an address.
func File(uri, mime, text string) Block { return Block{uri: uri, mime: mime, text: text} }

func (b Block) content() mcp.Content {
	switch {
	case b.uri != "":
		return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: b.uri, MIMEType: b.mime, Text: b.text})
	case b.data != "":
		return mcp.NewImageContent(b.data, b.mime)
	}
	return mcp.NewTextContent(b.text)
}

// succeeded makes the result of a call that worked: a block with its JSON, the
// blocks it has besides, and the notes made on the way.
func (s *Server) succeeded(c *call, out any, plain bool) *mcp.CallToolResult {
	raw, err := marshal(out)
	if err != nil {
		return s.failed(c, fmt.Errorf("write the result: %w", err))
	}
	var text bytes.Buffer
	if err := json.Indent(&text, raw, "", "  "); err != nil {
		return s.failed(c, fmt.Errorf("indent the result: %w", err))
	}
	res := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text.String())}}
	if !plain {
		res.RawStructuredContent = raw
	}
	if more, ok := out.(Blocks); ok {
		for _, b := range more.Blocks() {
			res.Content = append(res.Content, b.content())
		}
	}
	return s.noted(c, res)
}

// failed makes the result of a call that did not work. What is no [*Error] is
// logged under an id, and the model gets that id.
func (s *Server) failed(c *call, err error) *mcp.CallToolResult {
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok:
		c.log.Debug("tool failed", "code", e.Code)
	case errors.Is(err, context.Canceled):
		e = &Error{Code: CodeCancelled, Text: s.texts.cancelled, Retryable: true}
	default:
		id := uuid.NewString()
		c.log.Error("tool failed", "id", id, "err", err)
		if p, ok := errors.AsType[*panicked](err); ok {
			c.log.Error("tool panicked", "id", id, "stack", string(p.stack))
		}
		e = &Error{Code: CodeInternal, Text: fmt.Sprintf(s.texts.internal, id), Details: map[string]any{"id": id}}
	}
	details := e.Details
	if details == nil {
		details = map[string]any{}
	}
	return s.noted(c, &mcp.CallToolResult{
		IsError: true,
		Content: []mcp.Content{mcp.NewTextContent(e.Text)},
		StructuredContent: failure{
			Code: e.Code, Retryable: e.Retryable, Details: details,
			RetryAfter: math.Ceil(e.RetryAfter.Seconds()*1000) / 1000,
		},
	})
}

// refuse answers arguments that break the schema, in the way the server has
// been told to.
func (s *Server) refuse(c *call, tool string, problems []problem) *mcp.CallToolResult {
	var text strings.Builder
	fmt.Fprintf(&text, s.texts.badArguments, tool)
	for _, p := range problems {
		text.WriteString("\n- " + p.Problem)
	}
	if s.cfg.BadArguments == BadArgumentsProtocol {
		c.refused = &rpcError{Code: mcp.INVALID_PARAMS, Message: text.String()}
	}
	return s.failed(c, &Error{
		Code: CodeInvalidArguments, Text: text.String(),
		Details: map[string]any{"fields": problems},
	})
}

// noted adds the notes of a call as its last blocks, and its tail after them.
func (s *Server) noted(c *call, res *mcp.CallToolResult) *mcp.CallToolResult {
	notes, tail := c.takeNotes(), c.takeTail()
	meta := map[string]any{}
	for _, n := range notes {
		res.Content = append(res.Content, mcp.NewTextContent(n.Text))
		meta[s.cfg.Name+"/notes"] = notes
	}
	if tail != nil && tail.Text != "" {
		res.Content = append(res.Content, mcp.NewTextContent(tail.Text))
	}
	if tail != nil && tail.Value != nil {
		meta[s.cfg.Name+"/"+tail.Name] = tail.Value
	}
	if len(meta) > 0 {
		res.Meta = mcp.NewMetaFromMap(meta)
	}
	return res
}

// panicked is a panic in a tool, as an error.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprint("panic: ", p.value) }

// protect runs f and makes an error of its panic.
func protect[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return f()
}

// marshal writes v without escaping <, > and &, which JSON does not ask for.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
