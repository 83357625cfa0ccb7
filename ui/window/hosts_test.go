package window

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// A shelf is an engine on whose computer there are two apps: Cursor, and Claude
// Desktop, which runs, so that its file can't be written.
type shelf struct {
	control.Engine

	mu      sync.Mutex
	hosts   []control.Host
	orders  []control.HostOrder // that were carried out
	planned int
	bound   []control.Binding
	prefs   control.Preferences
	refuse  error // of looking for apps
	noRoom  error // of making sandboxes
	ended   []string
	calls   chan control.CallNews
}

func newShelf() *shelf {
	return &shelf{
		hosts: []control.Host{
			{ID: "cursor", Title: "Cursor", Installed: true, Scopes: []string{"user", "project", "profile"}, Certain: "high", Entries: []control.HostEntry{}},
			{ID: "claude-desktop", Title: "Claude Desktop", Installed: true, Running: true, Scopes: []string{"user"}, Certain: "high", Entries: []control.HostEntry{}},
		},
		calls: make(chan control.CallNews, 8),
	}
}

func (s *shelf) Hello() control.Hello { return control.Hello{Protocol: control.Protocol, Version: "1"} }

func (s *shelf) Hosts(_ context.Context, q control.HostQuery) ([]control.Host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		return nil, s.refuse
	}
	out := slices.Clone(s.hosts)
	for i := range out {
		out[i].Entries = slices.Clone(out[i].Entries)
	}
	if q.All {
		out = append(out, control.Host{ID: "zed", Title: "Zed", Scopes: []string{"user"}, Certain: "high", Entries: []control.HostEntry{}})
	}
	return out, nil
}

func (s *shelf) find(id string) *control.Host {
	i := slices.IndexFunc(s.hosts, func(h control.Host) bool { return h.ID == id })
	return &s.hosts[i]
}

// change is what an order comes to, with mu held.
func (s *shelf) change(o control.HostOrder) (control.HostResult, error) {
	h := s.find(o.Host)
	if h.Running {
		return control.HostResult{}, &sandbox.Error{Code: sandbox.WrongState, Msg: "running", Details: map[string]any{
			"why": "running", control.DetailText: control.Text{Key: "hosts.err.running", Args: []string{"title", h.Title, "path", "/opt/claude"}},
		}}
	}
	if o.Name == "" && o.Scope == "project" && !o.Force {
		return control.HostResult{}, &sandbox.Error{Code: sandbox.Exists, Msg: "taken", Details: map[string]any{
			"why": "name_taken", control.DetailText: control.Text{Key: "hosts.err.name.taken", Args: []string{"path", "/p/.cursor/mcp.json", "name", "arenero"}},
		}}
	}
	c := control.HostChange{File: "/home/ana/.cursor/mcp.json", Scope: "user", Name: "arenero", Connection: "c_new", Backup: "/backups/1"}
	c.Diff = []control.DiffLine{{Kind: "added", Text: `+  "arenero": {"args": ["--connection", "c_new"]}`}}
	switch {
	case o.Action == control.HostRemove:
		c.Action, c.Diff[0] = "delete", control.DiffLine{Kind: "deleted", Text: `-  "arenero": {}`}
	case o.Action == control.HostUndo:
		c.Action = "revert"
	case len(h.Entries) > 0:
		c.Action, c.Diff, c.Connection = control.HostUnchanged, nil, h.Entries[0].Connection
	default:
		c.Action = "insert"
		c.Steps = []control.Text{{Key: "hosts.after.watched-toggle", Args: []string{"title", h.Title}}}
	}
	return control.HostResult{Changes: []control.HostChange{c}}, nil
}

func (s *shelf) PlanHost(_ context.Context, o control.HostOrder) (control.HostResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned++
	return s.change(o)
}

func (s *shelf) ChangeHost(_ context.Context, o control.HostOrder) (control.HostResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.change(o)
	if err != nil {
		return r, err
	}
	s.orders = append(s.orders, o)
	switch h := s.find(o.Host); o.Action {
	case control.HostConnect:
		h.Entries = []control.HostEntry{{
			Name: "arenero", Scope: "user", File: "/home/ana/.cursor/mcp.json", State: control.EntryAsWritten, Connection: "c_new", Profile: o.Profile, Toolsets: o.Toolsets, Undo: true,
		}}
	default:
		h.Entries = []control.HostEntry{}
	}
	return r, nil
}

