package kernel

import "unicode/utf8"

// A decoder turns the bytes of one stream into valid UTF-8. It keeps back the
// first bytes of a character until the rest has come; bytes that are no UTF-8
// become U+FFFD each.
type decoder struct {
	tail []byte // never more than three bytes
}

// next adds p and returns the text that is whole.
func (d *decoder) next(p []byte) string {
	if len(d.tail) > 0 {
		p = append(d.tail, p...)
		d.tail = nil
	}
	n := len(p) - unfinished(p)
	if n < len(p) {
		d.tail = append([]byte(nil), p[n:]...)
	}
	return valid(p[:n])
}

// flush returns what was kept back.
func (d *decoder) flush() string {
	s := valid(d.tail)
	d.tail = nil
	return s
}

// unfinished counts the bytes at the end of p that may start a character.
func unfinished(p []byte) int {
	for n := 1; n <= 3 && n <= len(p); n++ {
		c := p[len(p)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

func valid(p []byte) string {
	if utf8.Valid(p) {
		return string(p)
	}
	return string([]rune(string(p)))
}

// chunks calls f with pieces of s of at most MaxChunk bytes, cut between characters.
func chunks(s string, f func(string)) {
	for len(s) > MaxChunk {
		n := MaxChunk
		for !utf8.RuneStart(s[n]) {
			n--
		}
		f(s[:n])
		s = s[n:]
	}
	if s != "" {
		f(s)
	}
}
