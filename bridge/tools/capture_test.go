package tools

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/arenero/arenero/assets"
)

func TestR41_Truncation(t *testing.T) {
	es := assets.Load(assets.Spanish)
	for _, unit := range []string{"a", "ñ", "日", "😀", "e\u0301"} { // one to four bytes; two characters
		width := utf8.RuneCountInString(unit)
		for _, chars := range []int{0, maxChars - width, maxChars, maxChars + width, 3 * maxChars} {
			text := strings.Repeat(unit, chars/width)
			for _, chunk := range []int{1 << 20, 4095} {
				c := &capture{limit: keepBytes}
				for rest := []byte(text); len(rest) > 0; {
					n := min(chunk, len(rest))
					c.Write(rest[:n])
					rest = rest[n:]
				}
				c.end()
				got := c.shown(es, "")
				want := text
				if chars > maxChars {
					want = string([]rune(text)[:maxChars]) + "\n… [" + itoa(chars-maxChars) + " caracteres más]"
				}
				if got != want {
					t.Errorf("%d times %q in chunks of %d: %d bytes, want %d", chars, unit, chunk, len(got), len(want))
				}
				if c.truncated() != (chars > maxChars) {
					t.Errorf("%d characters: truncated = %v", chars, c.truncated())
				}
				if string(c.text) != text {
					t.Errorf("%d times %q: %d bytes kept of %d", chars, unit, len(c.text), len(text))
				}
			}
		}
	}
}

func TestCaptureKeepsNoMoreThanItMay(t *testing.T) {
	c := &capture{limit: 10}
	text := strings.Repeat("ñ", maxChars)
	c.Write([]byte(text + "123456789ñ"))
	c.Write([]byte("x"))
	c.end()
	if got, want := string(c.text), text+"123456789"; got != want { // half of a character is none
		t.Errorf("kept %d bytes, want %d", len(got), len(want))
	}
	if want := "\n… [11 more characters; the first 16 MiB are in the sandbox, in /x]"; !strings.HasSuffix(c.shown(assets.Load(assets.English), "/x"), want) {
		t.Errorf("marker = %q", lastChars(c.shown(assets.Load(assets.English), "/x"), 80))
	}
}

func TestCaptureOfWhatIsNoText(t *testing.T) {
	tests := map[string]string{
		"\xff":               "\uFFFD",
		"a\xc3":              "a\uFFFD",
		"\xe6\x97":           "\uFFFD\uFFFD",
		"ok\x80\xc3\xb1":     "ok\uFFFDñ",
		"\xf0\x9f\x98\x80\n": "😀\n",
		"\xf0\x9fx":          "\uFFFD\uFFFDx",
	}
	for in, want := range tests {
		for _, chunk := range []int{1, 2, 10} {
			c := &capture{}
			for rest := []byte(in); len(rest) > 0; {
				n := min(chunk, len(rest))
				c.Write(rest[:n])
				rest = rest[n:]
			}
			c.end()
			if got := c.shown(assets.Texts{}, ""); got != want {
				t.Errorf("%q in chunks of %d = %q, want %q", in, chunk, got, want)
			}
		}
	}
}

func TestLastChars(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{{"año", 2, "ño"}, {"año", 3, "año"}, {"año", 9, "año"}, {"", 3, ""}, {"x", 0, ""}} {
		if got := lastChars(tt.s, tt.n); got != tt.want {
			t.Errorf("lastChars(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}
