package settings_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/settings"
)

func TestProfiles(t *testing.T) {
	f := file(t, `{"profiles": [{"name": "prod", "kind": "sso", "new": {"z": 1.50}, "timeout_seconds": 600}], "keychain": "vault"}`)
	want := settings.Profile{Profile: awsauth.Profile{Name: "lab", Kind: awsauth.KindKeys, Region: "xx-test-1", Template: "base"}, IdleSeconds: 120}
	change(t, f, func(s *settings.Settings) {
		s.PutProfile(want)
		p, ok := s.Profile("prod")
		if !ok || p.Kind != awsauth.KindSSO || p.TimeoutSeconds != 600 || s.Keychain != "vault" {
			t.Errorf("read %+v", s)
		}
		s.PutProfile(settings.Profile{Profile: awsauth.Profile{Name: "prod", Kind: awsauth.KindShared}})
	})
	s, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Profile("lab"); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
	text, err := os.ReadFile(f.Path())
	if err != nil || !strings.Contains(string(text), `"z": 1.50`) || strings.Contains(string(text), "600") {
		t.Errorf("%v, file:\n%s", err, text)
	}
	change(t, f, func(s *settings.Settings) { s.DropProfile("lab") })
	if s, err = f.Read(); err != nil || len(s.Profiles) != 1 {
		t.Errorf("after a drop: %+v, %v", s, err)
	}
	for _, bad := range []string{`{"profiles": [{}]}`, `{"profiles": [1]}`, `{"profiles": [{"name": 1}]}`} {
		if s, err := file(t, bad).Read(); err == nil {
			t.Errorf("%s: %+v", bad, s)
		}
	}
}
