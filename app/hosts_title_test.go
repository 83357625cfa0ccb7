package app

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// An app is told by its title where its own name for itself is known, and else
// by that name.
func TestAppsAreToldByTheirTitles(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		for _, client := range []string{"cursor-vscode", "my own client"} {
			r.hold(t.Context(), sandbox.Lease{Host: client})
		}
		var got []string
		seen := errors.New("seen")
		err := r.gate.Watch(t.Context(), func(s sandbox.Snapshot) error {
			for _, l := range s.Leases {
				got = append(got, l.Host)
			}
			return seen
		})
		if !errors.Is(err, seen) {
			t.Fatal(err)
		}
		slices.Sort(got)
		if want := []string{"Cursor", "my own client"}; !slices.Equal(got, want) {
			t.Errorf("the apps are %q, want %q", got, want)
		}
		err = r.gate.app.connections.file.Change(context.Background(), func(s *settings.Settings) error {
			s.Put(settings.Connection{ID: "c_a", Host: "cursor", Profile: sandbox.ProfileLocal})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.gate.app.connections.host("c_a"); got != "Cursor" {
			t.Errorf("the app of a connection is %q", got)
		}
	})
}
