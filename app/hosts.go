package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// A HostsConfig says what [Hosts] work with. Only Version has no default.
type HostsConfig struct {
	Version string
	Bridge  string          // path of arenero-bridge; default beside this program
	System  hostconf.System // default this computer
	Clock   clockwork.Clock
}

// Hosts are the programs of this computer that start MCP servers, with our
// entries in their files. They need no engine.
type Hosts struct {
	cfg      HostsConfig
	conf     *hostconf.Conf
	settings *settings.File
}

// OpenHosts opens what we know of the hosts and of our entries, and finishes
// what a crash left half done.
func OpenHosts(ctx context.Context, cfg HostsConfig) (*Hosts, error) {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	var err error
	if cfg.Bridge == "" {
		if cfg.Bridge, err = control.Beside("arenero-bridge"); err != nil {
			return nil, err
		}
	}
	if cfg.System.OS == "" {
		if cfg.System, err = hostconf.ThisSystem(); err != nil {
			return nil, err
		}
	}
	dirs, err := paths.Find()
	if err != nil {
		return nil, err
	}
	conf, err := hostconf.Open(hostconf.Options{Dir: filepath.Join(dirs.State, "hosts"), System: cfg.System})
	if err != nil {
		return nil, err
	}
	h := &Hosts{cfg: cfg, conf: conf, settings: settings.Open(dirs.Config)}
	return h, errors.Join(conf.Recover(ctx), h.settings.Recover())
}

// Language is the one that the user has chosen, "" if none.
func (h *Hosts) Language() string {
	s, err := h.settings.Read()
	if err != nil {
		return "" // whatever needs the settings says so
	}
	return s.Language
}

// All are the hosts that run on this system.
func (h *Hosts) All() []hostconf.Host {
	return slices.DeleteFunc(hostconf.Hosts(), func(o hostconf.Host) bool { return !o.On(h.cfg.System.OS) })
}

// A HostEntry says what entry of ours a host is to have. What is left out of
// one that exists stays as it is; but an entry without HTTP is a command.
type HostEntry struct {
	Scope    string // "" is the host's usual one
	Project  string // folder, for scopes that need one
	Name     string // "" is "arenero"
	Profile  string // where its sandboxes run: "local", "environment" or a profile of the owner's
	Toolsets []string
	HTTP     string // the entry has this address in place of a command
	Force    bool   // even if the host seems not to be installed, or the name is somebody else's
	ID       string // of a new connection, as a preview had it; "" is a new one
	KeepHTTP bool   // one that has an address keeps it where HTTP is left out
}

// A HostChange is what was done to a host, or would be.
type HostChange struct {
	hostconf.Change
	Connection settings.Connection
	Profile    bool     // where its sandboxes run is new, though the entry may not be
	Argv       []string // the host's own command line, which did it in our place
}

// Install gives the host an entry, or brings the one that it has up to date.
// With dry it only tells what it would do.
func (h *Hosts) Install(ctx context.Context, host hostconf.Host, want HostEntry, dry bool) (HostChange, error) {
	conn, old, spec, err := h.plan(ctx, host, want)
	if err != nil {
		return HostChange{}, err
	}
	out := HostChange{Connection: conn, Profile: old.ID != "" && old.Profile != conn.Profile}
	if dry {
		out.Change, err = h.conf.Install(ctx, host, spec, true)
		if h.byHost(host, spec, err) {
			out.Argv, err = h.addArgv(spec), nil
			out.Change = hostconf.Change{Target: hostconf.Target{Host: host, Scope: conn.Scope, Path: conn.File}, Action: hostconf.Insert, Dry: true}
		}
		return out, err
	}
	if err := h.conf.Ready(ctx, host, spec); err != nil {
		return out, err
	}
	// The engine must know the connection before the host can start it.
	if err := h.settings.Change(ctx, func(s *settings.Settings) error { s.Put(conn); return nil }); err != nil {
		return out, err
	}
	out.Change, err = h.conf.Install(ctx, host, spec, false)
	if h.byHost(host, spec, err) {
		out.Argv = h.addArgv(spec)
		out.Change = hostconf.Change{Target: hostconf.Target{Host: host, Scope: conn.Scope, Path: conn.File}, Action: hostconf.Insert}
		out.Connection.ByHost = true
		if err = h.add(ctx, spec); err == nil {
			err = h.conf.Confirm(ctx, host, spec)
		}
	}
	return out, errors.Join(err, h.keep(ctx, out.Connection, old, err == nil))
}

// keep has the settings say what came of an installation: the new connection
// alone, or the old one alone.
func (h *Hosts) keep(ctx context.Context, conn, old settings.Connection, done bool) error {
	return h.settings.Change(context.WithoutCancel(ctx), func(s *settings.Settings) error {
		switch {
		case !done:
			if conn.ID != old.ID {
				s.Forget(conn.ID)
			} else {
				s.Put(old)
			}
		default:
			s.Put(conn)
			for _, c := range slices.Clone(s.Connections) { // an installation that was killed leaves one more
				if c.ID == old.ID && c.ID != conn.ID || c.ID != conn.ID && samePlace(c, conn) {
					s.Drop(c.ID)
				}
			}
		}
		return nil
	})
}

