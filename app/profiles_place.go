package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// ProfileEnvironment is the profile of connections whose host's environment says
// where their sandboxes run.
const ProfileEnvironment = "environment"

// A placement says where sandboxes run, and how it came to that.
type placement struct {
	profile sandbox.Profile
	own     *settings.Profile // of the owner's; nil: local, or described by an environment
	moved   bool              // elsewhere than whoever asks thinks
}

// resolve is the one order of what says where sandboxes run: the profile of the
// connection; the one that the environment names; the AWS that it describes; the
// default of the owner; this computer. asked has what the environment says: the
// name of a profile, "local", or a name of its own with the variables.
func resolve(known settings.Settings, asked sandbox.Profile) (placement, error) {
	conn, ok := known.Find(asked.Connection)
	if ok && conn.Profile != "" && conn.Profile != ProfileEnvironment {
		if conn.Profile == asked.Name && len(asked.Env) > 0 {
			if _, own := known.Profile(conn.Profile); !own { // as the environment describes it
				return placement{profile: sandbox.Profile{Name: asked.Name, Env: asked.Env}}, nil
			}
		}
		at, err := named(known, conn.Profile)
		at.moved = asked.Name != "" && asked.Name != conn.Profile || at.own != nil
		if err != nil {
			at.profile.Connection = conn.ID
			err = &sandbox.Error{
				Code: sandbox.Access, Msg: "this computer has no profile " + conn.Profile + ", which the connection " + conn.ID + " asks for",
				Hint:    "run \"arenero profiles add " + conn.Profile + "\", or \"arenero hosts install " + conn.Host + " --profile local\"",
				Details: map[string]any{"profile": conn.Profile, "connection": conn.ID},
			}
		}
		return at, err
	}
	if asked.Name == "" {
		return named(known, cmp.Or(known.DefaultProfile, sandbox.ProfileLocal))
	}
	at, err := named(known, asked.Name)
	if err != nil && len(asked.Env) > 0 {
		return placement{profile: sandbox.Profile{Name: asked.Name, Env: asked.Env}}, nil
	}
	return at, err
}

// named is where the owner's profile of that name is.
func named(known settings.Settings, name string) (placement, error) {
	at := placement{profile: sandbox.Profile{Name: name}}
	if name == sandbox.ProfileLocal {
		return at, nil
	}
	if p, ok := known.Profile(name); ok {
		at.own = &p
		return at, nil
	}
	if strings.HasPrefix(name, sandbox.ProfileDescribed) {
		return at, &sandbox.Error{Code: sandbox.Access, Msg: "the credentials of profile " + name + " are not here", Hint: "start the app that uses it"}
	}
	return at, &sandbox.Error{
		Code: sandbox.Access, Msg: "there is no profile " + name, Hint: "run \"arenero profiles add " + name + "\"; \"arenero profiles list\" shows those there are",
		Details: map[string]any{"profile": name},
	}
}

// connections know where the sandboxes of each host's entry are to run.
type connections struct{ file *settings.File }

// find says where p is. With an error, its profile still knows its connection,
// and can be asked about again.
func (c connections) find(p sandbox.Profile) (placement, error) {
	if p.Connection == "" && (p.Name == sandbox.ProfileLocal || len(p.Env) > 0 && strings.HasPrefix(p.Name, sandbox.ProfileDescribed)) {
		return placement{profile: p}, nil // whatever the settings say
	}
	known, err := c.file.Read()
	if err != nil {
		return placement{profile: p}, &sandbox.Error{Code: sandbox.StoreDown, Msg: "the settings can't be read", Hint: "see " + c.file.Path(), Err: err}
	}
	return resolve(known, p)
}

// place returns spec with where it is to run. What the environment says of
// images means nothing where the connection is elsewhere; what the profile says
// of them is for those who say nothing. For a lease its times count too: bridges
// always say some, be it only what is usual.
func (c connections) place(spec sandbox.Spec, lease bool) (sandbox.Spec, error) {
	at, err := c.find(spec.Profile)
	spec.Profile = at.profile
	if at.moved {
		spec.Template, spec.Version, spec.Role = "", "", ""
	}
	if at.own == nil {
		return spec, err
	}
	if spec.Template == "" {
		spec.Template, spec.Version = at.own.Template, cmp.Or(spec.Version, at.own.Version)
	}
	spec.Role = cmp.Or(spec.Role, at.own.Role)
	if timeout := time.Duration(at.own.TimeoutSeconds) * time.Second; timeout > 0 && (lease || spec.Timeout == 0) {
		spec.Timeout = timeout
	}
	if idle := time.Duration(at.own.IdleSeconds) * time.Second; idle > 0 && (lease || spec.Idle == 0) {
		spec.Idle = idle
	}
	if life := cmp.Or(spec.Timeout, time.Hour); spec.Idle >= life { // it would never sleep
		spec.Idle = 0
	}
	return spec, err
}

// Hold keeps a lease, with the profile of its connection. One whose profile is
// not to be had is held all the same, so that the host is seen, and each call
// that needs a sandbox is told why there is none.
func (e *engine) Hold(ctx context.Context, l sandbox.Lease, held func() error) error {
	if err := l.Validate(); err != nil {
		return err
	}
	l.Spec.Profile.Connection = l.Connection
	spec, err := e.app.connections.place(l.Spec, true)
	if err != nil {
		e.app.cfg.Log.Warn("lease has no profile", "lease", l.ID, "err", err)
	}
	l.Spec = spec
	return e.Fleet.Hold(ctx, l, held)
}

// Create makes a sandbox, where the connection that asks has its own.
func (e *engine) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	spec, err := e.app.connections.place(spec, false)
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	return e.Fleet.Create(ctx, spec)
}

// List lists what is where the connection that asks has its own.
func (e *engine) List(ctx context.Context, r sandbox.ListRequest) ([]sandbox.Sandbox, error) {
	at, err := e.app.connections.find(r.Profile)
	if err != nil {
		return nil, err
	}
	r.Profile = at.profile
	if at.moved {
		r.Template = ""
	}
	if at.own != nil {
		r.Template = cmp.Or(r.Template, at.own.Template)
	}
	return e.Fleet.List(ctx, r)
}
