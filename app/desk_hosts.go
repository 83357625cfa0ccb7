package app

import (
	"context"
	"errors"
	"slices"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/sandbox"
)

// Hosts are the apps of this computer that are there, or have an entry of ours.
func (g *gate) Hosts(ctx context.Context, q control.HostQuery) ([]control.Host, error) {
	return owned(ctx, g, func() ([]control.Host, error) {
		out := []control.Host{}
		hosts, err := g.engine.app.openHosts(ctx)
		if err != nil {
			return nil, hostError("", err)
		}
		all := hosts.All()
		if q.Host != "" {
			one, err := hostconf.ByID(q.Host)
			if err != nil {
				return nil, hostError(q.Host, err)
			}
			all, q.All = []hostconf.Host{one}, true
		}
		for _, h := range all {
			status, err := hosts.Status(ctx, h, q.Project)
			if err != nil {
				return nil, hostError(h.ID, err)
			}
			view := status.View()
			view.Undo = hosts.removed(ctx, status, view, q.Project)
			if !q.All && !view.Installed && view.Perhaps == "" && len(view.Entries) == 0 && view.Undo == nil {
				continue
			}
			for i := range view.Entries {
				e := &view.Entries[i]
				e.Grant = g.grantName(ctx, e.Connection)
				e.Undo = hosts.undoable(ctx, status, *e, q.Project)
			}
			out = append(out, view)
		}
		return out, nil
	})
}

// grantName is the token that a connection is bound to, "" for the owner's grant
// or where nobody can tell.
func (g *gate) grantName(ctx context.Context, connection string) string {
	if connection == "" || g.books.ledger == nil {
		return ""
	}
	found, err := g.books.ofConnection(ctx, connection)
	if err != nil || found.ID == sandbox.GrantOwner {
		return ""
	}
	return found.Name
}

// undoable reports whether our last change of the file of an entry can be taken
// back.
func (h *Hosts) undoable(ctx context.Context, s HostStatus, e control.HostEntry, project string) bool {
	if e.State == control.EntryForeign || e.State == control.EntryByHost || e.State == control.EntryUnread {
		return false
	}
	for _, c := range s.Connections {
		if c.ID == e.Connection && c.Project != "" {
			project = c.Project
		}
	}
	change, err := h.Undo(ctx, s.Host, HostEntry{Scope: s.scopeOf(e.Scope, e.File), Project: project, Name: e.Name}, true)
	return err == nil && change.Action != hostconf.None
}

// removed is the entry that an undo would put back into a file that has none of
// ours any more, nil if there is none.
func (h *Hosts) removed(ctx context.Context, s HostStatus, view control.Host, project string) *control.HostEntry {
	for _, f := range s.Files {
		if slices.ContainsFunc(view.Entries, func(e control.HostEntry) bool { return e.File == f.Path }) {
			continue
		}
		e := control.HostEntry{Scope: s.scopeOf(f.Scope, f.Path), File: f.Path, Undo: true}
		change, err := h.Undo(ctx, s.Host, HostEntry{Scope: e.Scope, Project: project}, true)
		if err != nil || change.Action == hostconf.None || change.Path != f.Path || change.Place.Name == "" {
			continue
		}
		if e.Name = change.Place.Name; e.Scope == hostconf.Project || e.Scope == hostconf.Local {
			e.Project = project
		}
		return &e
	}
	return nil
}

// openHosts looks at the hosts anew, as every verb does: whoever else changes
// them is seen.
func (a *App) openHosts(ctx context.Context) (*Hosts, error) {
	return OpenHosts(ctx, HostsConfig{Version: a.cfg.Version, Bridge: a.cfg.Bridge, Clock: a.cfg.Clock})
}

// PlanHost tells what ChangeHost would do.
func (g *gate) PlanHost(ctx context.Context, o control.HostOrder) (control.HostResult, error) {
	return owned(ctx, g, func() (control.HostResult, error) { return g.engine.app.changeHost(ctx, o, true) })
}

// ChangeHost changes the files of a host.
func (g *gate) ChangeHost(ctx context.Context, o control.HostOrder) (control.HostResult, error) {
	return owned(ctx, g, func() (control.HostResult, error) { return g.engine.app.changeHost(ctx, o, false) })
}

