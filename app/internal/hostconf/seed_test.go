package hostconf_test

import (
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
)

func TestR75_WhereClaudeDesktopsFileIs(t *testing.T) {
	tests := []struct {
		goos, home string
		env        map[string]string
		want       string
	}{
		{"darwin", "/Users/ana", nil, "/Users/ana/Library/Application Support/Claude/claude_desktop_config.json"},
		{"darwin", "/Users/ana", map[string]string{"XDG_CONFIG_HOME": "/x"}, "/Users/ana/Library/Application Support/Claude/claude_desktop_config.json"},
		{"windows", `C:\Users\ana`, map[string]string{"APPDATA": `D:\Roaming\`}, `D:\Roaming\Claude\claude_desktop_config.json`},
		{"windows", `C:\Users\ana`, map[string]string{"APPDATA": ""}, `C:\Users\ana\AppData\Roaming\Claude\claude_desktop_config.json`},
		{"linux", "/home/ana", nil, "/home/ana/.config/Claude/claude_desktop_config.json"},
		{"linux", "/home/ana", map[string]string{"XDG_CONFIG_HOME": "/data/config/"}, "/data/config/Claude/claude_desktop_config.json"},
		{"linux", "/home/ana", map[string]string{"XDG_CONFIG_HOME": "relative"}, "/home/ana/.config/Claude/claude_desktop_config.json"},
	}
	for _, tt := range tests {
		c := play(t, tt.goos)
		c.sys.Home = tt.home
		for k, v := range tt.env {
			c.env[k] = v
		}
		c.open()
		target, err := c.conf.Target(host(t, "claude-desktop"), c.spec())
		if err != nil || target.Path != tt.want {
			t.Errorf("on %s with %v the file is %s (%v), want %s", tt.goos, tt.env, target.Path, err, tt.want)
		}
	}
}

func TestR76_ShapeAndRestOfClaudeDesktopsFile(t *testing.T) {
	c := play(t, "linux")
	f := readFixture(t, "claude-desktop")
	before, _ := f.section("before")
	c.write(claudeApp, before)
	ch := c.install("claude-desktop")
	f.want(t, "stdio", c.read(claudeApp))
	e := entryOf(t, host(t, "claude-desktop"), c.read(claudeApp), "arenero").(map[string]any)
	if len(e) != 2 || e["command"] != "/opt/arenero/arenero-bridge" {
		t.Errorf("the entry is %v", e)
	}
	if len(ch.Steps) != 1 || ch.Steps[0].Key != "hosts.after.start-again" {
		t.Errorf("the steps are %v", ch.Steps)
	}
	if ch := c.install("claude-desktop"); ch.Action != hostconf.None || len(ch.Steps) > 0 {
		t.Errorf("the second install says %s, %v", ch.Action, ch.Steps)
	}
	undone, err := c.conf.Undo(t.Context(), host(t, "claude-desktop"), hostconf.Spec{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(undone.Steps) != 1 || undone.Steps[0].Key != "hosts.gone.start-again" {
		t.Errorf("the steps of undo are %v", undone.Steps)
	}
	wantSame(t, "the file after undo", c.read(claudeApp), before)
	_, err = c.conf.Undo(t.Context(), host(t, "claude-desktop"), hostconf.Spec{}, false)
	wantCode(t, err, hostconf.NothingThere)
}

// seedShape installs into a project and compares the whole file.
func seedShape(t *testing.T, id, rel, want string) {
	t.Helper()
	c := play(t, "linux")
	c.mkdir("~/src/site")
	ch := c.install(id, func(s *hostconf.Spec) { s.Scope, s.Project = hostconf.Project, "/home/ana/src/site/" })
	if ch.Path != "/home/ana/src/site/"+rel {
		t.Errorf("the file is %s", ch.Path)
	}
	wantSame(t, "the file", c.read(ch.Path), strings.TrimPrefix(want, "\n"))
}

func TestR79_CursorInAProject(t *testing.T) {
	seedShape(t, "cursor", ".cursor/mcp.json", `
{
  "mcpServers": {
    "arenero": {
      "command": "/opt/arenero/arenero-bridge",
      "args": ["--connection", "c_abcdefghijkl"]
    }
  }
}
`)
}

func TestR80_VSCodeInAWorkspace(t *testing.T) {
	seedShape(t, "vscode", ".vscode/mcp.json", `
{
  "servers": {
    "arenero": {
      "type": "stdio",
      "command": "/opt/arenero/arenero-bridge",
      "args": ["--connection", "c_abcdefghijkl"]
    }
  }
}
`)
}
