package awsauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// unreachable is the error that says so.
func unreachable(t *testing.T, err error, profile, host string, why awsauth.Obstacle) {
	t.Helper()
	e, ok := errors.AsType[*awsauth.ErrUnreachable](err)
	if !ok || e.Profile != profile || e.Host != host || e.Why != why {
		t.Errorf("error = %v (%+v), want that %s can't be reached for %s: %s", err, e, host, profile, why)
	}
}

// What is wrong with the way to AWS is no matter of who signs in.
func TestUnreachable(t *testing.T) {
	page := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(status)
			fmt.Fprint(w, "<!doctype html><title>Welcome</title>")
		}
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc // nil: nobody listens
		why    awsauth.Obstacle
	}{
		"nobody":          {nil, awsauth.Offline},
		"hotel":           {page(200), awsauth.Stranger},
		"hotel, refusing": {page(403), awsauth.Stranger},
		"hotel, elsewhere": {func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, "http://portal.example/login", http.StatusTemporaryRedirect)
		}, awsauth.Stranger},
		"hung up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, awsauth.Offline},
		"ill": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}, awsauth.Busy},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tt.answer)
			if tt.answer == nil {
				server.Close()
			}
			defer server.Close()
			r := newRig(t)
			r.deps.HTTP = nil
			r.deps.Endpoints = map[string]string{"STS": server.URL, "SSO": server.URL, "SSO_OIDC": server.URL}
			r.again()
			defer r.CloseIdleConnections()
			host := "127.0.0.1"
			if tt.why == awsauth.Busy { // the SDK does not say whose answer it was
				host = ""
			}
			_, err := r.Identity(t.Context(), r.keys(t, awsauth.Profile{Name: "k"}))
			unreachable(t, err, "k", host, tt.why)
			err = r.Login(t.Context(), r.sso())
			unreachable(t, err, "s", host, tt.why)
			r.outside(t, time.Hour)
			_, err = r.Identity(t.Context(), r.sso())
			unreachable(t, err, "s", host, tt.why)
			if strings.Contains(fmt.Sprint(err), "canary") {
				t.Errorf("%q has a secret", err)
			}
		})
	}
	t.Run("no such host", func(t *testing.T) {
		r := newRig(t)
		r.deps.HTTP = &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			host, _, _ := net.SplitHostPort(address)
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}}
		r.again()
		_, err := r.Identity(t.Context(), r.keys(t, awsauth.Profile{Name: "k"}))
		unreachable(t, err, "k", "sts.xx-test-1.amazonaws.com", awsauth.Offline)
	})
	t.Run("not trusted", func(t *testing.T) {
		r := newRig(t)
		server := httptest.NewUnstartedServer(r.aws)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		defer server.Close()
		r.deps.HTTP, r.deps.Endpoints = nil, map[string]string{"STS": server.URL}
		r.again()
		defer r.CloseIdleConnections()
		_, err := r.Identity(t.Context(), r.keys(t, awsauth.Profile{Name: "k"}))
		unreachable(t, err, "k", "127.0.0.1", awsauth.Untrusted)
	})
	t.Run("whoever goes", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Identity(ctx, r.keys(t, awsauth.Profile{Name: "k"})); !errors.Is(err, context.Canceled) || errors.As(err, new(*awsauth.ErrUnreachable)) {
			t.Errorf("error = %v", err)
		}
	})
}

// What becomes a part of the names of hosts is looked at first.
func TestRegions(t *testing.T) {
	r := newRig(t)
	for _, region := range []string{"evil.example/#", "a b", "A", "-x", "x-", "x@y", strings.Repeat("x", 64)} {
		for _, p := range []awsauth.Profile{
			{Name: "p", Kind: awsauth.KindMetadata, Region: region},
			{Name: "p", Kind: awsauth.KindSSO, Region: "xx-test-1", SSORegion: region, StartURL: start, SSOAccount: account, SSORole: "r"},
		} {
			if _, err := r.Config(t.Context(), p); !errors.As(err, new(*awsauth.ErrConfig)) {
				t.Errorf("region %q: %v", region, err)
			}
		}
		r.env["AWS_REGION"] = region
		if _, err := r.Config(t.Context(), awsauth.Profile{Kind: awsauth.KindEnvironment}); !errors.As(err, new(*awsauth.ErrConfig)) {
			t.Errorf("region %q of the environment: %v", region, err)
		}
	}
}

// Nobody is sent to what is no page, and what has expired already is no login.
func TestServiceThatLies(t *testing.T) {
	var device, token map[string]any
	var expiration int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]any{"clientId": "c", "clientSecret": "s", "clientSecretExpiresAt": time.Now().Add(time.Hour).Unix()}
		switch q.URL.Path {
		case "/device_authorization":
			answer = device
		case "/token":
			answer = token
		case "/federation/credentials":
			answer = map[string]any{"roleCredentials": map[string]any{"accessKeyId": "ASIA", "secretAccessKey": "s", "sessionToken": "t", "expiration": expiration}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	r := newRig(t)
	r.deps.HTTP, r.deps.Endpoints = nil, map[string]string{"SSO": server.URL, "SSO_OIDC": server.URL}
	var opened []string
	r.deps.Browser = func(url string) error { opened = append(opened, url); return nil }
	r.again()
	defer r.CloseIdleConnections()
	p := r.sso()
	p.SSOFlow = awsauth.FlowDevice
	login := func(page string, life int, ends time.Time) error {
		device = map[string]any{"deviceCode": "d", "userCode": "u", "verificationUri": page, "verificationUriComplete": page, "expiresIn": 600, "interval": 1}
		token = map[string]any{"accessToken": "a", "refreshToken": "r", "expiresIn": life, "tokenType": "Bearer"}
		expiration = ends.UnixMilli()
		return r.Login(t.Context(), p)
	}
	later := time.Now().Add(time.Hour)
	for _, page := range []string{
		"file:///etc/passwd", "http://ana.example/x", "javascript:alert(1)", "https:///x", "https://a:b@c/", "/usr/bin/true", "-x", "", "smb://h/x", "ms-settings:x", "HTTP://h", "\x1b[2J",
	} {
		err := login(page, 3600, later)
		unreachable(t, err, "s", "", awsauth.Stranger)
		if page != "" && strings.Contains(fmt.Sprint(err), page) {
			t.Errorf("%q shows it", err)
		}
	}
	if len(opened)+len(r.person.shown) > 0 {
		t.Errorf("opened %q, shown %+v", opened, r.person.shown)
	}
	for _, life := range []int{0, -5} {
		unreachable(t, login("https://device.sso/", life, later), "s", "", awsauth.Stranger)
	}
	if err := login("https://device.sso/", 3600, time.Unix(3, 0)); !errors.As(err, new(*awsauth.ErrStale)) {
		t.Errorf("error = %v", err)
	}
	_, err := r.Expires(t.Context(), p)
	if old, ok := errors.AsType[*awsauth.ErrStale](err); !ok || old.Profile != "s" || !old.Ended.Equal(time.Unix(3, 0)) {
		t.Errorf("error = %v", err)
	}
	for _, page := range []string{"https://device.sso/?user_code=x", "http://127.0.0.1:1/", "http://[::1]:1/", "http://localhost/"} {
		if err := login(page, 3600, later); err != nil {
			t.Errorf("%s: %v", page, err)
		}
	}
}

// lockable is a keychain that says when it is locked.
type lockable struct {
	awsauth.Secrets
	err error
}

func (l *lockable) Locked(context.Context) error { return l.err }

func (l *lockable) Get(ctx context.Context, name string) ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	return l.Secrets.Get(ctx, name)
}
