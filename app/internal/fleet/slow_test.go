package fleet_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// One profile whose credentials can't be had in time keeps nobody from a sandbox
// of another.
func TestSlowProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud.vms["stray"] = &fleet.VM{ID: "stray", Image: image, State: sandbox.Running, StartedAt: r.clock.Now()}
		f, err := fleet.New(fleet.Config{
			Open: func(ctx context.Context, p sandbox.Profile, _ bool) (fleet.Cloud, error) {
				if p.Name != "far" {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return r.cloud, nil
			},
			Store: newMemory(), Secrets: keys{newMemory()}, Clock: r.clock,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.List(t.Context(), sandbox.ListRequest{Profile: sandbox.Profile{Name: "far"}}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if b, err := f.Get(t.Context(), "stray"); err != nil || b.ID != "stray" {
			t.Errorf("%+v, %v", b, err)
		}
		if waited := time.Since(began); waited > 0 { // in the bubble's time
			t.Errorf("waited %v for another profile", waited)
		}
		if _, err := f.Get(t.Context(), "nonsense"); sandbox.CodeOf(err) != sandbox.NotFound {
			t.Errorf("error = %v", err)
		}
	})
}
