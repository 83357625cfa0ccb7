package awsauth

import (
	"context"
	"errors"
	"testing"
)

// Whoever waits for a disk that does not answer goes when told to, and those who
// come later don't begin to wait for it too.
func TestApart(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	why := errors.New("told to go")
	ctx, cancel := context.WithCancelCause(t.Context())
	reading := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := apart(ctx, func() (int, error) {
			close(reading)
			<-stuck
			return 0, nil
		})
		done <- err
	}()
	<-reading
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("error = %v", err)
	}

	a := New(Deps{})
	l, err := a.get(Profile{Name: "p", Kind: KindMetadata, Region: "xx-test-1"})
	if err != nil {
		t.Fatal(err)
	}
	l.turn <- struct{}{} // as the one who is stuck has it
	if _, err := l.Retrieve(ctx); !errors.Is(err, why) {
		t.Errorf("error = %v", err)
	}
	<-l.turn
	if _, err := l.current(t.Context()); err != nil {
		t.Error(err)
	}
}
