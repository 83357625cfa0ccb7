package grant

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"hash/crc32"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A token is [TokenPrefix], random symbols and a checksum, all in one word, so
// that a double click selects it. The checksum tells tokens from what looks like
// one, without asking anybody.
const (
	TokenPrefix = "arenero_agt_"
	// Pattern is the regular expression of a token, for programs that look for
	// secrets that got lost.
	Pattern = `\barenero_agt_[0-9A-Za-z]{36}\b`

	randomSymbols   = 30
	checksumSymbols = 6
	hintSymbols     = 4
	longestToken    = 255 // what later versions may make
	symbols         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewToken makes a token, the digest that is kept of it, and the beginning of
// its random part, by which people tell tokens apart.
func NewToken() (token sandbox.Secret, hash [sha256.Size]byte, hint string) {
	text := TokenPrefix + random(randomSymbols)
	text += checksum(text)
	return sandbox.Secret(text), sha256.Sum256([]byte(text)), text[len(TokenPrefix):][:hintSymbols]
}

// NewCredential makes a token that opens a grant, and the record of it. The
// token is in no other place: it can be shown now, and never again.
func NewCredential(grant string, now time.Time) (sandbox.Secret, sandbox.Credential, [sha256.Size]byte) {
	token, hash, hint := NewToken()
	return token, sandbox.Credential{ID: newID(credentialID), Grant: grant, Hint: hint, CreatedAt: instant(now)}, hash
}

// random makes n symbols, each as likely as another: bytes from the last, partial
// round through the symbols are thrown away.
func random(n int) string {
	const fair = 256 / len(symbols) * len(symbols)
	out := make([]byte, 0, n)
	var buf [2 * randomSymbols]byte
	for len(out) < n {
		rand.Read(buf[:]) // which never fails
		for _, b := range buf {
			if int(b) < fair && len(out) < n {
				out = append(out, symbols[int(b)%len(symbols)])
			}
		}
	}
	return string(out)
}

func checksum(s string) string {
	sum := crc32.ChecksumIEEE([]byte(s))
	var out [checksumSymbols]byte
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = symbols[sum%uint32(len(symbols))]
		sum /= uint32(len(symbols))
	}
	return string(out[:])
}

// ParseToken returns the digest of a token, by which it is looked up. What can
// be no token of ours is refused with [Unknown], as is one that nobody knows.
func ParseToken(s string) (hash [sha256.Size]byte, err error) {
	body, ours := strings.CutPrefix(s, TokenPrefix)
	if !ours || len(s) > longestToken || len(body) < randomSymbols+checksumSymbols || strings.Trim(body, symbols) != "" {
		return hash, Unknown()
	}
	split := len(s) - checksumSymbols
	if subtle.ConstantTimeCompare([]byte(checksum(s[:split])), []byte(s[split:])) != 1 {
		return hash, Unknown()
	}
	return sha256.Sum256([]byte(s)), nil
}

// Unknown is the answer to a token that opens nothing. It is the same for all of
// them, so that nobody learns from it which ones look right.
func Unknown() error {
	return &sandbox.Error{
		Code: sandbox.Unauthenticated, Msg: "there is no token, or it opens nothing here",
		Hint: "its owner makes one with \"arenero tokens create\"",
	}
}

var pattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(Pattern) })

// FindTokens returns where in a text tokens are, as pairs of begin and end.
// Words that only look like one are left out.
func FindTokens(text []byte) [][]int {
	var found [][]int
	for _, at := range pattern().FindAllIndex(text, -1) {
		if _, err := ParseToken(string(text[at[0]:at[1]])); err == nil {
			found = append(found, at)
		}
	}
	return found
}
