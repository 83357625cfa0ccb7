package main

import (
	"strings"
	"testing"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/assets"
)

// TestHostsEscapeWhatTheySay has names of folders and entries that a terminal
// would obey.
func TestHostsEscapeWhatTheySay(t *testing.T) {
	const evil = "/home/\x1b[31mana\u202e\x07"
	s := &hostsSession{tx: assets.Load(assets.English, hostconf.Texts, "verbs")}
	nothing := hostconf.Text{Key: "hosts.err.project", Args: []string{"scope", "project", "folder", evil}}
	check := s.check(app.Check{What: nothing, Remedy: nothing})
	row := s.row(app.HostStatus{Status: hostconf.Status{
		Managed: &hostconf.Management{Text: nothing}, Entries: []hostconf.Entry{{State: hostconf.Unread, Problem: nothing}},
		Misplaced: []hostconf.Misplaced{{Path: evil, Names: []string{evil}}},
	}})
	said := append([]string{
		s.say("hosts.ask", "title", "Cursor", "file", evil), s.texts([]hostconf.Text{nothing})[0], message(s.explain("cursor", &hostconf.Error{Text: nothing})),
		check.What, check.Remedy, row.Managed, row.Entries[0].Problem,
	}, row.Notes...)
	for _, text := range said {
		if strings.ContainsAny(text, "\x1b\u202e\x07") {
			t.Errorf("it says %q", text)
		}
		if !strings.Contains(text, "/home/?[31mana") {
			t.Errorf("%q does not say where", text)
		}
	}
}
