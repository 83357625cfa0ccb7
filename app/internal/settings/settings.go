// Package settings keeps what the user has chosen, and which entries of ours
// the hosts have: one small file, without secrets, that several programs may
// read and change at once.
package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/filelock"
	"github.com/arenero/arenero/app/internal/paths"
)

// Settings are all that is kept. What a newer version has put there besides is
// kept as well, and shows nowhere.
type Settings struct {
	Language       string       // "en" or "es"; "" is that of the system
	Theme          string       // "light" or "dark"; "" is that of the system
	Notices        Notices      // which a desktop shows
	GuideDone      bool         // the first steps were shown to their end, or left
	Window         string       // how large the windows were last: "960x640"
	HTTP           HTTP         // whether the tools are served over HTTP too
	Paused         bool         // requests for new sandboxes are refused
	DefaultProfile string       // of new connections; "" is "local"
	Keychain       string       // where secrets are: "vault"; "" is the keychain of the system
	Profiles       []Profile    // of AWS, in the order in which they were made
	Connections    []Connection // in the order in which they were made
	Former         []Connection // those that were dropped last, newest first: an undo may bring their entries back
	rest           []field
}

// A Connection is one entry of ours in a host's file.
type Connection struct {
	ID       string    // is all that the entry says of it
	Host     string    // of the table of hosts
	Scope    string    // which of the host's files
	Project  string    // folder that it is for; "" is all
	File     string    // where the entry is
	Name     string    // of the entry
	Profile  string    // where its sandboxes run
	Toolsets []string  // nil is the usual ones
	HTTP     string    // address that the entry has in place of a command; "" is none
	ByHost   bool      // the host's own command line wrote the entry, not we
	Created  time.Time // when it was made
	rest     []field
}

// Find returns the connection with an id.
func (s *Settings) Find(id string) (Connection, bool) {
	i := slices.IndexFunc(s.Connections, func(c Connection) bool { return c.ID == id })
	if i < 0 {
		return Connection{}, false
	}
	return s.Connections[i], true
}

// Put adds a connection, or replaces the one with its id.
func (s *Settings) Put(c Connection) {
	same := func(o Connection) bool { return o.ID == c.ID }
	s.Former = slices.DeleteFunc(s.Former, same)
	i := slices.IndexFunc(s.Connections, same)
	if i < 0 {
		s.Connections = append(s.Connections, c)
		return
	}
	c.rest = s.Connections[i].rest
	s.Connections[i] = c
}

// maxFormer is how many dropped connections are still known.
const maxFormer = 50

// Drop takes out the connection with an id, which is a former one from then on.
func (s *Settings) Drop(id string) {
	c, ok := s.Find(id)
	if !ok {
		return
	}
	s.Former = slices.Insert(slices.DeleteFunc(s.Former, func(o Connection) bool { return o.ID == id }), 0, c)
	s.Former = s.Former[:min(len(s.Former), maxFormer)]
	s.Forget(id)
}

// Forget takes out the connection with an id, as if it had never been.
func (s *Settings) Forget(id string) {
	s.Connections = slices.DeleteFunc(s.Connections, func(c Connection) bool { return c.ID == id })
}

// A File is where settings are kept. Any number of processes may use one.
type File struct{ path string }

// Open returns the settings in a folder. Neither need exist.
func Open(dir string) *File { return &File{filepath.Join(dir, "settings.json")} }

// Path is where the file is, for people.
func (f *File) Path() string { return f.path }

// Read returns the settings as they are now: none where there is no file.
func (f *File) Read() (Settings, error) {
	s, _, err := f.read()
	return s, err
}

// Change reads the settings, has edit change them, and writes them, with nobody
// else's change in between. It waits for its turn as long as ctx lasts. Nothing
// is written if edit fails or changes nothing.
func (f *File) Change(ctx context.Context, edit func(*Settings) error) error {
	if err := paths.Private(filepath.Dir(f.path)); err != nil {
		return err
	}
	lock, err := filelock.Wait(ctx, f.path+".lock")
	if err != nil {
		return fmt.Errorf("change settings: %w", err)
	}
	defer lock.Close()
	s, before, err := f.read()
	if err != nil {
		return err
	}
	if err := edit(&s); err != nil {
		return err
	}
	after, err := s.encode()
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if bytes.Equal(before, after) {
		return nil
	}
	// A write that was killed may have left its file, and nobody else writes now.
	// One that can't be removed is in nobody's way.
	_ = f.sweep()
	return atomicfile.WriteSync(f.path, after, 0o600)
}

