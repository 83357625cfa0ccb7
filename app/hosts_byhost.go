package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
	"github.com/arenero/arenero/app/internal/settings"
)

// claudeCode is the one host whose own command line may do better than we: it
// writes its file on nearly every call of a tool, and lets it grow without end.
const claudeCode = "claude-code"

// hostWithin is how long a host's command line may take. It starts slowly.
const hostWithin = 2 * time.Minute

// byHost reports whether a host's own command line is to do what we could not.
// Whatever else is wrong with a file, it is not for another program to repair.
func (h *Hosts) byHost(host hostconf.Host, spec hostconf.Spec, err error) bool {
	if err == nil || host.ID != claudeCode || spec.Scope != "" && spec.Scope != hostconf.User && spec.Scope != hostconf.Local {
		return false
	}
	if _, missing := h.cfg.System.LookPath("claude"); missing != nil {
		return false
	}
	if e, ok := errors.AsType[*hostfile.Error](err); ok && e.Kind == hostfile.TooBig {
		return true
	}
	if e, ok := errors.AsType[*edit.RefusedError](err); ok && e.Reason == edit.TooBig {
		return true
	}
	e, ok := errors.AsType[*hostconf.Error](err)
	return ok && e.Code == hostconf.Busy
}

// addArgv is the command line by which Claude Code adds an entry itself.
func (h *Hosts) addArgv(spec hostconf.Spec) []string {
	var entry any = struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{"stdio", spec.Command, spec.Args}
	if spec.URL != "" {
		entry = struct {
			Type string `json:"type"`
			URL  string `json:"url"`
		}{"http", spec.URL}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(entry); err != nil {
		panic(err) // texts alone
	}
	return []string{"claude", "mcp", "add-json", nameOf(spec.Name), strings.TrimSpace(text.String()), "--scope", scopeOf(spec.Scope)}
}

// removeArgv is the command line by which Claude Code removes an entry itself.
func (h *Hosts) removeArgv(c settings.Connection) []string {
	return []string{"claude", "mcp", "remove", nameOf(c.Name), "--scope", scopeOf(c.Scope)}
}

func nameOf(name string) string {
	if name == "" {
		return hostconf.DefaultName
	}
	return name
}

func scopeOf(scope string) string {
	if scope == "" {
		return hostconf.User
	}
	return scope
}

// add has Claude Code add an entry. It refuses a name that it has, so that one
// is removed first.
func (h *Hosts) add(ctx context.Context, spec hostconf.Spec) error {
	argv := h.addArgv(spec)
	err := h.runHost(ctx, spec.Project, argv)
	if err == nil || !strings.Contains(err.Error(), "already exists") {
		return err
	}
	if err := h.runHost(ctx, spec.Project, h.removeArgv(settings.Connection{Name: spec.Name, Scope: spec.Scope})); err != nil {
		return err
	}
	return h.runHost(ctx, spec.Project, argv)
}

// runHost runs a host's own command line, in the folder of a project if it is
// for one.
func (h *Hosts) runHost(ctx context.Context, folder string, argv []string) error {
	program, err := h.cfg.System.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("find %s: %w", argv[0], err)
	}
	ctx, cancel := context.WithTimeout(ctx, hostWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Dir = folder
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(slices.Concat([]string{filepath.Base(program)}, argv[1:3]), " "), err, firstLine(out))
	}
	return nil
}

// firstLine is the first line that says something, for a message.
func firstLine(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "it does not say why"
}
