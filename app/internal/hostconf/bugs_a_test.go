package hostconf_test

// Each test here has the id of a public report about a program that does what
// we do, and pins what ours does in its place, from the click to the file.

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/assets"
)

const (
	claudeJSON = "~/.claude.json"
	cursorJSON = "~/.cursor/mcp.json"
	codeJSON   = "~/.config/Code/User/mcp.json"
	codexTOML  = "~/.codex/config.toml"
	geminiJSON = "~/.gemini/settings.json"
)

// roundTrip installs and removes, and wants the file back as it was.
func (c *computer) roundTrip(id, path, before string) string {
	c.t.Helper()
	c.write(path, before)
	c.install(id)
	after := c.read(path)
	entryOf(c.t, host(c.t, id), strip(after), "arenero")
	c.remove(id)
	wantSame(c.t, path+" after install and remove", c.read(path), before)
	return after
}

// strip takes comments and commas at the end out of small test documents.
func strip(doc string) string {
	var out strings.Builder
	for line := range strings.Lines(doc) {
		if i := strings.Index(line, "//"); i >= 0 && !strings.Contains(line, "://") {
			line = line[:i] + "\n"
		}
		out.WriteString(line)
	}
	s := strings.ReplaceAll(out.String(), "/* later */", "")
	for _, end := range []string{"}", "]"} {
		for _, gap := range []string{"", " ", "\n", "\n ", "\n  ", "\n    ", "\n\t"} {
			s = strings.ReplaceAll(s, ","+gap+end, gap+end)
		}
	}
	return s
}

func TestA1_SettingsOfTheWholeEditorStay(t *testing.T) {
	c := play(t, "linux")
	var doc strings.Builder
	doc.WriteString("{\n")
	for i := range 300 {
		fmt.Fprintf(&doc, "  \"setting.%d\": {\"value\": %d}, // mine\n", i, i)
	}
	doc.WriteString("}\n")
	const zed = "~/.config/zed/settings.json"
	c.write(zed, doc.String())
	dry, err := c.conf.Install(t.Context(), host(t, "zed"), c.spec(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range dry.Diff {
		if l.Kind == hostconf.DiffDeleted {
			t.Errorf("the preview deletes %q", l.Text)
		}
	}
	ch := c.install("zed")
	for i := range 300 {
		if line := fmt.Sprintf("  \"setting.%d\": {\"value\": %d}, // mine\n", i, i); !strings.Contains(c.read(zed), line) {
			t.Fatalf("the line %q is gone", line)
		}
	}
	kept, err := os.ReadFile(ch.Backup)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the backup", string(kept), doc.String())
	c.remove("zed")
	wantSame(t, "the settings", c.read(zed), doc.String())
}

func TestA2_RemoveTakesOneEntryAndNoMore(t *testing.T) {
	const (
		others = `"other":{"command":"b","args":[],"env":{}}},"ui":{"x":{}}}`
		ours   = `"arenero":{"command":"/opt/arenero/arenero-bridge"}`
	)
	tests := []struct{ name, before, after string }{
		{"empty containers of others", `{"mcpServers":{` + ours + `,` + others, `{"mcpServers":{` + others},
		{"a map with nothing else, which we did not make", `{"mcpServers":{` + ours + `}}`, `{"mcpServers":{}}`},
		{"comments", "{\"mcpServers\":{" + ours + ", // a\n \"b\":{}}}", "{\"mcpServers\":{ // a\n \"b\":{}}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := play(t, "linux")
			c.write(geminiJSON, tt.before)
			// We know nothing of it, so it must be named.
			_, err := c.conf.Remove(t.Context(), host(t, "gemini-cli"), hostconf.Spec{}, false)
			wantCode(t, err, hostconf.NothingThere)
			spec := hostconf.Spec{Name: "arenero", Scope: hostconf.User}
			if _, err := c.conf.Remove(t.Context(), host(t, "gemini-cli"), spec, false); err != nil {
				t.Fatal(err)
			}
			got := c.read(geminiJSON)
			if tt.name == "comments" { // where the comment goes is the editor's choice: it must be there
				if !strings.Contains(got, "// a") || strings.Contains(got, "arenero") {
					t.Errorf("the file is %q", got)
				}
				return
			}
			wantSame(t, "the file", got, tt.after)
		})
	}
	c := play(t, "linux")
	c.roundTrip("claude-code", claudeJSON, `{"mcpServers":{`+others)
}

func TestA3_CommentsSurviveInstallAndRemove(t *testing.T) {
	c := play(t, "linux")
	after := c.roundTrip("gemini-cli", geminiJSON, "{ // keep\n \"mcpServers\": {\"fs\":{\"command\":\"f\"}} }")
	if !strings.Contains(after, "{ // keep\n") {
		t.Errorf("the comment is lost in %q", after)
	}
}

func TestA4_OurEditIsPreferredToTheHostsInstaller(t *testing.T) {
	c := play(t, "linux")
	before := "{\n\t\"servers\": {\n\t\t// \"a\": { \"command\": \"a\" },\n\t\t/* \"b\": { \"command\": \"b\" } */\n\t}\n}\n"
	c.write(codeJSON, before)
	c.install("vscode")
	for _, comment := range []string{`// "a": { "command": "a" },`, `/* "b": { "command": "b" } */`} {
		if !strings.Contains(c.read(codeJSON), comment) {
			t.Errorf("%s is lost", comment)
		}
	}
	c.remove("vscode")
	wantSame(t, "the file", c.read(codeJSON), before)
	links, err := c.conf.Links(host(t, "vscode"), c.spec())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if l.Kind == hostconf.ToRun && l.Note.Key == "" {
			t.Errorf("nobody is warned of %s", l.Text)
		}
	}
}

