package cloud

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// canonicalPaths returns the forms that a client may have signed for an
// already escaped path. All encode it once more; some SDKs also take out dot
// segments and double slashes first.
func canonicalPaths(escaped string) []string {
	if escaped == "" {
		escaped = "/"
	}
	paths := []string{encodePath(escaped)}
	var kept []string
	for part := range strings.SplitSeq(escaped, "/") {
		switch part {
		case "", ".":
		case "..":
			if len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
		default:
			kept = append(kept, part)
		}
	}
	clean := "/" + strings.Join(kept, "/")
	if len(kept) > 0 && strings.HasSuffix(escaped, "/") {
		clean += "/"
	}
	if clean != escaped {
		paths = append(paths, encodePath(clean))
	}
	return paths
}

func encodePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = wire.Escape(p)
	}
	return strings.Join(parts, "/")
}

// canonicalQuery sorts and encodes a raw query, leaving the signature out.
func canonicalQuery(raw string) (string, error) {
	var pairs [][2]string
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		k, err1 := url.QueryUnescape(key)
		v, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil || strings.Contains(value, "=") {
			return "", errNoMessage("ValidationException")
		}
		if k != "X-Amz-Signature" {
			pairs = append(pairs, [2]string{wire.Escape(k), wire.Escape(v)})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		if c := strings.Compare(a[0], b[0]); c != 0 {
			return c
		}
		return strings.Compare(a[1], b[1])
	})
	var out strings.Builder
	for i, p := range pairs {
		if i > 0 {
			out.WriteByte('&')
		}
		out.WriteString(p[0] + "=" + p[1])
	}
	return out.String(), nil
}

// canonicalHeaders writes the signed headers of r one to a line, each line
// ended, in the order they were signed in.
func canonicalHeaders(r *http.Request, names []string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		var values []string
		switch name {
		case "host":
			values = []string{r.Host}
		case "content-length": // net/http may have taken it out
			values = []string{strconv.FormatInt(max(r.ContentLength, 0), 10)}
		case "transfer-encoding":
			values = r.TransferEncoding
		default:
			values = slices.Clone(r.Header.Values(name))
		}
		if len(values) == 0 {
			return "", errSignature()
		}
		for i, v := range values {
			values[i] = strings.Join(strings.Fields(v), " ")
		}
		out.WriteString(name + ":" + strings.Join(values, ",") + "\n")
	}
	return out.String(), nil
}
