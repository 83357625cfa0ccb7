package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// An observation is one line that js/drive.mjs prints.
type observation struct {
	Op, Want, Got, How, Detail string
}

// TestOfficialSDK drives a listening cloud with the official JavaScript SDK:
// every operation, and every error each operation declares, deserialised into
// the SDK's own types.
func TestOfficialSDK(t *testing.T) {
	need(t, "node")
	if _, err := os.Stat("js/node_modules/@aws-sdk/client-lambda-microvms"); err != nil {
		t.Fatal("the JavaScript SDK is missing; run `make setup`")
	}
	c := startCloud(t, t.TempDir())
	drive := exec.Command("node", "drive.mjs")
	drive.Dir = "js"
	drive.Env = append(os.Environ(), append(c.env(), "FAULTS="+c.faults, "IMAGE_ARN="+localImage)...)
	var stderr strings.Builder
	drive.Stderr = &stderr
	out, err := drive.Output()
	if err != nil {
		t.Errorf("node drive.mjs: %v\n%s", err, stderr.String())
	}

	var seen []observation
	for _, line := range lines(string(out)) {
		var o observation
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("drive.mjs said %q: %v", line, err)
		}
		seen = append(seen, o)
		if o.Got != o.Want {
			t.Errorf("%s: want %s, got %s: %s", o.Op, o.Want, o.Got, o.Detail)
		}
	}
	ops := table(t, seen)
	if len(ops) != 24 {
		t.Errorf("%d operations were driven, want 24", len(ops))
	}
	for op, wants := range ops {
		if !slices.Contains(wants, "success") {
			t.Errorf("%s never succeeded", op)
		}
		if len(wants) < 5 {
			t.Errorf("%s: only %v were tried", op, wants)
		}
	}
}

// table prints operations by outcomes, and returns what was wanted of each.
func table(t *testing.T, seen []observation) map[string][]string {
	ops := map[string][]string{}
	var order []string
	rows := map[string][]string{}
	for _, o := range seen {
		if ops[o.Op] == nil {
			order = append(order, o.Op)
		}
		ops[o.Op] = append(ops[o.Op], o.Want)
		mark := "ok"
		if o.Got != o.Want {
			mark = "FAIL"
		}
		rows[o.Op] = append(rows[o.Op], fmt.Sprintf("%s %s (%s)", mark, strings.TrimSuffix(o.Want, "Exception"), o.How))
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, op := range order {
		fmt.Fprintf(w, "%s\t%s\n", op, strings.Join(rows[op], ", "))
	}
	w.Flush()
	t.Logf("%d operations, %d observations\n%s", len(order), len(seen), b.String())
	return ops
}
