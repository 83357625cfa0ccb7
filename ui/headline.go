package ui

import (
	"time"

	"github.com/arenero/arenero/assets"
)

// Headline is how things are, in a picture and a line.
func Headline(s State, tx assets.Texts, now time.Time) (Icon, string) {
	t := &tray{state: s, tx: tx, now: now}
	for _, b := range s.Snapshot.Sandboxes {
		if b.State.Alive() {
			t.alive = append(t.alive, b)
		}
	}
	return t.icon(), t.status()
}
