package sandbox

import (
	"crypto/rand"
	"encoding/base32"
	"regexp"
	"slices"
	"strings"
)

// Toolsets are the names of all sets of tools, in the order in which an id of a
// connection has them. A connection whose id names none has all of them.
func Toolsets() []string { return []string{"core", "fleet", "jobs"} }

// connectionID is an id that we made: random characters and, where the tools are
// not the usual ones, the names of their sets.
var connectionID = regexp.MustCompile(`^c_[a-z2-7]{12}(?:_([a-z0-9]+(?:-[a-z0-9]+)*))?$`)

// NewConnectionID makes the id of a new connection: all that its entry in the
// host's file says about it, so that a bridge needs nothing else to know its
// tools. Toolsets must be names of [Toolsets]; none are all.
func NewConnectionID(toolsets []string) string {
	var random [8]byte
	rand.Read(random[:]) // which never fails
	id := "c_" + strings.ToLower(base32.StdEncoding.EncodeToString(random[:])[:12])
	var chosen []string
	for _, t := range Toolsets() {
		if slices.Contains(toolsets, t) {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 || len(chosen) == len(Toolsets()) {
		return id
	}
	return id + "_" + strings.Join(chosen, "-")
}

// ConnectionToolsets returns the sets of tools that an id names, which may be
// ones that this version does not know. Nil is the usual ones.
func ConnectionToolsets(id string) []string {
	m := connectionID.FindStringSubmatch(id)
	if m == nil || m[1] == "" {
		return nil
	}
	return strings.Split(m[1], "-")
}