// plan decides on the connection of an entry, and on the entry. old is the
// connection that it has now, if any.
func (h *Hosts) plan(ctx context.Context, host hostconf.Host, want HostEntry) (conn, old settings.Connection, spec hostconf.Spec, err error) {
	if err := h.check(want); err != nil {
		return conn, old, spec, err
	}
	spec = hostconf.Spec{Name: want.Name, Scope: want.Scope, Project: want.Project, Force: want.Force, Command: h.cfg.Bridge, URL: want.HTTP}
	target, err := h.conf.Target(host, spec)
	if err != nil {
		return conn, old, spec, err
	}
	kept, err := h.settings.Read()
	if err != nil {
		return conn, old, spec, err
	}
	conn = settings.Connection{
		Host: host.ID, Scope: target.Scope, Project: projectOf(target, want), File: target.Path, Name: target.Place.Name, HTTP: want.HTTP,
		Profile: cmp.Or(want.Profile, kept.DefaultProfile, sandbox.ProfileLocal), Toolsets: usual(want.Toolsets), Created: h.cfg.Clock.Now().UTC().Truncate(time.Second),
	}
	if old, err = h.existing(ctx, target, kept, conn); err != nil {
		return conn, old, spec, err
	}
	if old.ID != "" {
		conn.Profile = cmp.Or(want.Profile, old.Profile, conn.Profile)
		conn.ByHost = old.ByHost
		if want.Toolsets == nil {
			conn.Toolsets = old.Toolsets
		}
		if want.HTTP == "" && want.KeepHTTP {
			conn.HTTP, spec.URL = old.HTTP, old.HTTP
		}
		if slices.Equal(conn.Toolsets, old.Toolsets) {
			conn.ID, conn.Created = old.ID, old.Created
		}
	}
	if conn.ID == "" {
		conn.ID = cmp.Or(want.ID, sandbox.NewConnectionID(conn.Toolsets))
	}
	spec.Connection = conn.ID
	if spec.URL == "" {
		spec.Args = []string{"--connection", conn.ID}
	}
	return conn, old, spec, nil
}

// existing finds the connection of the entry that conn is to replace: among
// those that the settings know, or, where they were lost, in the journal.
func (h *Hosts) existing(ctx context.Context, target hostconf.Target, kept settings.Settings, conn settings.Connection) (settings.Connection, error) {
	for _, c := range kept.Connections {
		if samePlace(c, conn) {
			return c, nil
		}
	}
	id, err := h.conf.Owner(ctx, target)
	if err != nil || id == "" {
		return settings.Connection{}, err
	}
	conn.ID, conn.Toolsets = id, sandbox.ConnectionToolsets(id)
	return conn, nil
}

// projectOf is the folder that an entry is for. The file of some scopes is in
// it, so that it need not be told.
func projectOf(t hostconf.Target, want HostEntry) string {
	if t.Scope == hostconf.Project || t.Scope == hostconf.Local {
		return want.Project
	}
	return ""
}

// usual is toolsets in their order, nil if they are all there are.
func usual(toolsets []string) []string {
	return sandbox.ConnectionToolsets(sandbox.NewConnectionID(toolsets))
}

// check refuses what no host could use.
func (h *Hosts) check(want HostEntry) error {
	invalid := func(key string, args ...string) error {
		return &hostconf.Error{Code: hostconf.BadSpec, Text: hostconf.Text{Key: key, Args: args}}
	}
	for _, t := range want.Toolsets {
		if !slices.Contains(sandbox.Toolsets(), t) {
			return invalid("verb.hosts.toolset", "toolset", t)
		}
	}
	switch want.Profile {
	case "", sandbox.ProfileLocal, ProfileEnvironment:
	default:
		known, err := h.settings.Read()
		if err != nil {
			return err
		}
		if _, ok := known.Profile(want.Profile); !ok {
			return invalid("verb.hosts.profile", "profile", want.Profile, "have", strings.Join(append([]string{sandbox.ProfileLocal}, profileNames(known)...), ", "))
		}
	}
	if want.HTTP == "" && h.cfg.System.OS == runtime.GOOS {
		if _, err := os.Stat(h.cfg.Bridge); err != nil {
			return invalid("verb.hosts.no-bridge", "program", h.cfg.Bridge)
		}
	}
	return nil
}

