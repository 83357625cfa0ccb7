//go:build race

package edit_test

import (
	"os/exec"
	"testing"
)

// generated is how many documents each property is tested with. The race
// detector has nothing to see in functions that share nothing, and makes each
// document take six times as long.
const generated = 1_000

// TestPropertiesInFull has them tested with all documents, without it.
func TestPropertiesInFull(t *testing.T) {
	t.Parallel()
	test := exec.Command("go", "test", "-race=false", "-timeout", "30m", "-run", "^TestProperties(JSON|TOML|YAML)$", ".")
	if out, err := test.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
