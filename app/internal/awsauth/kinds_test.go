package awsauth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
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

// A code serves for hours, for several profiles and several processes.
func TestMFA(t *testing.T) {
	r := newRig(t)
	r.aws.life = 12 * time.Hour
	r.aws.roles[admin] = role{mfa: true}
	r.keys(t, awsauth.Profile{Name: "a", MFASerial: serial})
	a := r.profiles["a"]
	b := r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "a", RoleARN: admin, MFASerial: serial})
	for _, p := range []awsauth.Profile{a, b} {
		_, err := r.Identity(t.Context(), p)
		signIn(t, err, p.Name, awsauth.NeedsMFA)
	}
	if len(r.person.asked) > 0 {
		t.Fatal("asked while signing")
	}
	for _, code := range []string{"000000", "12345", "12345x"} {
		r.person.code = code
		if err := r.Login(t.Context(), b); !errors.Is(err, awsauth.ErrWrongCode) {
			t.Fatalf("code %s: %v", code, err)
		}
	}
	r.aws.set(func() { r.aws.codes["123456"] = true })
	r.person.code = "123456"
	if err := r.Login(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if want := "b " + serial; r.person.asked[len(r.person.asked)-1] != want {
		t.Errorf("asked for %q, want %q", r.person.asked[len(r.person.asked)-1], want)
	}
	asked := len(r.person.asked)
	for range 2 {
		if got := r.who(t, a); got != user {
			t.Errorf("is %s", got)
		}
		if got := r.who(t, b); got != assumed("Admin", "arenero-b") {
			t.Errorf("is %s", got)
		}
		r.again()
	}
	if got := r.aws.count("GetSessionToken"); got != 2 || len(r.person.asked) != asked { // the wrong code, the right one
		t.Errorf("%d sessions, asked %d times more", got, len(r.person.asked)-asked)
	}
	// The code of before is none any more.
	if err := r.Login(t.Context(), b); !errors.Is(err, awsauth.ErrWrongCode) {
		t.Errorf("used twice: %v", err)
	}
	if err := r.Logout(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	_, err := r.Identity(t.Context(), a)
	signIn(t, err, "a", awsauth.NeedsMFA)
}

// A role of files whose key stands in files gets its MFA session in the same
// way, and one that comes by a session asks for the role itself.
func TestMFAOfFiles(t *testing.T) {
	r := newRig(t)
	r.aws.roles[admin] = role{mfa: true}
	r.write(t, ".aws/config", "[default]\nregion = xx-test-1\n[profile r]\nregion = xx-test-1\nrole_arn = "+admin+"\nsource_profile = default\nmfa_serial = "+serial+"\n")
	r.write(t, ".aws/credentials", "[default]\naws_access_key_id = AKIAANA\naws_secret_access_key = canary-secret-of-ana\n")
	p := awsauth.Profile{Name: "n", Kind: awsauth.KindShared, SharedProfile: "r"}
	_, err := r.Identity(t.Context(), p)
	signIn(t, err, "n", awsauth.NeedsMFA)
	r.aws.set(func() { r.aws.codes["123456"] = true })
	r.person.code = "123456"
	if err := r.Login(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if got := r.who(t, p); got != assumed("Admin", "arenero-r") {
		t.Errorf("is %s", got)
	}

	r.env["AWS_TEST_PRINTS"] = `{"Version":1,"AccessKeyId":"AKIAANA","SecretAccessKey":"canary-secret-of-ana"}`
	prog, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.add(awsauth.Profile{Name: "cmd", Kind: awsauth.KindProcess, Command: fmt.Sprintf("'%s' -test.run='^TestCommand$'", prog)})
	b := r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "cmd", RoleARN: admin, MFASerial: serial})
	_, err = r.Identity(t.Context(), b)
	signIn(t, err, "b", awsauth.NeedsMFA)
	r.aws.set(func() { r.aws.codes["654321"] = true })
	r.person.code = "654321"
	if err := r.Login(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	r.again()
	if got := r.who(t, b); got != assumed("Admin", "arenero-b") {
		t.Errorf("is %s", got)
	}
}

// What a person has to do, and what nobody can, are told apart.
func TestDenials(t *testing.T) {
	r := newRig(t)
	r.keys(t, awsauth.Profile{Name: "a"})
	b := r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "a", RoleARN: admin})
	_, err := r.Identity(t.Context(), b)
	denied, ok := errors.AsType[*awsauth.ErrDenied](err)
	if !ok || denied.Profile != "b" || !strings.Contains(err.Error(), admin) {
		t.Errorf("a role that we may not have: %v", err)
	}
	r.aws.set(func() { delete(r.aws.keys, "AKIAANA") })
	r.again()
	_, err = r.Identity(t.Context(), r.profiles["a"])
	signIn(t, err, "a", awsauth.KeysRefused)
	if err := r.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	_, err = r.Identity(t.Context(), b)
	signIn(t, err, "a", awsauth.NoKeys)

	r.person.err = context.Canceled
	p := r.add(awsauth.Profile{Name: "s", Kind: awsauth.KindSSO, StartURL: start, SSORegion: "xx-sso-1", SSOAccount: account, SSORole: "Dev"})
	if err := r.Login(t.Context(), p); !errors.Is(err, context.Canceled) {
		t.Errorf("a person who will not: %v", err)
	}
}

func TestLoops(t *testing.T) {
	r := newRig(t)
	r.add(awsauth.Profile{Name: "a", Kind: awsauth.KindRole, Source: "b", RoleARN: admin})
	r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "c", RoleARN: admin})
	r.add(awsauth.Profile{Name: "c", Kind: awsauth.KindRole, Source: "b", RoleARN: admin})
	r.add(awsauth.Profile{Name: "d", Kind: awsauth.KindRole, Source: "nobody", RoleARN: admin})
	r.write(t, ".aws/config", "[profile a]\nrole_arn = r\nsource_profile = b\nregion = x\n[profile b]\nrole_arn = r\nsource_profile = a\n[profile self]\nrole_arn = r\nsource_profile = self\n[profile d]\nrole_arn = r\nsource_profile = nobody\n")
	for _, tt := range []struct {
		p    awsauth.Profile
		want []string
	}{
		{r.profiles["a"], []string{"b", "c", "b"}},
		{awsauth.Profile{Name: "n", Kind: awsauth.KindShared, SharedProfile: "a"}, []string{"a", "b", "a"}},
		{awsauth.Profile{Name: "n", Kind: awsauth.KindShared, SharedProfile: "self"}, []string{"self", "self"}},
	} {
		_, err := r.Config(t.Context(), tt.p)
		loop, ok := errors.AsType[*awsauth.ErrLoop](err)
		if !ok || !slices.Equal(loop.Names, tt.want) {
			t.Errorf("%s: %v, want %v", tt.p.Name, err, tt.want)
		}
	}
	for _, p := range []awsauth.Profile{r.profiles["d"], {Name: "n", Kind: awsauth.KindShared, SharedProfile: "d"}} {
		_, err := r.Config(t.Context(), p)
		none, ok := errors.AsType[*awsauth.ErrNoProfile](err)
		if !ok || none.Name != "nobody" || none.From != "d" || !slices.Contains(none.Have, "a") {
			t.Errorf("a source that is not there: %v", err)
		}
	}
}
