package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// hostTexts has all parts that the apps are told with.
func hostTexts(language string) assets.Texts {
	return assets.Load(language, ui.Texts, ui.HostTexts, ui.GuideTexts, ui.MessageTexts, "hosts", "verbs")
}

func bothOfHosts(t *testing.T, test func(t *testing.T, tx assets.Texts)) {
	t.Helper()
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) { test(t, hostTexts(language)) })
	}
}

// cursor is an app that is here, with entries in some states.
func cursor(states ...string) control.Host {
	h := control.Host{ID: "cursor", Title: "Cursor", Installed: true, Scopes: []string{"user", "project"}, Certain: "high"}
	for _, s := range states {
		h.Entries = append(h.Entries, control.HostEntry{Name: "arenero", Scope: "user", File: "/h/.cursor/mcp.json", State: s, Connection: "c_a", Profile: "local"})
	}
	return h
}

func with(h control.Host, edit func(*control.Host)) control.Host {
	h.Entries = slices.Clone(h.Entries)
	edit(&h)
	return h
}

// maybe is an app of which only its file is here.
func maybe(states ...string) control.Host {
	return with(cursor(states...), func(h *control.Host) { h.Installed, h.Perhaps = false, "/h/.cursor/mcp.json" })
}

func TestAHostThatMayBeHereCanBeConnectedWithAWord(t *testing.T) {
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		notes := ui.HostNotes(tx, maybe())
		want := map[string]string{
			assets.English: "/h/.cursor/mcp.json is here, but no program of Cursor was found. You can connect it all the same.",
			assets.Spanish: "Aquí está /h/.cursor/mcp.json, pero no se ha encontrado ningún programa de Cursor. Puedes conectarla de todos modos.",
		}[tx.Language]
		if len(notes) != 1 || notes[0].Alert || notes[0].Text != want {
			t.Errorf("notes are %+v, want %q", notes, want)
		}
		if a := ui.HostActions(tx, maybe())[0]; a.Verb != ui.HostConnect || !a.Usual || a.Why != "" {
			t.Errorf("to connect it is %+v", a)
		}
	})
	absent := with(cursor(), func(h *control.Host) { h.ID, h.Installed = "absent", false })
	sorted := ui.SortHosts([]control.Host{absent, maybe(), with(cursor(), func(h *control.Host) { h.ID = "here" })})
	if sorted[0].ID != "here" || sorted[1].ID != "cursor" || sorted[2].ID != "absent" {
		t.Errorf("sorted as %v", sorted)
	}
}

func TestHostWord(t *testing.T) {
	managed := &control.Text{Key: "hosts.managed.claude-3p", Args: []string{"title", "Cursor", "path", "/etc/x"}}
	tests := []struct {
		name    string
		host    control.Host
		en, es  string
		tone    ui.Tone
		offered []ui.HostVerb // by the app
	}{
		{"not connected", cursor(), "Not connected", "Sin conectar", ui.ToneMuted, []ui.HostVerb{ui.HostConnect, ui.HostPrint}},
		{"perhaps here", maybe(), "Perhaps here", "Quizá instalada", ui.ToneMuted, []ui.HostVerb{ui.HostConnect, ui.HostPrint}},
		{"connected", cursor(control.EntryAsWritten), "Connected", "Conectada", ui.ToneGood, []ui.HostVerb{ui.HostConnect, ui.HostCheck, ui.HostPrint}},
		{"by itself", cursor(control.EntryByHost), "Connected", "Conectada", ui.ToneGood, nil},
		{"edited", cursor(control.EntryEdited), "Edited by hand", "Editada a mano", ui.ToneWarn, nil},
		{"the worst goes first", cursor(control.EntryAsWritten, control.EntryGone, control.EntryEdited), "Entry gone", "Falta la entrada", ui.ToneBad, nil},
		{"of others", cursor(control.EntryForeign), "Not written by us", "No es nuestra", ui.ToneWarn, nil},
		{"unreadable", cursor(control.EntryUnread), "File unreadable", "Archivo ilegible", ui.ToneBad, nil},
		{"others lost", with(cursor(control.EntryAsWritten), func(h *control.Host) { h.Entries[0].Lost = []string{"git"} }), "Others' entries lost", "Entradas perdidas", ui.ToneWarn, nil},
		{"of a later version", cursor("half-written"), "half-written", "half-written", ui.ToneWarn, nil},
		{"managed", with(cursor(control.EntryAsWritten), func(h *control.Host) { h.Managed = managed }), "Managed", "Administrada", ui.ToneWarn, nil},
		{"too old", with(cursor(), func(h *control.Host) { h.Lacks = managed }), "Too old", "Demasiado antigua", ui.ToneWarn, nil},
		{"by hand", with(cursor(), func(h *control.Host) { h.Scopes = nil }), "By hand only", "Solo a mano", ui.ToneMuted, nil},
		{"not here", with(cursor(), func(h *control.Host) { h.Installed = false }), "Not installed", "No instalada", ui.ToneMuted, nil},
	}
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			word, tone := ui.HostWord(tx, tt.host)
			if want := in(tx, tt.en, tt.es); word != want || tone != tt.tone {
				t.Errorf("%s: %q (%s), want %q (%s)", tt.name, word, tone, want, tt.tone)
			}
			var verbs []ui.HostVerb
			for _, a := range ui.HostActions(tx, tt.host) {
				verbs = append(verbs, a.Verb)
			}
			if tt.offered != nil && !slices.Equal(verbs, tt.offered) {
				t.Errorf("%s: offers %v, want %v", tt.name, verbs, tt.offered)
			}
		}
	})
}

