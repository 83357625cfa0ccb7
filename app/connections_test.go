package app

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

func TestPlaceOfAConnection(t *testing.T) {
	file := settings.Open(t.TempDir())
	err := file.Change(t.Context(), func(s *settings.Settings) error {
		s.Put(settings.Connection{ID: "c_local", Host: "cursor", Profile: "local"})
		s.Put(settings.Connection{ID: "c_open", Host: "cursor"})
		s.Put(settings.Connection{ID: "c_prod", Host: "zed", Profile: "prod"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "x"}
	aws := func(name, connection string) sandbox.Spec {
		return sandbox.Spec{
			Profile: sandbox.Profile{Name: name, Env: keys, Connection: connection}, Template: "image", Version: "1.0", Role: "role", Name: "web",
		}
	}
	local := sandbox.Profile{Name: "local"}
	tests := []struct {
		name string
		spec sandbox.Spec
		want sandbox.Spec
		hint string // of the error; "" is none
	}{
		{"no connection", aws("prod", ""), aws("prod", ""), ""},
		{"one that nobody knows", aws("prod", "c_other"), aws("prod", ""), ""},
		{"one without a profile", aws("prod", "c_open"), aws("prod", ""), ""},
		{"local before the environment", aws("prod", "c_local"), sandbox.Spec{Profile: local, Name: "web"}, ""},
		{
			"local in both keeps the image",
			sandbox.Spec{Profile: sandbox.Profile{Name: "local", Connection: "c_local"}, Template: "arenero-local"},
			sandbox.Spec{Profile: local, Template: "arenero-local"},
			"",
		},
		{"as the environment has it", aws("prod", "c_prod"), aws("prod", ""), ""},
		{
			"not in the environment",
			sandbox.Spec{Profile: sandbox.Profile{Name: "local", Connection: "c_prod"}},
			sandbox.Spec{Profile: sandbox.Profile{Name: "prod", Connection: "c_prod"}},
			"arenero hosts install zed --profile local",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := connections{file}.place(tt.spec)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("place() = %+v\nwant %+v", got, tt.want)
			}
			if (err == nil) != (tt.hint == "") || err != nil && !strings.Contains(sandbox.Message(err), tt.hint) {
				t.Errorf("place() = %v, want hint %q", err, tt.hint)
			}
			if err == nil {
				return
			}
			clouds := &clouds{conns: connections{file}}
			if _, again := clouds.get(t.Context(), got.Profile, true); again == nil || again.Error() != err.Error() {
				t.Errorf("its cloud: %v, want %v", again, err)
			}
		})
	}

	if err := os.WriteFile(file.Path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := (connections{file}).place(aws("prod", "c_local")); sandbox.CodeOf(err) != sandbox.StoreDown {
		t.Errorf("with damaged settings: %+v, %v", got, err)
	}
}
