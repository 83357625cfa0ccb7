package awsauth_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/keychain"
)

// A rig is an Auth with an account to use.
type rig struct {
	*awsauth.Auth
	aws      *awsAccount
	home     string
	secrets  *keychain.Memory
	person   *person
	profiles map[string]awsauth.Profile
	env      map[string]string
	deps     awsauth.Deps
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{aws: newAccount(t), home: t.TempDir(), secrets: &keychain.Memory{}, person: &person{}, profiles: map[string]awsauth.Profile{}, env: map[string]string{}}
	r.deps = awsauth.Deps{
		Secrets: r.secrets, Prompt: r.person, HTTP: r.aws, Home: r.home, Env: r.env,
		Profiles: func(name string) (awsauth.Profile, bool) { p, ok := r.profiles[name]; return p, ok },
		Names: func() []string {
			var names []string
			for name := range r.profiles {
				names = append(names, name)
			}
			return names
		},
	}
	r.again()
	// What this process has in its environment counts for nothing.
	for _, name := range awsauth.Variables {
		t.Setenv(name, "of-this-process")
	}
	t.Setenv("HOME", filepath.Join(r.home, "nobody"))
	return r
}

// again starts another process, as it were: nothing is left but what is kept.
func (r *rig) again() { r.Auth = awsauth.New(r.deps) }

// add makes a profile one of ours.
func (r *rig) add(p awsauth.Profile) awsauth.Profile {
	if p.Region == "" {
		p.Region = "xx-test-1"
	}
	r.profiles[p.Name] = p
	return p
}

// keys is a profile with a key in the keychain.
func (r *rig) keys(t *testing.T, p awsauth.Profile) awsauth.Profile {
	t.Helper()
	p.Kind = awsauth.KindKeys
	if err := r.SetKey(t.Context(), p.Name, awsauth.Key{AccessKeyID: "AKIAANA", SecretAccessKey: "canary-secret-of-ana"}); err != nil {
		t.Fatal(err)
	}
	return r.add(p)
}

