package awsauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// provider gives what it holds.
type provider struct {
	creds aws.Credentials
	err   error
}

func (p *provider) Retrieve(context.Context) (aws.Credentials, error) { return p.creds, p.err }

func session() aws.Credentials {
	return aws.Credentials{AccessKeyID: "ASIA", SecretAccessKey: "canary", SessionToken: "token", CanExpire: true, Expires: time.Now().Add(time.Hour).Truncate(time.Second).UTC(), AccountID: account}
}

// The SDK's own reader of the container service takes what we serve, and nobody
// gets it without the token, or from a page in a browser.
func TestEndpoint(t *testing.T) {
	from := &provider{creds: session()}
	ctx, stop := context.WithCancel(t.Context())
	e, err := awsauth.NewEndpoint(ctx, aws.Config{Credentials: from})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Serve(ctx) }()
	env := e.Env()
	at, token := env["AWS_CONTAINER_CREDENTIALS_FULL_URI"], env["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	sdk := func(token string) (aws.Credentials, error) {
		return endpointcreds.New(at, func(o *endpointcreds.Options) { o.AuthorizationToken, o.HTTPClient = token, client }).Retrieve(t.Context())
	}
	got, err := sdk(token)
	if err != nil || got.SessionToken != "token" || got.SecretAccessKey != "canary" || !got.Expires.Equal(from.creds.Expires) || got.AccountID != account {
		t.Errorf("got %v, %v", got.Expires, err)
	}
	if _, err := sdk(token + "x"); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("wrong token: %v", err)
	}
	ask := func(method, path string, change func(*http.Request)) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, strings.TrimSuffix(at, "/credentials")+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", token)
		if change != nil {
			change(req)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	for name, tt := range map[string]struct {
		method, path string
		change       func(*http.Request)
		want         int
	}{
		"as it should be": {"GET", "/credentials", nil, 200},
		"no token":        {"GET", "/credentials", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"another path":    {"GET", "/", nil, 404},
		"another method":  {"POST", "/credentials", nil, 405},
		"a page":          {"GET", "/credentials", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"another name":    {"GET", "/credentials", func(r *http.Request) { r.Host = "evil.example" }, 403},
	} {
		status, body := ask(tt.method, tt.path, tt.change)
		if status != tt.want || (status == 200) != strings.Contains(body, "canary") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	// Botocore and the SDK for JavaScript want to be told when to ask again.
	from.creds = aws.Credentials{AccessKeyID: "AKIA", SecretAccessKey: "canary"}
	if status, body := ask("GET", "/credentials", nil); status != 200 || !strings.Contains(body, `"Expiration":"2`) {
		t.Errorf("a key that does not expire: %d %s", status, body)
	}
	from.err = &awsauth.ErrSignIn{Profile: "p", Why: awsauth.Expired}
	if status, body := ask("GET", "/credentials", nil); status != 403 || !strings.Contains(body, "SignInRequired") || !strings.Contains(body, "arenero profiles login p") {
		t.Errorf("sign in: %d %s", status, body)
	}
	from.err = errors.New("canary of the inside")
	if status, body := ask("GET", "/credentials", nil); status != 503 || strings.Contains(body, "canary") {
		t.Errorf("fault: %d %s", status, body)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What we print, the SDK takes from a credential_process.
func TestWriteProcess(t *testing.T) {
	for name, creds := range map[string]aws.Credentials{"session": session(), "key": {AccessKeyID: "AKIA", SecretAccessKey: "canary"}} {
		var b strings.Builder
		if err := awsauth.WriteProcess(t.Context(), &b, aws.Config{Credentials: &provider{creds: creds}}); err != nil {
			t.Fatal(err)
		}
		var out processcreds.CredentialProcessResponse
		if err := json.Unmarshal([]byte(b.String()), &out); err != nil {
			t.Fatal(err)
		}
		if out.Version != 1 || out.AccessKeyID != creds.AccessKeyID || out.SecretAccessKey != creds.SecretAccessKey || out.SessionToken != creds.SessionToken ||
			(out.Expiration != nil) != creds.CanExpire || creds.CanExpire && !out.Expiration.Equal(creds.Expires) {
			t.Errorf("%s: %s", name, b.String())
		}
	}
	vars, err := awsauth.Exported(t.Context(), aws.Config{Region: "xx-test-1", Credentials: &provider{creds: session()}})
	if err != nil || vars["AWS_SESSION_TOKEN"] != "token" || vars["AWS_REGION"] != "xx-test-1" || vars["AWS_CREDENTIAL_EXPIRATION"] == "" {
		t.Errorf("variables %d, %v", len(vars), err)
	}
}
