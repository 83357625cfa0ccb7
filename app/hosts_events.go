package app

import (
	"context"
	"slices"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/sandbox"
)

// HostNotes are what is to be kept of changes that were made to a host: of those
// of one kind, one.
func HostNotes(host hostconf.Host, changes ...HostChange) []control.HostNote {
	var out []control.HostNote
	for _, c := range changes {
		note := control.HostNote{Host: host.ID, Kind: sandbox.EventAppChanged, Connection: c.Connection.ID}
		switch {
		case c.Dry, c.Action == hostconf.None && !c.Profile:
			continue
		case c.Action == hostconf.Insert:
			note.Kind = sandbox.EventApp
		case c.Action == hostconf.Delete:
			note.Kind = sandbox.EventAppGone
		}
		if !slices.ContainsFunc(out, func(n control.HostNote) bool { return n.Kind == note.Kind }) {
			out = append(out, note)
		}
	}
	return out
}

// tellHost keeps what was done to a host.
func (a *books) tellHost(n control.HostNote) error {
	if !slices.Contains([]sandbox.EventKind{sandbox.EventApp, sandbox.EventAppChanged, sandbox.EventAppGone}, n.Kind) {
		return &sandbox.Error{Code: sandbox.Invalid, Msg: "there is no such event of an app"}
	}
	host, err := hostconf.ByID(n.Host)
	if err != nil {
		return hostError(n.Host, err)
	}
	e := sandbox.Event{Kind: n.Kind, Severity: sandbox.SeverityInfo, Subject: host.ID, Data: map[string]any{"name": host.Title}}
	if n.Connection != "" {
		e.Data["connection"] = n.Connection
	}
	a.emit(e)
	return nil
}

// NoteHost keeps what a program did that is no engine.
func (g *gate) NoteHost(ctx context.Context, n control.HostNote) (struct{}, error) {
	return owned(ctx, g, nothingAt(func() error { return g.books.tellHost(n) }))
}
