package hostconf_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

func (c *computer) links(id string, edit ...func(*hostconf.Spec)) []hostconf.Link {
	c.t.Helper()
	spec := c.spec()
	for _, e := range edit {
		e(&spec)
	}
	links, err := c.conf.Links(host(c.t, id), spec)
	if err != nil {
		c.t.Fatal(err)
	}
	return links
}

// addressed has our server by its address.
func addressed(s *hostconf.Spec) {
	s.URL, s.Command, s.Args = "http://127.0.0.1:7333/mcp", "", nil
}

func TestCommandLines(t *testing.T) {
	tests := []struct {
		id, goos string
		edit     func(*hostconf.Spec)
		want     string
	}{
		{"claude-code", "linux", nil, `claude mcp add --scope user --transport stdio arenero -- /opt/arenero/arenero-bridge --connection c_abcdefghijkl`},
		{"claude-code", "windows", nil, `claude mcp add --scope user --transport stdio arenero -- "C:\Program Files\Arenero\arenero-bridge.exe" --connection c_abcdefghijkl`},
		{"claude-code", "linux", addressed, `claude mcp add --scope user --transport http arenero http://127.0.0.1:7333/mcp`},
		{"claude-code", "linux", func(s *hostconf.Spec) { s.Scope, s.Name = "project", "box" }, `claude mcp add --scope project --transport stdio box -- /opt/arenero/arenero-bridge --connection c_abcdefghijkl`},
		{"gemini-cli", "linux", nil, `gemini mcp add -s user arenero /opt/arenero/arenero-bridge --connection c_abcdefghijkl`},
		{"vscode", "linux", nil, `code --add-mcp '{"name":"arenero","type":"stdio","command":"/opt/arenero/arenero-bridge","args":["--connection","c_abcdefghijkl"]}'`},
		{"vscode-insiders", "darwin", addressed, `code-insiders --add-mcp '{"name":"arenero","type":"http","url":"http://127.0.0.1:7333/mcp"}'`},
		{"vscode", "linux", func(s *hostconf.Spec) { s.Command = "/opt/it's here/arenero-bridge" }, `code --add-mcp '{"name":"arenero","type":"stdio","command":"/opt/it'\''s here/arenero-bridge","args":["--connection","c_abcdefghijkl"]}'`},
	}
	for _, tt := range tests {
		c := play(t, tt.goos)
		var got []string
		for _, l := range c.links(tt.id, slices.DeleteFunc([]func(*hostconf.Spec){tt.edit}, func(f func(*hostconf.Spec)) bool { return f == nil })...) {
			if l.Kind == hostconf.ToRun {
				got = append(got, l.Text)
				if len(l.Argv) < 3 || l.Argv[0] != strings.Fields(l.Text)[0] {
					t.Errorf("the arguments are %q", l.Argv)
				}
			}
		}
		if !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s on %s:\n%q, want\n%q", tt.id, tt.goos, got, tt.want)
		}
	}
}

