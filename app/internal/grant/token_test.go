package grant_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Tokens are as they were computed by another program, leading zeros of the
// checksum included.
func TestTokenFormat(t *testing.T) {
	for _, tt := range []struct{ token, hash string }{
		{"arenero_agt_0000000000000000000000000000000eY57V", "9c33dc136d6910d25b868e422f531e76cabe3e4ec1aff0bf79db9309fa4c3c7b"},
		{"arenero_agt_0123456789ABCDEFGHIJabcdefghij2xil2n", "2322e097a52899d7d1343e0181911f9d549fd177afce1ca3ce08b18b127fd97f"},
		{"arenero_agt_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz2hOd1N", "88dcf06fb7c1805f1a8bd3b1b5f5073c4c20452935d015bf34606002ab8eadc0"}, // a longer one, of a later version
		{"arenero_agt_pad000000000000000000000011939000mEF", ""},
	} {
		hash, err := grant.ParseToken(tt.token)
		if err != nil {
			t.Errorf("ParseToken(%s): %v", tt.token, err)
		}
		if tt.hash != "" && hex.EncodeToString(hash[:]) != tt.hash {
			t.Errorf("hash of %s is %x, want %s", tt.token, hash, tt.hash)
		}
	}
}

// Number 13 of the tests for money, as far as it is about tokens alone.
func TestManyTokens(t *testing.T) {
	const many = 100_000
	whole := regexp.MustCompile("^" + grant.Pattern + "$")
	seen := make(map[string]bool, many)
	var count [len(base62)]int
	for range many {
		secret, hash, hint := grant.NewToken()
		token := string(secret)
		if seen[token] {
			t.Fatal("a token came twice")
		}
		seen[token] = true
		if !whole.MatchString(token) || len(token) > 64 {
			t.Fatalf("%s does not match the pattern, or is too long", token)
		}
		parsed, err := grant.ParseToken(token)
		if err != nil || parsed != hash || hash != sha256.Sum256([]byte(token)) {
			t.Fatalf("ParseToken(%s) = %x, %v, want %x", token, parsed, err, hash)
		}
		body := token[len(grant.TokenPrefix):]
		if hint != body[:4] {
			t.Fatalf("hint of %s is %s", token, hint)
		}
		for _, r := range body[:30] {
			count[strings.IndexRune(base62, r)]++
		}
	}
	// Chi-square with 61 degrees of freedom: a fair source is above 150 less than
	// once in a billion times, bytes modulo 62 are above 100,000.
	want := float64(many*30) / float64(len(base62))
	chi := 0.0
	for _, n := range count {
		chi += (float64(n) - want) * (float64(n) - want) / want
	}
	if chi > 150 {
		t.Errorf("symbols are not equally likely: chi-square is %.1f: %v", chi, count)
	}
}

// A16, and one wrong character in any place.
func TestTokensThatAreNone(t *testing.T) {
	unknown := sandbox.Message(grant.Unknown())
	check := func(s string) {
		t.Helper()
		_, err := grant.ParseToken(s)
		refused(t, s, err, sandbox.Unauthenticated)
		if got := sandbox.Message(err); got != unknown {
			t.Errorf("%q is answered with %q, an unknown one with %q", s, got, unknown)
		}
		if len(grant.FindTokens([]byte(s))) > 0 {
			t.Errorf("%q is found as a token", s)
		}
	}
	secret, _, _ := grant.NewToken()
	token := string(secret)
	for i := range len(token) {
		for _, r := range base62 + "_-" {
			if flipped := token[:i] + string(r) + token[i+1:]; flipped != token {
				check(flipped)
			}
		}
	}
	for i := range len(token) - 1 { // two neighbours that changed places
		if token[i] != token[i+1] {
			check(token[:i] + token[i+1:i+2] + token[i:i+1] + token[i+2:])
		}
	}
	body := strings.TrimPrefix(token, grant.TokenPrefix)
	for _, s := range []string{
		"", "arenero_agt_", token[:len(token)-1], token[1:], "ark_" + body, "ark_live_" + body, "arenero_adm_" + body,
		strings.ToUpper(token), strings.Repeat("z", 300), grant.TokenPrefix + strings.Repeat("0", 300),
	} {
		check(s)
	}
	for _, s := range []string{" " + token, token + "\n", "Bearer " + token} { // a token with something around it is found, and opens nothing
		if _, err := grant.ParseToken(s); sandbox.CodeOf(err) != sandbox.Unauthenticated {
			t.Errorf("ParseToken(%q) is %v", s, err)
		}
	}
}

