package app

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// Where a client goes is up to the profile, and not to what the engine happens to
// have in its environment. VMs of a cloud without TLS are reached where that is.
func TestEndpointOfClouds(t *testing.T) {
	t.Setenv(paths.Home, filepath.Join(t.TempDir(), "h"))
	t.Setenv("AWS_ENDPOINT_URL", "http://of-the-engine")
	t.Setenv("AWS_ENDPOINT_URL_LAMBDA_MICROVMS", "http://of-the-engine")
	dirs, err := paths.Find()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	file := settings.Open(dirs.Config)
	a := newAccounts(dirs, file, "us", log)
	c := &clouds{conns: connections{file: file}, accounts: a, clock: clockwork.NewRealClock(), log: log, open: map[string]*cloud{}}
	key := awsauth.Profile{Name: "k", Kind: awsauth.KindKeys, Region: "us-east-1"}
	own := func(endpoint string) func() (*cloud, error) {
		return func() (*cloud, error) {
			p := key
			p.Endpoint = endpoint
			return c.ofOwner(t.Context(), settings.Profile{Profile: p})
		}
	}
	described := func(vars map[string]string) func() (*cloud, error) {
		return func() (*cloud, error) {
			env := map[string]string{"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIAX", "AWS_SECRET_ACCESS_KEY": "s"}
			for name, value := range vars {
				env[name] = value
			}
			at, err := c.get(t.Context(), sandbox.Profile{Name: sandbox.ProfileDescribed + "x", Env: env}, false)
			have, _ := at.(*cloud)
			return have, err
		}
	}
	tests := []struct {
		name  string
		open  func() (*cloud, error)
		want  string // "" is that of AWS
		plain bool
	}{
		{"a profile", own(""), "", false},
		{"a profile with an endpoint", own("http://127.0.0.1:1"), "http://127.0.0.1:1", true},
		{"a profile with one that has TLS", own("https://vpce.example.org"), "https://vpce.example.org", false},
		{"an environment", described(nil), "", false},
		{"an environment with an endpoint", described(map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:2"}), "http://127.0.0.1:2", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			have, err := tt.open()
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if o := have.api.Options(); o.BaseEndpoint != nil {
				got = *o.BaseEndpoint
			}
			if got != tt.want || (have.dial != nil) != tt.plain || have.api.Options().NoRateLimit != tt.plain {
				t.Errorf("endpoint %q, dial %v, want %q, %v", got, have.dial != nil, tt.want, tt.plain)
			}
		})
	}
}
