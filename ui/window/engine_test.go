package window

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A hanging engine takes calls, and while it hangs answers none.
type hangingEngine struct {
	control.Engine
	hangs atomic.Bool
}

func (e *hangingEngine) Hello() control.Hello { return control.Hello{Protocol: control.Protocol} }

func (e *hangingEngine) Alerts(context.Context) []sandbox.Event { return nil }

func (e *hangingEngine) Status() control.Status {
	for e.hangs.Load() {
		time.Sleep(time.Millisecond)
	}
	return control.Status{Hello: e.Hello()}
}

func (e *hangingEngine) Watch(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	if !e.hangs.Load() {
		if err := emit(sandbox.Snapshot{}); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// TestEngineThatHangs has an engine stop to answer: that is told, though its
// connection stands, and so is that it is back.
func TestEngineThatHangs(t *testing.T) {
	e := &hangingEngine{}
	r := newRig(t, assets.English, e)
	clock := clockwork.NewFakeClock()
	saw, lost := make(chan bool, 64), make(chan error, 64)
	w := &engineWatch{
		client: r.core.client, clock: clock, restart: make(chan struct{}),
		saw:    func(sandbox.Snapshot) { saw <- true },
		lost:   func(err error, _ bool) { lost <- err },
		failed: func(err error) { t.Errorf("start: %v", err) },
		launch: func(context.Context, bool, func(error)) error {
			t.Error("an engine is started beside one that hangs")
			return nil
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.run(ctx)
	}()
	t.Cleanup(func() {
		e.hangs.Store(false)
		cancel()
		<-ended
	})
	// until lets the time of the watch pass until something comes.
	until := func(what string, came func() bool) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); !came(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("never came: %s", what)
			}
			clock.Advance(time.Second)
		}
	}
	until("the engine", func() bool { return len(saw) > 0 })
	e.hangs.Store(true)
	until("that it hangs", func() bool { return len(lost) > 0 })
	if err := <-lost; sandbox.CodeOf(err) != sandbox.Unreachable || sandbox.ToError(err).Hint == "" {
		t.Errorf("lost: %v", err)
	}
	for len(saw) > 0 {
		<-saw
	}
	e.hangs.Store(false)
	until("that it is back", func() bool { return len(saw) > 0 })
}
