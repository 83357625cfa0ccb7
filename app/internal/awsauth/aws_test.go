package awsauth_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/arenero/arenero/app/internal/awsauth"
)

const (
	account = "123456789012"
	serial  = "arn:aws:iam::123456789012:mfa/ana"
	start   = "https://ana.awsapps.com/start"
)

// An awsAccount plays STS and IAM Identity Center for one account. It believes
// nobody: signatures are made again and compared, codes and refresh tokens work
// once.
type awsAccount struct {
	t    *testing.T
	mu   sync.Mutex // guards what follows
	skew time.Duration
	down bool          // no service answers
	life time.Duration // of credentials

	keys    map[string]principal // by access key
	codes   map[string]bool      // of the MFA device, valid now
	roles   map[string]role      // by ARN
	logins  map[string]time.Time // by access token: until when
	renews  map[string]bool      // refresh tokens, unused
	devices map[string]string    // by device code: "pending", "slow", "ok", "denied"
	grants  map[string]url.Values
	calls   []string
	serial  int
}

type principal struct {
	secret, token, arn string
	ends               time.Time
	mfa                bool
}

type role struct {
	external string
	mfa      bool
	token    string // of web identity
	from     string // ARN that may assume it; "" is all
}

func newAccount(t *testing.T) *awsAccount {
	return &awsAccount{
		t: t, life: time.Hour,
		keys:  map[string]principal{"AKIAANA": {secret: "canary-secret-of-ana", arn: "arn:aws:iam::" + account + ":user/ana"}},
		codes: map[string]bool{}, roles: map[string]role{}, logins: map[string]time.Time{}, renews: map[string]bool{},
		devices: map[string]string{}, grants: map[string]url.Values{},
	}
}

// set changes the account.
func (a *awsAccount) set(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// count is how often an operation was called.
func (a *awsAccount) count(op string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, c := range a.calls {
		if c == op {
			n++
		}
	}
	return n
}

func (a *awsAccount) now() time.Time { return time.Now().Add(a.skew) }

// RoundTrip lets the account stand for all of AWS, without a network.
func (a *awsAccount) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Host, ".amazonaws.com") {
		return nil, fmt.Errorf("no such host: %s", r.URL.Host)
	}
	a.mu.Lock()
	down := a.down
	a.mu.Unlock()
	if down {
		return nil, fmt.Errorf("dial %s: the network is down", r.URL.Host)
	}
	w := httptest.NewRecorder()
	r = r.Clone(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	if r.Host == "" {
		r.Host = r.URL.Host
	}
	a.ServeHTTP(w, r)
	return w.Result(), nil
}

func (a *awsAccount) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		a.t.Error(err)
	}
	w.Header().Set("Date", a.now().UTC().Format(http.TimeFormat))
	w.Header().Set("X-Amzn-Requestid", "00000000-0000-0000-0000-000000000000")
	switch r.URL.Path {
	case "/client/register", "/device_authorization", "/token":
		var in map[string]any
		if err := json.Unmarshal(body, &in); err != nil {
			a.t.Errorf("%s: %v", r.URL.Path, err)
		}
		a.oidc(w, r.URL.Path, in)
	case "/federation/credentials", "/logout":
		a.portal(w, r)
	default:
		q, err := url.ParseQuery(string(body))
		if err != nil {
			a.t.Error(err)
		}
		a.sts(w, r, q, body)
	}
}

