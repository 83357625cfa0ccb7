// Package ui says what the tray and the windows show: it turns what the engine
// tells into texts, icons and menus, as values. It knows no toolkit and no
// engine, and it asks no clock: now is an argument.
package ui

import (
	"strconv"
	"time"

	"github.com/arenero/arenero/assets"
)

// Texts is the part of assets/translation that all of this package, and of the
// tray, is in.
const Texts = "tray"

// count is a number of things: the key has a text for one, and one for many.
func count(tx assets.Texts, n int, key string) string {
	if n == 1 {
		return tx.Get(key + ".one")
	}
	return tx.Get(key+".many", "n", strconv.Itoa(n))
}

// sooner is the earlier of two moments, of which zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