// What stands in the way of a button is said, and only what can be done at all
// has one.
func TestHostActions(t *testing.T) {
	why := &control.Text{Key: "hosts.managed.claude-3p"}
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			name       string
			host       control.Host
			en, es     string // why it can't be connected
			usual      bool
			entry      []ui.HostVerb
			entryLabel [2]string // of the first button of the entry
			blocked    bool      // and it can't be pressed
		}{
			{name: "new", host: cursor(), usual: true},
			{name: "not here", host: with(cursor(), func(h *control.Host) { h.Installed = false })},
			{
				name: "managed", host: with(cursor(control.EntryAsWritten), func(h *control.Host) { h.Managed = why }), en: "Your organisation decides which servers this app starts.", es: "Tu organización decide qué servidores arranca esta app.",
				entry: []ui.HostVerb{ui.HostUpdate, ui.HostRemove, ui.HostBind, ui.HostFolder}, entryLabel: [2]string{"Update…", "Actualizar…"}, blocked: true,
			},
			{name: "too old", host: with(cursor(), func(h *control.Host) { h.Lacks = why }), en: "Update the app first, or put the entry in by hand.", es: "Actualiza antes la app, o pon la entrada a mano."},
			{name: "no file", host: with(cursor(), func(h *control.Host) { h.Scopes = nil }), en: "We know no file of this app on this system. Put the entry in by hand.", es: "No conocemos ningún archivo de esta app en este sistema. Pon la entrada a mano."},
			{name: "undo", host: with(cursor(control.EntryAsWritten), func(h *control.Host) { h.Entries[0].Undo = true }), entry: []ui.HostVerb{ui.HostUpdate, ui.HostUndo, ui.HostRemove, ui.HostBind, ui.HostFolder}, entryLabel: [2]string{"Update…", "Actualizar…"}},
			{name: "gone", host: cursor(control.EntryGone), entry: []ui.HostVerb{ui.HostUpdate, ui.HostRemove, ui.HostBind, ui.HostFolder}, entryLabel: [2]string{"Write it again…", "Escribirla de nuevo…"}},
			{name: "of others", host: with(cursor(control.EntryForeign), func(h *control.Host) { h.Entries[0].Connection = "" }), entry: []ui.HostVerb{ui.HostUpdate, ui.HostFolder}, entryLabel: [2]string{"Take it over…", "Quedármela…"}},
			{name: "unreadable", host: cursor(control.EntryUnread), entry: []ui.HostVerb{ui.HostUpdate, ui.HostRemove, ui.HostBind, ui.HostFolder}, entryLabel: [2]string{"Update…", "Actualizar…"}, blocked: true},
			{name: "by itself", host: cursor(control.EntryByHost), entry: []ui.HostVerb{ui.HostRemove, ui.HostBind, ui.HostFolder}, entryLabel: [2]string{"Disconnect…", "Desconectar…"}},
		} {
			connect := ui.HostActions(tx, tt.host)[0]
			if connect.Verb != ui.HostConnect || connect.Why != in(tx, tt.en, tt.es) || connect.Usual != tt.usual {
				t.Errorf("%s: %+v", tt.name, connect)
			}
			if len(tt.host.Entries) == 0 {
				continue
			}
			var verbs []ui.HostVerb
			actions := ui.HostEntryActions(tx, tt.host, tt.host.Entries[0])
			for _, a := range actions {
				verbs = append(verbs, a.Verb)
				if a.Danger != (a.Verb == ui.HostRemove) {
					t.Errorf("%s: danger of %+v", tt.name, a)
				}
			}
			if !slices.Equal(verbs, tt.entry) {
				t.Errorf("%s: the entry offers %v, want %v", tt.name, verbs, tt.entry)
			} else if a := actions[0]; a.Label != in(tx, tt.entryLabel[0], tt.entryLabel[1]) || (a.Why != "") != tt.blocked {
				t.Errorf("%s: %+v", tt.name, a)
			}
		}
	})
}