func (a *awsAccount) oidc(w http.ResponseWriter, path string, in map[string]any) {
	s := func(k string) string { v, _ := in[k].(string); return v }
	a.calls = append(a.calls, strings.TrimSpace(path+" "+s("grantType")))
	fail := func(kind string) {
		w.Header().Set("X-Amzn-Errortype", kind)
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"no"}`)
	}
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
	if path != "/client/register" && (s("clientId") != "client" || s("clientSecret") != "canary-client-secret") {
		fail("InvalidClientException")
		return
	}
	switch {
	case path == "/client/register":
		if s("clientType") != "public" {
			a.t.Errorf("client type %q", s("clientType"))
		}
		answer(map[string]any{"clientId": "client", "clientSecret": "canary-client-secret", "clientSecretExpiresAt": a.now().Add(90 * 24 * time.Hour).Unix()})
	case path == "/device_authorization":
		if s("startUrl") != start {
			fail("InvalidRequestException")
			return
		}
		if _, ok := a.devices["device"]; !ok {
			a.devices["device"] = "pending"
		}
		answer(map[string]any{"deviceCode": "device", "userCode": "ABCD-EFGH", "verificationUri": "https://device.sso/", "verificationUriComplete": "https://device.sso/?user_code=ABCD-EFGH", "expiresIn": 600, "interval": 1})
	case s("grantType") == "urn:ietf:params:oauth:grant-type:device_code":
		switch a.devices[s("deviceCode")] {
		case "ok":
			answer(a.newLogin())
		case "slow":
			fail("SlowDownException")
		case "denied":
			fail("AccessDeniedException")
		case "pending":
			fail("AuthorizationPendingException")
		default:
			fail("ExpiredTokenException")
		}
	case s("grantType") == "authorization_code":
		q, ok := a.grants[s("code")]
		delete(a.grants, s("code"))
		sum := sha256.Sum256([]byte(s("codeVerifier")))
		if !ok || q.Get("redirect_uri") != s("redirectUri") || q.Get("code_challenge") != strings.TrimRight(b64(sum[:]), "=") {
			fail("InvalidGrantException")
			return
		}
		answer(a.newLogin())
	case s("grantType") == "refresh_token":
		if !a.renews[s("refreshToken")] {
			fail("InvalidGrantException")
			return
		}
		delete(a.renews, s("refreshToken"))
		answer(a.newLogin())
	default:
		fail("UnsupportedGrantTypeException")
	}
}

func (a *awsAccount) newLogin() map[string]any {
	a.serial++
	access, renew := fmt.Sprintf("canary-access-%d", a.serial), fmt.Sprintf("canary-refresh-%d", a.serial)
	a.logins[access], a.renews[renew] = a.now().Add(8*time.Hour), true
	return map[string]any{"accessToken": access, "refreshToken": renew, "expiresIn": 8 * 3600, "tokenType": "Bearer"}
}

func (a *awsAccount) portal(w http.ResponseWriter, r *http.Request) {
	a.calls = append(a.calls, r.URL.Path)
	token := r.Header.Get("X-Amz-Sso_bearer_token")
	if ends, ok := a.logins[token]; !ok || a.now().After(ends) {
		w.Header().Set("X-Amzn-Errortype", "UnauthorizedException")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message":"Session token not found or invalid"}`)
		return
	}
	if r.URL.Path == "/logout" {
		delete(a.logins, token)
		return
	}
	name := r.URL.Query().Get("role_name")
	if r.URL.Query().Get("account_id") != account || name == "Nobody" {
		w.Header().Set("X-Amzn-Errortype", "ForbiddenException")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message":"No access"}`)
		return
	}
	id, p := a.issue("arn:aws:sts::"+account+":assumed-role/"+name+"/ana", false)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"roleCredentials": map[string]any{"accessKeyId": id, "secretAccessKey": p.secret, "sessionToken": p.token, "expiration": p.ends.UnixMilli()}})
}

// issue makes a session.
func (a *awsAccount) issue(arn string, mfa bool) (string, principal) {
	a.serial++
	id := fmt.Sprintf("ASIA%d", a.serial)
	p := principal{secret: fmt.Sprintf("canary-secret-%d", a.serial), token: fmt.Sprintf("canary-token-%d", a.serial), arn: arn, ends: a.now().Add(a.life).Truncate(time.Second), mfa: mfa}
	a.keys[id] = p
	return id, p
}