// Later versions may make longer ones, up to a length.
func TestLongTokens(t *testing.T) {
	for length, code := range map[int]sandbox.Code{47: sandbox.Unauthenticated, 48: "", 64: "", 255: "", 256: sandbox.Unauthenticated} {
		token := grant.TokenPrefix + strings.Repeat("a", length-len(grant.TokenPrefix)-6)
		sum := big.NewInt(int64(crc32.ChecksumIEEE([]byte(token)))).Text(62) // whose digits are in another order
		swapped := strings.Map(func(r rune) rune {
			switch {
			case 'a' <= r && r <= 'z':
				return r - 'a' + 'A'
			case 'A' <= r && r <= 'Z':
				return r - 'A' + 'a'
			}
			return r
		}, sum)
		token += strings.Repeat("0", 6-len(swapped)) + swapped
		_, err := grant.ParseToken(token)
		refused(t, fmt.Sprintf("one of %d characters", length), err, code)
	}
}

func TestFindTokens(t *testing.T) {
	first, _, _ := grant.NewToken()
	second, _, _ := grant.NewToken()
	text := fmt.Sprintf("key=%s\n{\"Authorization\": \"Bearer %s\"} %s %sx x%s",
		string(first), string(second), "arenero_agt_"+strings.Repeat("0", 36), string(first), string(first))
	var found []string
	for _, at := range grant.FindTokens([]byte(text)) {
		found = append(found, text[at[0]:at[1]])
	}
	if len(found) != 2 || found[0] != string(first) || found[1] != string(second) {
		t.Errorf("found %d tokens, want the two that are whole", len(found))
	}
}

func TestNewCredential(t *testing.T) {
	token, c, hash := grant.NewCredential("g_abc", noon)
	other, d, _ := grant.NewCredential("g_abc", noon)
	if token == other || c.ID == d.ID || !strings.HasPrefix(c.ID, "k_") {
		t.Errorf("two credentials are %s and %s", c.ID, d.ID)
	}
	if parsed, err := grant.ParseToken(string(token)); err != nil || parsed != hash {
		t.Errorf("the token of a credential: %v", err)
	}
	if c.Grant != "g_abc" || !c.CreatedAt.Equal(noon) || !strings.HasPrefix(string(token), grant.TokenPrefix+c.Hint) {
		t.Errorf("the credential is %+v", c)
	}
	if shown := fmt.Sprintf("%v %+v %#v", token, token, token); strings.Contains(shown, grant.TokenPrefix) {
		t.Errorf("a token prints as %s", shown)
	}
}

func FuzzToken(f *testing.F) {
	f.Add("arenero_agt_0123456789ABCDEFGHIJabcdefghij2xil2n")
	f.Add("arenero_agt_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz2hOd1N")
	f.Add("ark_0123456789ABCDEFGHIJabcdefghij2xil2n")
	f.Add("arenero_agt_\x00\xff")
	f.Fuzz(func(t *testing.T, s string) {
		found := grant.FindTokens([]byte(s))
		for _, at := range found {
			if _, err := grant.ParseToken(s[at[0]:at[1]]); err != nil {
				t.Errorf("found %q, which does not parse", s[at[0]:at[1]])
			}
		}
		hash, err := grant.ParseToken(s)
		if err != nil {
			if sandbox.Message(err) != sandbox.Message(grant.Unknown()) || hash != [32]byte{} {
				t.Errorf("%q is refused with %v and %x", s, err, hash)
			}
			return
		}
		if !regexp.MustCompile("^arenero_agt_[0-9A-Za-z]{36,243}$").MatchString(s) {
			t.Errorf("%q is taken for a token", s)
		}
		if hash != sha256.Sum256([]byte(s)) {
			t.Errorf("the hash of %q is %x", s, hash)
		}
		if len(s) == len("arenero_agt_")+36 && len(found) != 1 {
			t.Errorf("%q parses, and is not found", s)
		}
		// All but one of the possible last characters are wrong.
		right := 0
		for _, r := range base62 {
			if _, err := grant.ParseToken(s[:len(s)-1] + string(r)); err == nil {
				right++
			}
		}
		if right != 1 {
			t.Errorf("%d last characters of %q are right", right, s)
		}
	})
}