// write puts a file below the home folder.
func (r *rig) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(r.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// who asks AWS who a profile is.
func (r *rig) who(t *testing.T, p awsauth.Profile) string {
	t.Helper()
	id, err := r.Identity(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return id.ARN
}

// signIn is the error that says so.
func signIn(t *testing.T, err error, profile string, why awsauth.Reason) {
	t.Helper()
	e, ok := errors.AsType[*awsauth.ErrSignIn](err)
	if !ok || e.Profile != profile || e.Why != why {
		t.Fatalf("error = %v, want that %s has to sign in: %s", err, profile, why)
	}
	if !strings.Contains(err.Error(), "arenero profiles login "+profile) {
		t.Errorf("%q does not say what to do", err)
	}
}

const (
	user  = "arn:aws:iam::" + account + ":user/ana"
	admin = "arn:aws:iam::" + account + ":role/Admin"
)

func assumed(role, session string) string {
	return "arn:aws:sts::" + account + ":assumed-role/" + role + "/" + session
}

// Every kind of profile comes to credentials that AWS takes.
func TestKinds(t *testing.T) {
	prog, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := fmt.Sprintf("'%s' -test.run='^TestCommand$' -test.count=1", prog)
	tests := []struct {
		name string
		make func(t *testing.T, r *rig) awsauth.Profile
		want string
	}{
		{"keys", func(t *testing.T, r *rig) awsauth.Profile {
			return r.keys(t, awsauth.Profile{Name: "a"})
		}, user},
		{"keys as they are", func(t *testing.T, r *rig) awsauth.Profile {
			return r.keys(t, awsauth.Profile{Name: "a", NoSession: true})
		}, user},
		{"role", func(t *testing.T, r *rig) awsauth.Profile {
			r.keys(t, awsauth.Profile{Name: "a"})
			return r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "a", RoleARN: admin, ExternalID: "ext", SessionName: "s"})
		}, assumed("Admin", "s")},
		{"chain of roles", func(t *testing.T, r *rig) awsauth.Profile {
			r.keys(t, awsauth.Profile{Name: "a"})
			r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "a", RoleARN: admin, ExternalID: "ext"})
			return r.add(awsauth.Profile{Name: "c d", Kind: awsauth.KindRole, Source: "b", RoleARN: "arn:aws:iam::" + account + ":role/Second"})
		}, assumed("Second", "arenero-c-d")},
		{"web identity", func(t *testing.T, r *rig) awsauth.Profile {
			return r.add(awsauth.Profile{Name: "w", Kind: awsauth.KindWebIdentity, RoleARN: "arn:aws:iam::" + account + ":role/Web", TokenFile: r.write(t, "token", "jwt")})
		}, assumed("Web", "arenero-w")},
		{"process", func(t *testing.T, r *rig) awsauth.Profile {
			r.env["AWS_TEST_PRINTS"] = `{"Version":1,"AccessKeyId":"AKIAANA","SecretAccessKey":"canary-secret-of-ana"}`
			return r.add(awsauth.Profile{Name: "p", Kind: awsauth.KindProcess, Command: command})
		}, user},
		{"single sign-on", func(t *testing.T, r *rig) awsauth.Profile {
			p := r.add(awsauth.Profile{Name: "s", Kind: awsauth.KindSSO, StartURL: start, SSORegion: "xx-sso-1", SSOAccount: account, SSORole: "Dev"})
			r.aws.devices["device"] = "ok"
			if err := r.Login(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			return p
		}, assumed("Dev", "ana")},
		{"role by single sign-on", func(t *testing.T, r *rig) awsauth.Profile {
			r.add(awsauth.Profile{Name: "s", Kind: awsauth.KindSSO, StartURL: start, SSORegion: "xx-sso-1", SSOAccount: account, SSORole: "Dev"})
			p := r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "s", RoleARN: admin, ExternalID: "ext"})
			r.aws.devices["device"] = "ok"
			if err := r.Login(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			return p
		}, assumed("Admin", "arenero-b")},
		{"shared, keys", func(t *testing.T, r *rig) awsauth.Profile {
			r.write(t, ".aws/config", "[profile x]\nregion = xx-test-1\n")
			r.write(t, ".aws/credentials", "[x]\naws_access_key_id = AKIAANA\naws_secret_access_key = canary-secret-of-ana\n")
			return awsauth.Profile{Name: "n", Kind: awsauth.KindShared, SharedProfile: "x"}
		}, user},
		{"shared, role", func(t *testing.T, r *rig) awsauth.Profile {
			r.write(t, ".aws/config", "[default]\nregion = xx-test-1\nrole_arn = "+admin+"\nsource_profile = x\nexternal_id = ext\nrole_session_name = me\n")
			r.write(t, ".aws/credentials", "[x]\naws_access_key_id = AKIAANA\naws_secret_access_key = canary-secret-of-ana\n")
			return awsauth.Profile{Name: "n", Kind: awsauth.KindShared}
		}, assumed("Admin", "me")},
		{"shared, role that is its own source", func(t *testing.T, r *rig) awsauth.Profile {
			r.write(t, ".aws/config", "[default]\nregion = xx-test-1\nrole_arn = "+admin+"\nsource_profile = default\nexternal_id = ext\nrole_session_name = me\n")
			r.write(t, ".aws/credentials", "[default]\naws_access_key_id = AKIAANA\naws_secret_access_key = canary-secret-of-ana\n")
			return awsauth.Profile{Name: "n", Kind: awsauth.KindShared}
		}, assumed("Admin", "me")},
		{"shared, role of the environment", func(t *testing.T, r *rig) awsauth.Profile {
			r.write(t, ".aws/config", "[default]\nregion = xx-test-1\nrole_arn = "+admin+"\ncredential_source = Environment\nexternal_id = ext\nrole_session_name = me\n")
			r.env["AWS_ACCESS_KEY_ID"], r.env["AWS_SECRET_ACCESS_KEY"] = "AKIAANA", "canary-secret-of-ana"
			return awsauth.Profile{Name: "n", Kind: awsauth.KindShared}
		}, assumed("Admin", "me")},
		{"shared, web identity", func(t *testing.T, r *rig) awsauth.Profile {
			r.write(t, ".aws/config", "[default]\nregion = xx-test-1\nrole_arn = arn:aws:iam::"+account+":role/Web\nweb_identity_token_file = "+r.write(t, "token", "jwt")+"\nrole_session_name = me\n")
			return awsauth.Profile{Name: "n", Kind: awsauth.KindShared}
		}, assumed("Web", "me")},
		{"shared, process", func(t *testing.T, r *rig) awsauth.Profile {
			r.env["AWS_TEST_PRINTS"] = `{"Version":1,"AccessKeyId":"AKIAANA","SecretAccessKey":"canary-secret-of-ana"}`
			r.write(t, ".aws/config", "[default]\nregion = xx-test-1\ncredential_process = "+command+"\n")
			return awsauth.Profile{Name: "n", Kind: awsauth.KindShared}
		}, user},
		{"shared, single sign-on", func(t *testing.T, r *rig) awsauth.Profile {
			r.write(t, ".aws/config", "[default]\nregion = xx-test-1\nsso_session = corp\nsso_account_id = "+account+"\nsso_role_name = Dev\n[sso-session corp]\nsso_region = xx-sso-1\nsso_start_url = "+start+"\n")
			r.aws.devices["device"] = "ok"
			p := awsauth.Profile{Name: "n", Kind: awsauth.KindShared}
			if err := r.Login(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			return p
		}, assumed("Dev", "ana")},
		{"shared, single sign-on as it once was", func(t *testing.T, r *rig) awsauth.Profile {
			r.write(t, ".aws/config", "[default]\nregion = xx-test-1\nsso_account_id = "+account+"\nsso_role_name = Dev\nsso_region = xx-sso-1\nsso_start_url = "+start+"\n")
			r.aws.devices["device"] = "ok"
			p := awsauth.Profile{Name: "n", Kind: awsauth.KindShared}
			if err := r.Login(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			return p
		}, assumed("Dev", "ana")},
		{"environment", func(t *testing.T, r *rig) awsauth.Profile {
			r.env["AWS_REGION"], r.env["AWS_ACCESS_KEY_ID"], r.env["AWS_SECRET_ACCESS_KEY"] = "xx-test-1", "AKIAANA", "canary-secret-of-ana"
			return awsauth.Profile{Name: "n", Kind: awsauth.KindEnvironment}
		}, user},
		{"environment, web identity", func(t *testing.T, r *rig) awsauth.Profile {
			r.env["AWS_REGION"], r.env["AWS_ROLE_ARN"], r.env["AWS_ROLE_SESSION_NAME"] = "xx-test-1", "arn:aws:iam::"+account+":role/Web", "pod"
			r.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = r.write(t, "token", "jwt")
			return awsauth.Profile{Name: "n", Kind: awsauth.KindEnvironment}
		}, assumed("Web", "pod")},
		{"login of the CLI", func(t *testing.T, r *rig) awsauth.Profile {
			r.write(t, ".aws/config", "[default]\nregion = xx-test-1\nlogin_session = "+user+"\n")
			// The name is the sum of the session, as the CLI has it.
			r.write(t, ".aws/login/cache/"+sum256(user)+".json", `{"accessToken":{"accessKeyId":"AKIAANA","secretAccessKey":"canary-secret-of-ana","sessionToken":"x","accountId":"`+account+`","expiresAt":"2999-01-01T00:00:00Z"},"tokenType":"t","refreshToken":"r","idToken":"i","clientId":"c","dpopKey":"k"}`)
			p := r.aws.keys["AKIAANA"]
			p.token = "x"
			r.aws.keys["AKIAANA"] = p
			return awsauth.Profile{Name: "n", Kind: awsauth.KindShared}
		}, user},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.aws.roles[admin] = role{external: "ext"}
			r.aws.roles["arn:aws:iam::"+account+":role/Second"] = role{from: "arn:aws:sts::" + account + ":assumed-role/Admin/"}
			r.aws.roles["arn:aws:iam::"+account+":role/Web"] = role{token: "jwt"}
			p := tt.make(t, r)
			if got := r.who(t, p); got != tt.want {
				t.Errorf("is %s, want %s", got, tt.want)
			}
			cfg, err := r.Config(t.Context(), p)
			if err != nil || cfg.Region != "xx-test-1" {
				t.Errorf("region %q, %v", cfg.Region, err)
			}
		})
	}
}