func TestHostEntryTrouble(t *testing.T) {
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		if got := ui.HostEntryTrouble(tx, cursor(), cursor(control.EntryAsWritten).Entries[0]); got != nil {
			t.Errorf("of one that is well: %q", got)
		}
		h := with(cursor(control.EntryEdited), func(h *control.Host) {
			h.Entries[0].Fields, h.Entries[0].Lost, h.Entries[0].Backup = []string{"args", "env"}, []string{"git", "x\u202e"}, "/b/mcp.json.1"
		})
		got := ui.HostEntryTrouble(tx, h, h.Entries[0])
		want := []string{
			in(tx, "You or Cursor changed this entry since we wrote it: args, env. If that was not meant, Update writes it again.",
				"Tú o Cursor cambiasteis esta entrada después de escribirla nosotros: args, env. Si no era la intención, Actualizar la escribe de nuevo."),
			in(tx, "Entries of others that were beside ours are gone since: git, x. They are in our copy of the file: /b/mcp.json.1",
				"Desde entonces faltan entradas ajenas que estaban junto a la nuestra: git, x. Están en nuestra copia del archivo: /b/mcp.json.1"),
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		h = with(cursor(control.EntryUnread), func(h *control.Host) {
			h.Entries[0].Problem = &control.Text{Key: "hosts.err.unreadable", Args: []string{"path", "/p", "reason", "EIO"}}
		})
		got = ui.HostEntryTrouble(tx, h, h.Entries[0])
		if len(got) != 2 || got[0] != in(tx, "/p can't be read: EIO", "No se puede leer /p: EIO") {
			t.Errorf("of one that can't be read: %q", got)
		}
		for _, state := range []string{control.EntryGone, control.EntryForeign} {
			if got := ui.HostEntryTrouble(tx, h, cursor(state).Entries[0]); len(got) != 1 || strings.Contains(got[0], "window.hosts") {
				t.Errorf("%s: %q", state, got)
			}
		}
	})
}

// What is said twice is said once, and that an app runs alarms only whoever has
// something to change.
func TestHostNotes(t *testing.T) {
	managed := control.Text{Key: "hosts.managed.claude-3p", Args: []string{"title", "Cursor", "path", "/etc/x"}}
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		h := with(cursor(), func(h *control.Host) { h.Managed, h.Notes = &managed, []control.Text{managed} })
		if got := ui.HostNotes(tx, h); len(got) != 1 || !got[0].Alert {
			t.Errorf("of one that is managed: %+v", got)
		}
		for _, tt := range []struct {
			host  control.Host
			alert bool
		}{{cursor(), true}, {cursor(control.EntryEdited), true}, {cursor(control.EntryAsWritten), false}} {
			tt.host.Running = true
			if got := ui.HostNotes(tx, tt.host); len(got) != 1 || got[0].Alert != tt.alert {
				t.Errorf("of one that runs: %+v, want an alert: %t", got, tt.alert)
			}
		}
		h = with(cursor(), func(h *control.Host) { h.Installed, h.Certain = false, "low" })
		if got := ui.HostNotes(tx, h); len(got) != 2 || got[0].Alert || got[1].Alert {
			t.Errorf("of one that is not here: %+v", got)
		}
	})
}

