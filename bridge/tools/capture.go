package tools

import (
	"bytes"
	"context"
	"strconv"
	"unicode/utf8"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

const (
	maxChars  = 100_000  // of one text in an answer
	keepBytes = 16 << 20 // of a longer one that is kept in the sandbox
	keepDir   = "/tmp/arenero"
)

// A capture takes in a text of any length. It remembers its start and how long
// it is.
type capture struct {
	limit int    // bytes remembered beyond what an answer shows
	text  []byte // valid UTF-8, from the start
	cut   int    // bytes of text that an answer shows
	chars int    // of all that was written
	full  bool   // there was more than text
	rest  []byte // the start of a character
}

// Write takes in bytes. What is not UTF-8 becomes U+FFFD.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	if len(c.rest) > 0 {
		p = append(c.rest, p...)
		c.rest = nil
	}
	whole := len(p) - incomplete(p)
	c.rest = bytes.Clone(p[whole:])
	c.add(p[:whole])
	return n, nil
}

// end takes a character that was begun for a broken one.
func (c *capture) end() {
	p := c.rest
	c.rest = nil
	c.add(p)
}

func (c *capture) add(p []byte) {
	for len(p) > 0 {
		// As many valid bytes as there are, then one that is not.
		valid := len(p)
		if !utf8.Valid(p) {
			valid = 0
			for valid < len(p) {
				r, size := utf8.DecodeRune(p[valid:])
				if r == utf8.RuneError && size == 1 {
					break
				}
				valid += size
			}
		}
		c.addValid(p[:valid])
		if p = p[valid:]; len(p) > 0 {
			c.addValid([]byte("\uFFFD"))
			p = p[1:]
		}
	}
}

func (c *capture) addValid(p []byte) {
	if c.chars < maxChars { // what is shown grows
		shown := prefix(p, maxChars-c.chars)
		c.text = append(c.text, p[:shown]...)
		c.cut = len(c.text)
		c.chars += utf8.RuneCount(p[:shown])
		p = p[shown:]
	}
	c.chars += utf8.RuneCount(p)
	if c.full {
		return
	}
	if room := c.cut + c.limit - len(c.text); len(p) > room {
		c.full = true
		p = p[:room]
		p = p[:len(p)-incomplete(p)]
	}
	c.text = append(c.text, p...)
}

func (c *capture) truncated() bool { return c.chars > maxChars }

// shown is what an answer shows. Of a longer text a last line says how much is
// missing, and at which path in the sandbox all of it is, if it is anywhere.
func (c *capture) shown(tx assets.Texts, path string) string {
	if !c.truncated() {
		return string(c.text[:c.cut])
	}
	left := strconv.Itoa(c.chars - maxChars)
	var line string
	switch {
	case path == "":
		line = tx.Get("truncated", "count", left)
	case c.full:
		line = tx.Get("truncated.part", "count", left, "path", path, "mib", strconv.Itoa(keepBytes>>20))
	default:
		line = tx.Get("truncated.kept", "count", left, "path", path)
	}
	return string(c.text[:c.cut]) + "\n" + line
}

// keep puts a text that is too long for an answer into a file of the sandbox,
// once, and returns its path; "" if there is no need, or it can't be done. r is
// over.
func (s *set) keep(ctx context.Context, r *run, what string, c *capture) string {
	if !c.truncated() || r.exit.Sandbox == "" {
		return ""
	}
	if path, ok := r.kept[what]; ok {
		return path
	}
	req := sandbox.FileRequest{Target: sandbox.Target{Sandbox: r.exit.Sandbox}, Path: keepDir + "/" + r.id + "-" + what + ".txt"}
	_, err := s.Engine.WriteFile(ctx, req, func(sandbox.Output) error { return nil }, bytes.NewReader(c.text))
	if err != nil {
		s.Log.WarnContext(ctx, "output not kept", "sandbox", r.exit.Sandbox, "code", sandbox.CodeOf(err))
		req.Path = ""
	}
	if r.kept == nil {
		r.kept = map[string]string{}
	}
	r.kept[what] = req.Path
	return req.Path
}

// prefix returns how many bytes the first n characters of p have.
func prefix(p []byte, n int) int {
	if len(p) <= n {
		return len(p)
	}
	at := 0
	for ; n > 0 && at < len(p); n-- {
		_, size := utf8.DecodeRune(p[at:])
		at += size
	}
	return at
}

// incomplete returns how many bytes at the end of p may be the start of a
// character.
func incomplete(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax-1); n++ {
		if b := p[len(p)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// lastChars returns the last n characters of s.
func lastChars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}

func itoa(n int) string { return strconv.Itoa(n) }
