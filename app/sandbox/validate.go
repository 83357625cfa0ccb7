package sandbox

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of requests.
const (
	MaxID      = 128 // bytes of an id
	MaxTimeout = 8 * time.Hour
	MinIdle    = time.Minute
	MaxCode    = 1 << 20
	MaxArgs    = 2 << 20 // bytes of all arguments together
	MinToken   = 16      // bytes of an access token, as it is decoded
	maxToken   = 1024    // characters of one: it travels in a header of each call
)

func invalid(format string, args ...any) error {
	return &Error{Code: Invalid, Msg: fmt.Sprintf(format, args...)}
}

// Validate reports what is wrong with e.
func (e *Exec) Validate() error {
	if err := checkID("id", e.ID); err != nil {
		return err
	}
	if err := e.Target.Validate(); err != nil {
		return err
	}
	size := 0
	for _, a := range e.Args {
		if strings.IndexByte(a, 0) >= 0 || !utf8.ValidString(a) {
			return invalid("an argument holds a NUL byte, or is not UTF-8")
		}
		size += len(a)
	}
	switch {
	case e.Size == nil && (len(e.Args) == 0 || e.Args[0] == ""):
		return invalid("there is no command")
	case e.Size != nil && len(e.Args) > 1:
		return invalid("a terminal takes a shell and no arguments")
	case e.Size != nil && (e.Size.Columns < 0 || e.Size.Rows < 0 || e.Size.Columns > 1<<15 || e.Size.Rows > 1<<15):
		return invalid("the size of the terminal is out of range")
	case size > MaxArgs:
		return invalid("the command has %d bytes, %d are allowed", size, MaxArgs)
	case e.Job && (e.Stdin || e.Size != nil):
		return invalid("a job has no input and no terminal")
	}
	return checkTimeout(e.Timeout)
}

// Validate reports what is wrong with c.
func (c *Cell) Validate() error {
	if err := checkID("id", c.ID); err != nil {
		return err
	}
	if err := c.Target.Validate(); err != nil {
		return err
	}
	switch {
	case len(c.Code) > MaxCode:
		return invalid("the code has %d bytes, %d are allowed", len(c.Code), MaxCode)
	case !utf8.ValidString(c.Code):
		return invalid("the code is not UTF-8")
	case c.Context != "" && c.Language != "":
		return invalid("context and language exclude each other")
	}
	return checkTimeout(c.Timeout)
}

// Validate reports what is wrong with t.
func (t Target) Validate() error {
	if t.Sandbox != "" {
		return checkID("sandbox", t.Sandbox)
	}
	return checkID("lease", t.Lease)
}

// Validate reports what is wrong with r.
func (r *FileRequest) Validate() error {
	switch {
	case r.Path == "":
		return invalid("there is no path")
	case strings.IndexByte(r.Path, 0) >= 0, strings.IndexByte(r.To, 0) >= 0, !utf8.ValidString(r.Path), !utf8.ValidString(r.To):
		return invalid("the path holds a NUL byte, or is not UTF-8")
	case r.Depth < 0:
		return invalid("depth is below zero")
	}
	return r.Target.Validate()
}

// Validate reports what is wrong with l.
func (l *Lease) Validate() error {
	if err := checkID("lease", l.ID); err != nil {
		return err
	}
	return l.Spec.Validate()
}

// Validate reports what is wrong with s.
func (s *Spec) Validate() error {
	switch {
	case s.Timeout < 0 || s.Timeout > MaxTimeout || s.Timeout%time.Second != 0:
		return invalid("timeout is not from 0 to %s in whole seconds", MaxTimeout)
	case s.Idle != 0 && (s.Idle < MinIdle || s.Idle > MaxTimeout || s.Idle%time.Second != 0):
		return invalid("idle is not 0, nor from %s to %s in whole seconds", MinIdle, MaxTimeout)
	case len(s.Name) > MaxID || !utf8.ValidString(s.Name):
		return invalid("the name is too long, or not UTF-8")
	case strings.TrimSpace(s.Name) != s.Name || strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return invalid("the name holds characters that do not show, or blanks around it") // a line of any list has it
	case s.AccessToken != "" && !s.AccessToken.isToken():
		return invalid("the access token is not %d bytes or more in base64url", MinToken)
	}
	if s.Profile.Connection != "" {
		if err := checkID("connection", s.Profile.Connection); err != nil {
			return err
		}
	}
	if s.Key != "" {
		return checkID("key", s.Key)
	}
	return nil
}

// isToken reports whether an agent would take s for a token.
func (s Secret) isToken() bool {
	raw, err := base64.RawURLEncoding.DecodeString(string(s))
	return err == nil && len(raw) >= MinToken && len(s) <= maxToken
}

func checkTimeout(d time.Duration) error {
	if d < 0 || d > MaxTimeout {
		return invalid("timeout is not from 0 to %s", MaxTimeout)
	}
	return nil
}

// checkID keeps ids to what can stand in a log line and a file name.
func checkID(what, id string) error {
	if id == "" {
		return invalid("%s is missing", what)
	}
	ok := len(id) <= MaxID
	for _, c := range []byte(id) {
		ok = ok && (c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if !ok {
		return invalid("%s is not 1 to %d of letters, digits, - and _", what, MaxID)
	}
	return nil
}