func TestHostEntryFacts(t *testing.T) {
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		e := control.HostEntry{
			Name: "two", Scope: "project", File: "/p/.mcp.json", Project: "/p", State: control.EntryAsWritten, Connection: "c_a", Profile: "work",
			Toolsets: []string{"core", "jobs"}, Grant: "agent", HTTP: "http://127.0.0.1:8000/mcp",
		}
		var got []string
		for _, f := range ui.HostEntryFacts(tx, e) {
			got = append(got, f.Label+"="+f.Text)
		}
		want := strings.Split(in(tx,
			"File=/p/.mcp.json|Folder=/p|Sandboxes=work|Tools=Code, commands and files, Long commands|Token=agent|Address=http://127.0.0.1:8000/mcp|Name=two",
			"Archivo=/p/.mcp.json|Carpeta=/p|Sandboxes=work|Herramientas=Código, comandos y archivos, Comandos largos|Token=agent|Dirección=http://127.0.0.1:8000/mcp|Nombre=two"), "|")
		if !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		e = cursor(control.EntryAsWritten).Entries[0]
		got = nil
		for _, f := range ui.HostEntryFacts(tx, e) {
			got = append(got, f.Text)
		}
		if want := strings.Split(in(tx, "/h/.cursor/mcp.json|On this computer|All|none: no limit, as yourself", "/h/.cursor/mcp.json|En este equipo|Todas|ninguno: sin límite, como tú"), "|"); !slices.Equal(got, want) {
			t.Errorf("of a usual one: %q", got)
		}
	})
}

func TestScopeAndPlaceNames(t *testing.T) {
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		for scope, want := range map[string]string{
			"user": in(tx, "In every folder", "En todas las carpetas"), "project": in(tx, "In one folder, shared with it", "En una carpeta, compartida con ella"),
			"local": in(tx, "In one folder, for you alone", "En una carpeta, solo para ti"), "profile:ab1": in(tx, "In one profile of the app (ab1)", "En un perfil de la app (ab1)"),
			"bundle": in(tx, "As a bundle", "Como paquete"), "new": "new",
		} {
			if got := ui.ScopeName(tx, scope); got != want {
				t.Errorf("scope %s: %q, want %q", scope, got, want)
			}
		}
		for profile, want := range map[string]string{
			"": in(tx, "The usual place", "El lugar habitual"), "local": in(tx, "On this computer", "En este equipo"),
			"environment": in(tx, "As the app's variables say", "Según las variables de la app"), "work": "work",
		} {
			if got := ui.PlaceName(tx, profile); got != want {
				t.Errorf("profile %s: %q, want %q", profile, got, want)
			}
		}
		if got := ui.ToolsetNames(tx, []string{"fleet", "gpu"}); got != in(tx, "Make and manage sandboxes, gpu", "Crear y gestionar sandboxes, gpu") {
			t.Errorf("tools: %q", got)
		}
	})
	for scope, want := range map[string][2]bool{"user": {}, "project": {true}, "local": {true}, "profile": {false, true}} {
		if got := [2]bool{ui.ScopeNeedsFolder(scope), ui.ScopeNeedsProfile(scope)}; got != want {
			t.Errorf("%s needs %v, want %v", scope, got, want)
		}
	}
}