func TestA6_EachHostsOwnGrammar(t *testing.T) {
	const (
		strict   = "{\n  \"KEY\": {}\n}\n"
		comment  = "{\n  // mine\n  \"KEY\": {}\n}\n"
		trailing = "{\n  // mine\n  \"KEY\": {},\n}\n"
	)
	tests := []struct {
		id, path, key              string
		strict, comments, trailing bool
	}{
		{"claude-code", claudeJSON, "mcpServers", true, false, false},
		{"cursor", cursorJSON, "mcpServers", true, true, false},
		{"vscode", codeJSON, "servers", true, true, true},
		{"zed", "~/.config/zed/settings.json", "context_servers", true, true, true},
	}
	for _, tt := range tests {
		for doc, takes := range map[string]bool{strict: tt.strict, comment: tt.comments, trailing: tt.trailing} {
			c := play(t, "linux")
			doc = strings.Replace(doc, "KEY", tt.key, 1)
			c.write(tt.path, doc)
			_, err := c.tryInstall(tt.id)
			if !takes {
				wantCode(t, err, hostconf.Malformed)
				wantSame(t, "the file", c.read(tt.path), doc)
				continue
			}
			if err != nil {
				t.Errorf("%s refuses %q: %v", tt.id, doc, err)
				continue
			}
			if err := edit.Check([]byte(c.read(tt.path)), host(t, tt.id).Grammar); err != nil {
				t.Errorf("%s can't read %q: %v", tt.id, c.read(tt.path), err)
			}
		}
	}
}

func TestA8_TablesOfOthersAreNotRewritten(t *testing.T) {
	c := play(t, "linux")
	before := `[mcp_servers.one]
command = "one" # first
startup_timeout_sec = 30
future_key = "x"

[mcp_servers.two] # second
command = "two"
`
	c.write(codexTOML, before)
	c.install("codex")
	after := c.read(codexTOML)
	if !strings.HasPrefix(after, before) {
		t.Fatalf("the file is %q", after)
	}
	// The user adds to our table; an update changes our lines only.
	c.write(codexTOML, after+"startup_timeout_sec = 60 # slow disk\nlater = [1, 2]\n")
	ch := c.install("codex", func(s *hostconf.Spec) { s.Command = "/usr/bin/arenero-bridge" })
	if ch.Action != hostconf.Update {
		t.Errorf("the action is %s", ch.Action)
	}
	want := strings.Replace(after, "/opt/arenero/arenero-bridge", "/usr/bin/arenero-bridge", 1) + "startup_timeout_sec = 60 # slow disk\nlater = [1, 2]\n"
	wantSame(t, "the file", c.read(codexTOML), want)
	if links, err := c.conf.Links(host(t, "codex"), c.spec()); err != nil || len(links) > 0 {
		t.Errorf("codex mcp add is offered: %v (%v)", links, err)
	}
}