// TestCommand is no test, but the command of tests.
func TestCommand(*testing.T) {
	if out, ok := os.LookupEnv("AWS_TEST_PRINTS"); ok {
		fmt.Fprintln(os.Stderr, "canary on stderr")
		fmt.Println(out)
		if os.Getenv("AWS_ACCESS_KEY_ID") == "of-this-process" {
			fmt.Println("the environment of another")
		}
		os.Exit(len(os.Getenv("AWS_TEST_FAILS")))
	}
}

// Metadata services are asked as the SDK does: containers with their token,
// machines with the session of version 2.
func TestMetadata(t *testing.T) {
	creds := `"AccessKeyId":"AKIAANA","SecretAccessKey":"canary-secret-of-ana","Token":"","Expiration":"2999-01-01T00:00:00Z"`
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pod", func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "canary-pod-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "{"+creds+"}")
	})
	mux.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		fmt.Fprint(w, "canary-imds")
	})
	mux.HandleFunc("GET /latest/meta-data/iam/security-credentials/{name...}", func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.Header.Get("X-Aws-Ec2-Metadata-Token") != "canary-imds":
			w.WriteHeader(http.StatusUnauthorized)
		case q.PathValue("name") == "":
			fmt.Fprint(w, "machine")
		default:
			fmt.Fprint(w, `{"Code":"Success",`+creds+"}")
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	for name, env := range map[string]map[string]string{
		"container":                 {"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/pod", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "canary-pod-token"},
		"container, token in file":  {"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/pod", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "FILE"},
		"machine":                   {"AWS_EC2_METADATA_SERVICE_ENDPOINT": server.URL},
		"container of files":        {"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/pod", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "canary-pod-token", "config": "credential_source = EcsContainer\nrole_arn = " + admin},
		"machine of files":          {"AWS_EC2_METADATA_SERVICE_ENDPOINT": server.URL, "config": "credential_source = Ec2InstanceMetadata\nrole_arn = " + admin},
		"machine at a place it has": {"config": "ec2_metadata_service_endpoint = " + server.URL},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.deps.HTTP = nil
			for k, v := range env {
				r.env[k] = v
			}
			if r.env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] != "" {
				r.env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = r.write(t, "token", "canary-pod-token")
			}
			p := awsauth.Profile{Name: "m", Kind: awsauth.KindMetadata, Region: "xx-test-1"}
			if text, ok := env["config"]; ok {
				delete(r.env, "config")
				r.write(t, ".aws/config", "[default]\n"+text+"\n")
				p.Kind = awsauth.KindShared
			}
			sts := httptest.NewServer(r.aws)
			defer sts.Close()
			r.aws.roles[admin] = role{}
			r.deps.Endpoints = map[string]string{"STS": sts.URL}
			r.again()
			defer r.CloseIdleConnections()
			want := user
			if strings.Contains(env["config"], "role_arn") {
				want = assumed("Admin", "arenero-default")
			}
			if got := r.who(t, p); got != want {
				t.Errorf("is %s, want %s", got, want)
			}
		})
	}
	t.Run("elsewhere", func(t *testing.T) {
		r := newRig(t)
		r.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://203.0.113.1/pod"
		_, err := r.Config(t.Context(), awsauth.Profile{Name: "m", Kind: awsauth.KindMetadata, Region: "xx-test-1"})
		if _, ok := errors.AsType[*awsauth.ErrConfig](err); !ok {
			t.Errorf("error = %v", err)
		}
	})
}

