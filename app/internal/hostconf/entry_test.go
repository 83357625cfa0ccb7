package hostconf_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// TestUpdateKeepsWhatIsTheUsers edits an entry of ours as users do, and brings
// it up to date.
func TestUpdateKeepsWhatIsTheUsers(t *testing.T) {
	tests := []struct {
		id, path, from, to string // what the user replaces in our entry
	}{
		{"opencode", "~/.config/opencode/opencode.jsonc", `"enabled": true`, `"enabled": false, "timeout": 9000`},
		{"kiro", "~/.kiro/settings/mcp.json", `"disabled": false`, `"disabled": true, "autoApprove": ["run_code"]`},
		{"goose", "~/.config/goose/config.yaml", "enabled: true\n    timeout: 300", "enabled: false\n    timeout: 20 # short\n    description: mine"},
		{"copilot-cli", "~/.copilot/mcp-config.json", `"tools": ["*"]`, `"tools": ["run_code"]`},
		{"gemini-cli", geminiJSON, `"args": [`, `"trust": true, "args": [`},
		{"cline", "~/.cline/data/settings/cline_mcp_settings.json", `"type": "stdio"`, `"type": "stdio", "disabled": true, "autoApprove": ["x"], "timeout": 99`},
		{"zed", "~/.config/zed/settings.json", `"source": "custom"`, `"source": "custom", "enabled": false`},
		{"codex", codexTOML, "args = ", "enabled = false\nargs = "},
		{"claude-code", claudeJSON, `"args": [`, `"env": {"A": "b"}, "args": [`},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			c := play(t, "linux")
			c.install(tt.id)
			if !strings.Contains(c.read(tt.path), tt.from) {
				t.Fatalf("there is no %q in %s", tt.from, c.read(tt.path))
			}
			users := strings.Replace(c.read(tt.path), tt.from, tt.to, 1)
			c.write(tt.path, users)
			wantOurs(t, c, host(t, tt.id), c.spec(), hostconf.AsWritten) // these fields are no concern of ours
			if ch := c.install(tt.id); ch.Action != hostconf.None {
				t.Errorf("an install with nothing new says %s", ch.Action)
			}
			wantSame(t, "the file", c.read(tt.path), users)
			ch := c.install(tt.id, func(s *hostconf.Spec) { s.Command = "/new/arenero-bridge" })
			if ch.Action != hostconf.Update {
				t.Errorf("the action is %s", ch.Action)
			}
			wantSame(t, "the file", c.read(tt.path), strings.Replace(users, "/opt/arenero/", "/new/", 1))
			undone, err := c.conf.Undo(t.Context(), host(t, tt.id), hostconf.Spec{}, false)
			if err != nil || undone.Action != hostconf.Revert {
				t.Errorf("undo says %s (%v)", undone.Action, err)
			}
			wantSame(t, "the file after undo", c.read(tt.path), users)
			wantOurs(t, c, host(t, tt.id), c.spec(), hostconf.AsWritten)
		})
	}
}

func TestFromOneFormToTheOther(t *testing.T) {
	web := func(s *hostconf.Spec) { s.URL, s.Command, s.Args = "http://127.0.0.1:7333/mcp", "", nil }
	for _, fact := range all {
		h := host(t, fact.id)
		if !h.HTTP || !h.On("linux") {
			continue
		}
		t.Run(fact.id, func(t *testing.T) {
			c := play(t, "linux")
			path := c.install(fact.id, web).Path
			c.install(fact.id)
			e := entryOf(t, h, c.read(path), "arenero").(map[string]any)
			for _, key := range []string{"url", "serverUrl", "uri", "httpUrl"} {
				if e[key] != nil {
					t.Errorf("the command has the address beside it: %v", e)
				}
			}
			c.install(fact.id, web)
			e = entryOf(t, h, c.read(path), "arenero").(map[string]any)
			for _, key := range []string{"command", "cmd", "args", "source"} {
				if e[key] != nil {
					t.Errorf("the address has the command beside it: %v", e)
				}
			}
			c.remove(fact.id)
			if c.exists(path) {
				t.Errorf("after remove there is %q", c.read(path))
			}
		})
	}
}

