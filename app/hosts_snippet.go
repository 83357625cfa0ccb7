package app

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// A Snippet is an entry for a person to put where it belongs.
type Snippet struct {
	Text     string
	Language string // "json", "jsonc", "toml", "yaml"
	File     string // where it goes; "" if that is not known
	Links    []hostconf.Link
}

// Snippet returns the entry that an installation would write, and other ways to
// it. Nothing is written.
func (h *Hosts) Snippet(ctx context.Context, host hostconf.Host, want HostEntry) (Snippet, error) {
	if err := h.check(want); err != nil {
		return Snippet{}, err
	}
	var out Snippet
	spec := hostconf.Spec{Name: want.Name, Scope: want.Scope, Project: want.Project, Command: h.cfg.Bridge, URL: want.HTTP}
	if conn, _, planned, err := h.plan(ctx, host, want); err == nil {
		out.File, spec = conn.File, planned
	} else if spec.URL == "" { // a host whose files are not ours, or not on this system
		spec.Args = []string{"--connection", sandbox.NewConnectionID(usual(want.Toolsets))}
	}
	var err error
	if out.Text, out.Language, err = h.conf.Snippet(host, spec); err != nil {
		return out, err
	}
	out.Links, err = h.conf.Links(host, spec)
	return out, err
}

// Inspector is the command line by which the MCP inspector starts our server,
// for whoever looks at it by hand: what the server is told is in front of it.
func (h *Hosts) Inspector(want HostEntry) ([]string, error) {
	if err := h.check(want); err != nil {
		return nil, err
	}
	argv := []string{"npx", "@modelcontextprotocol/inspector"}
	if want.HTTP != "" {
		return append(argv, "--transport", "http", "--server-url", want.HTTP), nil
	}
	for _, v := range []struct{ name, value string }{
		{paths.Home, os.Getenv(paths.Home)},
		{"ARENERO_PROFILE", strings.TrimPrefix(want.Profile, ProfileEnvironment)},
		{"ARENERO_TOOLSETS", strings.Join(want.Toolsets, ",")},
	} {
		if v.value != "" {
			argv = append(argv, "-e", v.name+"="+v.value)
		}
	}
	return append(argv, h.cfg.Bridge), nil
}

// The manifest of a bundle, in the oldest version of the format that still has
// all we need.
type (
	manifest struct {
		Version     string         `json:"manifest_version"`
		Name        string         `json:"name"`
		DisplayName string         `json:"display_name"`
		Release     string         `json:"version"`
		Description string         `json:"description"`
		Author      manifestAuthor `json:"author"`
		Server      manifestServer `json:"server"`
		Generated   bool           `json:"tools_generated"`
		License     string         `json:"license"`
		Fits        manifestFits   `json:"compatibility"`
	}
	manifestAuthor struct {
		Name string `json:"name"`
	}
	manifestServer struct {
		Type   string         `json:"type"`
		Entry  string         `json:"entry_point"`
		Config manifestConfig `json:"mcp_config"`
	}
	manifestConfig struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	manifestFits struct {
		Platforms []string `json:"platforms"`
	}
)

// platforms are what bundles call the systems.
var platforms = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}

// Bundle writes a bundle (.mcpb) of our entry for Claude Desktop, which the user
// opens with it. The app then keeps the entry in a place of its own. A bundle is
// for this computer: it starts the program that is installed here.
func (h *Hosts) Bundle(ctx context.Context, path string, want HostEntry) (settings.Connection, error) {
	if err := h.check(want); err != nil {
		return settings.Connection{}, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return settings.Connection{}, err
	}
	if old, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) && !bytes.HasPrefix(old, []byte("PK")) {
		return settings.Connection{}, &hostconf.Error{Code: hostconf.BadSpec, Path: path, Text: hostconf.Text{Key: "verb.hosts.no-bundle", Args: []string{"file", path}}}
	}
	kept, err := h.settings.Read()
	if err != nil {
		return settings.Connection{}, err
	}
	conn := settings.Connection{
		Host: "claude-desktop", Scope: bundleScope, File: path, Name: nameOf(want.Name), Toolsets: usual(want.Toolsets),
		Profile: cmp.Or(want.Profile, kept.DefaultProfile, sandbox.ProfileLocal), Created: h.cfg.Clock.Now().UTC().Truncate(time.Second),
	}
	for _, c := range kept.Connections { // the same bundle once more is the same connection
		if c.Host == conn.Host && c.Scope == conn.Scope && c.Name == conn.Name && slices.Equal(c.Toolsets, conn.Toolsets) {
			conn.ID, conn.Created = c.ID, c.Created
		}
	}
	if conn.ID == "" {
		conn.ID = sandbox.NewConnectionID(conn.Toolsets)
	}
	text, err := h.bundle(conn)
	if err != nil {
		return conn, err
	}
	if err := h.settings.Change(ctx, func(s *settings.Settings) error { s.Put(conn); return nil }); err != nil {
		return conn, err
	}
	return conn, atomicfile.Write(path, text, 0o644)
}

// bundle is the zip file. The same connection gives the same bytes.
func (h *Hosts) bundle(conn settings.Connection) ([]byte, error) {
	// The format wants a file of the bundle to be the server. Ours stays where
	// it is installed, so this one leads there, and the app need not start it.
	entry, script := "server/arenero-bridge", "#!/bin/sh\nexec '"+strings.ReplaceAll(h.cfg.Bridge, "'", `'\''`)+"' \"$@\"\n"
	if h.cfg.System.OS == "windows" {
		entry, script = entry+".cmd", "@\""+h.cfg.Bridge+"\" %*\r\n"
	}
	m := manifest{
		Version: "0.2", Name: conn.Name, DisplayName: "Arenero", Release: release(h.cfg.Version),
		Description: "Sandboxes of this computer to run code in", Author: manifestAuthor{"Arenero"},
		Server: manifestServer{"binary", entry, manifestConfig{h.cfg.Bridge, []string{"--connection", conn.ID}}},
		Fits:   manifestFits{[]string{platforms[h.cfg.System.OS]}}, Generated: true, License: "Apache-2.0",
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range []struct {
		name, text string
		mode       os.FileMode
	}{{"manifest.json", text.String(), 0o644}, {entry, script, 0o755}} {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		header.SetMode(f.mode)
		w, err := z.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

var semantic = regexp.MustCompile(`\d+\.\d+\.\d+`)

// release is the version as the format has it: three numbers.
func release(version string) string { return cmp.Or(semantic.FindString(version), "0.0.0") }
