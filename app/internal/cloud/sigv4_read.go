package cloud

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readSignature finds the signature of r in its Authorization header or, for
// a presigned request, in its query.
func readSignature(r *http.Request) (signature, error) {
	if auth := r.Header.Get("Authorization"); auth != "" {
		sig, err := parseAuthorization(auth)
		if err != nil {
			return signature{}, err
		}
		sig.date = r.Header.Get("X-Amz-Date")
		if sig.date == "" {
			if at, err := http.ParseTime(r.Header.Get("Date")); err == nil {
				sig.date = at.UTC().Format(sigTime)
			}
		}
		if sig.date == "" {
			return signature{}, incomplete("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.")
		}
		sig.token = r.Header.Get("X-Amz-Security-Token")
		return sig, nil
	}
	q := r.URL.Query()
	if !q.Has("X-Amz-Algorithm") && !q.Has("X-Amz-Signature") && !q.Has("X-Amz-Credential") {
		return signature{}, newError("MissingAuthenticationTokenException", "Missing Authentication Token")
	}
	return parsePresigned(q)
}

// parseAuthorization reads a header "AWS4-HMAC-SHA256 Credential=...,
// SignedHeaders=..., Signature=...".
func parseAuthorization(header string) (signature, error) {
	algorithm, rest, ok := strings.Cut(strings.TrimSpace(header), " ")
	if !ok || algorithm != sigAlgorithm {
		if strings.HasPrefix(algorithm, "AWS4-") {
			return signature{}, incomplete("Unsupported AWS 'algorithm'.")
		}
		return signature{}, newError("MissingAuthenticationTokenException", "Missing Authentication Token")
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || key == "" {
			return signature{}, incomplete("Invalid key=value pair (missing equal-sign) in Authorization header.")
		}
		if _, twice := fields[key]; twice {
			return signature{}, incomplete(fmt.Sprintf("Duplicate '%s' parameter in Authorization header.", printable(key)))
		}
		fields[key] = value
	}
	for _, key := range []string{"Credential", "Signature", "SignedHeaders"} {
		if fields[key] == "" {
			return signature{}, incomplete(fmt.Sprintf("Authorization header requires '%s' parameter.", key))
		}
	}
	return newSignature(fields["Credential"], fields["SignedHeaders"], fields["Signature"])
}

func parsePresigned(q url.Values) (signature, error) {
	for _, key := range []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"} {
		if q.Get(key) == "" || len(q[key]) != 1 {
			return signature{}, incomplete(fmt.Sprintf("AWS query-string parameters must include '%s' once.", key))
		}
	}
	if q.Get("X-Amz-Algorithm") != sigAlgorithm {
		return signature{}, incomplete("Unsupported AWS 'algorithm'.")
	}
	sig, err := newSignature(q.Get("X-Amz-Credential"), q.Get("X-Amz-SignedHeaders"), q.Get("X-Amz-Signature"))
	if err != nil {
		return signature{}, err
	}
	sig.date = q.Get("X-Amz-Date")
	sig.token = q.Get("X-Amz-Security-Token")
	sig.expires = sigSkew
	if q.Has("X-Amz-Expires") {
		n, err := strconv.ParseInt(q.Get("X-Amz-Expires"), 10, 32)
		if err != nil || n < 1 || n > int64(maxPresigned/time.Second) {
			return signature{}, incomplete("X-Amz-Expires must be a number of seconds from 1 to 604800.")
		}
		sig.expires = time.Duration(n) * time.Second
	}
	return sig, nil
}

func newSignature(credential, headers, sum string) (signature, error) {
	scope := strings.Split(credential, "/")
	if len(scope) != 5 || scope[4] != sigTerminator || slices.Contains(scope, "") {
		return signature{}, incomplete("Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/" + sigTerminator + ".")
	}
	sig := signature{keyID: scope[0], day: scope[1], region: scope[2], service: scope[3], sum: sum}
	if len(sig.day) != len("20060102") {
		return signature{}, incomplete("Date in Credential scope must be YYYYMMDD.")
	}
	sig.headers = strings.Split(strings.ToLower(headers), ";")
	if !slices.Contains(sig.headers, "host") {
		return signature{}, newError("InvalidSignatureException", "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.")
	}
	return sig, nil
}

func incomplete(message string) error {
	return newError("IncompleteSignatureException", message)
}

// printable makes text from a stranger fit for an answer.
func printable(s string) string {
	const limit = 128
	if len(s) > limit {
		s = s[:limit]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