func (s *shelf) CheckHost(_ context.Context, _ string, emit func(control.Finding) error) error {
	for _, f := range []control.Finding{
		{Name: "entry", Level: "ok", What: control.Text{Key: "verb.doctor.as-written", Args: []string{"file", "/f"}}},
		{Name: "start", Level: "fail", What: control.Text{Key: "verb.doctor.start.missing", Args: []string{"detail", "no such file"}}, Remedy: &control.Text{Key: "verb.doctor.start.remedy", Args: []string{"id", "cursor"}}},
	} {
		if err := emit(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *shelf) OwnProfiles(context.Context, struct{}) (control.OwnProfiles, error) {
	return control.OwnProfiles{Default: "local", Profiles: []control.OwnProfile{{Name: "work"}}}, nil
}

func (s *shelf) Tokens(context.Context, string) ([]control.Token, error) {
	return []control.Token{{Grant: sandbox.Grant{ID: sandbox.GrantOwner}}, {Grant: sandbox.Grant{ID: "g_1", Name: "agent"}}}, nil
}

func (s *shelf) Bind(_ context.Context, b control.Binding) (struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bound = append(s.bound, b)
	return struct{}{}, nil
}

func (s *shelf) EditPreferences(_ context.Context, e control.PreferencesEdit) (control.Preferences, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Language != nil {
		s.prefs.Language = *e.Language
	}
	if e.GuideDone != nil {
		s.prefs.GuideDone = *e.GuideDone
	}
	return s.prefs, nil
}

// with looks at a shelf, or changes it.
func (s *shelf) with(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func openHosts(t *testing.T, language string, s *shelf) (*rig, person, *hosts) {
	t.Helper()
	r := newRig(t, language, s)
	p := newHosts(r.core).(*hosts)
	r.show(p, sandbox.Snapshot{})
	return r, person{t, r}, p
}

// TestHostsConnect connects an app, sees what that changes before it is done,
// and takes it back.
func TestHostsConnect(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) {
			s := newShelf()
			r, p, page := openHosts(t, language, s)
			tx := r.core.env.Texts
			if !p.sees(tx.Get("window.hosts.looking")) {
				t.Error("nothing says that apps are looked for")
			}
			r.until("the apps", func() bool { return page.shown.Looked })
			page.choose("cursor")
			p.press(tx.Get("window.hosts.act.connect"))
			r.until("the plan", func() bool { return p.sees(tx.Get("window.hosts.would.insert", "title", "Cursor")) })
			if len(s.orders) > 0 {
				t.Fatal("it was written before anybody agreed")
			}
			p.choose("work")
			p.tick(ui.ToolsetName(tx, "fleet"))
			r.until("the plan of that", func() bool {
				o, ok := page.form.Planned()
				return ok && o.Profile == "work" && len(o.Toolsets) == 2
			})
			p.press(tx.Get("window.hosts.do.connect"))
			r.until("it is done", func() bool { return p.sees(tx.Get("window.hosts.did.insert", "title", "Cursor")) })
			s.with(func() {
				if o := s.orders[0]; o.ID != "c_new" || o.Profile != "work" || !slices.Equal(o.Toolsets, []string{"core", "jobs"}) {
					t.Errorf("the order was %+v", o)
				}
			})
			step := tx.Get("hosts.after.watched-toggle", "title", "Cursor")
			r.until("the entry", func() bool { return p.sees("/home/ana/.cursor/mcp.json") && p.sees(step) })

			// What is left to do stays until it is dismissed.
			page.tick(time.Now().Add(time.Hour))
			r.until("another look", func() bool { return !page.looking.busy })
			if !p.sees(step) {
				t.Error("the steps went by themselves")
			}
			p.press(tx.Get("window.hosts.dismiss"))
			if p.sees(step) {
				t.Error("the steps stay")
			}

			p.press(tx.Get("window.hosts.act.undo"))
			r.until("what undoing does", func() bool { return p.sees(tx.Get("window.hosts.would.revert")) })
			p.press(tx.Get("window.hosts.do.undo"))
			r.until("it is undone", func() bool {
				return p.sees(tx.Get("window.hosts.did.revert")) && !p.sees(tx.Get("window.hosts.act.remove"))
			})
		})
	}
}

