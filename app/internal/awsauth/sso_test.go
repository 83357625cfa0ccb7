package awsauth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/aws-sdk-go-v2/service/ssooidc"

	"github.com/arenero/arenero/app/internal/awsauth"
)

func (r *rig) sso() awsauth.Profile {
	return r.add(awsauth.Profile{Name: "s", Kind: awsauth.KindSSO, StartURL: start, SSORegion: "xx-sso-1", SSOSession: "corp", SSOAccount: account, SSORole: "Dev"})
}

// login is the file with the login of the session corp.
func (r *rig) login(t *testing.T) string {
	t.Helper()
	// The SDK knows the name, and wrongly the folder.
	path, err := ssocreds.StandardCachedTokenFilepath("corp")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(r.home, ".aws", "sso", "cache", filepath.Base(path))
}

func (r *rig) readLogin(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile(r.login(t))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// outside logs in as the CLI does, for as long as that.
func (r *rig) outside(t *testing.T, life time.Duration) {
	t.Helper()
	r.aws.mu.Lock()
	out := r.aws.newLogin()
	ends := r.aws.now().Add(life)
	r.aws.logins[out["accessToken"].(string)] = ends
	r.aws.mu.Unlock()
	text, err := json.Marshal(map[string]any{
		"startUrl": start, "region": "xx-sso-1", "accessToken": out["accessToken"], "expiresAt": ends.UTC().Format("2006-01-02T15:04:05Z"),
		"clientId": "client", "clientSecret": "canary-client-secret", "registrationExpiresAt": "2999-01-01T00:00:00Z",
		"refreshToken": out["refreshToken"], "of the CLI": map[string]any{"kept": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, strings.TrimPrefix(r.login(t), r.home+string(filepath.Separator)), string(text))
}

// With a code in any browser: what the person has to do is shown, and the
// service is asked no more often than it wants.
func TestDeviceLogin(t *testing.T) {
	for _, tt := range []struct {
		name   string
		states []string // one after another, half a minute each
		check  func(t *testing.T, err error)
	}{
		{"confirmed", []string{"pending", "slow", "ok"}, func(t *testing.T, err error) {
			if err != nil {
				t.Fatal(err)
			}
		}},
		{"denied", []string{"pending", "denied"}, func(t *testing.T, err error) {
			if _, ok := errors.AsType[*awsauth.ErrDenied](err); !ok {
				t.Fatalf("error = %v", err)
			}
		}},
		{"too late", []string{"pending"}, func(t *testing.T, err error) { signIn(t, err, "s", awsauth.Expired) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			synctest.Test(t, func(t *testing.T) {
				r.aws.devices["device"] = tt.states[0]
				go func() {
					for _, state := range tt.states[1:] {
						time.Sleep(30 * time.Second)
						r.aws.set(func() { r.aws.devices["device"] = state })
					}
				}()
				tt.check(t, r.Login(t.Context(), r.sso()))
				if len(r.person.shown) != 1 || r.person.shown[0].Code != "ABCD-EFGH" || !strings.Contains(r.person.shown[0].URL, "ABCD-EFGH") {
					t.Errorf("shown: %v", r.person.shown)
				}
				if tt.name != "confirmed" {
					return
				}
				if n := r.aws.count("/token urn:ietf:params:oauth:grant-type:device_code"); n > 40 {
					t.Errorf("asked %d times in a minute", n)
				}
				if got := r.who(t, r.sso()); got != assumed("Dev", "ana") {
					t.Errorf("is %s", got)
				}
			})
		})
	}
}

// The file is one that the CLI and the SDKs read, and nobody else can.
func TestLoginIsShared(t *testing.T) {
	r := newRig(t)
	r.aws.devices["device"] = "ok"
	if err := r.Login(t.Context(), r.sso()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(r.login(t))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	got := r.readLogin(t)
	for _, key := range []string{"startUrl", "region", "accessToken", "expiresAt", "clientId", "clientSecret", "registrationExpiresAt", "refreshToken"} {
		if s, _ := got[key].(string); s == "" || strings.HasSuffix(key, "At") && !strings.HasSuffix(s, "Z") {
			t.Errorf("%s = %v", key, got[key])
		}
	}
	client := &http.Client{Transport: r.aws}
	provider := ssocreds.New(sso.New(sso.Options{Region: "xx-sso-1", HTTPClient: client}), account, "Dev", start, func(o *ssocreds.Options) {
		o.SSOTokenProvider = ssocreds.NewSSOTokenProvider(ssooidc.New(ssooidc.Options{Region: "xx-sso-1", HTTPClient: client}), r.login(t))
	})
	if creds, err := provider.Retrieve(t.Context()); err != nil || creds.AccountID != account {
		t.Fatalf("the SDK with our login: %v", err)
	}
	// The SDK renews what we wrote, and we use what it renewed.
	got["expiresAt"] = "2001-01-01T00:00:00Z"
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.login(t), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Retrieve(t.Context()); err != nil {
		t.Fatalf("the SDK renews our login: %v", err)
	}
	if who := r.who(t, r.sso()); who != assumed("Dev", "ana") || r.aws.count("/token refresh_token") != 1 {
		t.Errorf("is %s after %d renewals", who, r.aws.count("/token refresh_token"))
	}
}

// With the browser of this computer: only who has the state may come back.
func TestCodeLogin(t *testing.T) {
	r := newRig(t)
	browse := func(page string, change func(url.Values)) {
		u, err := url.Parse(page)
		if err != nil {
			t.Error(err)
			return
		}
		q := u.Query()
		if u.Host != "oidc.xx-sso-1.amazonaws.com" || u.Path != "/authorize" || q.Get("client_id") != "client" || q.Get("scopes") != "sso:account:access" {
			t.Errorf("page %s", page)
		}
		back := url.Values{"code": {"grant"}, "state": {q.Get("state")}}
		if change != nil {
			change(back)
		}
		r.aws.set(func() { r.aws.grants["grant"] = q })
		resp, err := http.Get(q.Get("redirect_uri") + "?" + back.Encode())
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
	}
	var change func(url.Values)
	r.deps.Browser = func(page string) error {
		go func() {
			browse(page, func(v url.Values) { v.Set("state", "of another") }) // which counts for nothing
			browse(page, change)
		}()
		return nil
	}
	r.again()
	if err := r.Login(t.Context(), r.sso()); err != nil {
		t.Fatal(err)
	}
	if got := r.who(t, r.sso()); got != assumed("Dev", "ana") {
		t.Errorf("is %s", got)
	}
	change = func(v url.Values) { v.Del("code"); v.Set("error", "access_denied") }
	if err := r.Login(t.Context(), r.sso()); err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("a person who says no: %v", err)
	}
	// Where no browser can be opened, the person gets a code to compare.
	r.deps.Browser = func(string) error { return errors.New("no display") }
	r.again()
	r.aws.devices["device"] = "ok"
	if err := r.Login(t.Context(), r.sso()); err != nil {
		t.Fatal(err)
	}
	if last := r.person.shown[len(r.person.shown)-1]; last.Code == "" {
		t.Errorf("shown: %v", last)
	}
}

// A login renews itself until AWS no longer lets it, and is then asked for once,
// not at each request. One made with another program counts at once.
func TestRenewal(t *testing.T) {
	r := newRig(t)
	p := r.sso()
	_, err := r.Identity(t.Context(), p)
	signIn(t, err, "s", awsauth.NotSignedIn)

	r.outside(t, time.Minute)
	before := r.readLogin(t)
	if got := r.who(t, p); got != assumed("Dev", "ana") {
		t.Errorf("is %s", got)
	}
	after := r.readLogin(t)
	if r.aws.count("/token refresh_token") != 1 || after["accessToken"] == before["accessToken"] || after["refreshToken"] == before["refreshToken"] {
		t.Errorf("renewed %d times", r.aws.count("/token refresh_token"))
	}
	if kept, _ := after["of the CLI"].(map[string]any); kept["kept"] != true {
		t.Error("what the CLI wrote is gone")
	}

	r.outside(t, -time.Minute)
	r.aws.set(func() { clear(r.aws.renews) })
	for range 3 {
		_, err := r.Identity(t.Context(), p)
		signIn(t, err, "s", awsauth.Expired)
	}
	if got := r.aws.count("/token refresh_token"); got != 2 {
		t.Errorf("AWS was asked %d times, want 2", got)
	}
	r.outside(t, time.Hour)
	if got := r.who(t, p); got != assumed("Dev", "ana") {
		t.Errorf("is %s", got)
	}

	// An administrator ends all logins: what is left holds while it holds.
	r.aws.set(func() { clear(r.aws.logins); clear(r.aws.renews) })
	r.again()
	_, err = r.Identity(t.Context(), p)
	signIn(t, err, "s", awsauth.Revoked)

	r.outside(t, time.Hour)
	r.who(t, p)
	if err := os.Remove(r.login(t)); err != nil {
		t.Fatal(err)
	}
	_, err = r.Identity(t.Context(), p)
	signIn(t, err, "s", awsauth.NotSignedIn)

	r.outside(t, time.Hour)
	r.who(t, p)
	if err := r.Logout(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	_, err = r.Identity(t.Context(), p)
	signIn(t, err, "s", awsauth.NotSignedIn)
	if r.aws.count("/logout") != 1 {
		t.Error("AWS was not told of the logout")
	}

	r.outside(t, time.Hour)
	nobody := p
	nobody.Name, nobody.SSORole = "x", "Nobody"
	_, err = r.Identity(t.Context(), r.add(nobody))
	if denied, ok := errors.AsType[*awsauth.ErrDenied](err); !ok || denied.Profile != "x" {
		t.Errorf("a role that was not given: %v", err)
	}
}

// A profile that is only in the environment is not one of ours to sign in to.
func TestSignInElsewhere(t *testing.T) {
	r := newRig(t)
	r.write(t, ".aws/config", "[profile x]\nregion = xx-test-1\nsso_session = corp\nsso_account_id = "+account+"\nsso_role_name = Dev\n[sso-session corp]\nsso_region = xx-sso-1\nsso_start_url = "+start+"\n")
	r.env["AWS_PROFILE"] = "x"
	_, err := r.Identity(t.Context(), awsauth.Profile{Kind: awsauth.KindEnvironment})
	if e, ok := errors.AsType[*awsauth.ErrSignIn](err); !ok || e.Profile != "x" || !strings.Contains(err.Error(), "run aws sso login --profile x") {
		t.Errorf("error = %v", err)
	}
}

// Without a network a login that holds is used, and one that doesn't is no
// reason to sign in.
func TestRenewalOffline(t *testing.T) {
	r := newRig(t)
	r.outside(t, -time.Minute)
	r.aws.set(func() { r.aws.down = true })
	_, err := r.Identity(t.Context(), r.sso())
	if _, ok := errors.AsType[*awsauth.ErrSignIn](err); err == nil || ok {
		t.Fatalf("error = %v", err)
	}
	r.aws.set(func() { r.aws.down = false })
	if got := r.who(t, r.sso()); got != assumed("Dev", "ana") {
		t.Errorf("is %s", got)
	}
}

// TestRenewer is one of the processes of TestRenewalAtOnce.
func TestRenewer(t *testing.T) {
	at := os.Getenv("ARENERO_TEST_RENEW")
	if at == "" {
		return
	}
	resp, err := http.Get(at + "/together")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	a := awsauth.New(awsauth.Deps{Home: os.Getenv("ARENERO_TEST_HOME"), Endpoints: map[string]string{"STS": at, "SSO": at, "SSO_OIDC": at}})
	id, err := a.Identity(t.Context(), awsauth.Profile{
		Name: "s", Kind: awsauth.KindSSO, Region: "xx-test-1",
		StartURL: start, SSORegion: "xx-sso-1", SSOSession: "corp", SSOAccount: account, SSORole: "Dev",
	})
	if err != nil || id.ARN != assumed("Dev", "ana") {
		t.Fatalf("is %v, %v", id, err)
	}
}

// Of processes that find the login too old at the same moment, one renews it:
// its refresh token is good for once.
func TestRenewalAtOnce(t *testing.T) {
	r := newRig(t)
	r.outside(t, -time.Minute)
	const processes = 3
	var ready sync.WaitGroup
	ready.Add(processes)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/together":
			ready.Done()
			ready.Wait()
			return
		case "/token": // long enough that whoever does not wait is seen
			time.Sleep(300 * time.Millisecond)
		}
		r.aws.ServeHTTP(w, q)
	}))
	defer server.Close()
	var all []*exec.Cmd
	for range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRenewer$", "-test.count=1")
		cmd.Env = append(os.Environ(), "ARENERO_TEST_RENEW="+server.URL, "ARENERO_TEST_HOME="+r.home)
		cmd.Stdout = &strings.Builder{}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, cmd.Stdout)
		}
	}
	if got := r.aws.count("/token refresh_token"); got != 1 {
		t.Errorf("renewed %d times", got)
	}
}

// A login that can't be read is none, and a logout works though AWS is away.
func TestLogoutOffline(t *testing.T) {
	r := newRig(t)
	p := r.sso()
	r.outside(t, time.Hour)
	r.who(t, p)
	r.aws.set(func() { r.aws.down = true })
	if err := r.Logout(t.Context(), p); err == nil || !strings.Contains(err.Error(), "AWS was not told") {
		t.Errorf("error = %v", err)
	}
	if _, err := os.Stat(r.login(t)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the login is still there: %v", err)
	}
	r.aws.set(func() { r.aws.down = false })
	for _, text := range []string{"", "{", `{"accessToken":"x"}`} {
		if err := os.WriteFile(r.login(t), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := r.Identity(t.Context(), p)
		signIn(t, err, "s", awsauth.NotSignedIn)
		if err := r.Logout(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
}
