package hostconf_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
)

func TestDetectionIsByProgram(t *testing.T) {
	tests := []struct {
		id, goos string
		there    []string // files and folders
		onPath   string
		want     hostconf.Signal // "" for not installed
	}{
		{"claude-desktop", "darwin", []string{"/Applications/Claude.app/"}, "", hostconf.ByApp},
		{"claude-desktop", "darwin", []string{"~/Applications/Claude.app/"}, "", hostconf.ByApp},
		{"claude-desktop", "darwin", []string{"~/Library/Application Support/Claude/claude_desktop_config.json"}, "", ""},
		{"claude-desktop", "darwin", []string{"~/Library/Application Support/Claude/Local Storage/"}, "", hostconf.ByData},
		{"claude-desktop", "windows", []string{`C:\Users\ana\AppData\Local\Packages\Claude_pzs8sxrjxfjjc\`}, "", hostconf.ByApp},
		{"claude-desktop", "linux", []string{"~/.claude/"}, "claude", ""},
		{"claude-desktop", "linux", nil, "claude-desktop", hostconf.ByCommand},
		{"claude-code", "linux", []string{"~/.claude/settings.json", "~/.claude.json"}, "", ""},
		{"claude-code", "linux", nil, "claude", hostconf.ByCommand},
		{"claude-code", "windows", []string{`C:\Users\ana\AppData\Roaming\npm\claude.cmd`}, "", hostconf.ByCommand},
		{"gemini-cli", "linux", []string{"~/.gemini/settings.json", "~/.gemini/antigravity/mcp_config.json"}, "", ""},
		{"gemini-cli", "linux", []string{"~/.nvm/versions/node/v22.1.0/bin/gemini"}, "", hostconf.ByCommand},
		{"gemini-cli", "darwin", []string{"/opt/homebrew/bin/gemini"}, "", hostconf.ByCommand},
		{"gemini-cli", "linux", []string{"~/.nvm/versions/node/bin/gemini"}, "", hostconf.ByCommand},
		{"cursor", "linux", []string{"~/.cursor/mcp.json"}, "", ""},
		{"cursor", "windows", []string{`C:\Users\ana\AppData\Local\Programs\cursor\Cursor.exe`}, "", hostconf.ByApp},
		{"vscode", "linux", []string{"~/.config/Code/User/mcp.json"}, "", ""},
		{"vscode", "linux", []string{"~/.config/Code/User/globalStorage/state.vscdb"}, "", hostconf.ByData},
		{"vscode", "darwin", []string{"/Applications/Visual Studio Code - Insiders.app/"}, "", ""},
		{"vscode-insiders", "darwin", []string{"/Applications/Visual Studio Code - Insiders.app/"}, "", hostconf.ByApp},
		{"vscode-flatpak", "linux", []string{"/var/lib/flatpak/app/com.visualstudio.code/"}, "", hostconf.ByApp},
		{"vscode-flatpak", "linux", []string{"~/.config/Code/User/globalStorage/state.vscdb"}, "code", ""},
		{"visual-studio", "windows", []string{`C:\Program Files\Microsoft Visual Studio\2022\Community\Common7\IDE\devenv.exe`}, "", hostconf.ByApp},
		{"visual-studio", "linux", nil, "devenv", ""}, // it does not run there
		{"cline", "linux", []string{"~/.cline/data/settings/"}, "", ""},
		{"cline", "linux", []string{"~/.vscode/extensions/saoudrizwan.claude-dev-4.1.13/"}, "", hostconf.ByExtension},
		{"cline", "linux", []string{"~/.cursor/extensions/saoudrizwan.claude-dev-3.9.0/"}, "", hostconf.ByExtension},
		{"roo-code", "linux", []string{"~/.vscode/extensions/saoudrizwan.claude-dev-4.1.13/"}, "", ""},
		{"continue", "windows", []string{`C:\Users\ana\.vscode\extensions\continue.continue-1.2.0\`}, "", hostconf.ByExtension},
		{"junie", "linux", []string{"~/.local/share/JetBrains/IntelliJIdea2025.3/junie/"}, "", hostconf.ByExtension},
		{"opencode", "linux", []string{"~/.opencode/bin/opencode"}, "", hostconf.ByApp},
	}
	for _, tt := range tests {
		c := play(t, tt.goos)
		for _, p := range tt.there {
			if strings.HasSuffix(p, "/") || strings.HasSuffix(p, `\`) {
				c.mkdir(p)
			} else {
				c.write(p, "x")
			}
		}
		if tt.onPath != "" {
			c.onPath[tt.onPath] = true
		}
		d := c.status(tt.id).Detected
		if d.Signal != tt.want || d.Installed != (tt.want != "") || d.Installed && d.Path == "" {
			t.Errorf("%s on %s with %v, %q: %+v, want %q", tt.id, tt.goos, tt.there, tt.onPath, d, tt.want)
		}
	}
}

func TestFilesAloneTellThatAHostMayBeHere(t *testing.T) {
	tests := []struct {
		id, goos string
		there    []string // files and folders
		onPath   string
		want     string // what tells, "" for nothing
	}{
		{"cursor", "linux", []string{"~/.cursor/mcp.json"}, "", "~/.cursor/mcp.json"},
		{"cursor", "linux", []string{"~/.cursor/"}, "", "~/.cursor"},
		{"cursor", "linux", []string{"~/.cursor/mcp.json"}, "cursor", ""}, // then it is installed
		{"cursor", "linux", nil, "", ""},
		{"cursor", "windows", []string{`C:\Users\ana\.cursor\`}, "", `C:\Users\ana\.cursor`},
		{"claude-code", "linux", []string{"~/.claude.json"}, "", "~/.claude.json"},
		{"claude-code", "linux", []string{"~/.claude/settings.json"}, "", ""}, // the home folder tells nothing
		{"claude-desktop", "darwin", []string{"~/Library/Application Support/Claude/"}, "", "~/Library/Application Support/Claude"},
		{"claude-desktop", "linux", []string{"~/.config/Claude/claude_desktop_config.json"}, "", "~/.config/Claude/claude_desktop_config.json"},
		{"gemini-cli", "linux", []string{"~/.gemini/antigravity/mcp_config.json"}, "", ""}, // that folder is of two
		{"gemini-cli", "linux", []string{"~/.gemini/settings.json"}, "", "~/.gemini/settings.json"},
		{"amazon-q-cli", "linux", []string{"~/.aws/amazonq/default.json"}, "", ""},
		{"windsurf-jetbrains", "linux", []string{"~/.codeium/windsurf/"}, "", ""},
		{"windsurf", "linux", []string{"~/.codeium/windsurf/"}, "", "~/.codeium/windsurf"},
		{"vscode", "linux", []string{"~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/"}, "", ""},
		{"zed", "darwin", []string{"~/Library/Application Support/Zed/settings.json"}, "", ""}, // which it does not read
		{"jetbrains-air", "linux", []string{"~/.mcp.json"}, "", ""},                            // it has files of projects alone
		{"visual-studio", "linux", []string{"~/.mcp.json"}, "", ""},                            // it does not run there
	}
	for _, tt := range tests {
		c := play(t, tt.goos)
		for _, p := range tt.there {
			if strings.HasSuffix(p, "/") || strings.HasSuffix(p, `\`) {
				c.mkdir(p)
			} else {
				c.write(p, "{}")
			}
		}
		if tt.onPath != "" {
			c.onPath[tt.onPath] = true
		}
		d := c.status(tt.id).Detected
		if want := strings.Replace(tt.want, "~", c.sys.Home, 1); d.Perhaps != want || d.Installed != (tt.onPath != "") {
			t.Errorf("%s on %s with %v, %q: %+v, want %q", tt.id, tt.goos, tt.there, tt.onPath, d, want)
		}
		if tt.want == "" {
			continue
		}
		// To connect it needs no more than to say so.
		ch, err := c.tryInstall(tt.id, func(s *hostconf.Spec) { s.Force = false })
		if err != nil || ch.Action != hostconf.Insert || !slices.ContainsFunc(ch.Warnings, func(w hostconf.Text) bool { return w.Key == "hosts.warn.perhaps" }) {
			t.Errorf("%s on %s with %v: %+v (%v)", tt.id, tt.goos, tt.there, ch, err)
		}
	}
}

func TestNothingIsWrittenForAHostThatIsNotThere(t *testing.T) {
	for _, fact := range all {
		h := host(t, fact.id)
		for _, goos := range []string{"linux", "darwin", "windows"} {
			c := play(t, goos)
			c.mkdir(c.where("~/src/site"))
			spec := c.spec()
			spec.Force, spec.Project = false, c.where("~/src/site")
			_, err := c.conf.Install(t.Context(), h, spec, false)
			want := hostconf.NotInstalled
			if !h.On(goos) {
				want = hostconf.NotSupported
			}
			if e, ok := errors.AsType[*hostconf.Error](err); !ok || e.Code != want {
				t.Errorf("%s on %s: %v, want %s", fact.id, goos, err, want)
			}
			if got := c.files(); len(got) > 0 {
				t.Errorf("%s on %s wrote %v", fact.id, goos, got)
			}
			_, err = c.conf.Remove(t.Context(), h, hostconf.Spec{}, false)
			wantCode(t, err, hostconf.NothingThere)
		}
	}
}

func TestVariablesSettleWhereTheFileIs(t *testing.T) {
	tests := []struct{ id, goos, name, value, want string }{
		{"claude-code", "linux", "CLAUDE_CONFIG_DIR", "/data/claude/", "/data/claude/.claude.json"},
		{"claude-code", "windows", "CLAUDE_CONFIG_DIR", `D:\claude`, `D:\claude\.claude.json`},
		{"claude-code", "linux", "CLAUDE_CONFIG_DIR", "somewhere", "/home/ana/.claude.json"},
		{"codex", "darwin", "CODEX_HOME", "~/codex", "/Users/ana/codex/config.toml"},
		{"grok-build", "linux", "GROK_HOME", "/g", "/g/config.toml"},
		{"cline", "linux", "CLINE_MCP_SETTINGS_PATH", "/x/own.json", "/x/own.json"},
		{"cline", "linux", "CLINE_DATA_DIR", "/x", "/x/settings/cline_mcp_settings.json"},
		{"cline", "linux", "CLINE_DIR", "/x", "/x/data/settings/cline_mcp_settings.json"},
		{"continue", "linux", "CONTINUE_GLOBAL_DIR", "/x", "/x/mcpServers/arenero.yaml"},
		{"opencode", "linux", "OPENCODE_CONFIG", "/x/oc.json", "/x/oc.json"},
		{"kimi-code", "linux", "KIMI_CODE_HOME", "/x", "/x/mcp.json"},
		{"crush", "linux", "CRUSH_GLOBAL_CONFIG", "/x", "/x/crush.json"},
		{"crush", "linux", "XDG_CONFIG_HOME", "/x", "/x/crush/crush.json"},
		{"goose", "linux", "XDG_CONFIG_HOME", "/x", "/x/goose/config.yaml"},
		{"goose", "darwin", "XDG_CONFIG_HOME", "/x", "/Users/ana/.config/goose/config.yaml"},
		{"vscode", "linux", "XDG_CONFIG_HOME", "/x", "/x/Code/User/mcp.json"},
		{"vscode-flatpak", "linux", "XDG_CONFIG_HOME", "/x", "/home/ana/.var/app/com.visualstudio.code/config/Code/User/mcp.json"},
	}
	for _, tt := range tests {
		c := play(t, tt.goos)
		// A file in the usual place does not count if a variable names another.
		target, err := c.conf.Target(host(t, tt.id), c.spec())
		if err != nil {
			t.Fatal(err)
		}
		c.write(target.Path, "")
		c.env[tt.name] = tt.value
		target, err = c.conf.Target(host(t, tt.id), c.spec())
		if err != nil || target.Path != tt.want {
			t.Errorf("%s with %s=%s: %s (%v), want %s", tt.id, tt.name, tt.value, target.Path, err, tt.want)
		}
	}
}

func TestWhichOfSeveralFiles(t *testing.T) {
	tests := []struct {
		id, goos string
		there    []string // files, or folders with a slash at the end
		want     string
		warned   bool
	}{
		{"opencode", "linux", []string{"~/.config/opencode/opencode.json"}, "~/.config/opencode/opencode.json", false},
		{"opencode", "linux", []string{"~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc"}, "~/.config/opencode/opencode.jsonc", true},
		{"antigravity", "linux", []string{"~/.gemini/antigravity/mcp_config.json"}, "~/.gemini/antigravity/mcp_config.json", false},
		{"antigravity", "linux", []string{"~/.gemini/antigravity/mcp_config.json", "~/.gemini/config/mcp_config.json"}, "~/.gemini/config/mcp_config.json", true},
		{"lm-studio", "linux", []string{"~/.cache/lm-studio/"}, "~/.cache/lm-studio/mcp.json", false},
		{"lm-studio", "linux", []string{"~/.cache/lm-studio/mcp.json", "~/.lmstudio/"}, "~/.cache/lm-studio/mcp.json", false},
		{"lm-studio", "linux", []string{"~/.cache/lm-studio/", "~/.lmstudio/"}, "~/.lmstudio/mcp.json", false},
		{"zed", "darwin", []string{"~/Library/Application Support/Zed/settings.json"}, "~/.config/zed/settings.json", true},
		{"trae", "linux", []string{"~/.trae/mcp.json"}, "~/.config/Trae/User/mcp.json", true},
		{"cline", "windows", []string{"R:/Cursor/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"}, "R:/Cursor/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", false},
		{"cline", "linux", []string{"~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", "~/.cline/data/settings/"}, "~/.cline/data/settings/cline_mcp_settings.json", true},
		{"cline", "linux", []string{"~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/"}, "~/.cline/data/settings/cline_mcp_settings.json", false},
	}
	for _, tt := range tests {
		c := play(t, tt.goos)
		for _, p := range tt.there {
			if strings.HasSuffix(p, "/") {
				c.mkdir(c.where(p))
			} else {
				c.write(c.where(p), "{}")
			}
		}
		ch := c.install(tt.id)
		if ch.Path != c.where(tt.want) {
			t.Errorf("%s with %v: %s, want %s", tt.id, tt.there, ch.Path, c.where(tt.want))
		}
		if warned := slices.ContainsFunc(ch.Warnings, func(w hostconf.Text) bool { return w.Key == "hosts.warn.other-file" }); warned != tt.warned {
			t.Errorf("%s with %v: warned %v", tt.id, tt.there, warned)
		}
	}
}

func TestProfilesOfVSCode(t *testing.T) {
	c := play(t, "darwin")
	const profiles = "/Users/ana/Library/Application Support/Code/User/profiles/"
	c.write(profiles+"-4b2a/mcp.json", "{\n\t\"servers\": {}\n}")
	c.mkdir(profiles + "1f00")
	st := c.status("vscode")
	var got []string
	for _, f := range st.Files {
		if f.Scope == hostconf.Profile && f.Live {
			got = append(got, f.HostProfile+" "+filepath.Base(f.Path))
		}
	}
	if !slices.Equal(got, []string{"-4b2a mcp.json", "1f00 mcp.json"}) {
		t.Errorf("profiles: %v in %+v", got, st.Files)
	}
	if ch := c.install("vscode", func(s *hostconf.Spec) { s.Scope = "profile:-4b2a" }); ch.Path != profiles+"-4b2a/mcp.json" {
		t.Errorf("the file is %s", ch.Path)
	}
	for _, bad := range []string{"profile", "profile:", "profile:..", "profile:a/b", `profile:a\b`, "profile:*"} {
		_, err := c.tryInstall("vscode", func(s *hostconf.Spec) { s.Scope = bad })
		wantCode(t, err, hostconf.BadSpec)
	}
	e := wantOurs(t, c, host(t, "vscode"), hostconf.Spec{}, hostconf.AsWritten)
	if e.Scope != hostconf.Profile || !e.Read {
		t.Errorf("the entry is %+v", e)
	}
	c.remove("vscode")
	wantSame(t, "the file", c.read(profiles+"-4b2a/mcp.json"), "{\n\t\"servers\": {}\n}")
}
