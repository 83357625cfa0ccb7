package hostconf_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
)

// A fact is what the hosts' documents and sources say of one host, written down
// a second time, so that a slip in hosts.yaml shows. In paths ~ is the home, and
// on Windows R: is %APPDATA% and L: is %LOCALAPPDATA%. "-" is for what there
// is not.
type fact struct {
	id                     string
	linux, darwin, windows string // where the user's file is made if none is there
	project                string
	local                  string
	grammar                string
	key                    string // joined by "/"
	stdio                  string // fields, with C for the command, A for the arguments and N for the name
	http                   string // the same, with U for the address and H for headers
	write                  string
	bom                    bool // rejected
	reserved               string
	after                  string // the first step
	start                  int    // seconds
	call                   int
	sum                    int // longest name of entry and tool together
	tools                  int
	links                  int
	paths, shape           hostconf.Confidence
}

const (
	plainStdio = `{"command":C,"args":A}`
	plainHTTP  = `{"url":U,"headers":H}`
)

var all = []fact{
	{id: "claude-desktop", linux: "~/.config/Claude/claude_desktop_config.json", darwin: "~/Library/Application Support/Claude/claude_desktop_config.json", windows: "R:/Claude/claude_desktop_config.json", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file-quit", bom: true, after: "start-again", start: 60, call: 240, paths: "medium", shape: "medium"},
	{id: "claude-code", linux: "~/.claude.json", darwin: "~/.claude.json", windows: "~/.claude.json", project: ".mcp.json", local: "~/.claude.json", grammar: "json", key: "mcpServers", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"type":"http","url":U,"headers":H}`, write: "file", reserved: "workspace", after: "session", start: 30, links: 1, paths: "high", shape: "high"},
	{id: "cursor", linux: "~/.cursor/mcp.json", darwin: "~/.cursor/mcp.json", windows: "~/.cursor/mcp.json", project: ".cursor/mcp.json", grammar: "jsonc", key: "mcpServers", stdio: plainStdio, http: plainHTTP, write: "file", after: "watched-toggle", sum: 59, tools: 40, links: 1, paths: "high", shape: "medium"},
	{id: "vscode", linux: "~/.config/Code/User/mcp.json", darwin: "~/Library/Application Support/Code/User/mcp.json", windows: "R:/Code/User/mcp.json", project: ".vscode/mcp.json", grammar: "jsonc-trailing", key: "servers", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"type":"http","url":U,"headers":H}`, write: "file", after: "trust", sum: 60, tools: 128, links: 2, paths: "high", shape: "high"},
	{id: "vscode-insiders", linux: "~/.config/Code - Insiders/User/mcp.json", darwin: "~/Library/Application Support/Code - Insiders/User/mcp.json", windows: "R:/Code - Insiders/User/mcp.json", project: ".vscode/mcp.json", grammar: "jsonc-trailing", key: "servers", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"type":"http","url":U,"headers":H}`, write: "file", after: "trust", sum: 60, tools: 128, links: 2, paths: "high", shape: "high"},
	{id: "vscodium", linux: "~/.config/VSCodium/User/mcp.json", darwin: "~/Library/Application Support/VSCodium/User/mcp.json", windows: "R:/VSCodium/User/mcp.json", project: ".vscode/mcp.json", grammar: "jsonc-trailing", key: "servers", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"type":"http","url":U,"headers":H}`, write: "file", after: "trust", sum: 60, tools: 128, paths: "low", shape: "high"},
	{id: "vscode-flatpak", linux: "~/.var/app/com.visualstudio.code/config/Code/User/mcp.json", darwin: "-", windows: "-", project: ".vscode/mcp.json", grammar: "jsonc-trailing", key: "servers", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"type":"http","url":U,"headers":H}`, write: "file", after: "trust", sum: 60, tools: 128, paths: "medium", shape: "high"},
	{id: "vscodium-flatpak", linux: "~/.var/app/com.vscodium.codium/config/VSCodium/User/mcp.json", darwin: "-", windows: "-", project: ".vscode/mcp.json", grammar: "jsonc-trailing", key: "servers", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"type":"http","url":U,"headers":H}`, write: "file", after: "trust", sum: 60, tools: 128, paths: "medium", shape: "high"},
	{id: "visual-studio", linux: "-", darwin: "-", windows: "~/.mcp.json", project: ".mcp.json", grammar: "jsonc", key: "servers", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"url":U}`, write: "file", after: "enable-tools", links: 1, paths: "high", shape: "high"},
	{id: "windsurf", linux: "~/.codeium/windsurf/mcp_config.json", darwin: "~/.codeium/windsurf/mcp_config.json", windows: "~/.codeium/windsurf/mcp_config.json", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: `{"serverUrl":U,"headers":H}`, write: "file", bom: true, after: "refresh", tools: 100, paths: "high", shape: "medium"},
	{id: "windsurf-jetbrains", linux: "~/.codeium/mcp_config.json", darwin: "~/.codeium/mcp_config.json", windows: "~/.codeium/mcp_config.json", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: `{"serverUrl":U,"headers":H}`, write: "file", bom: true, after: "refresh", tools: 100, paths: "medium", shape: "medium"},
	{id: "zed", linux: "~/.config/zed/settings.json", darwin: "~/.config/zed/settings.json", windows: "R:/Zed/settings.json", project: ".zed/settings.json", grammar: "jsonc-trailing", key: "context_servers", stdio: `{"source":"custom","command":C,"args":A}`, http: plainHTTP, write: "file", after: "watched", paths: "medium", shape: "high"},
	{id: "zed-flatpak", linux: "~/.var/app/dev.zed.Zed/config/zed/settings.json", darwin: "-", windows: "-", project: ".zed/settings.json", grammar: "jsonc-trailing", key: "context_servers", stdio: `{"source":"custom","command":C,"args":A}`, http: plainHTTP, write: "file", after: "watched", paths: "low", shape: "high"},
	{id: "cline", linux: "~/.cline/data/settings/cline_mcp_settings.json", darwin: "~/.cline/data/settings/cline_mcp_settings.json", windows: "~/.cline/data/settings/cline_mcp_settings.json", project: "-", grammar: "json", key: "mcpServers", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"type":"streamableHttp","url":U,"headers":H}`, write: "file", after: "watched", start: 60, call: 60, sum: 62, paths: "high", shape: "high"},
	{id: "roo-code", linux: "~/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", darwin: "~/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", windows: "R:/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", project: ".roo/mcp.json", grammar: "json", key: "mcpServers", stdio: plainStdio, http: `{"type":"streamable-http","url":U,"headers":H}`, write: "file", after: "watched", paths: "medium", shape: "medium"},
	{id: "gemini-cli", linux: "~/.gemini/settings.json", darwin: "~/.gemini/settings.json", windows: "~/.gemini/settings.json", project: ".gemini/settings.json", grammar: "jsonc", key: "mcpServers", stdio: plainStdio, http: `{"type":"http","url":U,"headers":H}`, write: "file", after: "session", start: 600, call: 600, sum: 58, links: 1, paths: "high", shape: "high"},
	{id: "qwen-code", linux: "~/.qwen/settings.json", darwin: "~/.qwen/settings.json", windows: "~/.qwen/settings.json", project: ".qwen/settings.json", grammar: "jsonc", key: "mcpServers", stdio: plainStdio, http: `{"type":"http","url":U,"headers":H}`, write: "file", after: "session", start: 600, call: 600, sum: 58, paths: "medium", shape: "medium"},
	{id: "codex", linux: "~/.codex/config.toml", darwin: "~/.codex/config.toml", windows: "~/.codex/config.toml", project: ".codex/config.toml", grammar: "toml", key: "mcp_servers", stdio: plainStdio, http: `{"url":U,"http_headers":H}`, write: "file", after: "session", start: 10, call: 60, sum: 57, paths: "high", shape: "high"},
	{id: "grok-build", linux: "~/.grok/config.toml", darwin: "~/.grok/config.toml", windows: "~/.grok/config.toml", project: ".grok/config.toml", grammar: "toml", key: "mcp_servers", stdio: plainStdio, http: "-", write: "file", after: "session", start: 30, paths: "medium", shape: "medium"},
	{id: "mistral-vibe", linux: "~/.vibe/config.toml", darwin: "~/.vibe/config.toml", windows: "~/.vibe/config.toml", project: "-", grammar: "toml", key: "mcp_servers", stdio: `{"name":N,"transport":"stdio","command":C,"args":A}`, http: "-", write: "file", after: "session", paths: "medium", shape: "medium"},
	{id: "copilot-cli", linux: "~/.copilot/mcp-config.json", darwin: "~/.copilot/mcp-config.json", windows: "~/.copilot/mcp-config.json", project: ".mcp.json", grammar: "json", key: "mcpServers", stdio: `{"type":"local","command":C,"args":A,"tools":["*"]}`, http: `{"type":"http","url":U,"headers":H,"tools":["*"]}`, write: "file", after: "session", paths: "high", shape: "high"},
	{id: "jetbrains-ai", linux: "~/.ai/mcp/mcp.json", darwin: "~/.ai/mcp/mcp.json", windows: "~/.ai/mcp/mcp.json", project: ".ai/mcp/mcp.json", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file-quit", after: "start-again", paths: "medium", shape: "medium"},
	{id: "junie", linux: "~/.junie/mcp/mcp.json", darwin: "~/.junie/mcp/mcp.json", windows: "~/.junie/mcp/mcp.json", project: ".junie/mcp/mcp.json", grammar: "json", key: "mcpServers", stdio: plainStdio, http: plainHTTP, write: "file", after: "session", paths: "medium", shape: "medium"},
	{id: "jetbrains-air", linux: "-", darwin: "-", windows: "-", project: ".mcp.json", local: ".air/mcp.json", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "session", paths: "medium", shape: "medium"},
	{id: "lm-studio", linux: "~/.lmstudio/mcp.json", darwin: "~/.lmstudio/mcp.json", windows: "~/.lmstudio/mcp.json", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: plainHTTP, write: "file", after: "load", links: 1, paths: "medium", shape: "medium"},
	{id: "goose", linux: "~/.config/goose/config.yaml", darwin: "~/.config/goose/config.yaml", windows: "R:/Block/goose/config/config.yaml", project: "-", grammar: "yaml", key: "extensions", stdio: `{"name":N,"type":"stdio","cmd":C,"args":A,"enabled":true,"timeout":300}`, http: `{"name":N,"type":"streamable_http","uri":U,"headers":H,"enabled":true,"timeout":300}`, write: "file", after: "restart", start: 300, call: 300, links: 1, paths: "high", shape: "high"},
	{id: "continue", linux: "~/.continue/mcpServers/arenero.yaml", darwin: "~/.continue/mcpServers/arenero.yaml", windows: "~/.continue/mcpServers/arenero.yaml", project: ".continue/mcpServers/arenero.yaml", grammar: "yaml", key: "mcpServers", stdio: `{"name":N,"command":C,"args":A}`, http: `{"name":N,"type":"streamable-http","url":U}`, write: "dropin", after: "watched", start: 20, paths: "high", shape: "high"},
	{id: "opencode", linux: "~/.config/opencode/opencode.jsonc", darwin: "~/.config/opencode/opencode.jsonc", windows: "~/.config/opencode/opencode.jsonc", project: "opencode.jsonc", grammar: "jsonc-trailing", key: "mcp", stdio: `{"type":"local","command":CA,"enabled":true}`, http: `{"type":"remote","url":U,"headers":H,"enabled":true}`, write: "file", reserved: "servers timeout", after: "session", start: 5, paths: "high", shape: "high"},
	{id: "kilo-code", linux: "~/.config/kilo/kilo.jsonc", darwin: "~/.config/kilo/kilo.jsonc", windows: "~/.config/kilo/kilo.jsonc", project: "kilo.jsonc", grammar: "jsonc-trailing", key: "mcp", stdio: `{"type":"local","command":CA,"enabled":true}`, http: `{"type":"remote","url":U,"headers":H,"enabled":true}`, write: "file", reserved: "servers timeout", after: "session", paths: "medium", shape: "medium"},
	{id: "amp", linux: "~/.config/amp/settings.json", darwin: "~/.config/amp/settings.json", windows: "R:/amp/settings.json", project: "-", grammar: "jsonc", key: "amp.mcpServers", stdio: plainStdio, http: plainHTTP, write: "file", after: "session", paths: "medium", shape: "medium"},
	{id: "kiro", linux: "~/.kiro/settings/mcp.json", darwin: "~/.kiro/settings/mcp.json", windows: "~/.kiro/settings/mcp.json", project: ".kiro/settings/mcp.json", grammar: "json", key: "mcpServers", stdio: `{"command":C,"args":A,"disabled":false}`, http: plainHTTP, write: "file", after: "watched", links: 1, paths: "medium", shape: "medium"},
	{id: "amazon-q", linux: "~/.aws/amazonq/default.json", darwin: "~/.aws/amazonq/default.json", windows: "~/.aws/amazonq/default.json", project: ".amazonq/default.json", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "restart", paths: "medium", shape: "medium"},
	{id: "amazon-q-cli", linux: "~/.aws/amazonq/mcp.json", darwin: "~/.aws/amazonq/mcp.json", windows: "~/.aws/amazonq/mcp.json", project: ".amazonq/mcp.json", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "session", paths: "medium", shape: "medium"},
	{id: "antigravity", linux: "~/.gemini/config/mcp_config.json", darwin: "~/.gemini/config/mcp_config.json", windows: "~/.gemini/config/mcp_config.json", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: `{"serverUrl":U,"headers":H}`, write: "file", bom: true, after: "refresh", paths: "medium", shape: "medium"},
	{id: "warp", linux: "~/.warp/.mcp.json", darwin: "~/.warp/.mcp.json", windows: "~/.warp/.mcp.json", project: ".warp/.mcp.json", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "restart", paths: "medium", shape: "medium"},
	{id: "factory-droid", linux: "~/.factory/mcp.json", darwin: "~/.factory/mcp.json", windows: "~/.factory/mcp.json", project: ".factory/mcp.json", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "session", paths: "medium", shape: "medium"},
	{id: "trae", linux: "~/.config/Trae/User/mcp.json", darwin: "~/Library/Application Support/Trae/User/mcp.json", windows: "R:/Trae/User/mcp.json", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "restart", paths: "low", shape: "medium"},
	{id: "qoder", linux: "~/.qoder/mcp.json", darwin: "~/.qoder/mcp.json", windows: "R:/Qoder/SharedClientCache/mcp.json", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "restart", paths: "low", shape: "low"},
	{id: "kimi-cli", linux: "~/.kimi/mcp.json", darwin: "~/.kimi/mcp.json", windows: "~/.kimi/mcp.json", project: "-", grammar: "json", key: "mcpServers", stdio: `{"transport":"stdio","command":C,"args":A}`, http: `{"transport":"http","url":U,"headers":H}`, write: "file", after: "session", paths: "medium", shape: "medium"},
	{id: "kimi-code", linux: "~/.kimi-code/mcp.json", darwin: "~/.kimi-code/mcp.json", windows: "~/.kimi-code/mcp.json", project: ".kimi-code/mcp.json", grammar: "json", key: "mcpServers", stdio: `{"transport":"stdio","command":C,"args":A}`, http: `{"transport":"http","url":U,"headers":H}`, write: "file", after: "session", paths: "medium", shape: "medium"},
	{id: "crush", linux: "~/.config/crush/crush.json", darwin: "~/.config/crush/crush.json", windows: "~/.config/crush/crush.json", project: ".crush.json", grammar: "json", key: "mcp", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"type":"http","url":U,"headers":H}`, write: "file", after: "session", start: 10, paths: "high", shape: "high"},
	{id: "void", linux: "~/.void-editor/mcp.json", darwin: "~/.void-editor/mcp.json", windows: "~/.void-editor/mcp.json", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "restart", paths: "low", shape: "low"},
	{id: "witsy", linux: "~/.config/Witsy/settings.json", darwin: "~/Library/Application Support/Witsy/settings.json", windows: "R:/Witsy/settings.json", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "restart", paths: "medium", shape: "medium"},
	{id: "boltai", linux: "-", darwin: "~/.boltai/mcp.json", windows: "-", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: "-", write: "file", after: "restart", paths: "low", shape: "low"},
	{id: "librechat", linux: "-", darwin: "-", windows: "-", project: "-", grammar: "yaml", key: "mcpServers", stdio: `{"type":"stdio","command":C,"args":A}`, http: `{"type":"streamable-http","url":U,"headers":H}`, write: "file", paths: "low", shape: "medium"},
	{id: "other", linux: "-", darwin: "-", windows: "-", project: "-", grammar: "json", key: "mcpServers", stdio: plainStdio, http: plainHTTP, write: "file", paths: "low", shape: "low"},
}

func TestTableHasEveryHostOnce(t *testing.T) {
	var got, want []string
	for _, h := range hostconf.Hosts() {
		got = append(got, h.ID)
		for _, a := range h.Aliases {
			if other, err := hostconf.ByID(a); err != nil || other.ID != h.ID {
				t.Errorf("the alias %s is of %s, want %s (%v)", a, other.ID, h.ID, err)
			}
		}
	}
	for _, f := range all {
		want = append(want, f.id)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the hosts are %v\nwant %v", got, want)
	}
	_, err := hostconf.ByID("no-such-app")
	wantCode(t, err, hostconf.UnknownHost)
}

// TestFacts compares all that is public of each host with the facts.
func TestFacts(t *testing.T) {
	for _, f := range all {
		t.Run(f.id, func(t *testing.T) {
			h := host(t, f.id)
			got := fact{
				id: h.ID, grammar: string(h.Grammar), key: strings.Join(h.Key, "/"), write: string(h.Write), bom: h.RejectsBOM,
				reserved: strings.Join(h.Reserved, " "), start: h.Limits.StartSeconds, call: h.Limits.CallSeconds, sum: h.Limits.NameAndTool,
				tools: h.Limits.Tools, paths: h.Paths, shape: h.Shape,
			}
			want := f
			want.linux, want.darwin, want.windows, want.project, want.local, want.stdio, want.http, want.after, want.links = "", "", "", "", "", "", "", "", 0
			if got != want {
				t.Errorf("the host is\n%+v\nwant\n%+v", got, want)
			}
			if h.HTTP != (f.http != "-") {
				t.Errorf("HTTP = %v", h.HTTP)
			}
			for goos, path := range map[string]string{"linux": f.linux, "darwin": f.darwin, "windows": f.windows} {
				t.Run(goos, func(t *testing.T) { f.check(t, play(t, goos), h, path) })
			}
		})
	}
}

// where writes a path of a fact as the system does.
func (c *computer) where(p string) string {
	p = strings.Replace(p, "~", c.sys.Home, 1)
	if c.sys.OS != "windows" {
		return p
	}
	p = strings.Replace(p, "R:", c.env["APPDATA"], 1)
	p = strings.Replace(p, "L:", c.env["LOCALAPPDATA"], 1)
	return strings.ReplaceAll(p, "/", `\`)
}

func (f fact) check(t *testing.T, c *computer, h hostconf.Host, path string) {
	spec := c.spec()
	target, err := c.conf.Target(h, spec)
	if h.In(hostconf.User) && path != "-" {
		if err != nil || target.Path != c.where(path) {
			t.Errorf("the file is %q (%v), want %q", target.Path, err, c.where(path))
		}
	} else if err == nil {
		t.Errorf("the file is %q, want none", target.Path)
	}
	project := c.where("~/src/site")
	c.mkdir(project)
	for scope, rel := range map[string]string{hostconf.Project: f.project, hostconf.Local: f.local} {
		spec := spec
		spec.Scope, spec.Project = scope, project
		if !h.In(scope) {
			if rel != "-" && rel != "" {
				t.Errorf("there is no scope %s", scope)
			}
			continue
		}
		want := c.where("~/src/site/" + rel)
		if strings.HasPrefix(rel, "~") {
			want = c.where(rel)
		}
		if !h.On(c.sys.OS) {
			continue
		}
		if target, err := c.conf.Target(h, spec); err != nil || target.Path != want {
			t.Errorf("the file of scope %s is %q (%v), want %q", scope, target.Path, err, want)
		}
	}
	f.checkShape(t, c, h, f.stdio, spec)
	web := spec
	web.Command, web.Args, web.URL = "", nil, "http://127.0.0.1:7333/mcp"
	if f.http == "-" {
		_, _, err := c.conf.Snippet(h, web)
		wantCode(t, err, hostconf.NotSupported)
	} else {
		f.checkShape(t, c, h, strings.ReplaceAll(f.http, `,"headers":H`, ""), web)
	}
	links, err := c.conf.Links(h, spec)
	if err != nil || len(links) != f.links {
		t.Errorf("there are %d links (%v), want %d", len(links), err, f.links)
	}
}

// checkShape reads the snippet, which is the entry as it would be written.
func (f fact) checkShape(t *testing.T, c *computer, h hostconf.Host, want string, spec hostconf.Spec) {
	t.Helper()
	body, _, err := c.conf.Snippet(h, spec)
	if err != nil {
		t.Fatal(err)
	}
	got := entryOf(t, h, body, "arenero")
	quote := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	want = strings.NewReplacer(
		":CA", ":"+quote(append([]string{spec.Command}, spec.Args...)), ":C", ":"+quote(spec.Command), ":A", ":"+quote(spec.Args), ":N", `:"arenero"`,
		":U", ":"+quote(spec.URL), `,"http_headers":H`, "",
	).Replace(want)
	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("the entry is %v\nwant %v\nin\n%s", got, wanted, body)
	}
}
