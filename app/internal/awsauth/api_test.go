package awsauth_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// TestEndpointOfMicroVMs holds what says where the API is, for each kind of
// profile: variables are of those alone that are made of some.
func TestEndpointOfMicroVMs(t *testing.T) {
	const config = "[profile plain]\nregion = xx-test-1\n[profile near]\nregion = xx-test-1\nendpoint_url = http://of-all\n" +
		"[profile nearer]\nregion = xx-test-1\nservices = local\nendpoint_url = http://of-all\n[services local]\nlambda_microvms =\n  endpoint_url = http://of-one\n"
	both := map[string]string{"AWS_ENDPOINT_URL": "http://any", "AWS_ENDPOINT_URL_LAMBDA_MICROVMS": "http://api"}
	keys := awsauth.Profile{Name: "k", Kind: awsauth.KindKeys, Region: "xx-test-1"}
	shared := func(name string) awsauth.Profile {
		return awsauth.Profile{Name: "s", Kind: awsauth.KindShared, SharedProfile: name}
	}
	with := func(p awsauth.Profile, endpoint string) awsauth.Profile {
		p.Endpoint = endpoint
		return p
	}
	environment := awsauth.Profile{Name: "e", Kind: awsauth.KindEnvironment, Region: "xx-test-1"}
	tests := []struct {
		name    string
		profile awsauth.Profile
		env     map[string]string
		want    string // "" is that of AWS
	}{
		{"a key", keys, nil, ""},
		{"a key, in an environment that has a cloud", keys, both, ""},
		{"a key, with an endpoint", with(keys, "http://mine"), both, "http://mine"},
		{"files", shared("plain"), nil, ""},
		{"files, in an environment that has a cloud", shared("plain"), both, ""},
		{"files with an endpoint of all", shared("near"), both, "http://of-all"},
		{"files with one of the service", shared("nearer"), nil, "http://of-one"},
		{"files, with an endpoint", with(shared("nearer"), "http://mine"), nil, "http://mine"},
		{"variables", environment, both, "http://api"},
		{"variables of all services", environment, map[string]string{"AWS_ENDPOINT_URL": "http://any"}, "http://any"},
		{"variables, with an endpoint", with(environment, "http://mine"), both, "http://mine"},
		{"variables that name files", environment, map[string]string{"AWS_PROFILE": "nearer"}, "http://of-one"},
		{"variables that are to be ignored", environment, map[string]string{"AWS_ENDPOINT_URL": "http://any", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			dir := filepath.Join(r.home, ".aws")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, value := range tt.env {
				r.env[name] = value
			}
			cfg, err := r.Config(t.Context(), tt.profile)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if cfg.BaseEndpoint != nil {
				got = *cfg.BaseEndpoint
			}
			if got != tt.want {
				t.Errorf("endpoint %q, want %q", got, tt.want)
			}
		})
	}
}