func TestOlderShapesGiveWay(t *testing.T) {
	tests := []struct{ id, path, before string }{
		{"zed", "~/.config/zed/settings.json", `{"context_servers":{"arenero":{"command":{"path":"/old/arenero-bridge","args":[]}}}}`},
		{"cline", "~/.cline/data/settings/cline_mcp_settings.json", `{"mcpServers":{"arenero":{"transport":{"type":"stdio","command":"/old/arenero-bridge"}}}}`},
		{"gemini-cli", geminiJSON, `{"mcpServers":{"arenero":{"httpUrl":"http://127.0.0.1:1/mcp"}}}`},
	}
	for _, tt := range tests {
		c := play(t, "linux")
		c.write(tt.path, tt.before)
		c.install(tt.id)
		e := entryOf(t, host(t, tt.id), c.read(tt.path), "arenero").(map[string]any)
		if e["command"] != "/opt/arenero/arenero-bridge" || e["transport"] != nil || e["httpUrl"] != nil {
			t.Errorf("%s: the entry is %v", tt.id, e)
		}
	}
}

func TestNewerLayoutOfOpencode(t *testing.T) {
	c := play(t, "linux")
	const path = "~/.config/opencode/opencode.json"
	newer := "{\n  \"mcp\": {\n    \"timeout\": 5000,\n    \"servers\": {\n      \"a\": {\n        \"type\": \"local\",\n        \"command\": [\"a\"]\n      }\n    }\n  }\n}\n"
	c.write(path, newer)
	c.install("opencode")
	doc := document(t, edit.JSON, c.read(path)).(map[string]any)["mcp"].(map[string]any)
	if doc["arenero"] != nil || doc["servers"].(map[string]any)["arenero"] == nil {
		t.Errorf("mcp is %v", doc)
	}
	wantOurs(t, c, host(t, "opencode"), c.spec(), hostconf.AsWritten)
	c.remove("opencode")
	wantSame(t, "the file", c.read(path), newer)

	older := `{"mcp":{"servers":{"type":"local","command":["a"]}}}` // an entry with an unlucky name
	c.write(path, older)
	c.install("opencode")
	entryOf(t, host(t, "opencode"), c.read(path), "arenero")
	c.remove("opencode")
	wantSame(t, "the file", c.read(path), older)
}

