package app

import (
	"context"

	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// ProfileEnvironment is the profile of connections whose host's environment says
// where their sandboxes run.
const ProfileEnvironment = "environment"

// connections know where the sandboxes of each host's entry are to run.
type connections struct{ file *settings.File }

// place returns spec with the profile of the connection that it is asked for,
// if we know that one: it goes before what the host's environment says. What the
// environment says of images then means nothing.
func (c connections) place(spec sandbox.Spec) (sandbox.Spec, error) {
	p, moved, err := c.profile(spec.Profile)
	spec.Profile = p
	if moved {
		spec.Template, spec.Version, spec.Role = "", "", ""
	}
	return spec, err
}

// profile returns where p is, and whether that is elsewhere than p says. With an
// error, p still knows its connection, and can be asked about again.
func (c connections) profile(p sandbox.Profile) (at sandbox.Profile, moved bool, err error) {
	if p.Connection == "" {
		return p, false, nil
	}
	known, err := c.file.Read()
	if err != nil {
		return p, false, &sandbox.Error{Code: sandbox.StoreDown, Msg: "the settings can't be read", Hint: "see " + c.file.Path(), Err: err}
	}
	conn, ok := known.Find(p.Connection)
	switch {
	case !ok || conn.Profile == "" || conn.Profile == ProfileEnvironment || conn.Profile == p.Name && len(p.Env) > 0:
		p.Connection = ""
		return p, false, nil
	case conn.Profile == sandbox.ProfileLocal:
		return sandbox.Profile{Name: sandbox.ProfileLocal}, p.Name != "" && p.Name != sandbox.ProfileLocal, nil
	}
	return sandbox.Profile{Name: conn.Profile, Connection: conn.ID}, true, &sandbox.Error{
		Code: sandbox.Access, Msg: "this computer has no profile " + conn.Profile + ", which the connection " + conn.ID + " asks for",
		Hint:    "run \"arenero hosts install " + conn.Host + " --profile local\"",
		Details: map[string]any{"profile": conn.Profile, "connection": conn.ID},
	}
}

// Hold keeps a lease, with the profile of its connection. One whose profile is
// not to be had is held all the same, so that the host is seen, and each call
// that needs a sandbox is told why there is none.
func (e *engine) Hold(ctx context.Context, l sandbox.Lease, held func() error) error {
	if err := l.Validate(); err != nil {
		return err
	}
	l.Spec.Profile.Connection = l.Connection
	spec, err := e.app.connections.place(l.Spec)
	if err != nil {
		e.app.cfg.Log.Warn("lease has no profile", "lease", l.ID, "err", err)
	}
	l.Spec = spec
	return e.Fleet.Hold(ctx, l, held)
}

// Create makes a sandbox, where the connection that asks has its own.
func (e *engine) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	spec, err := e.app.connections.place(spec)
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	return e.Fleet.Create(ctx, spec)
}

// List lists what is where the connection that asks has its own.
func (e *engine) List(ctx context.Context, r sandbox.ListRequest) ([]sandbox.Sandbox, error) {
	p, moved, err := e.app.connections.profile(r.Profile)
	if err != nil {
		return nil, err
	}
	r.Profile = p
	if moved {
		r.Template = ""
	}
	return e.Fleet.List(ctx, r)
}
