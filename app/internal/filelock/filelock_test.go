package filelock_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/arenero/arenero/app/internal/filelock"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Try(path); !errors.Is(err, filelock.ErrTaken) {
		t.Errorf("Try() of a taken lock = %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := filelock.Wait(gone, path); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait() of somebody who has gone = %v", err)
	}
	got := make(chan error)
	go func() {
		second, err := filelock.Wait(t.Context(), path)
		if err == nil {
			err = second.Close()
		}
		got <- err
	}()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := <-got; err != nil {
		t.Errorf("Wait() = %v", err)
	}
}
