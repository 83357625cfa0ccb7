package app

import (
	"context"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/settings"
)

// An installation may be killed between what the settings and what the file of
// the host is told, and the journal may be lost. What one of the three knows
// then makes up for the others.

// bundleScope is that of connections whose entry the app keeps where only it
// gets at it.
const bundleScope = "bundle"

// samePlace reports whether two connections are of one entry.
func samePlace(a, b settings.Connection) bool {
	return a.Host == b.Host && a.Scope == b.Scope && a.Project == b.Project && a.File == b.File && a.Name == b.Name
}

// specOf is what the settings know of an entry.
func specOf(c settings.Connection) hostconf.Spec {
	return hostconf.Spec{Name: c.Name, Connection: c.ID, URL: c.HTTP, Scope: c.Scope, Project: c.Project}
}

// claim marks the entry of a connection as ours that the journal has lost. What
// was written into it is not known any more, but for the id.
func claim(entries []hostconf.Entry, c settings.Connection) {
	for i := range entries {
		e := &entries[i]
		if e.State == hostconf.Foreign && e.Path == c.File && e.Name == c.Name && e.Scope == c.Scope && hostconf.Carries(e.Value, specOf(c)) {
			e.State, e.Connection, e.Written = hostconf.AsWritten, c.ID, c.Created
		}
	}
}

// removeLost ends a connection whose entry the journal does not know: the entry
// goes if it is in the file all the same.
func (h *Hosts) removeLost(ctx context.Context, host hostconf.Host, c settings.Connection, dry bool) (HostChange, error) {
	change, err := h.conf.RemoveLost(ctx, host, specOf(c), c.File, dry)
	if err == nil && change.Action == hostconf.None {
		change.Warnings = append(change.Warnings, hostconf.Text{Key: "verb.hosts.forgotten", Args: []string{"name", c.Name}})
	}
	return HostChange{Change: change, Connection: c}, err
}
