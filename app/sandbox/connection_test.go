package sandbox_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

func TestConnectionID(t *testing.T) {
	tests := []struct {
		toolsets []string
		ending   string
		want     []string
	}{
		{nil, "", nil},
		{[]string{"jobs", "core", "fleet"}, "", nil},
		{[]string{"core"}, "_core", []string{"core"}},
		{[]string{"jobs", "core"}, "_core-jobs", []string{"core", "jobs"}},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		id := sandbox.NewConnectionID(tt.toolsets)
		if !regexp.MustCompile(`^c_[a-z2-7]{12}` + tt.ending + `$`).MatchString(id) {
			t.Errorf("%v: id %q", tt.toolsets, id)
		}
		if seen[id] {
			t.Errorf("%q was made twice", id)
		}
		seen[id] = true
		if got := sandbox.ConnectionToolsets(id); !slices.Equal(got, tt.want) {
			t.Errorf("%s: toolsets %v, want %v", id, got, tt.want)
		}
	}
	for _, id := range []string{"", "c-1", "c_short_core", "c_aaaaaaaaaaaa_", "c_aaaaaaaaaaaa_core-", "C_AAAAAAAAAAAA_core", "x_aaaaaaaaaaaa_core"} {
		if got := sandbox.ConnectionToolsets(id); got != nil {
			t.Errorf("%q: toolsets %v, want the usual ones", id, got)
		}
	}
	if got := sandbox.ConnectionToolsets("c_aaaaaaaaaaaa_core-gpu"); !slices.Equal(got, []string{"core", "gpu"}) {
		t.Errorf("of another version: %v", got)
	}
}
