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

func TestGuideHead(t *testing.T) {
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		for step, want := range map[ui.GuideStep][2]string{
			ui.GuideTry:     {in(tx, "Welcome to Arenero", "Te damos la bienvenida a Arenero"), in(tx, "Step 1 of 3", "Paso 1 de 3")},
			ui.GuideConnect: {in(tx, "Connect an app", "Conecta una app"), in(tx, "Step 2 of 3", "Paso 2 de 3")},
			ui.GuideCall:    {in(tx, "Make the first call", "Haz la primera llamada"), in(tx, "Step 3 of 3", "Paso 3 de 3")},
		} {
			title, place := ui.GuideHead(tx, step)
			if got := [2]string{title, place}; got != want {
				t.Errorf("%s: %q, want %q", step, got, want)
			}
		}
	})
}

func TestTrialText(t *testing.T) {
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			trial  ui.Trial
			en, es string
			tone   ui.Tone
		}{
			{ui.Trial{}, "", "", ui.ToneMuted},
			{ui.Trial{Stage: ui.TrialMaking}, "Making a sandbox…", "Creando un sandbox…", ui.ToneMuted},
			{ui.Trial{Stage: ui.TrialRunning, Ready: time.Second}, "Running a command in it…", "Ejecutando un comando en él…", ui.ToneMuted},
			{
				ui.Trial{Stage: ui.TrialGood, Ready: 1449 * time.Millisecond, Answer: 300 * time.Microsecond},
				"It was ready in 1.4 s, and ran a command in 1 ms. It has been removed again.", "Estuvo listo en 1,4 s y ejecutó un comando en 1 ms. Ya se ha eliminado.", ui.ToneGood,
			},
			{ui.Trial{Stage: ui.TrialBad, Problem: "no room"}, "No room", "No room", ui.ToneBad},
		} {
			got, tone := ui.TrialText(tx, tt.trial)
			if want := in(tx, tt.en, tt.es); got != want || tone != tt.tone {
				t.Errorf("%+v: %q (%s), want %q (%s)", tt.trial, got, tone, want, tt.tone)
			}
		}
		for d, want := range map[time.Duration]string{999 * time.Millisecond: "999 ms", 12_960 * time.Millisecond: in(tx, "13.0 s", "13,0 s")} {
			if got := ui.Brief(tx, d); got != want {
				t.Errorf("%v: %q, want %q", d, got, want)
			}
		}
	})
}

// Those come first that only have to be connected, and those are left out that
// can't be.
func TestGuideHosts(t *testing.T) {
	named := func(title string, h control.Host) control.Host { h.ID, h.Title = title, title; return h }
	got := ui.GuideHosts([]control.Host{
		named("connected", cursor(control.EntryAsWritten)),
		named("absent", with(cursor(), func(h *control.Host) { h.Installed = false })),
		named("perhaps", maybe()),
		named("connected before it is installed", with(cursor(control.EntryAsWritten), func(h *control.Host) { h.Installed = false })),
		named("managed", with(cursor(), func(h *control.Host) { h.Managed = &control.Text{} })),
		named("old", with(cursor(), func(h *control.Host) { h.Lacks = &control.Text{} })),
		named("by hand", with(cursor(), func(h *control.Host) { h.Scopes = nil })),
		named("edited", cursor(control.EntryEdited)),
		named("runs", with(cursor(), func(h *control.Host) { h.Running = true })),
		named("new", cursor()),
	})
	var ids []string
	for _, h := range got {
		ids = append(ids, h.ID)
	}
	if want := []string{"new", "runs", "connected", "connected before it is installed", "edited", "perhaps"}; !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
	if _, ok := ui.HostEntryInUse(cursor(control.EntryGone, control.EntryForeign)); ok || ui.HostConnected(cursor(control.EntryUnread)) {
		t.Error("an entry that is not there is in use")
	}
	if e, ok := ui.HostEntryInUse(cursor(control.EntryGone, control.EntryByHost)); !ok || e.State != control.EntryByHost {
		t.Errorf("in use is %+v, %t", e, ok)
	}
}