func (a *App) changeHost(ctx context.Context, o control.HostOrder, dry bool) (control.HostResult, error) {
	out := control.HostResult{Changes: []control.HostChange{}}
	host, err := hostconf.ByID(o.Host)
	if err != nil {
		return out, hostError(o.Host, err)
	}
	hosts, err := a.openHosts(ctx)
	if err != nil {
		return out, hostError(host.ID, err)
	}
	want := HostEntry{
		Scope: o.Scope, Project: o.Project, Name: o.Name, Profile: o.Profile, Toolsets: o.Toolsets, HTTP: o.HTTP, Force: o.Force, ID: o.ID, KeepHTTP: true,
	}
	var changes []HostChange
	switch o.Action {
	case control.HostConnect:
		var one HostChange
		one, err = hosts.Install(ctx, host, want, dry)
		changes = []HostChange{one}
	case control.HostRemove:
		changes, err = hosts.Remove(ctx, host, want, dry)
	case control.HostUndo:
		var one HostChange
		one, err = hosts.Undo(ctx, host, want, dry)
		changes = []HostChange{one}
	default:
		return out, &sandbox.Error{Code: sandbox.Invalid, Msg: "there is no action " + o.Action}
	}
	if err != nil {
		return out, hostError(host.ID, err)
	}
	for _, c := range changes {
		out.Changes = append(out.Changes, c.View())
	}
	if !dry {
		for _, n := range HostNotes(host, changes...) {
			if err := a.books.tellHost(n); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// CheckHost starts the entries of a host as it would, and emits what it finds as
// soon as it does.
func (g *gate) CheckHost(ctx context.Context, host string, emit func(control.Finding) error) error {
	_, err := owned(ctx, g, nothingAt(func() error {
		h, err := hostconf.ByID(host)
		if err != nil {
			return hostError(host, err)
		}
		hosts, err := g.engine.app.openHosts(ctx)
		if err != nil {
			return hostError(h.ID, err)
		}
		if err := hosts.Examine(ctx, h, "", func(c Check) error { return emit(c.View()) }); err != nil {
			return hostError(h.ID, err)
		}
		return nil
	}))
	return err
}

func nothingAt(do func() error) func() (struct{}, error) {
	return func() (struct{}, error) { return struct{}{}, do() }
}

// View is a check for people and for programs.
func (c Check) View() control.Finding {
	out := control.Finding{Name: c.ID, Level: string(c.Level), Remedy: textIn(c.Remedy), File: c.File}
	if what := textIn(c.What); what != nil {
		out.What = *what
	}
	return out
}

// codesOfHosts are what the errors of package hostconf come to.
var codesOfHosts = map[hostconf.Code]sandbox.Code{
	hostconf.UnknownHost: sandbox.NotFound, hostconf.NotInstalled: sandbox.NotFound, hostconf.NotSupported: sandbox.Unsupported, hostconf.BadSpec: sandbox.Invalid,
	hostconf.NameTaken: sandbox.Exists, hostconf.Running: sandbox.WrongState, hostconf.Managed: sandbox.Denied, hostconf.HasMark: sandbox.WrongState,
	hostconf.Malformed: sandbox.WrongState, hostconf.Refused: sandbox.WrongState, hostconf.Busy: sandbox.WrongState, hostconf.Unwritable: sandbox.Denied,
	hostconf.Changed: sandbox.WrongState, hostconf.NothingThere: sandbox.NotFound,
}

// hostError is err for the owner, with what it says in any language.
func hostError(host string, err error) error {
	e, ok := errors.AsType[*hostconf.Error](err)
	if !ok {
		return deskError(err)
	}
	out := &sandbox.Error{
		Code: codesOfHosts[e.Code], Retryable: e.Code == hostconf.Busy, Err: err,
		Details: map[string]any{"host": host, "why": string(e.Code), control.DetailText: control.Text{Key: e.Text.Key, Args: slices.Clone(e.Text.Args)}},
	}
	out.Msg = hostTexts().Get(e.Text.Key, e.Text.Args...)
	if e.Path != "" {
		out.Details["file"] = e.Path
	}
	if e.Line > 0 {
		out.Details["line"], out.Details["column"] = e.Line, e.Column
	}
	return out
}
