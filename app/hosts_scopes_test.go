package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
)

// answers is a script that answers as an MCP server does.
const answers = `#!/bin/sh
while read -r line; do case "$line" in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"arenero"}}}';;
*tools/list*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"run_code"}]}}';;
esac; done
`

// levels are how the checks of an id went.
func levels(checks []Check, id string) (out []Level) {
	for _, c := range checks {
		if c.ID == id {
			out = append(out, c.Level)
		}
	}
	return out
}

// An entry for one folder, or for one of the host's own profiles, is its own
// connection, and is looked at even where nobody says which folder that is.
func TestEntriesOfEveryScope(t *testing.T) {
	d := newDesk(t, "linux", "bin")
	write(t, d.cfg.Bridge, answers, 0o755)
	project := filepath.Join(t.TempDir(), "a b")
	write(t, filepath.Join(project, "x"), "", 0o600)
	write(t, filepath.Join(d.home, ".config/Code/User/profiles/abc/settings.json"), "{}", 0o600)
	ids := map[string]bool{}
	for _, in := range []struct{ host, scope string }{
		{claudeCode, "local"}, {claudeCode, "user"}, {claudeCode, "project"}, {"vscode", "user"}, {"vscode", "profile:abc"},
	} {
		got, err := d.Install(t.Context(), host(t, in.host), HostEntry{Scope: in.scope, Project: project, Force: true}, false)
		if err != nil {
			t.Fatal(err)
		}
		if ids[got.Connection.ID] {
			t.Errorf("%s of %s has the connection of another", in.scope, in.host)
		}
		ids[got.Connection.ID] = true
	}
	for id, n := range map[string]int{claudeCode: 3, "vscode": 2} {
		checks, err := d.Doctor(t.Context(), host(t, id), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := levels(checks, "start"); !slices.Equal(got, slices.Repeat([]Level{OK}, n)) {
			t.Errorf("%s starts %v: %+v", id, got, checks)
		}
	}

	// What to do names the scope, so that no other entry is written.
	write(t, filepath.Join(d.home, ".claude.json"), "{}", 0o600)
	checks, err := d.Doctor(t.Context(), host(t, claudeCode), "")
	if err != nil {
		t.Fatal(err)
	}
	var remedies []string
	for _, c := range checks {
		if c.ID == "entry" && c.Level == Fail {
			remedies = append(remedies, c.Remedy.Args[1])
		}
	}
	if want := []string{"claude-code --scope local --project '" + project + "'", "claude-code"}; !slices.Equal(remedies, want) {
		t.Errorf("remedies are for %q, want %q", remedies, want)
	}
	if got, err := d.Remove(t.Context(), host(t, claudeCode), HostEntry{Scope: "user"}, false); err != nil || len(got) != 1 {
		t.Errorf("Remove() = %+v, %v", got, err)
	}
	if status, err := d.Status(t.Context(), host(t, claudeCode), ""); err != nil || len(status.Connections) != 2 {
		t.Errorf("connections: %+v, %v", status.Connections, err)
	}
}

// Whoever shares a folder can't have the doctor start a program of theirs.
func TestDoctorTrustsNoSharedFile(t *testing.T) {
	for name, entry := range map[string]string{
		"another program": `{"command":"/bin/sh","args":["-c",": >MARK"]}`,
		"a variable":      `{"command":"BRIDGE","args":[],"env":{"LD_PRELOAD":"MARK"}}`,
		"an address":      `{"url":"http://127.0.0.1:9/mcp"}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "linux", "bin")
			mark := filepath.Join(t.TempDir(), "mark")
			write(t, d.cfg.Bridge, "#!/bin/sh\n: >"+mark+"\n"+strings.TrimPrefix(answers, "#!/bin/sh\n"), 0o755)
			project := t.TempDir()
			for _, ours := range []bool{false, true} { // even where the entry was ours before
				if ours {
					if _, err := d.Install(t.Context(), host(t, claudeCode), HostEntry{Scope: "project", Project: project, Force: true}, false); err != nil {
						t.Fatal(err)
					}
				}
				entry := strings.NewReplacer("MARK", mark, "BRIDGE", d.cfg.Bridge).Replace(entry)
				write(t, filepath.Join(project, ".mcp.json"), `{"mcpServers":{"arenero":`+entry+`}}`, 0o600)
				checks, err := d.Doctor(t.Context(), host(t, claudeCode), project)
				if err != nil {
					t.Fatal(err)
				}
				if got := levels(checks, "start"); !slices.Equal(got, []Level{Warn}) {
					t.Errorf("starts %v: %+v", got, checks)
				}
				if _, err := os.Stat(mark); err == nil {
					t.Error("it was started")
				}
			}
		})
	}
}

// What was chosen for a connection is not forgotten when its entry goes, as the
// entry may come back.
func TestUndoBringsAConnectionBackAsItWas(t *testing.T) {
	d := newDesk(t, "linux", "bin")
	cursor := host(t, "cursor")
	first, err := d.Install(t.Context(), cursor, HostEntry{Profile: ProfileEnvironment, Toolsets: []string{"core"}, Force: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := func(when, id, profile string) {
		t.Helper()
		status, err := d.Status(t.Context(), cursor, "")
		if err != nil || len(status.Connections) != 1 || len(status.Entries) != 1 {
			t.Fatalf("%s: %+v, %v", when, status, err)
		}
		if c := status.Connections[0]; c.ID != id || c.Profile != profile || status.Entries[0].State != hostconf.AsWritten {
			t.Errorf("%s: %+v, want %s of %s", when, c, id, profile)
		}
	}
	if _, err := d.Remove(t.Context(), cursor, HostEntry{}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Undo(t.Context(), cursor, HostEntry{}, false); err != nil {
		t.Fatal(err)
	}
	want("after a removal", first.Connection.ID, ProfileEnvironment)

	second, err := d.Install(t.Context(), cursor, HostEntry{Profile: "local", Toolsets: []string{"core", "jobs"}, Force: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	want("after an update", second.Connection.ID, "local")
	if _, err := d.Undo(t.Context(), cursor, HostEntry{}, false); err != nil {
		t.Fatal(err)
	}
	want("after it was taken back", first.Connection.ID, ProfileEnvironment)
}
