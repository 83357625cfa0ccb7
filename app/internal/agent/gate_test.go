package agent

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
)

func TestGate(t *testing.T) {
	g := newGate()
	ctx := t.Context()
	if err := g.enter(ctx); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	wantCode(t, g.enter(gone), codes.Canceled)
	ended, leave, err := g.join()
	if err != nil {
		t.Fatal(err)
	}
	// A stream that does not end is waited for, but not for ever.
	if n := g.close(gone, closingSuspend); n != 1 {
		t.Errorf("close = %d streams, want 1", n)
	}
	<-ended
	wantCode(t, g.enter(ctx), codes.Unavailable)
	if _, _, err := g.join(); err != closingSuspend {
		t.Errorf("join = %v, want suspending", err)
	}
	leave()
	g.close(ctx, closingSuspend)
	g.openFrom(closingTimeout)
	wantCode(t, g.enter(ctx), codes.Unavailable)
	g.openFrom(closingSuspend)
	if err := g.enter(ctx); err != nil {
		t.Errorf("enter after open: %v", err)
	}
	if g.cause() != closingSuspend || g.reason() != nil {
		t.Errorf("cause %v, reason %v", g.cause(), g.reason())
	}
	select {
	case <-g.suspending():
		t.Error("new streams are told to end")
	default:
	}
	g.close(ctx, closingTimeout)
	wantCode(t, g.enter(ctx), codes.FailedPrecondition)
	g.close(ctx, closingTerminate)
	g.close(ctx, closingSuspend) // too late
	g.openFrom(closingSuspend)
	if err := g.enter(ctx); err != closingTerminate {
		t.Errorf("enter = %v, want terminating", err)
	}
}
