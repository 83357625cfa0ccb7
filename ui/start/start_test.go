package start

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// having is a system with these programs and variables.
func having(goos string, programs []string, env map[string]string) system {
	return system{goos, func(name string) string { return env[name] }, func(program string) (string, error) {
		if slices.Contains(programs, program) {
			return "/bin/" + program, nil
		}
		return "", fs.ErrNotExist
	}}
}

func TestTerminalCommand(t *testing.T) {
	argv := []string{"/opt/it's \"mine\"/arenero", "shell", "microvm-1"}
	tests := []struct {
		name     string
		goos     string
		programs []string
		want     []string
	}{
		{"what was chosen", "linux", []string{"xterm", "konsole", "x-terminal-emulator"}, []string{"/bin/x-terminal-emulator", "-e"}},
		{"GNOME", "linux", []string{"gnome-terminal", "xterm"}, []string{"/bin/gnome-terminal", "--"}},
		{"KDE", "linux", []string{"konsole"}, []string{"/bin/konsole", "-e"}},
		{"Xfce", "linux", []string{"xfce4-terminal"}, []string{"/bin/xfce4-terminal", "-x"}},
		{"one that takes the command as it is", "linux", []string{"kitty"}, []string{"/bin/kitty"}},
		{"the last resort", "linux", []string{"xterm"}, []string{"/bin/xterm", "-e"}},
		{"Windows Terminal", "windows", []string{"wt.exe"}, []string{"/bin/wt.exe", "new-tab", "--"}},
		{"Windows without it", "windows", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := terminalCommand(having(tt.goos, tt.programs, nil), argv)
			if want := append(tt.want, argv...); err != nil || !slices.Equal(got, want) {
				t.Errorf("terminalCommand() = %q, %v, want %q", got, err, want)
			}
		})
	}
	if got, err := terminalCommand(having("linux", nil, nil), argv); !errors.Is(err, ErrNoTerminal) {
		t.Errorf("without a terminal: %q, %v", got, err)
	}
	// A name that a shell and AppleScript could both misread comes through.
	got, err := terminalCommand(having("darwin", nil, nil), argv)
	const line = `tell application "Terminal" to do script "exec '/opt/it'\\''s \"mine\"/arenero' 'shell' 'microvm-1'"`
	if err != nil || len(got) != 5 || got[2] != line {
		t.Errorf("on macOS: %q, %v, want %s", got, err, line)
	}
}

func TestClipCommand(t *testing.T) {
	wayland := map[string]string{"WAYLAND_DISPLAY": "wayland-0"}
	tests := []struct {
		goos     string
		programs []string
		env      map[string]string
		want     string
	}{
		{"linux", []string{"wl-copy", "xclip"}, wayland, "/bin/wl-copy"},
		{"linux", []string{"wl-copy", "xclip"}, nil, "/bin/xclip -selection clipboard"},
		{"linux", []string{"xsel"}, wayland, "/bin/xsel --clipboard --input"},
		{"darwin", []string{"pbcopy"}, nil, "/bin/pbcopy"},
		{"windows", []string{"clip.exe"}, nil, "/bin/clip.exe"},
		{"linux", nil, nil, ""},
	}
	for _, tt := range tests {
		got, err := clipCommand(having(tt.goos, tt.programs, tt.env))
		if strings.Join(got, " ") != tt.want || tt.want == "" != errors.Is(err, ErrNoClipboard) {
			t.Errorf("clipCommand(%s, %v, %v) = %q, %v", tt.goos, tt.programs, tt.env, got, err)
		}
	}
}

func TestWindow(t *testing.T) {
	for _, program := range []string{"", filepath.Join(t.TempDir(), "none")} {
		if err := Window(program); !errors.Is(err, ErrNoWindow) {
			t.Errorf("Window(%q) = %v", program, err)
		}
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Window(plain); err == nil || errors.Is(err, ErrNoWindow) {
		t.Errorf("of a file that is no program: %v", err)
	}
}
