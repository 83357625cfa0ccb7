package tools

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

// When to try again, where the engine does not say.
const (
	transition = 3 * time.Second
	inFlight   = 5 * time.Second
)

// local reports whether sandboxes may be made on this computer, or of what a
// profile of the owner says. Where those of a connection are made the engine
// knows alone.
func (s *set) local() bool {
	p := s.Spec.Profile
	return p.Connection != "" || !strings.HasPrefix(p.Name, sandbox.ProfileDescribed)
}

// ready sees to the lease that a call is for. It refuses one for which a sandbox
// would have to be made of no template.
func (s *set) ready(ctx context.Context, t sandbox.Target) error {
	if t.Sandbox != "" {
		return nil
	}
	if !s.local() && s.Spec.Template == "" {
		return s.noTemplate()
	}
	if s.Lend != nil {
		s.Lend(ctx)
	}
	return nil
}

func (s *set) noTemplate() error {
	return &sandbox.Error{Code: sandbox.NoTemplate, Details: map[string]any{"variable": "RAYITO_TEMPLATE"}}
}

func (s *set) invalid(key string, args ...string) error {
	return &bridge.Error{Code: string(sandbox.Invalid), Text: s.Texts.Get(key, args...)}
}

// explain makes of an error what a model is told: the text is ours, in the
// language of the host, and only the reason may be the engine's or AWS's own.
func (s *set) explain(err error) error {
	if _, ok := errors.AsType[*bridge.Error](err); ok {
		return err
	}
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok && errors.Is(err, context.DeadlineExceeded) {
		e, ok = sandbox.ToError(err), true
	}
	if !ok || e.Code == sandbox.Internal || e.Code == sandbox.Canceled && errors.Is(err, context.Canceled) {
		return err // logged under an id, of which the model is told
	}
	after := e.RetryAfter
	switch {
	case after != 0:
	case e.Code == sandbox.InTransition || e.Code == sandbox.RateLimited:
		after = transition
	case e.Code == sandbox.KeyInFlight:
		after = inFlight
	}
	key, args := s.wording(e)
	text := s.Texts.Get(key, append(args, "why", why(e), "code", string(e.Code), "sandbox", detail(e, "sandbox_id"),
		"profile", detail(e, "profile"), "command", detail(e, "command"),
		"seconds", strconv.Itoa(int((after+time.Second-1)/time.Second)))...)
	retry := e.Retryable
	switch e.Code {
	case sandbox.KeyInFlight, sandbox.Concurrency, sandbox.Gone, sandbox.InTransition, sandbox.CreateFailed, sandbox.CreateInDoubt, sandbox.RateLimited, sandbox.Unreachable, sandbox.CloudDown:
		retry = true
	}
	out := &bridge.Error{Code: string(e.Code), Text: text, Retryable: retry, RetryAfter: after, Err: e.Err}
	if len(e.Details) > 0 {
		out.Details = e.Details
	}
	return out
}

// goneByName explains that a sandbox has ended which the call has named, if that
// is what err says: no call makes another in its place.
func (s *set) goneByName(err error) error {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok || e.Code != sandbox.Gone {
		return err
	}
	return &bridge.Error{Code: string(e.Code), Text: s.Texts.Get("error.sandbox_gone.named"), Details: e.Details, Err: e.Err}
}

// why is the reason as it goes into a sentence of ours.
func why(e *sandbox.Error) string {
	return strings.TrimRight(e.Msg, ".")
}

func detail(e *sandbox.Error, name string) string {
	if v, ok := e.Details[name]; ok {
		return fmt.Sprint(v)
	}
	return ""
}

// aboutPath explains an error of a call about a path, where what is wrong is
// the path.
func (s *set) aboutPath(err error, path string) error {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok || detail(e, "sandbox_id") != "" {
		return err
	}
	key := map[sandbox.Code]string{
		sandbox.NotFound: "error.path_not_found",
		sandbox.Denied:   "error.path_denied",
		sandbox.Timeout:  "error.path_timeout",
	}[e.Code]
	if key == "" {
		return err
	}
	return &bridge.Error{
		Code: string(e.Code), Text: s.Texts.Get(key, "path", show(path), "why", why(e)), Retryable: e.Retryable,
		Details: map[string]any{"path": show(path)}, Err: err,
	}
}

// notRegular refuses to read what is no regular file.
func (s *set) notRegular(path string, t sandbox.FileType) error {
	key := "error.is_special"
	switch t {
	case sandbox.TypeDir:
		key = "error.is_dir"
	case sandbox.TypeSymlink:
		key = "error.is_link"
	}
	return &bridge.Error{
		Code: string(sandbox.Invalid), Text: s.Texts.Get(key, "path", show(path)),
		Details: map[string]any{"path": show(path), "type": string(t)},
	}
}

func (s *set) notText(path string, at int64) error {
	return &bridge.Error{
		Code: string(sandbox.Invalid), Text: s.Texts.Get("error.not_text", "path", show(path), "offset", strconv.FormatInt(at, 10)),
		Details: map[string]any{"path": show(path), "offset": at},
	}
}

// ranOut explains that the time of a command or a cell was up, if that is what
// err says.
func (s *set) ranOut(err error, seconds int) error {
	if sandbox.CodeOf(err) != sandbox.Timeout {
		return err
	}
	return &bridge.Error{
		Code: string(sandbox.Timeout), Text: s.Texts.Get("error.command_timeout", "seconds", strconv.Itoa(seconds)),
		Details: map[string]any{"timeout": seconds}, Err: err,
	}
}

const timeoutChars = 2000 // of output that a call shows whose time was up

// timedOut is that for a command of which there is some output.
func (s *set) timedOut(r *run, seconds int) error {
	text := s.Texts.Get("error.command_timeout", "seconds", strconv.Itoa(seconds))
	details := map[string]any{"timeout": seconds}
	for _, part := range []struct {
		name string
		c    *capture
	}{{"stdout", &r.stdout}, {"stderr", &r.stderr}} {
		if part.c.chars == 0 {
			continue
		}
		end := lastChars(string(part.c.text), timeoutChars)
		details[part.name] = end
		text += "\n" + s.Texts.Get("error.output_end", "stream", part.name) + "\n" + end
	}
	return &bridge.Error{Code: string(sandbox.Timeout), Text: text, Details: details}
}

// show shortens a path that is shown back.
func show(path string) string {
	const most = 300
	if end := lastChars(path, most); end != path {
		return "…" + end
	}
	return path
}