// TestHostsDisconnect takes an entry out. Nothing is done if the user says no,
// by Escape too.
func TestHostsDisconnect(t *testing.T) {
	s := newShelf()
	s.find("cursor").Entries = []control.HostEntry{{Name: "arenero", Scope: "user", File: "/f", State: control.EntryAsWritten, Connection: "c_a", Profile: "local"}}
	r, p, _ := openHosts(t, assets.English, s)
	r.until("the entry", func() bool { return p.sees("Disconnect…") })
	for range 2 {
		p.press("Disconnect…")
		r.until("the plan", func() bool { return p.sees("Cursor will not have our tools any more.") })
		if !view.Escape(r.win.Canvas()) {
			t.Fatal("nothing to escape from")
		}
	}
	p.press("Disconnect…")
	r.until("the plan", func() bool { return p.sees("Cursor will not have our tools any more.") })
	if b, ok := r.win.Canvas().Focused().(*view.Button); !ok || b.Text != "Cancel" {
		t.Errorf("the focus is on %T", r.win.Canvas().Focused())
	}
	p.press("Disconnect")
	r.until("it is done", func() bool { return p.sees("Cursor does not have our tools any more.") })
	s.with(func() {
		if len(s.orders) != 1 || s.orders[0].Action != control.HostRemove || s.orders[0].Scope != "user" || s.orders[0].Name != "arenero" {
			t.Errorf("orders: %+v", s.orders)
		}
	})
}

// TestHostsRunning waits for an app to be quit: its plan comes by itself then.
func TestHostsRunning(t *testing.T) {
	s := newShelf()
	r, p, page := openHosts(t, assets.English, s)
	r.until("the apps", func() bool { return page.shown.Looked })
	page.choose("claude-desktop")
	if !p.sees("Claude Desktop is running.") {
		t.Error("nothing warns of it")
	}
	p.press("Connect…")
	r.until("what stands in the way", func() bool { return p.sees("quit it, from its tray icon too, then try again") })
	if p.sees("I know. Do it even so") {
		t.Error("one may insist on what would be written over")
	}
	s.with(func() { s.find("claude-desktop").Running = false })
	page.tick(time.Now().Add(time.Hour))
	r.until("the plan", func() bool { return p.sees("Claude Desktop will get our tools.") })
}

// TestHostsInsist takes over a name that is somebody else's, when asked to.
func TestHostsInsist(t *testing.T) {
	s := newShelf()
	r, p, page := openHosts(t, assets.English, s)
	r.until("the apps", func() bool { return page.shown.Looked })
	page.choose("cursor")
	p.press("Connect…")
	r.until("the form", func() bool { return page.form != nil })
	p.choose("In one folder, shared with it")
	if !p.sees("Say which folder it is for.") {
		t.Error("nothing says that a folder is missing")
	}
	p.types("/p")
	r.until("that it is taken", func() bool { return p.sees("that we did not write") })
	p.tick("I know. Do it even so")
	r.until("the plan", func() bool {
		o, ok := page.form.Planned()
		return ok && o.Force && o.Project == "/p" && o.Scope == "project"
	})
	p.choose("In one profile of the app")
	p.types("ab12")
	r.until("the plan of a profile", func() bool { o, ok := page.form.Planned(); return ok && o.Scope == "profile:ab12" && o.Project == "" })
}

