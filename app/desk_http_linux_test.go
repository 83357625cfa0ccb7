package app_test

import (
	"os"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// What is served over HTTP ends when somebody wants that, also where it can't be
// written down.
func TestDeskEndsHTTPUnwritten(t *testing.T) {
	o := newOffice(t)
	ctx := t.Context()
	on, at := true, "127.0.0.1:1"
	p, err := o.client.EditPreferences(ctx, control.PreferencesEdit{HTTP: &control.ServingEdit{On: &on, Address: &at}})
	if err != nil || !p.HTTP.On {
		t.Fatalf("%+v, %v", p.HTTP, err)
	}
	whole := readAll(t, p.Settings)
	if err := os.WriteFile(p.Settings, []byte(whole[:len(whole)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	off := control.PreferencesEdit{HTTP: &control.ServingEdit{On: new(bool)}}
	_, err = o.client.EditPreferences(ctx, off)
	if e := sandbox.ToError(err); err == nil || !strings.Contains(e.Hint, "served over HTTP") {
		t.Errorf("the settings are damaged: %+v", err)
	}
	if _, err = o.client.EditPreferences(ctx, off); err == nil || strings.Contains(sandbox.ToError(err).Hint, "served over HTTP") {
		t.Errorf("off already: %+v", err)
	}
	if err := os.WriteFile(p.Settings, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := o.client.Preferences(ctx); err != nil || p.HTTP.On || p.HTTP.State != control.ServingOff {
		t.Errorf("%+v, %v", p.HTTP, err)
	}
	if p, err := o.client.EditPreferences(ctx, off); err != nil || p.HTTP.On || strings.Contains(readAll(t, p.Settings), `"on"`) {
		t.Errorf("once they are mended: %+v, %v", p.HTTP, err)
	}
}