// Recover removes what a write that was killed left beside the file, unless
// somebody writes it just now.
func (f *File) Recover() error {
	if _, err := os.Stat(filepath.Dir(f.path)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := filelock.Try(f.path + ".lock")
	if errors.Is(err, filelock.ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	return f.sweep()
}

// sweep removes what writes that were killed left, for whoever has the lock.
func (f *File) sweep() error {
	file, err := atomicfile.Target(f.path)
	if err != nil {
		return nil // whoever writes it says so
	}
	return atomicfile.Sweep(filepath.Dir(file), func(name string) bool { return name == filepath.Base(file) })
}

// read returns the settings, and the file as it is.
func (f *File) read() (Settings, []byte, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil, nil
	}
	if err != nil {
		return Settings{}, nil, fmt.Errorf("read settings: %w", err)
	}
	var s Settings
	if err := s.decode(text); err != nil {
		return Settings{}, nil, fmt.Errorf("read settings: %s is damaged: %w; mend it, or move it away to start afresh", f.path, err)
	}
	return s, text, nil
}

func (s *Settings) decode(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	all, err := fieldsOf(text)
	if err != nil {
		return err
	}
	var profiles, connections, former []json.RawMessage
	var notices, web json.RawMessage
	s.rest, err = take(all, map[string]any{
		"language": &s.Language, "theme": &s.Theme, "notices": &notices, "guide_done": &s.GuideDone, "window": &s.Window, "http": &web, "paused": &s.Paused, "default_profile": &s.DefaultProfile, "keychain": &s.Keychain, "profiles": &profiles, "connections": &connections,
		"former_connections": &former,
	})
	if err != nil {
		return err
	}
	if err := s.Notices.decode(notices); err != nil {
		return fmt.Errorf("notices: %w", err)
	}
	if err := s.HTTP.decode(web); err != nil {
		return fmt.Errorf("http: %w", err)
	}
	for _, raw := range profiles {
		var p Profile
		if err := p.decode(raw); err != nil {
			return fmt.Errorf("profiles: %w", err)
		}
		s.Profiles = append(s.Profiles, p)
	}
	if s.Connections, err = decodeAll(connections); err != nil {
		return fmt.Errorf("connections: %w", err)
	}
	if s.Former, err = decodeAll(former); err != nil {
		return fmt.Errorf("former_connections: %w", err)
	}
	return nil
}

func decodeAll(raw []json.RawMessage) ([]Connection, error) {
	var out []Connection
	for _, r := range raw {
		var c Connection
		if err := c.decode(r); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (c *Connection) decode(raw json.RawMessage) error {
	all, err := fieldsOf(raw)
	if err != nil {
		return err
	}
	c.rest, err = take(all, map[string]any{
		"id": &c.ID, "host": &c.Host, "scope": &c.Scope, "project": &c.Project, "file": &c.File, "name": &c.Name, "profile": &c.Profile,
		"toolsets": &c.Toolsets, "http": &c.HTTP, "by_host": &c.ByHost, "created": &c.Created,
	})
	return err
}

func (s *Settings) encode() ([]byte, error) {
	var profiles []json.RawMessage
	for _, p := range s.Profiles {
		raw, err := p.encode()
		if err != nil {
			return nil, err
		}
		profiles = append(profiles, raw)
	}
	connections, err := encodeAll(s.Connections)
	if err != nil {
		return nil, err
	}
	former, err := encodeAll(s.Former)
	if err != nil {
		return nil, err
	}
	notices, err := s.Notices.encode()
	if err != nil {
		return nil, err
	}
	web, err := s.HTTP.encode()
	if err != nil {
		return nil, err
	}
	compact, err := object([]entry{
		{"language", s.Language, s.Language == ""},
		{"theme", s.Theme, s.Theme == ""},
		{"notices", notices, string(notices) == "{}"},
		{"guide_done", s.GuideDone, !s.GuideDone},
		{"window", s.Window, s.Window == ""},
		{"http", web, string(web) == "{}"},
		{"paused", s.Paused, !s.Paused},
		{"default_profile", s.DefaultProfile, s.DefaultProfile == ""},
		{"keychain", s.Keychain, s.Keychain == ""},
		{"profiles", profiles, len(profiles) == 0},
		{"connections", connections, len(connections) == 0},
		{"former_connections", former, len(former) == 0},
	}, s.rest)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, compact, "", "  "); err != nil {
		return nil, err
	}
	text.WriteByte('\n')
	return text.Bytes(), nil
}

func encodeAll(all []Connection) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, c := range all {
		raw, err := c.encode()
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

func (c *Connection) encode() (json.RawMessage, error) {
	return object([]entry{
		{"id", c.ID, false},
		{"host", c.Host, false},
		{"scope", c.Scope, c.Scope == ""},
		{"project", c.Project, c.Project == ""},
		{"file", c.File, c.File == ""},
		{"name", c.Name, false},
		{"profile", c.Profile, c.Profile == ""},
		{"toolsets", c.Toolsets, len(c.Toolsets) == 0},
		{"http", c.HTTP, c.HTTP == ""},
		{"by_host", c.ByHost, !c.ByHost},
		{"created", c.Created, c.Created.IsZero()},
	}, c.rest)
}
