package cloud

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"

	"github.com/arenero/arenero/app/internal/egress"
	"github.com/arenero/arenero/app/internal/jail"
)

// Jails is the [Launcher] of real use: each machine is a jail with the agent
// in it.
type Jails struct {
	Agent     string              // path of arenero-agent
	Kind      string              // a kind of jail; empty means the best that works here
	Templates map[string]Template // by name; [LocalImage] need not be in it
	Log       *slog.Logger        // nil drops
}

// A Template is what a jail is made like, and where it may connect to.
type Template struct {
	Image   string        `json:"image,omitempty"`   // for Docker and Podman; empty means the default
	DiskMiB int           `json:"diskMiB,omitempty"` // zero means the default
	Egress  egress.Policy `json:"egress,omitzero"`
}

var (
	_ Launcher       = (*Jails)(nil)
	_ TemplateLister = (*Jails)(nil)
)

// HasTemplate reports whether a jail can be made from the named template.
func (j *Jails) HasTemplate(name string) bool {
	_, ok := j.Templates[name]
	return ok || name == LocalImage
}

// Start makes a jail for spec.
func (j *Jails) Start(ctx context.Context, spec Spec) (Machine, error) {
	tmpl := j.Templates[spec.Template]
	if !j.HasTemplate(spec.Template) {
		return nil, fmt.Errorf("no template is named %q", spec.Template)
	}
	log := j.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log = log.With("sandbox", spec.ID)
	js := jail.Spec{
		ID:        spec.ID,
		Kind:      jail.Kind(j.Kind),
		Agent:     j.Agent,
		Args:      []string{"--memory-mib", strconv.Itoa(spec.MemoryMiB), "--cpus", strconv.Itoa(spec.CPUs)},
		MemoryMiB: spec.MemoryMiB,
		DiskMiB:   tmpl.DiskMiB,
		CPUs:      float64(spec.CPUs),
		Image:     tmpl.Image,
		Output:    func(line string) { log.Debug("agent says", "line", line) },
		Log:       log,
	}
	for key, value := range spec.Env {
		js.Env = append(js.Env, key+"="+value)
	}
	slices.Sort(js.Env)
	if spec.Network {
		proxy, err := egress.New(egress.Config{Policy: tmpl.Egress, Log: log})
		if err != nil {
			return nil, err
		}
		js.Egress = proxy.ServeConn
	}
	jl, err := jail.Start(ctx, js)
	if err != nil {
		return nil, err
	}
	return jailMachine{jl}, nil
}

// A jailMachine is a jail as a [Machine].
type jailMachine struct{ jail.Jail }

func (m jailMachine) Dial(ctx context.Context, port int) (net.Conn, error) {
	conn, err := m.Jail.Dial(ctx, port)
	if errors.Is(err, jail.ErrRefused) {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return conn, err
}

func (m jailMachine) Exit() int { return m.Jail.Exit().Code }
