package hostconf_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
)

// TestValuesOfOthersAreNotShown takes out an entry of somebody else, takes it
// over, and takes out what was taken over.
func TestValuesOfOthersAreNotShown(t *testing.T) {
	c := play(t, "linux")
	const theirs = "{\n  \"mcpServers\": {\n    \"arenero\": {\n      \"command\": \"SECRET-command\",\n      \"env\": {\n        \"TOKEN\": \"SECRET\"\n      }\n    }\n  }\n}\n"
	c.write(cursorJSON, theirs)
	check := func(what string, ch hostconf.Change) {
		t.Helper()
		all := ""
		for _, l := range ch.Shown {
			all += l.String() + "\n"
		}
		if strings.Contains(all, "SECRET") || !strings.Contains(all, "•••") {
			t.Errorf("%s shows\n%s", what, all)
		}
	}
	spec := hostconf.Spec{Name: "arenero", Scope: "user"}
	chs, err := c.conf.Remove(t.Context(), host(t, "cursor"), spec, true)
	if err != nil || len(chs) != 1 {
		t.Fatalf("a removal says %+v, %v", chs, err)
	}
	check("a removal", chs[0])
	over := c.install("cursor")
	check("an installation", over)
	if !slices.ContainsFunc(over.Warnings, func(w hostconf.Text) bool { return w.Key == "hosts.warn.taken-over" }) {
		t.Errorf("it does not say that the entry was somebody's: %+v", over.Warnings)
	}
	if again := c.install("cursor"); slices.ContainsFunc(again.Warnings, func(w hostconf.Text) bool { return w.Key == "hosts.warn.taken-over" }) {
		t.Errorf("it says so of ours: %+v", again.Warnings)
	}
	undo, err := c.conf.Undo(t.Context(), host(t, "cursor"), hostconf.Spec{}, true)
	if err != nil {
		t.Fatal(err)
	}
	check("undo", undo)
	if chs, err = c.conf.Remove(t.Context(), host(t, "cursor"), spec, true); err != nil || len(chs) != 1 {
		t.Fatalf("a removal says %+v, %v", chs, err)
	}
	check("a removal of what was taken over", chs[0])
}