func TestA9_AnEntryThatWasDroppedIsToldAndNotPutBack(t *testing.T) {
	c := play(t, "linux")
	c.write(codexTOML, "[mcp_servers.mine]\ncommand = \"m\"\n")
	c.install("codex")
	lost := "model = \"new\"\n\n[mcp_servers.fresh]\ncommand = \"f\"\n"
	c.write(codexTOML, lost)
	e := wantOurs(t, c, host(t, "codex"), c.spec(), hostconf.Gone)
	if !slices.Equal(e.Lost, []string{"mine"}) {
		t.Errorf("lost with it: %v", e.Lost)
	}
	wantSame(t, "the file after looking", c.read(codexTOML), lost)
	if ch := c.install("codex"); ch.Action != hostconf.Insert {
		t.Errorf("the action is %s", ch.Action)
	}
	got := c.read(codexTOML)
	if !strings.HasPrefix(got, lost) || strings.Contains(got, "mine") {
		t.Errorf("more than our entry came back: %q", got)
	}
}

func TestA10_NoTableThatStopsTheHost(t *testing.T) {
	c := play(t, "linux")
	_, err := c.tryInstall("codex", func(s *hostconf.Spec) { s.Command = "" })
	wantCode(t, err, hostconf.BadSpec)
	if c.exists(codexTOML) {
		t.Error("a file was made")
	}
	before := "[mcp_servers.other]\ncommand = \"o\"\n"
	c.write(codexTOML, before)
	c.install("codex")
	c.write(codexTOML, c.read(codexTOML)+`
[tui]
notifications = true

[mcp_servers.arenero.env]
LANG = "C"

[mcp_servers.arenero.tools.run_code]
approval_mode = "auto"
`)
	c.remove("codex")
	if got := c.read(codexTOML); strings.Contains(got, "arenero") || !strings.Contains(got, "[tui]\nnotifications = true\n") || !strings.HasPrefix(got, before) {
		t.Errorf("after remove the file is %q", got)
	}
	// A half table of our name is the user's: it is not completed without a word.
	c.write(codexTOML, "[mcp_servers.arenero]\nstartup_timeout_sec = 60\n")
	_, err = c.tryInstall("codex", func(s *hostconf.Spec) { s.Force = false; s.Name = "" })
	wantCode(t, err, hostconf.NameTaken)
	c.onPath["codex"] = true
	_, err = c.tryInstall("codex", func(s *hostconf.Spec) { s.Force = false })
	wantCode(t, err, hostconf.NameTaken)
	c.install("codex")
	if e := entryOf(t, host(t, "codex"), c.read(codexTOML), "arenero").(map[string]any); e["command"] == nil || e["startup_timeout_sec"] != 60.0 {
		t.Errorf("the entry is %v", e)
	}
}

func TestA11_OnlyFieldsThatTheHostTakes(t *testing.T) {
	c := play(t, "linux")
	c.write(codexTOML, "[mcp_servers.arenero]\ntype = \"stdio\"\ncommand = \"/old/arenero-bridge\"\nargs = []\ncwd = \"/tmp\"\n")
	c.install("codex")
	e := entryOf(t, host(t, "codex"), c.read(codexTOML), "arenero").(map[string]any)
	if e["type"] != nil || e["cwd"] != "/tmp" || e["command"] != "/opt/arenero/arenero-bridge" {
		t.Errorf("the entry is %v", e)
	}
	// From a command to an address: what would contradict it goes.
	c.install("codex", func(s *hostconf.Spec) { s.URL, s.Command, s.Args = "http://127.0.0.1:7333/mcp", "", nil })
	e = entryOf(t, host(t, "codex"), c.read(codexTOML), "arenero").(map[string]any)
	if e["command"] != nil || e["args"] != nil || e["cwd"] != nil || e["url"] == nil {
		t.Errorf("the entry is %v", e)
	}
}

func TestA13_OtherManagersAreNamed(t *testing.T) {
	c := play(t, "linux")
	if st := c.status("codex"); len(st.Managers) > 0 {
		t.Errorf("managers: %v", st.Managers)
	}
	c.mkdir("~/.cc-switch")
	c.install("codex")
	st := c.status("codex")
	if len(st.Managers) != 1 || st.Managers[0].Title != "CC Switch" || st.Managers[0].Path != "/home/ana/.cc-switch" {
		t.Errorf("managers: %+v", st.Managers)
	}
	// It writes the file from a template of its own, with our entry as it was once.
	c.write(codexTOML, strings.Replace(c.read(codexTOML), connection, "c_old", 1))
	e := wantOurs(t, c, host(t, "codex"), c.spec(), hostconf.Edited)
	if !slices.Equal(e.Fields, []string{"args"}) {
		t.Errorf("the fields that differ: %v", e.Fields)
	}
	c.write(codexTOML, "model = \"x\"\n")
	wantOurs(t, c, host(t, "codex"), c.spec(), hostconf.Gone)
	if st := c.status("goose"); len(st.Managers) > 0 {
		t.Errorf("managers of goose: %v", st.Managers)
	}
}

