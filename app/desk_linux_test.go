package app_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/desktop"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A fakeLogin is the place of what starts at login.
type fakeLogin struct {
	cannot  bool
	on      bool
	program string
	err     error
}

func (l *fakeLogin) Can() bool              { return !l.cannot }
func (l *fakeLogin) Enabled() (bool, error) { return l.on, nil }

func (l *fakeLogin) Set(_ context.Context, on bool, program string) error {
	if l.err == nil {
		l.on, l.program = on, program
	}
	return l.err
}

// An office is an engine for the desk of a person whose home is empty.
type office struct {
	t      *testing.T
	home   string
	login  *fakeLogin
	bridge string
	client *control.Client
	stop   func()
}

func newOffice(t *testing.T) *office {
	t.Helper()
	dir, err := os.MkdirTemp("", "ao-") // short, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	o := &office{t: t, home: filepath.Join(dir, "home"), login: &fakeLogin{}, bridge: filepath.Join(dir, "arenero-bridge")}
	if err := errors.Join(os.Mkdir(o.home, 0o700), os.WriteFile(o.bridge, []byte("#!/bin/sh\nexit 1\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ARENERO_HOME", filepath.Join(dir, "a"))
	t.Setenv("HOME", o.home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE", "AWS_REGION"} {
		t.Setenv(name, "")
	}
	o.open()
	return o
}

func (o *office) open() {
	o.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	engine, err := app.New(ctx, app.Config{Version: "1.2.3", Program: filepath.Join(o.home, "arenero"), Bridge: o.bridge, Login: o.login})
	if err != nil {
		o.t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- engine.Run(ctx) }()
	path, err := control.Path()
	if err != nil {
		o.t.Fatal(err)
	}
	o.client = control.NewClient(path)
	o.stop = sync.OnceFunc(func() {
		o.client.Close()
		cancel()
		if err := <-ran; err != nil {
			o.t.Errorf("engine: %v", err)
		}
	})
	o.t.Cleanup(o.stop)
}

func (o *office) restart() {
	o.stop()
	o.open()
}

// code fails unless err has a code, and words to show.
func (o *office) code(what string, err error, want sandbox.Code) {
	o.t.Helper()
	if got := sandbox.CodeOf(err); got != want {
		o.t.Errorf("%s: %q, want %q (%v)", what, got, want, err)
	}
}

func (o *office) host(id string) control.Host {
	o.t.Helper()
	all, err := o.client.Hosts(o.t.Context(), control.HostQuery{Host: id})
	if err != nil || len(all) != 1 {
		o.t.Fatalf("host %s: %+v, %v", id, all, err)
	}
	return all[0]
}

// A host is shown, connected as its plan said, bound to a token, changed behind
// our back, put right, undone and taken out.
func TestDeskConnectsHosts(t *testing.T) {
	o := newOffice(t)
	ctx := t.Context()
	all, err := o.client.Hosts(ctx, control.HostQuery{All: true})
	if err != nil || len(all) < 20 {
		t.Fatalf("%d hosts, %v", len(all), err)
	}
	texts := assets.Load(assets.English, "hosts", "verbs")
	for _, h := range all {
		if h.ID == "" || h.Title == "" || h.Certain == "" || h.Connected {
			t.Errorf("a host: %+v", h)
		}
		for _, n := range h.Notes {
			if !texts.Has(n.Key) {
				t.Errorf("%s: there is no text %s", h.ID, n.Key)
			}
		}
	}
	file := filepath.Join(o.home, ".cursor", "mcp.json")
	theirs := "{\n  // mine\n  \"mcpServers\": {\"other\": {\"command\": \"x\", \"env\": {\"KEY\": \"hidden-value\"}}}\n}\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(theirs), 0o600)); err != nil {
		t.Fatal(err)
	}
	order := control.HostOrder{Action: control.HostConnect, Host: "cursor", Force: true}
	plan, err := o.client.PlanHost(ctx, order)
	if err != nil || len(plan.Changes) != 1 {
		t.Fatalf("plan: %+v, %v", plan, err)
	}
	p := plan.Changes[0]
	if p.Action != "insert" || p.File != file || p.Connection == "" || len(p.Diff) == 0 || p.Name != "arenero" {
		t.Errorf("plan: %+v", p)
	}
	kinds := map[string]bool{}
	for _, l := range p.Diff {
		kinds[l.Kind] = true
		if strings.Contains(l.Text, "hidden-value") {
			t.Errorf("the difference tells what others have: %s", l.Text)
		}
	}
	if !kinds["from"] || !kinds["to"] || !kinds["hunk"] || !kinds["added"] {
		t.Errorf("the difference has lines of the kinds %v", kinds)
	}
	if text, _ := os.ReadFile(file); string(text) != theirs {
		t.Errorf("a plan has changed the file: %s", text)
	}
	order.ID = p.Connection
	done, err := o.client.ChangeHost(ctx, order)
	if err != nil || done.Changes[0].Connection != p.Connection {
		t.Fatalf("change: %+v, %v", done, err)
	}
	h := o.host("cursor")
	if !h.Connected || len(h.Entries) != 1 {
		t.Fatalf("connected, it is %+v", h)
	}
	if e := h.Entries[0]; e.State != control.EntryAsWritten || e.Connection != p.Connection || e.Profile != sandbox.ProfileLocal || !e.Undo || e.Grant != "" || e.Written.IsZero() || e.File != file {
		t.Errorf("its entry: %+v", e)
	}
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), p.Connection) || !strings.Contains(string(text), "// mine") {
		t.Errorf("the file: %s", text)
	}
	again, err := o.client.PlanHost(ctx, control.HostOrder{Action: control.HostConnect, Host: "cursor", Force: true})
	if err != nil || again.Changes[0].Action != control.HostUnchanged || again.Changes[0].Connection != p.Connection {
		t.Errorf("once more: %+v, %v", again, err)
	}

	tok, err := o.client.CreateToken(ctx, sandbox.Grant{Name: "team"})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.client.Bind(ctx, control.Binding{Connection: p.Connection, Grant: tok.Grant.ID}); err != nil {
		t.Fatal(err)
	}
	if e := o.host("cursor").Entries[0]; e.Grant != "team" {
		t.Errorf("bound, its entry is %+v", e)
	}

	text, _ := os.ReadFile(file)
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), o.bridge, "/bin/true", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := o.host("cursor").Entries[0]; e.State != control.EntryEdited || len(e.Fields) == 0 {
		t.Errorf("edited, its entry is %+v", e)
	}
	var found []control.Finding
	if err := o.client.CheckHost(ctx, "cursor", func(f control.Finding) error { found = append(found, f); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(found, func(f control.Finding) bool {
		return f.Name == "entry" && f.Level == "warn" && texts.Has(f.What.Key) && f.Remedy != nil && f.File == file
	}) {
		t.Errorf("of the edited entry the check finds %+v", found)
	}
	if _, err := o.client.ChangeHost(ctx, control.HostOrder{Action: control.HostConnect, Host: "cursor", Force: true}); err != nil {
		t.Fatal(err)
	}
	if e := o.host("cursor").Entries[0]; e.State != control.EntryAsWritten || e.Connection != p.Connection {
		t.Errorf("put right, its entry is %+v", e)
	}
	if r, err := o.client.ChangeHost(ctx, control.HostOrder{Action: control.HostUndo, Host: "cursor"}); err != nil || len(r.Changes) != 1 {
		t.Errorf("undo: %+v, %v", r, err)
	}
	if e := o.host("cursor").Entries; len(e) == 1 && e[0].State == control.EntryAsWritten && strings.Contains(readAll(t, file), o.bridge) {
		t.Errorf("undone, its entry is %+v", e)
	}
	if _, err := o.client.ChangeHost(ctx, control.HostOrder{Action: control.HostRemove, Host: "cursor"}); err != nil {
		t.Fatal(err)
	}
	if h := o.host("cursor"); h.Connected || readAll(t, file) != theirs {
		t.Errorf("removed, it is %+v, and the file\n%s", h, readAll(t, file))
	} else if u := h.Undo; u == nil || u.File != file || u.Name == "" {
		t.Errorf("removed, it can put back %+v", u)
	} else if _, err := o.client.ChangeHost(ctx, control.HostOrder{Action: control.HostUndo, Host: "cursor", Scope: u.Scope, Name: u.Name}); err != nil {
		t.Errorf("put back: %v", err)
	} else if h := o.host("cursor"); !h.Connected || h.Undo != nil {
		t.Errorf("put back, it is %+v", h)
	} else if _, err := o.client.ChangeHost(ctx, control.HostOrder{Action: control.HostRemove, Host: "cursor"}); err != nil {
		t.Fatal(err)
	}

	if err := o.client.NoteHost(ctx, control.HostNote{Host: "zed", Kind: sandbox.EventAppGone}); err != nil {
		t.Fatal(err)
	}
	o.code("a note of an unknown host", o.client.NoteHost(ctx, control.HostNote{Host: "nonsense", Kind: sandbox.EventApp}), sandbox.NotFound)
	o.code("a note of something else", o.client.NoteHost(ctx, control.HostNote{Host: "zed", Kind: sandbox.EventRevoked}), sandbox.Invalid)
	// Written, put right, undone, taken out, put back, taken out again; and what
	// was done elsewhere.
	want := []string{"app.connected Cursor", "app.changed Cursor", "app.changed Cursor", "app.disconnected Cursor", "app.changed Cursor", "app.disconnected Cursor", "app.disconnected Zed"}
	var kept []string
	for deadline := time.Now().Add(time.Minute); len(kept) < len(want) && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		page, err := o.client.Events(ctx, sandbox.EventQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		kept = nil
		for _, e := range slices.Backward(page.Events) {
			if strings.HasPrefix(string(e.Kind), "app.") {
				kept = append(kept, fmt.Sprint(e.Kind, " ", e.Data["name"]))
			}
		}
	}
	if !slices.Equal(kept, want) {
		t.Errorf("events: %q, want %q", kept, want)
	}

	_, err = o.client.PlanHost(ctx, control.HostOrder{Action: control.HostConnect, Host: "nonsense"})
	o.code("an unknown host", err, sandbox.NotFound)
	if said, ok := control.TextOf(err); !ok || !texts.Has(said.Key) || !strings.Contains(texts.Get(said.Key, said.Args...), "nonsense") {
		t.Errorf("of an unknown host it says %+v, %t", said, ok)
	}
	_, err = o.client.PlanHost(ctx, control.HostOrder{Action: "paint", Host: "cursor"})
	o.code("an unknown action", err, sandbox.Invalid)
	_, err = o.client.ChangeHost(ctx, control.HostOrder{Action: control.HostUndo, Host: "zed"})
	o.code("nothing to undo", err, sandbox.NotFound)
	if err := os.WriteFile(file, []byte(`{"mcpServers": {"a": "secret-line" "b"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = o.client.PlanHost(ctx, control.HostOrder{Action: control.HostConnect, Host: "cursor", Force: true})
	if o.code("a broken file", err, sandbox.WrongState); strings.Contains(err.Error(), "secret-line") || sandbox.ToError(err).Details["line"] == nil {
		t.Errorf("of a broken file it says %v, %v", err, sandbox.ToError(err).Details)
	}
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is set stays, over restarts, and what makes no sense is refused.
func TestDeskPreferences(t *testing.T) {
	o := newOffice(t)
	ctx := t.Context()
	first, err := o.client.Preferences(ctx)
	if err != nil || first.DefaultProfile != sandbox.ProfileLocal || !first.Notices.Done || first.Keychain != "system" || !first.CanStart || first.StartAtLogin || first.Version != "1.2.3" {
		t.Fatalf("at first: %+v, %v", first, err)
	}
	if err := os.MkdirAll(filepath.Dir(first.Settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(first.Settings, []byte(`{"future": 1.50, "notices": {"sound": "gong"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	on := true
	got, err := o.client.EditPreferences(ctx, control.PreferencesEdit{
		Language: ptr("es"), Theme: ptr("dark"), Notices: &control.Notices{Quiet: "22:00-07:30"}, StartAtLogin: &on, GuideDone: &on, Window: ptr("960x640"),
	})
	if err != nil || got.Language != "es" || got.Theme != "dark" || got.Notices != (control.Notices{Quiet: "22:00-07:30"}) || !got.StartAtLogin || !got.GuideDone || got.Window != "960x640" {
		t.Errorf("edited: %+v, %v", got, err)
	}
	if o.login.program != filepath.Join(o.home, "arenero") {
		t.Errorf("at login starts %q", o.login.program)
	}
	if text := readAll(t, first.Settings); !strings.Contains(text, "1.50") || !strings.Contains(text, "gong") {
		t.Errorf("what a newer version has set is lost: %s", text)
	}
	o.restart()
	if kept, err := o.client.Preferences(ctx); err != nil || kept != got {
		t.Errorf("after a restart: %+v, %v, want %+v", kept, err, got)
	}
	for name, e := range map[string]control.PreferencesEdit{
		"language": {Language: ptr("fr")}, "theme": {Theme: ptr("pink")}, "no size of a window": {Window: ptr(strings.Repeat("9", 33))},
		"quiet hours": {Notices: &control.Notices{Quiet: "22-7"}}, "no hours": {Notices: &control.Notices{Quiet: "07:00-07:00"}}, "an hour that is none": {Notices: &control.Notices{Quiet: "25:00-07:00"}},
	} {
		e.GuideDone = new(bool)
		_, err := o.client.EditPreferences(ctx, e)
		o.code(name, err, sandbox.Invalid)
	}
	_, err = o.client.EditPreferences(ctx, control.PreferencesEdit{DefaultProfile: ptr("nobody"), Theme: ptr("")})
	o.code("an unknown profile", err, sandbox.NotFound)
	o.login.err = desktop.ErrForeign
	_, err = o.client.EditPreferences(ctx, control.PreferencesEdit{StartAtLogin: new(bool), Theme: ptr("")})
	o.code("an entry of others, not to be started", err, sandbox.WrongState)
	if _, err = o.client.EditPreferences(ctx, control.PreferencesEdit{StartAtLogin: &on, Theme: ptr("")}); sandbox.CodeOf(err) != sandbox.Exists {
		t.Errorf("an entry of others: %v", err)
	}
	if kept, err := o.client.Preferences(ctx); err != nil || kept != got {
		t.Errorf("after what was refused: %+v, %v, want %+v", kept, err, got)
	}
	o.login.cannot = true
	_, err = o.client.EditPreferences(ctx, control.PreferencesEdit{StartAtLogin: &on})
	o.code("no place to start from", err, sandbox.Unsupported)
	if kept, err := o.client.Preferences(ctx); err != nil || kept.CanStart || kept.StartAtLogin {
		t.Errorf("without such a place: %+v, %v", kept, err)
	}
}

func ptr[T any](v T) *T { return &v }

// Profiles are kept, refused, made the default, found in the files of AWS and
// forgotten.
func TestDeskProfiles(t *testing.T) {
	o := newOffice(t)
	ctx := t.Context()
	whole := control.OwnProfile{
		Name: "corp", Kind: "sso", Region: "us-east-1", StartURL: "https://corp.awsapps.com/start", SSORegion: "us-east-1", SSOSession: "s", SSOAccount: "123456789012", SSORole: "Dev",
		Template: "python", Version: "2", Role: "arn:aws:iam::123456789012:role/x", TimeoutSeconds: 3600, IdleSeconds: 300,
	}
	got, err := o.client.PutProfile(ctx, control.ProfilePut{Profile: whole, Fresh: true, Default: true})
	if err != nil || got != whole {
		t.Fatalf("kept: %+v, %v", got, err)
	}
	_, err = o.client.PutProfile(ctx, control.ProfilePut{Profile: whole, Fresh: true})
	o.code("once more", err, sandbox.Exists)
	_, err = o.client.PutProfile(ctx, control.ProfilePut{Profile: control.OwnProfile{Name: "local", Kind: "keys", Region: "x"}})
	o.code("a name that is taken", err, sandbox.Invalid)
	_, err = o.client.PutProfile(ctx, control.ProfilePut{Profile: control.OwnProfile{Name: "r", Kind: "role", Region: "us-east-1", RoleARN: "arn:aws:iam::123456789012:role/x", Source: "nobody"}})
	o.code("a source that is not there", err, sandbox.NotFound)
	if _, err := o.client.PutProfile(ctx, control.ProfilePut{Profile: control.OwnProfile{Name: "admin", Kind: "role", Region: "us-east-1", RoleARN: "arn:aws:iam::123456789012:role/x", Source: "corp"}}); err != nil {
		t.Fatal(err)
	}
	all, err := o.client.OwnProfiles(ctx)
	if err != nil || all.Default != "corp" || len(all.Profiles) != 2 || all.Profiles[0] != whole {
		t.Errorf("all: %+v, %v", all, err)
	}
	o.code("one that another needs", o.client.DropProfile(ctx, control.ProfileDrop{Name: "corp"}), sandbox.WrongState)
	o.code("none", o.client.DropProfile(ctx, control.ProfileDrop{Name: "nobody"}), sandbox.NotFound)
	for _, name := range []string{"admin", "corp"} {
		if err := o.client.DropProfile(ctx, control.ProfileDrop{Name: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := o.client.OwnProfiles(ctx); err != nil || all.Default != sandbox.ProfileLocal || len(all.Profiles) != 0 {
		t.Errorf("all but those: %+v, %v", all, err)
	}

	if found, err := o.client.Importable(ctx); err != nil || len(found) != 0 {
		t.Errorf("without files: %+v, %v", found, err)
	}
	dir := filepath.Join(o.home, ".aws")
	err = errors.Join(os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "credentials"), []byte("[old]\naws_access_key_id = AKIAOLD\naws_secret_access_key = very-secret\nregion = eu-west-1\n[bare]\naws_access_key_id = AKIABARE\naws_secret_access_key = very-secret\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte("[profile proc]\ncredential_process = /bin/x\nregion = us-east-1\n[profile broken]\nrole_arn = x\nsource_profile = nobody\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	found, err := o.client.Importable(ctx)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(found)
	if strings.Contains(string(raw), "very-secret") {
		t.Errorf("it tells a secret: %s", raw)
	}
	by := map[string]control.Importable{}
	for _, f := range found {
		by[f.Name] = f
	}
	if f := by["old"]; f.Move == nil || f.Profile == nil || len(f.Warnings) != 1 || f.NoRegion || f.Region != "eu-west-1" {
		t.Errorf("a key: %+v", f)
	}
	if f := by["bare"]; f.Move == nil || !f.NoRegion {
		t.Errorf("a key without a region: %+v", f)
	}
	if f := by["proc"]; f.Move != nil || f.Profile == nil || f.Kind != "process" {
		t.Errorf("a process: %+v", f)
	}
	if f := by["broken"]; f.Problem == nil || f.Profile != nil || f.Move != nil {
		t.Errorf("a broken one: %+v", f)
	}
	if _, err := o.client.PutProfile(ctx, control.ProfilePut{Profile: *by["proc"].Profile, Fresh: true}); err != nil {
		t.Errorf("put where it is: %v", err)
	}
	if found, err = o.client.Importable(ctx); err != nil || !slices.ContainsFunc(found, func(f control.Importable) bool { return f.Name == "proc" && f.Imported == "proc" }) {
		t.Errorf("imported: %+v, %v", found, err)
	}
}

// The checks are told as they begin and end, and a bundle is a new file that
// only its owner reads.
func TestDeskHelps(t *testing.T) {
	o := newOffice(t)
	ctx := t.Context()
	log, err := app.OpenLog("engine.log")
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		log.Write([]byte("a line of the log\n"))
	}
	log.Write([]byte("the last line\n"))
	log.Close()
	logs, err := o.client.Logs(ctx)
	if err != nil || len(logs) != 1 || logs[0].Name != "engine.log" || len(logs[0].Tail) > 16<<10 || !strings.HasPrefix(logs[0].Tail, "a line") || !strings.HasSuffix(logs[0].Tail, "the last line\n") {
		t.Errorf("logs: %.200v, %v", logs, err)
	}

	texts := assets.Load(assets.Spanish, app.DoctorParts()...)
	begun := map[string]bool{}
	ended := map[string]control.Finding{}
	err = o.client.Diagnose(ctx, "", func(f control.Finding) error {
		if !texts.Has(f.What.Key) || f.Remedy != nil && !texts.Has(f.Remedy.Key) {
			t.Errorf("%s has no texts: %+v", f.Name, f)
		}
		if f.Level == "" {
			begun[f.Name] = true
		} else if ended[f.Name] = f; !begun[f.Name] {
			t.Errorf("%s ends before it begins", f.Name)
		}
		return nil
	})
	if err != nil || len(begun) != 15 || len(ended) != 15 || ended["engine"].Level != "ok" {
		t.Errorf("%d checks begin, %d end, %v; the engine is %+v", len(begun), len(ended), err, ended["engine"])
	}

	file := filepath.Join(o.home, "help.zip")
	got, err := o.client.SaveBundle(ctx, file)
	if err != nil || got != file {
		t.Fatalf("bundle: %q, %v", got, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("bundle: %v, %v", info.Mode(), err)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if !slices.Contains(names, "doctor.json") || !slices.Contains(names, "engine.log") {
		t.Errorf("the bundle has %v", names)
	}
	_, err = o.client.SaveBundle(ctx, file)
	o.code("over another", err, sandbox.Exists)
	_, err = o.client.SaveBundle(ctx, "help2.zip")
	o.code("somewhere", err, sandbox.Invalid)
	_, err = o.client.SaveBundle(ctx, filepath.Join(o.home, "none", "help.zip"))
	o.code("nowhere", err, sandbox.NotFound)
	if ours, err := o.client.SaveBundle(ctx, ""); err != nil || !filepath.IsAbs(ours) {
		t.Errorf("a place of ours: %q, %v", ours, err)
	} else if _, err := os.Stat(ours); errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a place of ours: %v", err)
	}
}
