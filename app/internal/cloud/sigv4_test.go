package cloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	testKeyID  = "AKIAIOSFODNN7EXAMPLE"
	testSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

// signed is a request signed by the SDK, as a test wants it.
type signed struct {
	method, target, body string
	keyID, secret, token string
	region, service      string
	at                   time.Time
	presign              bool
	expires              string
	header               http.Header // signed too
}

func (s signed) request(t testing.TB) (*http.Request, []byte) {
	t.Helper()
	body := []byte(s.body)
	req := httptest.NewRequest(orDefault(s.method, http.MethodPost), "http://lambda.us-east-1.amazonaws.com"+orDefault(s.target, "/2025-09-09/microvms"), bytes.NewReader(body))
	for k, v := range s.header {
		req.Header[k] = v
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	creds := aws.Credentials{AccessKeyID: orDefault(s.keyID, testKeyID), SecretAccessKey: orDefault(s.secret, testSecret), SessionToken: s.token}
	at := s.at
	if at.IsZero() {
		at = testStart
	}
	region, service := orDefault(s.region, "us-east-1"), orDefault(s.service, "lambda")
	if !s.presign {
		req.Header.Set("X-Amz-Content-Sha256", hash)
		if err := v4.NewSigner().SignHTTP(context.Background(), creds, req, hash, service, region, at); err != nil {
			t.Fatal(err)
		}
		return req, body
	}
	if s.expires != "" {
		q := req.URL.Query()
		q.Set("X-Amz-Expires", s.expires)
		req.URL.RawQuery = q.Encode()
	}
	url, _, err := v4.NewSigner().PresignHTTP(context.Background(), creds, req, hash, service, region, at)
	if err != nil {
		t.Fatal(err)
	}
	return httptest.NewRequest(req.Method, url, bytes.NewReader(body)), body
}

func TestVerify(t *testing.T) {
	arn := "/2025-09-09/microvm-images/arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Amicrovm-image%3Abox"
	const (
		missing    = "MissingAuthenticationTokenException"
		unknown    = "UnrecognizedClientException"
		bad        = "InvalidSignatureException"
		incomplete = "IncompleteSignatureException"
	)
	tests := []struct {
		name string
		s    signed
		edit func(*http.Request)
		body *string // replaces the signed one
		want string
		text string // in the message
	}{
		{name: "plain", s: signed{body: `{"a":1}`}},
		{name: "no body", s: signed{method: http.MethodGet}},
		{name: "escaped label", s: signed{method: http.MethodGet, target: arn}},
		{name: "query", s: signed{method: http.MethodGet, target: "/2025-09-09/microvms?nextToken=a%2Fb%2Bc%3D%3D&maxResults=5&imageVersion=1%202"}},
		{name: "repeated query key", s: signed{method: http.MethodDelete, target: "/2017-03-31/tags/x?tagKeys=b&tagKeys=a"}},
		{name: "empty label", s: signed{method: http.MethodGet, target: "/2025-09-09/microvms/"}},
		{name: "signed header with spaces", s: signed{header: http.Header{"X-Amz-User-Agent": {"  aws-sdk   go "}}}},
		{name: "four minutes slow", s: signed{at: testStart.Add(-4 * time.Minute)}},
		{name: "four minutes fast", s: signed{at: testStart.Add(4 * time.Minute)}},
		{name: "presigned", s: signed{method: http.MethodGet, presign: true, expires: "60"}},
		{name: "presigned, used late", s: signed{method: http.MethodGet, presign: true, expires: "3600", at: testStart.Add(-59 * time.Minute)}},
		{name: "presigned with query", s: signed{method: http.MethodGet, target: "/2025-09-09/microvms?maxResults=5", presign: true}},

		{name: "unsigned", edit: func(r *http.Request) { r.Header.Del("Authorization") }, want: missing},
		{name: "another scheme", edit: func(r *http.Request) { r.Header.Set("Authorization", "Bearer abc") }, want: missing},
		{name: "unknown key", s: signed{keyID: "AKIAXXXXXXXXXXXXXXXX"}, want: unknown},
		{name: "unexpected session token", s: signed{token: "abc"}, want: unknown},
		{name: "wrong secret", s: signed{secret: "wrong"}, want: bad, text: "does not match"},
		{name: "expired", s: signed{at: testStart.Add(-6 * time.Minute)}, want: bad, text: "Signature expired"},
		{name: "not yet current", s: signed{at: testStart.Add(6 * time.Minute)}, want: bad, text: "not yet current"},
		{name: "another day", s: signed{at: testStart.Add(-24 * time.Hour)}, want: bad, text: "Signature expired"},
		{name: "another region", s: signed{region: "eu-west-1"}, want: bad, text: "eu-west-1"},
		{name: "another service", s: signed{service: "s3"}, want: bad, text: "lambda"},
		{name: "other body", s: signed{body: `{"a":1}`}, body: new(`{"a":2}`), want: bad},
		{name: "other body with its hash", s: signed{body: `{"a":1}`}, body: new(`{"a":2}`), edit: func(r *http.Request) {
			sum := sha256.Sum256([]byte(`{"a":2}`))
			r.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
		}, want: bad},
		{name: "unsigned payload", edit: func(r *http.Request) { r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") }, want: bad},
		{name: "other method", edit: func(r *http.Request) { r.Method = http.MethodPut }, want: bad},
		{name: "other path", edit: func(r *http.Request) { r.URL.Path += "/x"; r.URL.RawPath = "" }, want: bad},
		{name: "other query", edit: func(r *http.Request) { r.URL.RawQuery = "maxResults=1" }, want: bad},
		{name: "other host", edit: func(r *http.Request) { r.Host = "example.com" }, want: bad},
		{name: "other signed header", s: signed{header: http.Header{"X-Amz-User-Agent": {"a"}}}, edit: func(r *http.Request) { r.Header.Set("X-Amz-User-Agent", "b") }, want: bad},
		{name: "signed header missing", s: signed{header: http.Header{"X-Amz-User-Agent": {"a"}}}, edit: func(r *http.Request) { r.Header.Del("X-Amz-User-Agent") }, want: bad},
		{name: "other date", edit: func(r *http.Request) { r.Header.Set("X-Amz-Date", testStart.Add(time.Minute).Format(sigTime)) }, want: bad},
		{name: "date of another day", edit: func(r *http.Request) { r.Header.Set("X-Amz-Date", testStart.Add(24*time.Hour).Format(sigTime)) }, want: bad, text: "Credential scope"},
		{name: "no date", edit: func(r *http.Request) { r.Header.Del("X-Amz-Date") }, want: incomplete, text: "X-Amz-Date"},
		{name: "odd date", edit: func(r *http.Request) { r.Header.Set("X-Amz-Date", testStart.Format("20060102")+" noon") }, want: incomplete},
		{name: "no signature", edit: cutFrom("Signature="), want: incomplete, text: "'Signature'"},
		{name: "no credential", edit: editAuth("Credential=", "Kredential="), want: incomplete, text: "'Credential'"},
		{name: "short scope", edit: editAuth("/lambda/", "/"), want: incomplete, text: "5 slash"},
		{name: "no equal sign", edit: editAuth("Signature=", "Signature"), want: incomplete, text: "equal-sign"},
		{name: "host not signed", edit: editAuth("host;", ""), want: bad, text: "Host"},
		{name: "odd algorithm", edit: editAuth("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"), want: incomplete, text: "algorithm"},
		{name: "signature is no hex", edit: editAuth("Signature=", "Signature=zz"), want: bad},
		{name: "presigned and expired", s: signed{method: http.MethodGet, presign: true, expires: "60", at: testStart.Add(-2 * time.Minute)}, want: bad, text: "Signature expired"},
		{name: "presigned for too long", s: signed{method: http.MethodGet, presign: true, expires: "604801"}, want: incomplete, text: "604800"},
		{name: "presigned, other query", s: signed{method: http.MethodGet, presign: true}, edit: func(r *http.Request) { r.URL.RawQuery += "&maxResults=1" }, want: bad},
		{name: "presigned, no date", s: signed{method: http.MethodGet, presign: true}, edit: func(r *http.Request) {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "X-Amz-Date", "X-Amz-Dat", 1)
		}, want: incomplete},
		{name: "bare equal sign in the query", s: signed{method: http.MethodGet}, edit: func(r *http.Request) { r.URL.RawQuery = "nextToken=a==" }, want: "ValidationException"},
	}
	v := newVerifier("us-east-1", []Credential{{AccessKeyID: testKeyID, SecretAccessKey: testSecret}}, func() time.Time { return testStart })
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, body := tt.s.request(t)
			if tt.edit != nil {
				tt.edit(req)
			}
			if tt.body != nil {
				body = []byte(*tt.body)
			}
			err := v.verify(req, body)
			got, text := "", ""
			if e, ok := errors.AsType[*apiError](err); ok {
				got, text = e.class, e.message
			} else if err != nil {
				t.Fatalf("verify = %v, not an answer", err)
			}
			if got != tt.want || !strings.Contains(text, tt.text) {
				t.Errorf("verify = %q (%s), want %q with %q", got, text, tt.want, tt.text)
			}
		})
	}
}

