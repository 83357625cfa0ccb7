package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
)

// forget loses all that is known of files of hosts, but for the settings.
func (d *desk) forget(t *testing.T) {
	t.Helper()
	dirs, err := paths.Find()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dirs.State, "hosts")); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHosts(t.Context(), d.cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.Hosts = h
}

func (d *desk) connections(t *testing.T) []settings.Connection {
	t.Helper()
	s, err := d.settings.Read()
	if err != nil {
		t.Fatal(err)
	}
	return s.Connections
}

// An installation that was killed before it wrote the host's file leaves a
// connection: the next one takes it, and a removal ends it.
func TestConnectionsWithoutAnEntry(t *testing.T) {
	d := newDesk(t, "linux", "bin")
	cursor := host(t, "cursor")
	would, err := d.Install(t.Context(), cursor, HostEntry{Force: true}, true)
	if err != nil {
		t.Fatal(err)
	}
	kill := func() {
		t.Helper()
		second := would.Connection
		second.ID, second.Toolsets = would.Connection.ID+"_core", []string{"core"}
		err := d.settings.Change(t.Context(), func(s *settings.Settings) error { s.Put(would.Connection); s.Put(second); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	kill()
	got, err := d.Install(t.Context(), cursor, HostEntry{Force: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	if all := d.connections(t); got.Connection.ID != would.Connection.ID || len(all) != 1 || all[0].ID != would.Connection.ID {
		t.Errorf("after an installation of %s: %+v", got.Connection.ID, all)
	}
	if _, err := d.Remove(t.Context(), cursor, HostEntry{}, false); err != nil {
		t.Fatal(err)
	}

	kill()
	for _, dry := range []bool{true, false} {
		changes, err := d.Remove(t.Context(), cursor, HostEntry{}, dry)
		if err != nil || len(changes) != 2 || changes[0].Action != hostconf.None || len(changes[0].Warnings) != 1 {
			t.Errorf("a removal (dry: %t): %+v, %v", dry, changes, err)
		}
		if all := d.connections(t); len(all) != 2 && dry || len(all) > 0 && !dry {
			t.Errorf("after a removal (dry: %t): %+v", dry, all)
		}
	}
	if _, err := d.Remove(t.Context(), cursor, HostEntry{}, true); err == nil {
		t.Error("there is still something to remove")
	}
}

// Where our records were lost, entries are known by the ids that the settings
// have, and go again; an entry of somebody else in their place does not.
func TestEntriesThatTheJournalLost(t *testing.T) {
	const url = "http://127.0.0.1:8000/mcp"
	for _, id := range []string{"cursor", "codex", "goose", "opencode"} {
		for _, want := range []HostEntry{{Force: true}, {Force: true, Name: "two"}, {Force: true, HTTP: url}} {
			d := newDesk(t, "linux", "bin")
			h := host(t, id)
			got, err := d.Install(t.Context(), h, want, false)
			if err != nil {
				t.Fatal(err)
			}
			d.forget(t)
			if want.Name != "" || want.HTTP == "" {
				status, err := d.Status(t.Context(), h, "")
				if err != nil || len(status.Entries) != 1 || status.Entries[0].State != hostconf.AsWritten || status.Entries[0].Connection != got.Connection.ID {
					t.Errorf("%s has %+v, %v", id, status.Entries, err)
				}
			}
			changes, err := d.Remove(t.Context(), h, HostEntry{}, false)
			if err != nil || len(changes) != 1 || changes[0].Action != hostconf.Delete {
				t.Errorf("%s: a removal says %+v, %v", id, changes, err)
			}
			text, err := os.ReadFile(got.Path)
			if err != nil || strings.Contains(string(text), "arenero-bridge") || strings.Contains(string(text), url) {
				t.Errorf("%s: the file is %s, %v", id, text, err)
			}
			if all := d.connections(t); len(all) > 0 {
				t.Errorf("%s: connections left: %+v", id, all)
			}
		}
	}

	d := newDesk(t, "linux", "bin")
	got, err := d.Install(t.Context(), host(t, "cursor"), HostEntry{Force: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	d.forget(t)
	const theirs = `{"mcpServers":{"arenero":{"command":"node","args":["--connection","other"]}}}`
	write(t, got.Path, theirs, 0o600)
	changes, err := d.Remove(t.Context(), host(t, "cursor"), HostEntry{}, false)
	if err != nil || len(changes) != 1 || changes[0].Action != hostconf.None {
		t.Errorf("a removal says %+v, %v", changes, err)
	}
	if text, err := os.ReadFile(got.Path); err != nil || string(text) != theirs {
		t.Errorf("the file is %s, %v", text, err)
	}
}