func TestDeepLinks(t *testing.T) {
	const (
		body = `{"command":"/opt/my tools/arenero-bridge","args":["--connection","c_abcdefghijkl"]}`
		typd = `{"name":"arenero","type":"stdio","command":"/opt/my tools/arenero-bridge","args":["--connection","c_abcdefghijkl"]}`
	)
	b64 := url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(body)))
	enc := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	tests := []struct{ id, goos, want string }{
		{"cursor", "linux", "cursor://anysphere.cursor-deeplink/mcp/install?name=arenero&config=" + b64},
		{"vscode", "linux", "vscode:mcp/install?" + enc(typd)},
		{"vscode-insiders", "linux", "vscode-insiders:mcp/install?" + enc(typd)},
		{"visual-studio", "windows", "vsweb+mcp:/install?" + enc(typd)},
		{"lm-studio", "linux", "lmstudio://add_mcp?name=arenero&config=" + b64},
		{"kiro", "linux", "kiro://kiro.mcp/add?name=arenero&config=" + enc(strings.TrimSuffix(body, "}")+`,"disabled":false}`)},
		{"goose", "linux", "goose://extension?cmd=%2Fopt%2Fmy%20tools%2Farenero-bridge&arg=--connection&arg=c_abcdefghijkl&id=arenero&name=arenero"},
	}
	for _, tt := range tests {
		c := play(t, tt.goos)
		i := 0
		for _, l := range c.links(tt.id, func(s *hostconf.Spec) {
			s.Command = "/opt/my tools/arenero-bridge"
			if tt.goos == "windows" {
				s.Command = `C:\my tools\arenero-bridge.exe`
			}
		}) {
			if l.Kind != hostconf.ToOpen {
				continue
			}
			i++
			want := tt.want
			if tt.goos == "windows" {
				want = strings.Replace(want, enc("/opt/my tools/arenero-bridge"), enc(`C:\\my tools\\arenero-bridge.exe`), 1)
			}
			wantSame(t, tt.id, l.Text, want)
			if u, err := url.Parse(l.Text); err != nil || u.Scheme == "" {
				t.Errorf("%s is no address: %v", l.Text, err)
			}
		}
		if i != 1 {
			t.Errorf("%s has %d links", tt.id, i)
		}
	}
}

// TestNoSecretInLinks: a header is for a file that only its owner reads, and
// only because the user wants it there.
func TestNoSecretInLinks(t *testing.T) {
	c := play(t, "linux")
	secret := func(s *hostconf.Spec) {
		addressed(s)
		s.Headers = edit.Object{{Key: "Authorization", Value: "Bearer s3cret"}}
	}
	for _, h := range hostconf.Hosts() {
		if h.HTTP && h.ID != "continue" {
			if links := c.links(h.ID, secret); len(links) > 0 {
				t.Errorf("%s: %+v", h.ID, links)
			}
		}
	}
	spec := c.spec()
	secret(&spec)
	_, _, err := c.conf.Snippet(host(t, "continue"), spec)
	wantCode(t, err, hostconf.NotSupported)
	ch := c.install("cursor", secret)
	e := entryOf(t, host(t, "cursor"), c.read(ch.Path), "arenero").(map[string]any)
	if raw, err := json.Marshal(e); err != nil || string(raw) != `{"headers":{"Authorization":"Bearer s3cret"},"url":"http://127.0.0.1:7333/mcp"}` {
		t.Errorf("the entry is %s (%v)", raw, err)
	}
}

func TestSnippets(t *testing.T) {
	tests := map[string]struct{ lang, want string }{
		"librechat": {"yaml", "mcpServers:\n  arenero:\n    type: stdio\n    command: /opt/arenero/arenero-bridge\n    args:\n      - --connection\n      - c_abcdefghijkl\n"},
		"other":     {"json", "{\n  \"mcpServers\": {\n    \"arenero\": {\n      \"command\": \"/opt/arenero/arenero-bridge\",\n      \"args\": [\"--connection\", \"c_abcdefghijkl\"]\n    }\n  }\n}\n"},
		"codex":     {"toml", "[mcp_servers.arenero]\ncommand = \"/opt/arenero/arenero-bridge\"\nargs = [\"--connection\", \"c_abcdefghijkl\"]\n"},
		"vscode":    {"jsonc", "{\n  \"servers\": {\n    \"arenero\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/arenero/arenero-bridge\",\n      \"args\": [\"--connection\", \"c_abcdefghijkl\"]\n    }\n  }\n}\n"},
	}
	c := play(t, "linux")
	for id, tt := range tests {
		body, lang, err := c.conf.Snippet(host(t, id), c.spec())
		if err != nil || lang != tt.lang {
			t.Errorf("%s: the language is %s (%v)", id, lang, err)
		}
		wantSame(t, id, body, tt.want)
	}
	for _, id := range []string{"librechat", "other", "visual-studio"} {
		_, err := c.tryInstall(id)
		wantCode(t, err, hostconf.NotSupported)
	}
	if got := c.files(); len(got) > 0 {
		t.Errorf("files: %v", got)
	}
}
