package sandbox

import (
	"crypto/rand"
	"encoding/base32"
	"slices"
	"strings"
)

// Toolsets are the names of all sets of tools, in the order in which an id of a
// connection has them. A connection whose id names none has all of them.
func Toolsets() []string { return []string{"core", "fleet", "jobs"} }

// randomLength is how many characters of an id are random.
const randomLength = 12

// NewConnectionID makes the id of a new connection: all that its entry in the
// host's file says about it, so that a bridge needs nothing else to know its
// tools. Toolsets must be names of [Toolsets]; none are all.
func NewConnectionID(toolsets []string) string {
	var random [8]byte
	rand.Read(random[:]) // which never fails
	id := "c_" + strings.ToLower(base32.StdEncoding.EncodeToString(random[:])[:randomLength])
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
	// By hand: a regular expression costs a bridge a millisecond of its start.
	id, ours := strings.CutPrefix(id, "c_")
	random, names, named := strings.Cut(id, "_")
	if !ours || !named || len(random) != randomLength || !only(random, "abcdefghijklmnopqrstuvwxyz234567") {
		return nil
	}
	toolsets := strings.Split(names, "-")
	for _, t := range toolsets {
		if t == "" || !only(t, "abcdefghijklmnopqrstuvwxyz0123456789") {
			return nil
		}
	}
	return toolsets
}

// only reports whether s has no characters but these.
func only(s, characters string) bool { return strings.Trim(s, characters) == "" }