func (a *awsAccount) sts(w http.ResponseWriter, r *http.Request, q url.Values, body []byte) {
	op := q.Get("Action")
	a.calls = append(a.calls, op)
	fail := func(code, message string) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>", code, message)
	}
	var who principal
	if op != "AssumeRoleWithWebIdentity" {
		var code string
		if who, code = a.verify(r, body); code != "" {
			fail(code, "the request was not signed well")
			return
		}
	}
	mfa := who.mfa
	if q.Has("TokenCode") {
		if q.Get("SerialNumber") != serial || !a.codes[q.Get("TokenCode")] {
			fail("AccessDenied", "MultiFactorAuthentication failed with invalid MFA one time pass code.")
			return
		}
		delete(a.codes, q.Get("TokenCode"))
		mfa = true
	}
	credentials := func(arn string) string {
		id, p := a.issue(arn, mfa)
		return fmt.Sprintf("<Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials>"+
			"<AssumedRoleUser><Arn>%s</Arn><AssumedRoleId>r:s</AssumedRoleId></AssumedRoleUser>", id, p.secret, p.token, p.ends.UTC().Format(time.RFC3339), arn)
	}
	result := ""
	switch op {
	case "GetCallerIdentity":
		result = "<UserId>u</UserId><Account>" + account + "</Account><Arn>" + who.arn + "</Arn>"
	case "GetSessionToken":
		if who.token != "" {
			fail("AccessDenied", "Cannot call GetSessionToken with session credentials")
			return
		}
		result = credentials(who.arn)
	case "AssumeRole", "AssumeRoleWithWebIdentity":
		arn := q.Get("RoleArn")
		role, ok := a.roles[arn]
		if !ok || role.external != q.Get("ExternalId") || role.mfa && !mfa || role.from != "" && !strings.HasPrefix(who.arn, role.from) ||
			op == "AssumeRoleWithWebIdentity" && (role.token == "" || role.token != q.Get("WebIdentityToken")) {
			fail("AccessDenied", "not authorized to perform: sts:"+op)
			return
		}
		result = credentials(strings.Replace(strings.Replace(arn, ":iam:", ":sts:", 1), ":role/", ":assumed-role/", 1) + "/" + q.Get("RoleSessionName"))
	default:
		a.t.Errorf("call of %q at %s", op, r.URL)
	}
	var check struct{}
	out := fmt.Sprintf(`<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult>%[2]s</%[1]sResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></%[1]sResponse>`, op, result)
	if err := xml.Unmarshal([]byte(out), &check); err != nil {
		a.t.Error(err)
	}
	w.Header().Set("Content-Type", "text/xml")
	fmt.Fprint(w, out)
}

// verify makes the signature of r again, with the secret that its key should
// have. It returns the code of what is wrong.
func (a *awsAccount) verify(r *http.Request, body []byte) (principal, string) {
	var scope, headers string
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ", ") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "Credential":
			scope = value
		case "SignedHeaders":
			headers = value
		}
	}
	parts := strings.Split(scope, "/")
	if len(parts) != 5 || parts[3] != "sts" || parts[2] == "" {
		return principal{}, "IncompleteSignature"
	}
	p, ok := a.keys[parts[0]]
	if !ok || p.token != r.Header.Get("X-Amz-Security-Token") {
		return principal{}, "InvalidClientTokenId"
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	switch {
	case err != nil:
		return principal{}, "IncompleteSignature"
	case at.Sub(a.now()).Abs() > 5*time.Minute:
		return principal{}, "SignatureDoesNotMatch"
	case !p.ends.IsZero() && a.now().After(p.ends):
		return principal{}, "ExpiredToken"
	}
	again, err := http.NewRequest(r.Method, "https://"+r.Host+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		a.t.Error(err)
	}
	signed := strings.Split(headers, ";")
	for name, values := range r.Header {
		if slices.Contains(signed, strings.ToLower(name)) && name != "Content-Length" {
			again.Header[name] = values
		}
	}
	sum := sha256.Sum256(body)
	creds := aws.Credentials{AccessKeyID: parts[0], SecretAccessKey: p.secret, SessionToken: p.token}
	if err := v4.NewSigner().SignHTTP(r.Context(), creds, again, hex.EncodeToString(sum[:]), "sts", parts[2], at); err != nil {
		a.t.Error(err)
	}
	if again.Header.Get("Authorization") != r.Header.Get("Authorization") {
		return principal{}, "SignatureDoesNotMatch"
	}
	return p, ""
}

// A person answers what is asked.
type person struct {
	mu    sync.Mutex // guards what follows
	code  string
	err   error
	asked []string
	shown []awsauth.Login
}

func (p *person) MFA(_ context.Context, profile, serial string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, profile+" "+serial)
	return p.code, p.err
}

func (p *person) Login(_ context.Context, _ string, how awsauth.Login) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = append(p.shown, how)
	return p.err
}

func b64(b []byte) string { return base64.URLEncoding.EncodeToString(b) }

func sum256(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