// TestHostsCheck shows what is found, and what to do about it.
func TestHostsCheck(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		s := newShelf()
		s.find("cursor").Entries = []control.HostEntry{{Name: "arenero", Scope: "user", File: "/home/ana/a b/mcp.json", State: control.EntryEdited, Fields: []string{"args"}, Connection: "c_a", Profile: "local"}}
		r, p, page := openHosts(t, language, s)
		tx := r.core.env.Texts
		browsed := ""
		page.c.env.Browse = func(url string) { browsed = url }
		r.until("the entry", func() bool { return p.sees("/home/ana/a b/mcp.json") })
		p.press(tx.Get("window.hosts.act.check"))
		r.until("the findings", func() bool { return page.shown.Check.Over })
		for _, f := range page.shown.Check.Findings {
			what, remedy := ui.FindingText(tx, f)
			if !p.sees(what) || remedy != "" && !p.sees("→ "+remedy) {
				t.Errorf("nothing says %q, or %q", what, remedy)
			}
		}
		p.press(tx.Get("window.hosts.act.folder"))
		if browsed != "file:///home/ana/a%20b" {
			t.Errorf("the folder is %q", browsed)
		}
	}
}

// TestHostsToken binds a connection to a token, and frees it.
func TestHostsToken(t *testing.T) {
	s := newShelf()
	s.find("cursor").Entries = []control.HostEntry{{Name: "arenero", Scope: "user", File: "/f", State: control.EntryAsWritten, Connection: "c_a", Profile: "local"}}
	r, p, _ := openHosts(t, assets.English, s)
	r.until("the entry", func() bool { return p.sees("Token…") })
	for i, in := range []struct{ choose, toast string }{
		{"agent", "Cursor uses the token agent from its next call on."}, {"none: no limit, as yourself", "Cursor uses no token any more."},
	} {
		p.press("Token…")
		r.until("the tokens", func() bool { return p.sees("A token says what this app may do") })
		p.choose(in.choose)
		p.press("Use it")
		r.until("it is bound", func() bool { return len(r.toasts) == i+1 && r.toasts[i] == in.toast })
	}
	if want := []control.Binding{{Connection: "c_a", Grant: "g_1"}, {Connection: "c_a"}}; !slices.Equal(s.bound, want) {
		t.Errorf("bound: %+v", s.bound)
	}
	p.press("Token…")
	r.until("the tokens", func() bool { return p.sees("A token says what this app may do") })
	p.press("Make a token")
	if !slices.Equal(r.went, []string{"tokens/"}) {
		t.Errorf("went to %v", r.went)
	}
}

// TestHostsFailed says that apps can't be looked for, and looks again.
func TestHostsFailed(t *testing.T) {
	s := newShelf()
	s.refuse = &sandbox.Error{Code: sandbox.Denied, Msg: "the settings can't be read"}
	r, p, page := openHosts(t, assets.English, s)
	r.until("what is wrong", func() bool { return p.sees("The apps could not be looked for.") })
	s.with(func() { s.refuse = nil })
	p.press("Try again")
	r.until("the apps", func() bool { return page.shown.Looked && !p.sees("could not be looked for") })

	// None is here, but there are some to know of.
	s.with(func() { s.hosts = nil })
	page.look()
	r.until("that there is none", func() bool { return p.sees("No AI app found here") })
	p.press("Show all apps")
	r.until("those that could be", func() bool { return page.shown.Selected == "zed" && p.sees("Not installed") })
	p.press("By hand…")
	r.until("the command", func() bool { return p.sees("arenero hosts print zed") })
}

// TestHostsByKeys reaches the buttons of an app, and presses them, without a
// pointer.
func TestHostsByKeys(t *testing.T) {
	s := newShelf()
	r, p, page := openHosts(t, assets.English, s)
	r.until("the apps", func() bool { return page.shown.Looked })
	page.choose("cursor")
	c := r.win.Canvas()
	var seen []string
	for range 12 {
		if b, ok := c.Focused().(*view.Button); ok {
			seen = append(seen, b.Text)
			if b.Text == "Connect…" {
				b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
				break
			}
		}
		c.FocusNext()
	}
	r.until("the plan", func() bool { return p.sees("Cursor will get our tools.") })
	b, ok := c.Focused().(*view.Button)
	if !ok || b.Text != "Connect" {
		t.Fatalf("the focus is on %T, after %s", c.Focused(), strings.Join(seen, ", "))
	}
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	r.until("it is done", func() bool { return p.sees("Cursor has our tools now.") })
}