func TestArrived(t *testing.T) {
	lease := func(id, connection, box string) sandbox.LeaseInfo {
		return sandbox.LeaseInfo{ID: id, Connection: connection, Host: "cursor-vscode", Sandbox: box, Attached: true}
	}
	for _, tt := range []struct {
		name       string
		snap       sandbox.Snapshot
		connection string
		want       ui.Arrival
		id         string
	}{
		{"nobody", sandbox.Snapshot{}, "c_a", ui.ArrivalNone, ""},
		{"another", sandbox.Snapshot{Leases: []sandbox.LeaseInfo{lease("1", "c_b", "m-1")}}, "c_a", ui.ArrivalNone, ""},
		{"started", sandbox.Snapshot{Leases: []sandbox.LeaseInfo{lease("1", "c_a", "")}}, "c_a", ui.ArrivalStarted, ""},
		{"called", sandbox.Snapshot{Leases: []sandbox.LeaseInfo{lease("1", "c_a", ""), lease("2", "c_a", "m-1")}}, "c_a", ui.ArrivalCalled, "m-1"},
		{"its lease is over", sandbox.Snapshot{Sandboxes: []sandbox.Sandbox{{ID: "m-2", Connection: "c_a"}}}, "c_a", ui.ArrivalCalled, "m-2"},
		{"any that is new", sandbox.Snapshot{Leases: []sandbox.LeaseInfo{lease("old", "c_b", "m-1"), lease("new", "", "m-3")}}, "", ui.ArrivalCalled, "m-3"},
		{"none that was there", sandbox.Snapshot{Leases: []sandbox.LeaseInfo{lease("old", "c_b", "m-1")}, Sandboxes: []sandbox.Sandbox{{ID: "m-9"}}}, "", ui.ArrivalNone, ""},
	} {
		got, id, host := ui.Arrived(tt.snap, tt.connection, map[string]bool{"old": true})
		if got != tt.want || id != tt.id {
			t.Errorf("%s: %s in %q, want %s in %q", tt.name, got, id, tt.want, tt.id)
		}
		if got == ui.ArrivalStarted && host != "cursor-vscode" {
			t.Errorf("%s: by %q", tt.name, host)
		}
	}
	bothOfHosts(t, func(t *testing.T, tx assets.Texts) {
		for a, want := range map[ui.Arrival][2]string{
			ui.ArrivalNone:    {in(tx, "Waiting for Zed to start our server…", "Esperando a que Zed arranque nuestro servidor…"), in(tx, "Waiting for your app to start our server…", "Esperando a que tu app arranque nuestro servidor…")},
			ui.ArrivalStarted: {in(tx, "Zed has started our server. Now ask it.", "Zed ha arrancado nuestro servidor. Ahora pídeselo."), in(tx, "Your app has started our server. Now ask it.", "Tu app ha arrancado nuestro servidor. Ahora pídeselo.")},
			ui.ArrivalCalled:  {in(tx, "It works: Zed has made its first call.", "Funciona: Zed ha hecho su primera llamada."), in(tx, "It works: your app has made its first call.", "Funciona: tu app ha hecho su primera llamada.")},
		} {
			named, tone := ui.ArrivalText(tx, a, "Zed")
			unnamed, _ := ui.ArrivalText(tx, a, "")
			if got := [2]string{named, unnamed}; got != want || (tone == ui.ToneGood) != (a == ui.ArrivalCalled) {
				t.Errorf("%s: %q (%s), want %q", a, got, tone, want)
			}
		}
		if got := ui.GuideConnectLabel(tx, "Claude Desktop"); got != in(tx, "Connect Claude Desktop", "Conectar Claude Desktop") {
			t.Errorf("button: %q", got)
		}
		if got := ui.GuideConnectLabel(tx, "Visual Studio Code Insiders"); got != in(tx, "Connect", "Conectar") {
			t.Errorf("button of a long title: %q", got)
		}
	})
}

func TestCallText(t *testing.T) {
	if got := ui.CallText("print(1)\u202e"); got != "print(1)" {
		t.Errorf("got %q", got)
	}
	if got := []rune(ui.CallText(strings.Repeat("ñ", 400))); len(got) != 160 || got[159] != '…' {
		t.Errorf("a long one has %d characters", len(got))
	}
}
