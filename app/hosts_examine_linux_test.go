package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Each check is told when it is done, and not when all are: what the entry starts
// here waits until something was told.
func TestExamineTellsAsItGoes(t *testing.T) {
	d := newDesk(t, "linux", "bin")
	told := filepath.Join(t.TempDir(), "told")
	write(t, d.cfg.Bridge, fmt.Sprintf("#!/bin/sh\nwhile [ ! -e %q ]; do sleep 0.05; done\nexit 7\n", told), 0o755)
	cursor := host(t, "cursor")
	if _, err := d.Install(t.Context(), cursor, HostEntry{Force: true}, false); err != nil {
		t.Fatal(err)
	}
	var keys []string
	err := d.Examine(t.Context(), cursor, "", func(c Check) error {
		keys = append(keys, c.What.Key)
		if c.ID != "entry" {
			return nil
		}
		return os.WriteFile(told, nil, 0o600)
	})
	if err != nil || !slices.Contains(keys, "verb.doctor.as-written") || !slices.Contains(keys, "verb.doctor.start.exits") {
		t.Errorf("told %q, %v", keys, err)
	}
	err = d.Examine(t.Context(), cursor, "", func(Check) error { return os.ErrClosed })
	if err != os.ErrClosed {
		t.Errorf("of an end of whoever listens it says %v", err)
	}
}