func TestSortHosts(t *testing.T) {
	all := []control.Host{{Title: "Zed"}, {Title: "amp"}, {Title: "Warp", Installed: true}, {Title: "Kiro", Entries: cursor(control.EntryGone).Entries}, {Title: "Cline", Installed: true}}
	var got []string
	for _, h := range ui.SortHosts(all) {
		got = append(got, h.Title)
	}
	if want := []string{"Kiro", "Cline", "Warp", "amp", "Zed"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDiffLooks(t *testing.T) {
	got := ui.DiffLooks([]control.DiffLine{
		{Kind: "from", Text: "--- /a"}, {Kind: "to", Text: "+++ /a"}, {Kind: "hunk", Text: "@@ -1 +1 @@"}, {Kind: "same", Text: " {"}, {Kind: "deleted", Text: "-\ta"}, {Kind: "added", Text: "+\tb\x1b[m"},
	})
	want := []ui.DiffLook{
		{Text: "--- /a", Tone: ui.ToneMuted},
		{Text: "+++ /a", Tone: ui.ToneMuted},
		{Text: "@@ -1 +1 @@", Tone: ui.ToneMuted},
		{Text: " {"},
		{Text: "-    a", Tone: ui.ToneBad, Bold: true},
		{Text: "+    b[m", Tone: ui.ToneGood, Bold: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestHostChangeDoes(t *testing.T) {
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		for action, want := range map[string][2]string{
			"insert":              {in(tx, "Cursor will get our tools.", "Cursor tendrá nuestras herramientas."), in(tx, "Cursor has our tools now.", "Cursor ya tiene nuestras herramientas.")},
			"update":              {in(tx, "The entry of Cursor will be brought up to date.", "Se pondrá al día la entrada de Cursor."), in(tx, "The entry of Cursor is up to date.", "La entrada de Cursor está al día.")},
			"delete":              {in(tx, "Cursor will not have our tools any more.", "Cursor dejará de tener nuestras herramientas."), in(tx, "Cursor does not have our tools any more.", "Cursor ya no tiene nuestras herramientas.")},
			"revert":              {in(tx, "Our last change will be taken back.", "Se deshará nuestro último cambio."), in(tx, "Our last change was taken back.", "Se ha deshecho nuestro último cambio.")},
			control.HostUnchanged: {in(tx, "The file is as it should be already.", "El archivo ya está como debe."), in(tx, "Nothing had to change in /f.", "No hacía falta cambiar nada en /f.")},
		} {
			c := control.HostChange{File: "/f", Action: action}
			if got := [2]string{ui.HostChangeDoes(tx, "Cursor", c, false), ui.HostChangeDoes(tx, "Cursor", c, true)}; got != want {
				t.Errorf("%s: %q, want %q", action, got, want)
			}
			if got := ui.HostChanges(control.HostResult{Changes: []control.HostChange{c}}); got != (action != control.HostUnchanged) {
				t.Errorf("%s changes something: %t", action, got)
			}
		}
		c := control.HostChange{File: "/f", Action: "insert", Argv: []string{"claude", "mcp", "add"}}
		if got := ui.HostChangeDoes(tx, "Claude Code", c, true); !strings.HasSuffix(got, ": claude mcp add") {
			t.Errorf("of one that the app makes: %q", got)
		}
	})
}

func TestFindings(t *testing.T) {
	f := control.Finding{What: control.Text{Key: "verb.doctor.stays"}, Remedy: &control.Text{Key: "close it\nand try again"}}
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		what, remedy := ui.FindingText(tx, f)
		if want := in(tx, "It does not end when its input is closed", "No termina cuando se cierra su entrada"); what != want || remedy != "Close it and try again" {
			t.Errorf("got %q, %q", what, remedy)
		}
	})
	for level, want := range map[string]ui.Tone{"ok": ui.ToneGood, "warn": ui.ToneWarn, "fail": ui.ToneBad, "skip": ui.ToneMuted, "": ui.ToneMuted} {
		if got := ui.FindingTone(level); got != want {
			t.Errorf("%q: %s, want %s", level, got, want)
		}
	}
}

func TestTokensToBind(t *testing.T) {
	token := func(id string, edit func(*sandbox.Grant)) control.Token {
		g := sandbox.Grant{ID: id, ExpiresAt: noon.Add(time.Hour)}
		edit(&g)
		return control.Token{Grant: g}
	}
	all := []control.Token{
		token(sandbox.GrantOwner, func(g *sandbox.Grant) { g.ExpiresAt = time.Time{} }), token("good", func(*sandbox.Grant) {}),
		token("revoked", func(g *sandbox.Grant) { g.RevokedAt = noon }), token("old", func(g *sandbox.Grant) { g.ExpiresAt = noon }),
	}
	if got := ui.TokensToBind(all, noon); len(got) != 1 || got[0].Grant.ID != "good" {
		t.Errorf("got %+v", got)
	}
}