func editAuth(from, to string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), from, to, 1))
	}
}

func cutFrom(mark string) func(*http.Request) {
	return func(r *http.Request) {
		before, _, _ := strings.Cut(r.Header.Get("Authorization"), ", "+mark)
		r.Header.Set("Authorization", before)
	}
}

func TestVerifySessionToken(t *testing.T) {
	key := Credential{AccessKeyID: testKeyID, SecretAccessKey: testSecret, SessionToken: "right"}
	v := newVerifier("us-east-1", []Credential{key}, func() time.Time { return testStart })
	for _, presign := range []bool{false, true} {
		for token, want := range map[string]bool{"right": true, "wrong": false, "": false} {
			req, body := signed{method: http.MethodGet, token: token, presign: presign}.request(t)
			if err := v.verify(req, body); (err == nil) != want {
				t.Errorf("presigned %v, token %q: verify = %v, want success %v", presign, token, err, want)
			}
		}
	}
}

func FuzzVerify(f *testing.F) {
	req, _ := signed{body: "x"}.request(f)
	f.Add(req.Header.Get("Authorization"), req.Header.Get("X-Amz-Date"), "a=b&c=%20", "/2025-09-09/microvms")
	f.Add("AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request,SignedHeaders=host,Signature=00", "20261129T120000Z", "X-Amz-Algorithm=AWS4-HMAC-SHA256", "//./../")
	f.Add("AWS4-HMAC-SHA256 ,=,", "", "X-Amz-Signature=1&X-Amz-Credential=////", "")
	v := newVerifier("us-east-1", []Credential{{AccessKeyID: testKeyID, SecretAccessKey: "another secret"}}, func() time.Time { return testStart })
	f.Fuzz(func(t *testing.T, auth, date, query, path string) {
		r := httptest.NewRequest(http.MethodPost, "http://lambda.us-east-1.amazonaws.com/", nil)
		r.Header["Authorization"] = []string{auth}
		r.Header["X-Amz-Date"] = []string{date}
		r.URL.RawQuery, r.URL.Path = query, path
		err := v.verify(r, nil)
		if err == nil {
			t.Fatal("a made-up signature was taken")
		}
		if _, ok := errors.AsType[*apiError](err); !ok {
			t.Fatalf("verify = %v, not an answer", err)
		}
	})
}