// Remove takes our entries out of every file of the host: of want, what is not
// empty says which.
func (h *Hosts) Remove(ctx context.Context, host hostconf.Host, want HostEntry, dry bool) ([]HostChange, error) {
	kept, err := h.settings.Read()
	if err != nil {
		return nil, err
	}
	spec := hostconf.Spec{Name: want.Name, Scope: want.Scope, Project: want.Project, Force: want.Force}
	var out []HostChange
	var gone []string // ids of connections
	var lost []error
	changes, err := h.conf.Remove(ctx, host, spec, dry)
	for _, c := range changes {
		change := HostChange{Change: c}
		for _, conn := range kept.Connections {
			if conn.Host == host.ID && conn.File == c.Path && conn.Name == c.Place.Name && (conn.Scope != hostconf.Local || slices.Contains(c.Place.Keys, conn.Project)) {
				change.Connection = conn
				gone = append(gone, conn.ID)
			}
		}
		out = append(out, change)
	}
	for _, conn := range kept.Connections {
		if conn.Host != host.ID || slices.Contains(gone, conn.ID) || !selects(want, conn) {
			continue
		}
		if conn.ByHost {
			change := HostChange{Connection: conn, Argv: h.removeArgv(conn)}
			change.Change = hostconf.Change{Target: hostconf.Target{Host: host, Scope: conn.Scope, Path: conn.File}, Action: hostconf.Delete, Dry: dry}
			if !dry {
				if failed := h.runHost(ctx, conn.Project, change.Argv); failed != nil {
					return out, failed
				}
			}
			out = append(out, change)
		} else if e, ok := errors.AsType[*hostconf.Error](err); err != nil && !(ok && e.Code == hostconf.NothingThere) {
			continue // it may be there yet
		} else if conn.Scope != bundleScope {
			change, failed := h.removeLost(ctx, host, conn, dry)
			if failed != nil {
				lost = append(lost, failed)
				continue
			}
			out = append(out, change)
		}
		gone = append(gone, conn.ID)
	}
	if e, ok := errors.AsType[*hostconf.Error](err); ok && e.Code == hostconf.NothingThere && len(out) > 0 {
		err = nil
	}
	if len(lost) > 0 {
		err = errors.Join(append(lost, err)...)
	}
	if dry || len(gone) == 0 {
		return out, err
	}
	return out, errors.Join(err, h.settings.Change(context.WithoutCancel(ctx), func(s *settings.Settings) error {
		for _, id := range gone {
			s.Drop(id)
		}
		return nil
	}))
}

// selects reports whether a connection is one that want names.
func selects(want HostEntry, c settings.Connection) bool {
	return (want.Name == "" || want.Name == c.Name) && (want.Scope == "" || want.Scope == c.Scope) && (want.Project == "" || want.Project == c.Project)
}

// RemoveBOM takes the byte order mark off the file that want is in.
func (h *Hosts) RemoveBOM(ctx context.Context, host hostconf.Host, want HostEntry, dry bool) (HostChange, error) {
	change, err := h.conf.RemoveBOM(ctx, host, hostconf.Spec{Name: want.Name, Scope: want.Scope, Project: want.Project}, dry)
	return HostChange{Change: change}, err
}

// Undo takes back our last change of the file that want is in.
func (h *Hosts) Undo(ctx context.Context, host hostconf.Host, want HostEntry, dry bool) (HostChange, error) {
	change, err := h.conf.Undo(ctx, host, hostconf.Spec{Name: want.Name, Scope: want.Scope, Project: want.Project}, dry)
	if err != nil || dry {
		return HostChange{Change: change}, err
	}
	return HostChange{Change: change}, h.adopt(ctx, host, want.Project, change)
}

// adopt has the settings know the connections that an undo brought back, and
// forget those that it took.
func (h *Hosts) adopt(ctx context.Context, host hostconf.Host, project string, c hostconf.Change) error {
	status, err := h.conf.Status(ctx, host, project)
	if err != nil {
		return err
	}
	return h.settings.Change(ctx, func(s *settings.Settings) error {
		there := map[string]bool{}
		for _, e := range status.Entries {
			if e.Connection == "" || e.State == hostconf.Gone {
				continue
			}
			there[e.Connection] = true
			if _, known := s.Find(e.Connection); !known && e.Path == c.Path {
				if i := slices.IndexFunc(s.Former, func(c settings.Connection) bool { return c.ID == e.Connection }); i >= 0 {
					s.Put(s.Former[i])
					continue
				}
				s.Put(settings.Connection{
					ID: e.Connection, Host: host.ID, Scope: e.Scope, Project: projectOf(c.Target, HostEntry{Project: project}), File: e.Path, Name: e.Name,
					Profile: cmp.Or(s.DefaultProfile, sandbox.ProfileLocal), Toolsets: sandbox.ConnectionToolsets(e.Connection), Created: e.Written.UTC().Truncate(time.Second),
				})
			}
		}
		for _, conn := range slices.Clone(s.Connections) {
			if conn.Host == host.ID && conn.File == c.Path && !conn.ByHost && !there[conn.ID] {
				s.Drop(conn.ID)
			}
		}
		return nil
	})
}

// A HostStatus is what was found of one host.
type HostStatus struct {
	hostconf.Status
	Connections []settings.Connection // that the settings know
}

// Status looks for a host and our entries. It writes nothing. project is a
// folder to look into too, or empty.
func (h *Hosts) Status(ctx context.Context, host hostconf.Host, project string) (HostStatus, error) {
	kept, err := h.settings.Read()
	if err != nil {
		return HostStatus{}, err
	}
	status, err := h.conf.Status(ctx, host, project)
	out := HostStatus{Status: status}
	for _, c := range kept.Connections {
		if c.Host == host.ID {
			out.Connections = append(out.Connections, c)
			claim(out.Entries, c)
		}
	}
	return out, err
}
