package app

import (
	"path/filepath"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
)

// What is told of an entry leads back to it, whatever its scope: by that alone
// the entry is brought up to date, and taken out.
func TestViewLeadsBackToAnEntry(t *testing.T) {
	for _, in := range []struct{ host, scope string }{
		{claudeCode, "local"}, {claudeCode, "user"}, {claudeCode, "project"}, {"vscode", "profile:abc"},
	} {
		d := newDesk(t, "linux", "bin")
		write(t, d.cfg.Bridge, answers, 0o755)
		project := filepath.Join(t.TempDir(), "a b")
		write(t, filepath.Join(project, "x"), "", 0o600)
		write(t, filepath.Join(d.home, ".config/Code/User/profiles/abc/settings.json"), "{}", 0o600)
		if _, err := d.Install(t.Context(), host(t, in.host), HostEntry{Scope: in.scope, Project: project, Force: true}, false); err != nil {
			t.Fatal(err)
		}
		status, err := d.Status(t.Context(), host(t, in.host), "")
		if err != nil || len(status.View().Entries) != 1 {
			t.Fatalf("%s: %+v, %v", in.scope, status.View(), err)
		}
		e := status.View().Entries[0]
		same := HostEntry{Scope: e.Scope, Project: e.Project, Name: e.Name, Force: true}
		if e.Scope != in.scope {
			t.Errorf("the scope is %q, want %q", e.Scope, in.scope)
		}
		if got, err := d.Install(t.Context(), host(t, in.host), same, true); err != nil || got.Action != hostconf.None || got.Connection.ID != e.Connection {
			t.Errorf("%s: an update is %+v, %v", in.scope, got, err)
		}
		if got, err := d.Remove(t.Context(), host(t, in.host), same, false); err != nil || len(got) != 1 || got[0].Action != hostconf.Delete {
			t.Errorf("%s: a removal is %+v, %v", in.scope, got, err)
		}
	}
}
