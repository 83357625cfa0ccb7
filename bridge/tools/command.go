package tools

import (
	"context"
	"log/slog"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

type commandIn struct {
	Cmd     string  `json:"cmd"`
	Timeout int     `json:"timeout" default:"60" min:"1" max:"3600"`
	Cwd     *string `json:"cwd"`
}

func (in commandIn) sizes() []slog.Attr {
	return []slog.Attr{slog.Int("cmd_bytes", len(in.Cmd)), slog.Int("timeout", in.Timeout)}
}

type commandAtIn struct {
	commandIn
	at
}

type commandOut struct {
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  int    `json:"exit_code"`
	Truncated bool   `json:"truncated"`
}

// A commandJobOut is what run_command answers where a command may become a job.
type commandJobOut struct {
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  *int   `json:"exit_code"`
	Truncated bool   `json:"truncated"`
	JobID     string `json:"job_id,omitempty"`
}

// addRunCommand adds run_command without sandbox_id.
func (s *set) addRunCommand(srv *bridge.Server, h bridge.Hints) error {
	if !s.has(Jobs) {
		return add(s, srv, "run_command", h, func(ctx context.Context, tr *trace, in commandIn) (commandOut, error) {
			return ended(s.runCommand(ctx, tr, in, s.own(ctx)))
		})
	}
	return add(s, srv, "run_command", h, func(ctx context.Context, tr *trace, in commandIn) (commandJobOut, error) {
		return s.runCommand(ctx, tr, in, s.own(ctx))
	})
}

// addRunCommandAt adds run_command with sandbox_id.
func (s *set) addRunCommandAt(srv *bridge.Server, h bridge.Hints) error {
	if !s.has(Jobs) {
		return add(s, srv, "run_command", h, func(ctx context.Context, tr *trace, in commandAtIn) (commandOut, error) {
			return ended(s.runCommand(ctx, tr, in.commandIn, s.target(ctx, in.at)))
		})
	}
	return add(s, srv, "run_command", h, func(ctx context.Context, tr *trace, in commandAtIn) (commandJobOut, error) {
		return s.runCommand(ctx, tr, in.commandIn, s.target(ctx, in.at))
	})
}

// ended is the answer of a command that can't have become a job.
func ended(out commandJobOut, err error) (commandOut, error) {
	if err != nil {
		return commandOut{}, err
	}
	return commandOut{out.Stdout, out.Stderr, *out.ExitCode, out.Truncated}, nil
}

func shell(cmd string) []string { return []string{"/bin/sh", "-c", cmd} }

func (s *set) runCommand(ctx context.Context, tr *trace, in commandIn, t sandbox.Target) (commandJobOut, error) {
	if err := s.ready(ctx, t); err != nil {
		return commandJobOut{}, err
	}
	r := newRun(false)
	e := sandbox.Exec{ID: r.id, Target: t, Args: shell(in.Cmd), Timeout: time.Duration(in.Timeout) * time.Second}
	if in.Cwd != nil {
		e.Dir = *in.Cwd
	}
	job := s.follow(ctx, tr, r, func(ctx context.Context, emit func(sandbox.Output) error) (sandbox.Exit, error) {
		return s.Engine.Exec(ctx, e, emit)
	})
	if job {
		tr.add(slog.String("job", r.id))
		return commandJobOut{Stdout: r.told.Stdout, Stderr: r.told.Stderr, Truncated: r.told.Truncated, JobID: r.id}, nil
	}
	tr.in(r.exit.Sandbox)
	tr.add(slog.Int("stdout_chars", r.stdout.chars), slog.Int("stderr_chars", r.stderr.chars))
	switch {
	case r.err != nil:
		return commandJobOut{}, s.ranOut(r.err, in.Timeout)
	case r.exit.TimedOut:
		return commandJobOut{}, s.timedOut(r, in.Timeout)
	}
	tr.add(slog.Int("exit_code", r.exit.Code))
	return commandJobOut{
		Stdout:    r.stdout.shown(s.Texts, s.keep(ctx, r, "stdout", &r.stdout)),
		Stderr:    r.stderr.shown(s.Texts, s.keep(ctx, r, "stderr", &r.stderr)),
		ExitCode:  &r.exit.Code,
		Truncated: r.stdout.truncated() || r.stderr.truncated() || r.dropped,
	}, nil
}