func TestA15_ASyntaxErrorIsShownWhereItIs(t *testing.T) {
	c := play(t, "linux")
	before := "{\n  \"servers\": {\n    \"a\": { \"command\": \"a\",, }\n  }\n}\n"
	c.write(codeJSON, before)
	_, err := c.tryInstall("vscode")
	e := wantCode(t, err, hostconf.Malformed)
	if e.Path != "/home/ana/.config/Code/User/mcp.json" || e.Line != 3 || e.Column != 27 || e.Source != `    "a": { "command": "a",, }` {
		t.Errorf("the error is at %s:%d:%d, in %q", e.Path, e.Line, e.Column, e.Source)
	}
	for _, lang := range []string{assets.English, assets.Spanish} {
		if said := e.Text.In(assets.Load(lang, hostconf.Texts)); !strings.Contains(said, "mcp.json:3:27") {
			t.Errorf("in %s it says %q", lang, said)
		}
	}
	wantSame(t, "the file", c.read(codeJSON), before)
}

func TestA16_AnEmptyFileIsAnEmptyDocument(t *testing.T) {
	for _, before := range []string{"", "  \n\n", "// nothing yet\n", "/* later */"} {
		c := play(t, "linux")
		after := c.roundTrip("vscode", codeJSON, before)
		if !strings.Contains(after, strings.TrimSpace(before)) {
			t.Errorf("%q became %q", before, after)
		}
	}
	for id, path := range map[string]string{"codex": codexTOML, "goose": "~/.config/goose/config.yaml"} {
		for _, before := range []string{"", "\n", "# mine\n"} {
			c := play(t, "linux")
			c.write(path, before)
			c.install(id)
			c.remove(id)
			wantSame(t, path, c.read(path), before)
		}
	}
}

func TestA17_RemoveFindsEveryPathThatWasEverWritten(t *testing.T) {
	c := play(t, "linux")
	const (
		older = "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
		newer = "~/.cline/data/settings/cline_mcp_settings.json"
	)
	before := "{\n  \"mcpServers\": {}\n}"
	c.write(older, before)
	if ch := c.install("cline"); ch.Path != c.where(older) {
		t.Fatalf("the file of an old Cline is %s", ch.Path)
	}
	c.write(newer, before) // a new Cline has come
	if ch := c.install("cline"); ch.Path != c.where(newer) {
		t.Fatalf("the file of a new Cline is %s", ch.Path)
	}
	st := c.status("cline")
	if len(st.Entries) != 2 || st.Entries[0].Read || !st.Entries[1].Read {
		t.Errorf("entries: %+v", st.Entries)
	}
	if chs := c.remove("cline"); len(chs) != 2 {
		t.Errorf("changes: %+v", chs)
	}
	wantSame(t, older, c.read(older), before)
	wantSame(t, newer, c.read(newer), before)
}

func TestA18_NullIsNothing(t *testing.T) {
	c := play(t, "linux")
	c.roundTrip("claude-code", claudeJSON, `{"mcpServers":null,"a":1}`)
	c.roundTrip("claude-code", claudeJSON, `{"mcpServers":{"a":null}}`)
	const goose = "~/.config/goose/config.yaml"
	for _, before := range []string{"extensions:\n  a:\n", "extensions:\n", "extensions: null\nx: 1\n"} {
		c.write(goose, before)
		c.install("goose")
		entryOf(t, host(t, "goose"), c.read(goose), "arenero")
		c.status("goose")
		c.remove("goose")
		wantSame(t, goose, c.read(goose), before)
	}
}

func TestA20_TheFileAndKeyThatTheHostReads(t *testing.T) {
	c := play(t, "linux")
	const settings = "~/.config/Code/User/settings.json"
	c.write(settings, "{\n  \"editor.fontSize\": 14\n}\n")
	c.write(codeJSON, "{\n\t\"servers\": {},\n\t\"inputs\": []\n}")
	c.install("vscode")
	wantSame(t, "settings.json", c.read(settings), "{\n  \"editor.fontSize\": 14\n}\n")
	doc := document(t, edit.JSON, c.read(codeJSON)).(map[string]any)
	if doc["servers"].(map[string]any)["arenero"] == nil || doc["mcpServers"] != nil {
		t.Errorf("mcp.json is %v", doc)
	}
	c.write(codeJSON, `{"mcpServers":{"x":{"command":"x"}}}`)
	if st := c.status("vscode"); len(st.Misplaced) != 1 || st.Misplaced[0].Names[0] != "x" {
		t.Errorf("the wrong key is not told: %+v", st.Misplaced)
	}
}

