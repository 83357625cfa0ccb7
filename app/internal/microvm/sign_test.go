package microvm

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// signatureOf computes the signature of a received request from the published
// description of Signature Version 4, and from nothing of the SDK.
func signatureOf(r received, secret string) string {
	auth := r.Header.Get("Authorization")
	_, scope, _ := strings.Cut(auth, "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	_, scope, _ = strings.Cut(scope, "/")
	_, names, _ := strings.Cut(auth, "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")

	// The path is encoded as sent, and then once more.
	path := strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25")
	pairs := strings.Split(r.URL.RawQuery, "&")
	slices.Sort(pairs)
	var headers strings.Builder
	for name := range strings.SplitSeq(names, ";") {
		v := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			v = r.Host
		case "content-length":
			v = fmt.Sprint(r.ContentLength)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.Join(strings.Fields(v), " "))
	}
	canonical := strings.Join([]string{r.Method, path, strings.Join(pairs, "&"), headers.String(), names, hexSHA(string(r.body))}, "\n")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), scope, hexSHA(canonical)}, "\n")

	key := "AWS4" + secret
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	return hex.EncodeToString([]byte(mac(key, toSign)))
}

func hexSHA(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func mac(key, s string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(s))
	return string(h.Sum(nil))
}

// The own computation gives the value of a worked example in AWS's guide.
func TestSignatureOfGuide(t *testing.T) {
	r, err := http.NewRequest(http.MethodGet, "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	r.Header.Set("X-Amz-Date", "20150830T123600Z")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "+
		"SignedHeaders=content-type;host;x-amz-date, Signature=")
	const want = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
	if got := signatureOf(received{r, nil}, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"); got != want {
		t.Errorf("signature = %s, want %s", got, want)
	}
}

func TestSignatures(t *testing.T) {
	ins := samples()
	for _, op := range wire.Operations {
		for _, session := range []string{"", "token+/=="} {
			rec, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { answer(w, op.Status, "") })
			c := newTestClient(url+"/a%2Fb", func(o *Options) { o.Credentials = credentials(session) })
			if _, err := invokeByName(t.Context(), c, op.Name, ins[op.Name]); err != nil {
				t.Fatal(err)
			}
			r := rec.requests()[0]
			_, got, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
			if want := signatureOf(r, secret); got != want {
				t.Errorf("%s: signature = %s, want %s", op.Name, got, want)
			}
			if r.Header.Get("X-Amz-Security-Token") != session {
				t.Errorf("%s: security token = %q, want %q", op.Name, r.Header.Get("X-Amz-Security-Token"), session)
			}
			if !strings.HasPrefix(r.RequestURI, "/a%2Fb/20") {
				t.Errorf("%s: target = %s, want the endpoint's path first", op.Name, r.RequestURI)
			}
		}
	}
}

func TestAnonymous(t *testing.T) {
	rec, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { answer(w, 200, "") })
	c := newTestClient(url, func(o *Options) { o.Credentials = aws.AnonymousCredentials{} })
	if _, err := c.GetMicrovm(t.Context(), &GetMicrovmInput{MicrovmIdentifier: new("a")}); err != nil {
		t.Fatal(err)
	}
	if got := rec.requests()[0].Header.Get("Authorization"); got != "" {
		t.Errorf("authorization = %q, want none", got)
	}
}
