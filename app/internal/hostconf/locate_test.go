package hostconf_test

import (
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
)

// TestFoldersNamedLikePatterns has folders of the user with what means something
// in a pattern in their names, and others beside them that such a pattern would
// stand for.
func TestFoldersNamedLikePatterns(t *testing.T) {
	const odd, other = "/home/ana/src/p*{home}", "/home/ana/src/pother"
	tests := []struct {
		name, id, file, elsewhere string
		on                        func(*computer)
		edit                      func(*hostconf.Spec)
	}{
		{"project", "cursor", odd + "/.cursor/mcp.json", other + "/.cursor/mcp.json", func(*computer) {}, func(s *hostconf.Spec) { s.Scope, s.Project = "project", odd }},
		{"home", "cursor", odd + "/.cursor/mcp.json", other + "/.cursor/mcp.json", func(c *computer) { c.sys.Home = odd }, func(*hostconf.Spec) {}},
		{"variable", "zed", odd + "/zed/settings.json", other + "/zed/settings.json", func(c *computer) { c.env["XDG_CONFIG_HOME"] = odd }, func(*hostconf.Spec) {}},
		{"variable for a file", "opencode", odd + "/o.json", other + "/o.json", func(c *computer) { c.env["OPENCODE_CONFIG"] = odd + "/o.json" }, func(*hostconf.Spec) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := play(t, "linux")
			c.mkdir(odd)
			c.write(tt.elsewhere, "{}")
			tt.on(c)
			c.open()
			if ch := c.install(tt.id, tt.edit); ch.Path != tt.file {
				t.Errorf("it wrote %s, want %s", ch.Path, tt.file)
			}
			if !c.exists(tt.file) {
				t.Error("the file is not there")
			}
			wantSame(t, "the other file", c.read(tt.elsewhere), "{}")
			c.remove(tt.id)
			if c.exists(tt.file) {
				t.Errorf("what is left is %q", c.read(tt.file))
			}
		})
	}
}
