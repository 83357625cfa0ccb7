package jail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/jail/link"
	"github.com/arenero/arenero/app/internal/jail/nest"
)

// Names of our containers begin with this; the id of the process that started
// them and of the jail follow.
const containerPrefix = "arenero-"

// engineTimeout bounds what we ask of an engine without a context of the
// caller's.
const engineTimeout = time.Minute

// An engine is the command line of Docker or Podman.
type engine struct {
	kind Kind
	path string
}

// command runs one command and returns what it prints.
func (e engine) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.path, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("%s %s: %w: %s", e.kind, args[0], err, first)
	}
	return strings.TrimSpace(string(out)), nil
}

// remove ends and deletes a container; one that is gone is no error.
func (e engine) remove(ctx context.Context, name string) {
	args := []string{"rm", "-f"}
	if e.kind == Podman {
		args = append(args, "-t", "0") // else it asks nicely for ten seconds
	}
	e.command(ctx, append(args, name)...)
}

// sweep removes containers whose owner was killed while they were paused.
func (e engine) sweep(ctx context.Context) {
	out, err := e.command(ctx, "ps", "-a", "--filter", "label=arenero", "--format", "{{.Names}}")
	if err != nil {
		return
	}
	for _, name := range strings.Fields(out) {
		pid, _, _ := strings.Cut(strings.TrimPrefix(name, containerPrefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && !processLives(n) {
			e.remove(ctx, name)
		}
	}
}

// runArgs returns the arguments that start the agent in a container, and the
// environment of the command. Values of variables stay out of the arguments,
// which other users can see, unless they would change the command itself.
func (e engine) runArgs(name string, spec Spec) (args, env []string) {
	cfg := nest.Config{Env: spec.Env, Egress: spec.Egress != nil, PIDs: spec.PIDs, MemoryMiB: spec.MemoryMiB}
	owner := fmt.Sprintf("uid=%d,gid=%d", nest.UID, nest.GID)
	if e.kind == Podman {
		owner = "U" // its word for the user of the container
	}
	space := func(path, mode string) string {
		return fmt.Sprintf("%s:rw,exec,nosuid,nodev,size=%dm,mode=%s,%s", path, spec.DiskMiB, mode, owner)
	}
	memory := fmt.Sprintf("%dm", spec.MemoryMiB+spec.DiskMiB)
	args = []string{
		"run", "-i", "--rm", "--name", name, "--label", "arenero",
		"--network", "none", "--hostname", "sandbox",
		"--read-only", "--tmpfs", space(nest.Home, "0755"), "--tmpfs", space("/tmp", "1777"), "--tmpfs", space("/run", "0755"),
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--pids-limit", strconv.Itoa(spec.PIDs + nest.Reserve),
		"--memory", memory, "--memory-swap", memory,
		"--user", fmt.Sprintf("%d:%d", nest.UID, nest.GID), "--workdir", nest.Home,
		"--volume", spec.Agent + ":" + nest.AgentPath + ":ro",
	}
	if spec.CPUs > 0 {
		args = append(args, "--cpus", strconv.FormatFloat(spec.CPUs, 'f', -1, 64))
	}
	env = os.Environ()
	taken := map[string]bool{}
	for _, kv := range env {
		k, _, _ := strings.Cut(kv, "=")
		taken[k] = true
	}
	for _, kv := range cfg.Environment() {
		k, _, _ := strings.Cut(kv, "=")
		if taken[k] {
			args = append(args, "--env", kv)
		} else {
			args, env = append(args, "--env", k), append(env, kv)
		}
	}
	line := link.Stdio
	if spec.Egress != nil {
		line = link.StdioEgress
	}
	args = append(args, "--entrypoint", nest.AgentPath, spec.Image)
	return append(args, agentArgs(spec, line)...), env
}

// findEngine returns the engine of this kind, or any if kind is empty.
func findEngine(ctx context.Context, kind Kind) (engine, error) {
	var why []string
	for _, k := range []Kind{Docker, Podman} {
		if kind != "" && kind != k {
			continue
		}
		e, m := probeEngine(ctx, k)
		if m.Works {
			return e, nil
		}
		why = append(why, m.Why+"; "+m.Remedy)
	}
	return engine{}, errors.New(strings.Join(why, ". "))
}

func probeContainers(ctx context.Context) []Means {
	_, docker := probeEngine(ctx, Docker)
	_, podman := probeEngine(ctx, Podman)
	return []Means{docker, podman}
}

// probeEngine asks the engine for its version, which needs it to be running.
func probeEngine(ctx context.Context, kind Kind) (engine, Means) {
	m := Means{Kind: kind}
	path, err := exec.LookPath(string(kind))
	if err != nil {
		m.Why = string(kind) + " is not installed"
		m.Remedy = "install Docker or Podman, or add an AWS profile"
		return engine{}, m
	}
	e := engine{kind, path}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	args := []string{"version", "--format", "{{.Server.Version}}"}
	if kind == Podman {
		args = []string{"info", "--format", "{{.Version.Version}}"}
	}
	if _, err := e.command(ctx, args...); err != nil {
		m.Why = string(kind) + " is installed but does not answer (" + err.Error() + ")"
		m.Remedy = "start it, or see that this user may use it"
		return e, m
	}
	m.Works = true
	return e, m
}
