package ui_test

import (
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// both runs a test in each language.
func both(t *testing.T, test func(t *testing.T, tx assets.Texts)) {
	t.Helper()
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) { test(t, assets.Load(language, ui.Texts)) })
	}
}

// in is one of two texts, by the language.
func in(tx assets.Texts, english, spanish string) string {
	if tx.Language == assets.Spanish {
		return spanish
	}
	return english
}

// awake is a local sandbox that began 12 minutes before noon, and was used 4
// minutes before.
func awake(edits ...func(*sandbox.Sandbox)) sandbox.Sandbox {
	b := sandbox.Sandbox{
		ID: "microvm-0123456789ab", Key: "k", Name: "web", State: sandbox.Running, Profile: sandbox.ProfileLocal,
		Idle: 5 * time.Minute, StartedAt: noon.Add(-12 * time.Minute), UsedAt: noon.Add(-4 * time.Minute), EndsAt: noon.Add(48 * time.Minute),
	}
	for _, edit := range edits {
		edit(&b)
	}
	return b
}

func linked(all ...sandbox.Sandbox) ui.State {
	return ui.State{Link: ui.Linked, Snapshot: sandbox.Snapshot{At: noon, Sandboxes: all}}
}
