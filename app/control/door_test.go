package control_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/arenero/arenero/app/control"
)

// TestDoor has a second program tell the first what to show, and take its place
// once that has ended, whatever it left behind.
func TestDoor(t *testing.T) {
	path := filepath.Join(shortDir(t), "run", "w")
	shown := make(chan control.Place, 8)
	open := func() (*control.Door, error) {
		return control.OpenDoor(t.Context(), path, func(p control.Place) { shown <- p })
	}
	first, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(); !errors.Is(err, control.ErrTaken) {
		t.Errorf("a second one: %v, want that it is taken", err)
	}
	want := control.Place{Page: "sandboxes", Subject: "microvm-1"}
	if err := control.Knock(t.Context(), path, want); err != nil {
		t.Fatal(err)
	}
	if got := <-shown; got != want {
		t.Errorf("shown is %+v, want %+v", got, want)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// As one leaves it that ends without a word.
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := open()
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	defer next.Close()
	if err := control.Knock(t.Context(), path, control.Place{}); err != nil {
		t.Fatal(err)
	}
	if got := <-shown; got != (control.Place{}) {
		t.Errorf("shown is %+v, want what is shown already", got)
	}
}