// Certificates of a company count where a variable or a file names them.
func TestCertificates(t *testing.T) {
	r := newRig(t)
	server := httptest.NewUnstartedServer(r.aws)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the client that does not trust it
	server.StartTLS()
	defer server.Close()
	r.deps.HTTP, r.deps.Endpoints = nil, map[string]string{"STS": server.URL}
	bundle := r.write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	shared := awsauth.Profile{Name: "n", Kind: awsauth.KindShared, Region: "xx-test-1"}
	r.write(t, ".aws/credentials", "[default]\naws_access_key_id=AKIAANA\naws_secret_access_key=canary-secret-of-ana\n")
	for _, tt := range []struct{ variable, config, want string }{
		{"", "", "certificate"},
		{bundle, "", ""},
		{"", "[default]\nca_bundle=" + bundle + "\n", ""},
		{r.write(t, "none.pem", "nothing"), "", "there is no certificate in it"},
		{bundle + "x", "", "read certificates"},
	} {
		r.env["AWS_CA_BUNDLE"] = tt.variable
		r.write(t, ".aws/config", tt.config)
		r.again()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		id, err := r.Identity(ctx, shared)
		cancel()
		r.CloseIdleConnections()
		if tt.want == "" && (err != nil || id.ARN != user || id.Kind != "user" || id.Name != "ana" || id.Account != account) ||
			tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %+v, %v", tt, id, err)
		}
	}
}
