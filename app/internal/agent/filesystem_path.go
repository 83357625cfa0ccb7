package agent

import (
	"path"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// cleanPath returns the path a request means: absolute, with no empty or dot
// element, and below home when the request's is relative. What it returns is
// bytes for the kernel, not text for the wire; [nameText] leads back.
func cleanPath(home, p string) (string, error) {
	switch {
	case p == "":
		return "", status.Error(codes.InvalidArgument, "the path is empty")
	case strings.IndexByte(p, 0) >= 0:
		return "", status.Error(codes.InvalidArgument, "the path holds a NUL byte")
	}
	for e := range strings.SplitSeq(p, "/") {
		if e == ".." {
			return "", status.Error(codes.InvalidArgument, "the path holds a .. element")
		}
	}
	p = nameBytes(p)
	if p[0] != '/' {
		p = home + "/" + p
	}
	return path.Clean(p), nil
}

// A name on Linux is any bytes; a string on this wire is UTF-8. So that every
// file can be listed and opened, a byte that is no part of UTF-8 crosses as
// the code point escapeBase+byte, at the end of the last private plane, and so
// does each byte of a name that holds such a code point itself. Both ways
// together give back the same bytes, and a plain UTF-8 name is never changed.
const (
	escapeBase  = 0x10FF00
	escapeFirst = escapeBase + 0x80 // bytes below 0x80 are never escaped
	escapeLast  = escapeBase + 0xFF
)

// nameText returns the wire's form of a file name or path.
func nameText(name string) string {
	if plainName(name) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && n == 1 || r >= escapeFirst && r <= escapeLast {
			for _, c := range []byte(name[i : i+n]) {
				b.WriteRune(escapeBase + rune(c))
			}
		} else {
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}

// nameBytes undoes [nameText].
func nameBytes(text string) string {
	if plainName(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r >= escapeFirst && r <= escapeLast {
			b.WriteByte(byte(r - escapeBase))
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// plainName reports whether name crosses the wire as it is.
func plainName(name string) bool {
	return utf8.ValidString(name) && !strings.Contains(name, "\xf4\x8f") // how U+10F000 and above begin
}

// A denyList holds the canonical paths of subtrees no file call may touch.
type denyList []string

// holds reports whether p, a canonical path, is in a denied subtree.
func (d denyList) holds(p string) bool {
	for _, no := range d {
		if within(p, no) {
			return true
		}
	}
	return false
}

// leadsTo reports whether p is in a denied subtree or one is in p, so that p
// can't be moved or removed.
func (d denyList) leadsTo(p string) bool {
	for _, no := range d {
		if within(p, no) || within(no, p) {
			return true
		}
	}
	return false
}

// within reports whether p is dir or below it.
func within(p, dir string) bool {
	return dir == "/" || strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}
