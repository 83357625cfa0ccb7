package app

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/awsauth"
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
			got, err := connections{file}.place(tt.spec, true)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("place() = %+v\nwant %+v", got, tt.want)
			}
			if (err == nil) != (tt.hint == "") || err != nil && !strings.Contains(sandbox.Message(err), tt.hint) {
				t.Errorf("place() = %v, want hint %q", err, tt.hint)
			}
			if err == nil {
				return
			}
			clouds := &clouds{conns: connections{file}, open: map[string]*cloud{}}
			if _, again := clouds.get(t.Context(), got.Profile, true); again == nil || again.Error() != err.Error() {
				t.Errorf("its cloud: %v, want %v", again, err)
			}
		})
	}

	if err := os.WriteFile(file.Path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := (connections{file}).place(aws("prod", "c_local"), true); sandbox.CodeOf(err) != sandbox.StoreDown {
		t.Errorf("with damaged settings: %+v, %v", got, err)
	}
}

// What says where sandboxes run, in its order: the profile of the connection,
// the one that the environment names, what the environment describes, the
// default, this computer.
func TestR26_OrderOfProfiles(t *testing.T) {
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "x"}
	const described = "env:key#1"
	// As a bridge passes on what its environment says.
	environments := map[string]struct {
		asked sandbox.Profile
		want  string // "" is for what comes after it
	}{
		"nothing":            {sandbox.Profile{}, ""},
		"describes AWS":      {sandbox.Profile{Name: described, Env: keys}, described},
		"names local":        {sandbox.Profile{Name: "local"}, "local"},
		"names ours":         {sandbox.Profile{Name: "work", Env: map[string]string{"AWS_PROFILE": "work"}}, "work"},
		"names one of AWS's": {sandbox.Profile{Name: "other", Env: map[string]string{"AWS_PROFILE": "other"}}, "other"},
		"names nobody's":     {sandbox.Profile{Name: "nobody"}, "!"},
	}
	connections := map[string]string{
		"": "", "local": "local", "prod": "prod", ProfileEnvironment: "", "gone": "!",
	}
	defaults := map[string]string{"": "local", "local": "local", "lab": "lab", "gone": "!"}
	for profile, ofConnection := range connections {
		for env, e := range environments {
			for def, ofDefault := range defaults {
				known := settings.Settings{DefaultProfile: def, Connections: []settings.Connection{{ID: "c_a", Host: "zed", Profile: profile}}}
				for _, name := range []string{"prod", "work", "lab"} {
					known.PutProfile(settings.Profile{Profile: awsauth.Profile{Name: name, Kind: awsauth.KindKeys}})
				}
				want := ofConnection
				if want == "" {
					want = e.want
				}
				if want == "" {
					want = ofDefault
				}
				asked := e.asked
				asked.Connection = "c_a"
				at, err := resolve(known, asked)
				if (err != nil) != (want == "!") || err == nil && at.profile.Name != want {
					t.Errorf("connection %q, environment that %s, default %q: %+v, %v, want %s", profile, env, def, at, err, want)
					continue
				}
				if err != nil {
					continue
				}
				own := slices.Contains([]string{"prod", "work", "lab"}, want)
				if (at.own != nil) != own || own && len(at.profile.Env) > 0 {
					t.Errorf("connection %q, environment that %s, default %q: %+v", profile, env, def, at)
				}
				if !own && want != "local" && len(at.profile.Env) == 0 {
					t.Errorf("environment that %s: its variables are lost", env)
				}
			}
		}
	}
}

// What a profile says of its sandboxes is for those who say nothing.
func TestProfileFillsInTheSpec(t *testing.T) {
	file := settings.Open(t.TempDir())
	err := file.Change(t.Context(), func(s *settings.Settings) error {
		s.PutProfile(settings.Profile{
			Profile:        awsauth.Profile{Name: "prod", Kind: awsauth.KindKeys, Template: "base", Version: "3.0", Role: "role"},
			TimeoutSeconds: 600, IdleSeconds: 120,
		})
		s.PutProfile(settings.Profile{Profile: awsauth.Profile{Name: "bare", Kind: awsauth.KindKeys}})
		s.Put(settings.Connection{ID: "c_prod", Host: "zed", Profile: "prod"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	prod := sandbox.Profile{Name: "prod"}
	full := sandbox.Spec{Profile: prod, Template: "base", Version: "3.0", Role: "role", Timeout: 10 * time.Minute, Idle: 2 * time.Minute}
	usual := sandbox.Spec{Timeout: time.Hour, Idle: 5 * time.Minute}
	with := func(s sandbox.Spec, edit func(*sandbox.Spec)) sandbox.Spec { edit(&s); return s }
	tests := []struct {
		name  string
		spec  sandbox.Spec
		lease bool
		want  sandbox.Spec
	}{
		{"by its name", sandbox.Spec{Profile: prod}, false, full},
		{"of a connection, over what is usual", with(usual, func(s *sandbox.Spec) { s.Profile.Connection = "c_prod" }), true, full},
		{
			"of a connection, where the environment describes another",
			sandbox.Spec{Profile: sandbox.Profile{Name: "env:x", Env: map[string]string{"AWS_REGION": "x"}, Connection: "c_prod"}, Template: "theirs", Version: "1.0", Role: "theirs"},
			true, full,
		},
		{
			"what is asked for",
			sandbox.Spec{Profile: prod, Template: "mine", Timeout: time.Hour, Idle: time.Minute},
			false,
			sandbox.Spec{Profile: prod, Template: "mine", Role: "role", Timeout: time.Hour, Idle: time.Minute},
		},
		{"no longer than it lives", sandbox.Spec{Profile: prod, Timeout: time.Minute}, false, with(full, func(s *sandbox.Spec) { s.Timeout, s.Idle = time.Minute, 0 })},
		{"one that says nothing", with(usual, func(s *sandbox.Spec) { s.Profile.Name = "bare" }), true, with(usual, func(s *sandbox.Spec) { s.Profile.Name = "bare" })},
	}
	for _, tt := range tests {
		got, err := connections{file}.place(tt.spec, tt.lease)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", tt.name, got, err, tt.want)
		}
	}
}
