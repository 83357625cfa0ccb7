//go:build linux

package jail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	tests := []struct {
		name, in string
		want     proc
		ok       bool
	}{
		{"plain", "7 (sh) S 3 7 7 0", proc{7, 3, 'S'}, true},
		{"name with blanks and parentheses", "7 (a) R 1 (b) T 5 7", proc{7, 5, 'T'}, true},
		{"empty", "", proc{}, false},
		{"cut", "7 (sh", proc{}, false},
		{"no parent", "7 (sh) S", proc{}, false},
		{"parent is no number", "7 (sh) S x", proc{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := parseStat(7, []byte(tt.in))
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("parseStat(%q) = %v, %t, want %v, %t", tt.in, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestParseMemory(t *testing.T) {
	in := "Name:\tx\nVmRSS:\t  900 kB\nRssAnon:\t  100 kB\nRssFile:\t 700 kB\nRssShmem:\t 20 kB\n"
	if got, want := parseMemory(in, "RssAnon", "RssShmem"), int64(120<<10); got != want {
		t.Errorf("parseMemory = %d, want %d", got, want)
	}
	if got := parseMemory("RssAnon:\nRssShmem: x kB\n", "RssAnon", "RssShmem"); got != 0 {
		t.Errorf("parseMemory of nonsense = %d", got)
	}
}

func TestRefusal(t *testing.T) {
	tests := []struct {
		name   string
		sysctl map[string]string
		euid   int
		want   string // in Why and Remedy
	}{
		{"Debian's switch", map[string]string{"kernel/unprivileged_userns_clone": "0"}, 1000, "kernel.unprivileged_userns_clone=1"},
		{"Debian's switch is not for root", map[string]string{"kernel/unprivileged_userns_clone": "0"}, 0, "the kernel refused"},
		{"none allowed", map[string]string{"user/max_user_namespaces": "0"}, 1000, "user.max_user_namespaces=15000"},
		{"Ubuntu's AppArmor", map[string]string{"kernel/apparmor_restrict_unprivileged_userns": "1"}, 1000, "AppArmor profile"},
		{"unknown", nil, 1000, "Docker or Podman"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := refusal(func(k string) string { return tt.sysctl[k] }, tt.euid, errors.New("no"))
			if m.Works || !strings.Contains(m.Why+m.Remedy, tt.want) {
				t.Errorf("refusal = %+v, want %q in it", m, tt.want)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	r := Probe(context.Background())
	if r.Best != Namespaces {
		t.Errorf("Probe = %+v, want namespaces to work", r)
	}
	for _, m := range r.Means {
		if m.Works == (m.Why != "") || m.Works == (m.Remedy != "") {
			t.Errorf("%s: works %t, but why %q and remedy %q", m.Kind, m.Works, m.Why, m.Remedy)
		}
	}
}

// A folder with the files of a control group stands in for the kernel: this
// computer may not have the controllers.
func TestGroupLimits(t *testing.T) {
	spec := Spec{MemoryMiB: 512, DiskMiB: 512, PIDs: 100, CPUs: 0.5}
	tests := []struct {
		name              string
		files             string
		memory, pids, cpu bool
		notes             int
		want              map[string]string
	}{
		{"all controllers", "memory.max memory.swap.max memory.oom.group pids.max cpu.max", true, true, true, 0, map[string]string{
			"memory.max": "1073741824", "memory.swap.max": "0", "memory.oom.group": "0", "pids.max": "164", "cpu.max": "50000 100000",
		}},
		{"pids only", "pids.max", false, true, false, 2, map[string]string{"pids.max": "164"}},
		{"none", "", false, false, false, 3, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &group{dir: t.TempDir(), fd: -1}
			for _, f := range strings.Fields(tt.files) {
				if err := os.WriteFile(filepath.Join(g.dir, f), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			g.limit(spec)
			if g.memory != tt.memory || g.pids != tt.pids || g.cpu != tt.cpu {
				t.Errorf("holds memory %t, pids %t, cpu %t", g.memory, g.pids, g.cpu)
			}
			if got := len(g.notes()); got != tt.notes {
				t.Errorf("%d notes, want %d", got, tt.notes)
			}
			entries, err := os.ReadDir(g.dir)
			if err != nil || len(entries) != len(tt.want) {
				t.Errorf("%d files, want %d, %v", len(entries), len(tt.want), err)
			}
			for f, want := range tt.want {
				if got, err := os.ReadFile(filepath.Join(g.dir, f)); string(got) != want {
					t.Errorf("%s = %q, %v, want %q", f, got, err, want)
				}
			}
		})
	}
}

func TestNotIsolated(t *testing.T) {
	spec := newSpec(t)
	spec.Kind = NotIsolated
	spec.Env = []string{"PATH=/usr/bin:/bin"}
	j := startJail(t, spec)
	if out, _ := sh(t, j, "id -u"); out != fmt.Sprint(os.Geteuid()) {
		t.Errorf("runs as %q", out)
	}
	home, _ := sh(t, j, `tr '\0' '\n' </proc/$PPID/cmdline | sed -n '/^--home$/{n;p;}'`)
	if info, err := os.Stat(home); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Errorf("home %q: %v, %v", home, info, err)
	}
	sh(t, j, "echo mine >"+home+"/file")
	sh(t, j, "setsid sleep 7654321 >/dev/null 2>&1 &")
	if err := j.Freeze(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := j.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("home is still there: %v", err)
	}
}