func TestLocalScopeOfClaudeCode(t *testing.T) {
	for goos, keys := range map[string][]string{"linux": {"/home/ana/src/site"}, "windows": {`C:\\Users\\ana\\src\\site`, "C:/Users/ana/src/site"}} {
		for _, key := range keys {
			c := play(t, goos)
			folder := c.where("~/src/site")
			c.mkdir(folder)
			before := "{\n  \"projects\": {\n    \"" + key + "\": {\n      \"allowedTools\": []\n    }\n  }\n}\n"
			c.write(claudeJSON, before)
			spec := c.spec()
			spec.Scope, spec.Project = hostconf.Local, folder
			h := host(t, "claude-code")
			if _, err := c.conf.Install(t.Context(), h, spec, false); err != nil {
				t.Fatal(err)
			}
			projects := document(t, edit.JSON, c.read(claudeJSON)).(map[string]any)["projects"].(map[string]any)
			p, _ := projects[strings.ReplaceAll(key, `\\`, `\`)].(map[string]any)
			servers, _ := p["mcpServers"].(map[string]any)
			if len(projects) != 1 || servers["arenero"] == nil {
				t.Errorf("projects: %v", projects)
			}
			st, err := c.conf.Status(t.Context(), h, folder)
			if err != nil || len(st.Entries) != 1 || st.Entries[0].Scope != hostconf.Local || !st.Entries[0].Read {
				t.Errorf("entries: %+v (%v)", st.Entries, err)
			}
			c.remove("claude-code")
			wantSame(t, "the file", c.read(claudeJSON), before)
		}
	}
	c := play(t, "linux")
	for _, bad := range []string{"", "work", "/home/ana/nowhere"} {
		_, err := c.tryInstall("claude-code", func(s *hostconf.Spec) { s.Scope, s.Project = hostconf.Local, bad })
		wantCode(t, err, hostconf.BadSpec)
	}
}

func TestListsOfGeminiAreLookedAt(t *testing.T) {
	tests := []struct{ lists, want string }{
		{`{"allowed":["arenero"]}`, ""},
		{`{"allowed":["x"]}`, "hosts.warn.not-allowed"},
		{`{"excluded":["arenero","x"]}`, "hosts.warn.excluded"},
		{`{"excluded":["x"]}`, ""},
		{`{}`, ""},
	}
	for _, tt := range tests {
		c := play(t, "linux")
		before := `{"mcp":` + tt.lists + `}`
		c.write(geminiJSON, before)
		var got []string
		for _, w := range c.install("gemini-cli").Warnings {
			got = append(got, w.Key)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("with %s the warnings are %v, want %q", tt.lists, got, tt.want)
		}
		if !strings.HasPrefix(c.read(geminiJSON), strings.TrimSuffix(before, "}")) {
			t.Errorf("the lists changed: %s", c.read(geminiJSON))
		}
	}
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"arenero": true, "a": true, "my-sandbox-2": true, "abcdefghijklmnop": true, "abcdefghijklmnopq": false, "Arenero": false,
		"a_b": false, "a.b": false, "2a": false, "-a": false, "a b": false, "ñ": false,
	} {
		if err := host(t, "cursor").CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
	for id, names := range map[string][]string{"claude-code": {"workspace"}, "opencode": {"servers", "timeout"}} {
		for _, name := range names {
			c := play(t, "linux")
			_, err := c.tryInstall(id, func(s *hostconf.Spec) { s.Name = name })
			wantCode(t, err, hostconf.BadSpec)
		}
	}
	// The longest name and the longest of our tools' fit every host.
	const longestTool = len("schedule_removal") + 1
	for _, h := range hostconf.Hosts() {
		if n := h.Limits.NameAndTool; n > 0 && 16+longestTool > n {
			t.Errorf("%s takes %d characters", h.ID, n)
		}
	}
}

func TestCommandsThatWouldNotArrive(t *testing.T) {
	tests := []struct {
		id, goos, command string
		ok                bool
	}{
		{"cursor", "linux", "arenero-bridge", false},
		{"cursor", "linux", "./arenero-bridge", false},
		{"cursor", "linux", "~/arenero-bridge", false},
		{"cursor", "linux", "/opt/with space/arenero-bridge", true},
		{"cursor", "linux", `/opt/"x"/arenero-bridge`, false},
		{"cursor", "linux", "/opt/${HOME}/arenero-bridge", false},
		{"cursor", "linux", "/opt/$x/arenero-bridge", true},
		{"gemini-cli", "linux", "/opt/$x/arenero-bridge", false},
		{"gemini-cli", "linux", "/opt/50%/arenero-bridge", true},
		{"gemini-cli", "windows", `C:\50%\arenero-bridge.exe`, false},
		{"crush", "linux", "/opt/`x`/arenero-bridge", false},
		{"vscode", "windows", `C:\PROGRA~1\arenero-bridge.exe`, true},
		{"vscode", "windows", `arenero-bridge.exe`, false},
		{"vscode", "windows", `\\server\share\arenero-bridge.exe`, true},
		{"opencode", "linux", "/opt/{env:X}/arenero-bridge", false},
		{"codex", "linux", "/opt/${HOME}/arenero-bridge", true}, // it replaces nothing
	}
	for _, tt := range tests {
		c := play(t, tt.goos)
		_, err := c.tryInstall(tt.id, func(s *hostconf.Spec) { s.Command = tt.command })
		if tt.ok && err != nil {
			t.Errorf("%s refuses %s: %v", tt.id, tt.command, err)
		}
		if !tt.ok {
			wantCode(t, err, hostconf.BadSpec)
		}
	}
	c := play(t, "linux")
	for _, u := range []string{
		"ftp://x", "127.0.0.1:1", "javascript:x", "http://", "http:///mcp", "http://:80/", "http://x y/", "http://x/\x1b[31m", "http://x/\n", "http://x:99999/", "http://x:0/", "http://x:p/",
		"http://%zz/", "http://x/\"", "http://x/`y`", "http://x/${HOME}", "https://ana:hunter2@x/mcp", "https://token@x/",
	} {
		_, err := c.tryInstall("cursor", func(s *hostconf.Spec) { s.URL = u })
		if e := wantCode(t, err, hostconf.BadSpec); strings.Contains(e.Error(), "hunter2") {
			t.Errorf("the error tells the password: %v", e)
		}
	}
	for _, u := range []string{"http://127.0.0.1:8000/mcp", "https://[::1]:8000/mcp", "https://x.example/mcp?a=b%20c", "https://x.example/mcp?keyboard=es&monkey=1"} {
		if _, err := c.tryInstall("cursor", func(s *hostconf.Spec) { s.URL = u }); err != nil {
			t.Errorf("%s is refused: %v", u, err)
		}
	}
}

// TestNoSecretInAddresses has one where any reader of the file would see it.
func TestNoSecretInAddresses(t *testing.T) {
	c := play(t, "linux")
	for _, q := range []string{
		"?token=hunter2", "?a=b&access_token=hunter2", "?api-key=hunter2", "?APIKEY=hunter2", "?key=hunter2", "?password=hunter2", "?client.secret=hunter2", "?a=1;sig=hunter2",
		"?t%6Fken=hunter2", "#token=hunter2", "?X-Amz-Signature=hunter2",
	} {
		_, err := c.tryInstall("cursor", func(s *hostconf.Spec) { s.URL = "https://x.example/mcp" + q })
		if e := wantCode(t, err, hostconf.BadSpec); strings.Contains(e.Error(), "hunter2") {
			t.Errorf("the error tells the secret: %v", e)
		}
	}
	if c.exists(cursorJSON) {
		t.Errorf("something was written: %s", c.read(cursorJSON))
	}
}

// TestKilledWritesLeaveNothing finds what a write of our records left.
func TestKilledWritesLeaveNothing(t *testing.T) {
	c := play(t, "linux")
	c.install("cursor")
	kept, err := os.ReadDir(filepath.Join(c.records, "entries"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("records: %v, %v", kept, err)
	}
	left := filepath.Join(c.records, "entries", "."+kept[0].Name()+".tmp-123")
	if err := os.WriteFile(left, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.conf.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadDir(filepath.Join(c.records, "entries")); err != nil || len(now) != 1 || now[0].Name() != kept[0].Name() {
		t.Errorf("after a recovery: %v, %v", now, err)
	}
}

func TestAnEntryOfSomebodyElse(t *testing.T) {
	c := play(t, "linux")
	before := `{"mcpServers":{"arenero":{"command":"node","args":["mine.js"]},"box":{"command":"/usr/local/bin/arenero-bridge"}}}`
	c.write(claudeJSON, before)
	c.onPath["claude"] = true
	_, err := c.tryInstall("claude-code", func(s *hostconf.Spec) { s.Force = false })
	wantCode(t, err, hostconf.NameTaken)
	wantSame(t, "the file", c.read(claudeJSON), before)
	st := c.status("claude-code")
	var got []string
	for _, e := range st.Entries {
		got = append(got, e.Name+" "+string(e.State))
	}
	if !slices.Equal(got, []string{"arenero foreign", "box foreign"}) {
		t.Errorf("entries: %v", got)
	}
	// One that starts our program can be taken over: our records were lost.
	ch := c.install("claude-code", func(s *hostconf.Spec) { s.Force, s.Name = false, "box" })
	if ch.Action != hostconf.Update {
		t.Errorf("the action is %s", ch.Action)
	}
	if !strings.Contains(c.read(claudeJSON), `"arenero":{"command":"node","args":["mine.js"]}`) {
		t.Errorf("the other entry changed: %s", c.read(claudeJSON))
	}
}

func TestSeveralConnectionsOfOneHost(t *testing.T) {
	c := play(t, "linux")
	c.write(cursorJSON, someServer)
	c.install("cursor")
	c.install("cursor", func(s *hostconf.Spec) {
		s.Name, s.Connection, s.Args = "second", "c_second", []string{"--connection", "c_second"}
	})
	if n := len(c.status("cursor").Entries); n != 2 {
		t.Errorf("there are %d entries", n)
	}
	chs, err := c.conf.Remove(t.Context(), host(t, "cursor"), hostconf.Spec{Connection: "c_second"}, true)
	if err != nil || len(chs) != 1 || !chs[0].Dry || chs[0].Place.Name != "second" {
		t.Errorf("a dry remove says %+v (%v)", chs, err)
	}
	if _, err := c.conf.Remove(t.Context(), host(t, "cursor"), hostconf.Spec{Name: "second"}, false); err != nil {
		t.Fatal(err)
	}
	if got := c.read(cursorJSON); strings.Contains(got, "second") || !strings.Contains(got, "arenero") {
		t.Errorf("the file is %s", got)
	}
	c.remove("cursor")
	wantSame(t, "the file", c.read(cursorJSON), someServer)
}

// TestSeveralEntriesLeaveNoTrace has the first entry make the map, or the file,
// that the second rests on: both go at once, whichever was written last.
func TestSeveralEntriesLeaveNoTrace(t *testing.T) {
	second := func(s *hostconf.Spec) { s.Name = "second" }
	tests := []struct{ id, file, before string }{
		{"cursor", "~/.cursor/mcp.json", "{\"a\": 1}\n"},
		{"cursor", "~/.cursor/mcp.json", ""},
		{"codex", "~/.codex/config.toml", "a = 1"},
		{"codex", "~/.codex/config.toml", ""},
		{"goose", "~/.config/goose/config.yaml", "a: 1\n"},
		{"goose", "~/.config/goose/config.yaml", ""},
	}
	for _, tt := range tests {
		for _, again := range []bool{false, true} {
			c := play(t, "linux")
			if tt.before != "" {
				c.write(tt.file, tt.before)
			}
			c.install(tt.id)
			c.install(tt.id, second)
			if again { // which is no reason to take it out later
				c.install(tt.id, func(s *hostconf.Spec) { second(s); s.Args = append(s.Args, "--more") })
			}
			if _, err := c.conf.Remove(t.Context(), host(t, tt.id), hostconf.Spec{}, false); err != nil {
				t.Fatal(err)
			}
			if tt.before == "" {
				if c.exists(tt.file) {
					t.Errorf("%s: what is left is %q", tt.id, c.read(tt.file))
				}
				continue
			}
			wantSame(t, tt.id, c.read(tt.file), tt.before)
		}
	}
}

// TestEntriesOneByOneLeaveNoTrace takes out first the entry that came first, and
// then the ones that stand in what it made.
func TestEntriesOneByOneLeaveNoTrace(t *testing.T) {
	tests := []struct{ id, file, before string }{
		{"cursor", "~/.cursor/mcp.json", "{\"a\": 1}\n"},
		{"cursor", "~/.cursor/mcp.json", "{\n  \"a\": 1\n}\n"},
		{"cursor", "~/.cursor/mcp.json", ""},
		{"cursor", "~/.cursor/mcp.json", someServer},
		{"opencode", "~/.config/opencode/opencode.json", "{\n\t\"theme\": \"x\"\n}\n"},
		{"codex", "~/.codex/config.toml", "a = 1"},
		{"codex", "~/.codex/config.toml", "a = 1\n"},
		{"codex", "~/.codex/config.toml", ""},
		{"goose", "~/.config/goose/config.yaml", "a: 1\n"},
		{"goose", "~/.config/goose/config.yaml", ""},
	}
	names := []string{"arenero", "two", "three"}
	for _, tt := range tests {
		c := play(t, "linux")
		if tt.before != "" {
			c.write(tt.file, tt.before)
		}
		for _, name := range names {
			c.install(tt.id, func(s *hostconf.Spec) { s.Name, s.Connection = name, "c_"+name })
		}
		for _, name := range names {
			if _, err := c.conf.Remove(t.Context(), host(t, tt.id), hostconf.Spec{Name: name}, false); err != nil {
				t.Fatal(err)
			}
		}
		if tt.before == "" {
			if c.exists(tt.file) {
				t.Errorf("%s: what is left is %q", tt.id, c.read(tt.file))
			}
			continue
		}
		wantSame(t, tt.id, c.read(tt.file), tt.before)
	}
}

func TestUndoAfterOthersWrote(t *testing.T) {
	c := play(t, "linux")
	c.write(cursorJSON, someServer)
	c.install("cursor")
	others := strings.Replace(c.read(cursorJSON), `"command": "a"`, `"command": "changed"`, 1)
	c.write(cursorJSON, others)
	if _, err := c.conf.Undo(t.Context(), host(t, "cursor"), hostconf.Spec{}, false); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the file", c.read(cursorJSON), strings.Replace(someServer, `"command": "a"`, `"command": "changed"`, 1))

	c.install("cursor")
	c.install("cursor", func(s *hostconf.Spec) { s.Command = "/new/arenero-bridge" })
	others = c.read(cursorJSON) + "\n"
	c.write(cursorJSON, others)
	_, err := c.conf.Undo(t.Context(), host(t, "cursor"), hostconf.Spec{}, false)
	wantCode(t, err, hostconf.Changed)
	wantSame(t, "the file", c.read(cursorJSON), others)
}

func TestUndoOfRemove(t *testing.T) {
	c := play(t, "linux")
	for _, id := range []string{"cursor", "continue"} {
		path := c.install(id).Path
		before := c.read(path)
		c.remove(id)
		if c.exists(path) {
			t.Fatalf("%s is still there", path)
		}
		if _, err := c.conf.Undo(t.Context(), host(t, id), hostconf.Spec{}, false); err != nil {
			t.Fatal(err)
		}
		wantSame(t, "the file", c.read(path), before)
		wantOurs(t, c, host(t, id), c.spec(), hostconf.AsWritten)
		c.remove(id)
	}
	if got := c.files(); len(got) > 0 {
		t.Errorf("files: %v", got)
	}
}