func TestA21_ServersInFilesThatAreNeverReadAreToldAndLeft(t *testing.T) {
	c := play(t, "linux")
	lost := `{"mcpServers":{"lost":{"command":"l"},"more":{"command":"m"}}}`
	c.write("~/.claude/mcp.json", lost)
	c.write("~/.claude/settings.json", `{"permissions":{}}`)
	st := c.status("claude-code")
	if len(st.Misplaced) != 1 {
		t.Fatalf("misplaced: %+v", st.Misplaced)
	}
	if m := st.Misplaced[0]; m.Path != "/home/ana/.claude/mcp.json" || !slices.Equal(m.Names, []string{"lost", "more"}) || m.Read != "/home/ana/.claude.json" {
		t.Errorf("misplaced: %+v", m)
	}
	c.install("claude-code")
	c.remove("claude-code")
	wantSame(t, "the misplaced file", c.read("~/.claude/mcp.json"), lost)
}

func TestA22_NoAddressForClaudeDesktop(t *testing.T) {
	c := play(t, "linux")
	const path = "~/.config/Claude/claude_desktop_config.json"
	before := `{"mcpServers":{"x":{"url":"https://example.test/mcp"}}}`
	c.write(path, before)
	_, err := c.tryInstall("claude-desktop", func(s *hostconf.Spec) { s.URL = "http://127.0.0.1:1/mcp" })
	wantCode(t, err, hostconf.NotSupported)
	wantSame(t, "the file", c.read(path), before)
	c.install("claude-desktop")
	e := entryOf(t, host(t, "claude-desktop"), c.read(path), "arenero").(map[string]any)
	if len(e) != 2 || e["command"] == nil || e["args"] == nil {
		t.Errorf("the entry is %v", e)
	}
	c.remove("claude-desktop")
	wantSame(t, "the file", c.read(path), before)
}

func TestA23_NoOtherFileInTheHostsFolder(t *testing.T) {
	c := play(t, "linux")
	const folder = "~/.config/Claude/"
	c.write(folder+"config.json", `{"userThemeMode":"dark"}`)
	c.write(folder+"Preferences", "x")
	c.install("claude-desktop")
	c.remove("claude-desktop")
	c.install("claude-desktop")
	entries, err := os.ReadDir(c.real(folder))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"Preferences", "claude_desktop_config.json", "config.json"}) {
		t.Errorf("the folder has %v", names)
	}
	wantSame(t, "config.json", c.read(folder+"config.json"), `{"userThemeMode":"dark"}`)
}

func TestA25_NothingMovesBetweenScopes(t *testing.T) {
	c := play(t, "linux")
	project := "/home/ana/src/site"
	workspace := `{"servers":{"local":{"type":"stdio","command":"${workspaceFolder}/bin/x"}}}`
	c.write(project+"/.vscode/mcp.json", workspace)
	c.install("vscode")
	wantSame(t, "the workspace's file", c.read(project+"/.vscode/mcp.json"), workspace)
	if strings.Contains(c.read(codeJSON), "workspaceFolder") {
		t.Errorf("an entry went to the user's file: %s", c.read(codeJSON))
	}
	_, err := c.tryInstall("vscode", func(s *hostconf.Spec) { s.Command = "/opt/${workspaceFolder}/arenero-bridge" })
	wantCode(t, err, hostconf.BadSpec)
	// With both scopes installed, each is removed alone if one is named.
	c.install("vscode", func(s *hostconf.Spec) { s.Scope, s.Project = hostconf.Project, project })
	chs, err := c.conf.Remove(t.Context(), host(t, "vscode"), hostconf.Spec{Scope: hostconf.Project, Project: project}, false)
	if err != nil || len(chs) != 1 {
		t.Fatalf("changes: %+v (%v)", chs, err)
	}
	wantSame(t, "the workspace's file", c.read(project+"/.vscode/mcp.json"), workspace)
	if !strings.Contains(c.read(codeJSON), "arenero") {
		t.Error("the user's entry went too")
	}
	if filepath.Base(chs[0].Path) != "mcp.json" || chs[0].Scope != hostconf.Project {
		t.Errorf("the change is %+v", chs[0].Target)
	}
}
