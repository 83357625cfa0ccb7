package cloud

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	sigAlgorithm  = "AWS4-HMAC-SHA256"
	sigTerminator = "aws4_request"
	sigService    = "lambda"
	sigTime       = "20060102T150405Z"
	sigSkew       = 5 * time.Minute
	maxPresigned  = 7 * 24 * time.Hour
)

// A Credential is a key that may call the API.
type Credential struct {
	AccessKeyID     string
	SecretAccessKey string
	SessionToken    string // empty: requests must not carry one
}

// A verifier checks SigV4 signatures as the front end of AWS does.
type verifier struct {
	region string
	keys   map[string]Credential
	now    func() time.Time
}

func newVerifier(region string, keys []Credential, now func() time.Time) *verifier {
	v := &verifier{region: region, keys: map[string]Credential{}, now: now}
	for _, k := range keys {
		v.keys[k.AccessKeyID] = k
	}
	return v
}

// A signature is what a request says about its own signature.
type signature struct {
	keyID   string
	day     string // the scope's date
	region  string
	service string
	headers []string // signed headers, lower case, in the order given
	sum     string   // hex
	date    string
	token   string
	expires time.Duration // presigned only; zero in the header form
}

// verify returns nil if r was signed for this region with a key we know. body
// is the whole body of r.
func (v *verifier) verify(r *http.Request, body []byte) error {
	sig, err := readSignature(r)
	if err != nil {
		return err
	}
	key, ok := v.keys[sig.keyID]
	if !ok || subtle.ConstantTimeCompare([]byte(key.SessionToken), []byte(sig.token)) != 1 {
		return newError("UnrecognizedClientException", "The security token included in the request is invalid.")
	}
	if err := v.checkScope(sig); err != nil {
		return err
	}
	if err := checkDate(sig, v.now()); err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	if said := r.Header.Get("X-Amz-Content-Sha256"); said != "" && said != hash {
		return errSignature()
	}
	got, err := hex.DecodeString(sig.sum)
	if err != nil {
		return errSignature()
	}
	query, err := canonicalQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	headers, err := canonicalHeaders(r, sig.headers)
	if err != nil {
		return err
	}
	signing := signingKey(key.SecretAccessKey, sig)
	match := 0
	for _, path := range canonicalPaths(r.URL.EscapedPath()) {
		canonical := strings.Join([]string{r.Method, path, query, headers, strings.Join(sig.headers, ";"), hash}, "\n")
		match |= subtle.ConstantTimeCompare(got, hmacSHA256(signing, stringToSign(sig, canonical)))
	}
	if match != 1 {
		return errSignature()
	}
	return nil
}

func errSignature() error {
	return newError("InvalidSignatureException", "The request signature we calculated does not match the signature you provided. "+
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
}

func (v *verifier) checkScope(sig signature) error {
	switch {
	case sig.region != v.region:
		return newError("InvalidSignatureException", fmt.Sprintf("Credential should be scoped to a valid region, not '%s'.", printable(sig.region)))
	case sig.service != sigService:
		return newError("InvalidSignatureException", "Credential should be scoped to correct service: '"+sigService+"'.")
	case !strings.HasPrefix(sig.date, sig.day):
		return newError("InvalidSignatureException", "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP.")
	}
	return nil
}

func checkDate(sig signature, now time.Time) error {
	at, err := time.Parse(sigTime, sig.date)
	if err != nil {
		return newError("IncompleteSignatureException", "Date must be in ISO-8601 'basic format'.")
	}
	stamp := func(t time.Time) string { return t.UTC().Format(sigTime) }
	if sig.expires > 0 {
		if end := at.Add(sig.expires); end.Before(now) {
			return newError("InvalidSignatureException", fmt.Sprintf("Signature expired: %s is now earlier than %s", stamp(end), stamp(now)))
		}
	} else if earliest := now.Add(-sigSkew); at.Before(earliest.Truncate(time.Second)) {
		return newError("InvalidSignatureException", fmt.Sprintf("Signature expired: %s is now earlier than %s (%s - 5 min.)", sig.date, stamp(earliest), stamp(now)))
	}
	if latest := now.Add(sigSkew); at.After(latest) {
		return newError("InvalidSignatureException", fmt.Sprintf("Signature not yet current: %s is still later than %s (%s + 5 min.)", sig.date, stamp(latest), stamp(now)))
	}
	return nil
}

func signingKey(secret string, sig signature) []byte {
	key := hmacSHA256([]byte("AWS4"+secret), sig.day)
	key = hmacSHA256(key, sig.region)
	key = hmacSHA256(key, sig.service)
	return hmacSHA256(key, sigTerminator)
}

func stringToSign(sig signature, canonical string) string {
	sum := sha256.Sum256([]byte(canonical))
	scope := strings.Join([]string{sig.day, sig.region, sig.service, sigTerminator}, "/")
	return strings.Join([]string{sigAlgorithm, sig.date, scope, hex.EncodeToString(sum[:])}, "\n")
}

func hmacSHA256(key []byte, data string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(data))
	return h.Sum(nil)
}
