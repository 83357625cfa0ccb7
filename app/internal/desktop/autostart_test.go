package desktop

import (
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestExec(t *testing.T) {
	tests := []struct {
		name string
		argv []string
		want string
	}{
		{"plain", []string{"/usr/bin/arenero", "tray"}, "/usr/bin/arenero tray"},
		{"a space", []string{"/opt/my apps/arenero", "tray"}, `"/opt/my apps/arenero" tray`},
		{"characters of a shell", []string{"/o/a$b`c\"d'e;f&g", "tray"}, "\"/o/a\\\\$b\\\\`c\\\\\"d'e;f&g\" tray"},
		{"a backslash", []string{`/o/a\b`}, `"/o/a\\\\b"`},
		{"a percent sign", []string{"/o/100%f/arenero"}, "/o/100%%f/arenero"},
		{"letters of others", []string{"/home/núñez/arenero", "tray"}, "/home/núñez/arenero tray"},
		{"nothing", []string{"a", ""}, `a ""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := joinExec(tt.argv...)
			if err != nil || got != tt.want {
				t.Errorf("joinExec(%q) = %s, %v, want %s", tt.argv, got, err, tt.want)
			}
			if back, ok := splitExec(got); !ok || !slices.Equal(back, tt.argv) {
				t.Errorf("splitExec(%s) = %q, %v", got, back, ok)
			}
		})
	}
	if _, err := joinExec("/a\nExec=evil"); err == nil {
		t.Error("a line break in a path is taken")
	}
	for _, bad := range []string{"", "  ", `"open`} {
		if argv, ok := splitExec(bad); ok {
			t.Errorf("splitExec(%q) = %q", bad, argv)
		}
	}
}

func TestEntry(t *testing.T) {
	const text = "# of mine\n[Desktop Entry]\nType=Application\nExec=/x/arenero tray\nX-Delay = 10\n\n[Desktop Action A]\nExec=other\nHidden=true\n"
	e := parseEntry(text)
	if !e.on() || !e.ours() || e.get("X-Delay") != "10" || e.get("Name") != "" {
		t.Errorf("read as %v, %v, %q", e.on(), e.ours(), e.get("X-Delay"))
	}
	if e.String() != text {
		t.Errorf("not the same again: %q", e)
	}
	e.set("Hidden", "true")
	if want := strings.Replace(text, "10\n", "10\nHidden=true\n", 1); e.String() != want || e.on() {
		t.Errorf("off it is %q, want %q", e, want)
	}
	e.set("Hidden", "")
	e.set("None", "")
	if e.String() != text {
		t.Errorf("on again it is %q", e)
	}
	for text, ours := range map[string]bool{
		"": true, "[Desktop Entry]\nHidden=true\n": true, "[Desktop Entry]\nX-GNOME-Autostart-enabled=false": true,
		"[Desktop Entry]\nExec=/usr/bin/arenero tray --verbose": true, "[Desktop Entry]\nExec=env ARENERO_HOME=/x /usr/bin/arenero tray": true,
		"[Desktop Entry]\nExec=/usr/bin/arenero": false, "[Desktop Entry]\nExec=/usr/bin/other tray": false, "my notes": false, "[Desktop Entry]\nExec=\"arenero tray": false,
	} {
		if got := parseEntry(text).ours(); got != ours {
			t.Errorf("ours(%q) = %v", text, got)
		}
	}
}

func TestOurTray(t *testing.T) {
	for line, want := range map[string]bool{
		"/usr/bin/arenero|tray": true, `C:\Program Files\Arenero\Arenero.EXE|tray`: true, "arenero|tray|-v": true,
		"/usr/bin/arenero-window": false, "arenero": false, "arenero|engine": false, "sh|tray": false, "": false,
	} {
		if got := ourTray(strings.Split(line, "|")); got != want {
			t.Errorf("ourTray(%s) = %v", line, got)
		}
	}
}

func TestLaunchAgent(t *testing.T) {
	const program, home = "/Applications/A & B/<x>/arenero", "/Users/ana/second"
	text := launchAgent(agentLabel, program, home)
	for dec := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	a, err := parseAgent([]byte(text))
	if err != nil || !slices.Equal(a.argv, []string{program, "tray"}) || !a.runAtLoad || a.disabled {
		t.Errorf("read as %+v, %v", a, err)
	}
	if !strings.Contains(text, "<key>ARENERO_HOME</key>\n\t\t<string>"+home+"</string>") {
		t.Errorf("its home is not in %s", text)
	}
	if strings.Contains(launchAgent(agentLabel, program, ""), "Environment") {
		t.Error("the usual one has an environment")
	}
	a, err = parseAgent([]byte(`<plist><dict><key>Program</key><string>/x/other</string><key>Disabled</key><true/><key>RunAtLoad</key><false/></dict></plist>`))
	if err != nil || !a.disabled || a.runAtLoad || !slices.Equal(a.argv, []string{"/x/other"}) {
		t.Errorf("one of others is read as %+v, %v", a, err)
	}
	if _, err := parseAgent([]byte("bplist00\x01")); err == nil {
		t.Error("the binary form was read")
	}
}

func TestSwitchedOff(t *testing.T) {
	const printed = "disabled services = {\n\t\"com.apple.x\" => enabled\n\t\"io.github.arenero.tray\" => disabled\n\t\"old\" => true\n\t\"on\" => false\n}\n"
	for label, want := range map[string]bool{agentLabel: true, "old": true, "on": false, "com.apple.x": false, "none": false} {
		if got := switchedOff(printed, label); got != want {
			t.Errorf("switchedOff(%s) = %v", label, got)
		}
	}
}
