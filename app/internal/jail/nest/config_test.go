package nest

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	tests := []struct {
		name string
		cfg  Config
		want []string
		not  string
	}{
		{"plain", Config{PIDs: 5, MemoryMiB: 6}, []string{"HOME=/home/user", "USER=user", "ARENERO_LIMITS=5,6"}, "proxy"},
		{"with a way out", Config{Egress: true}, []string{"http_proxy=http://127.0.0.1:3128", "ALL_PROXY=socks5h://127.0.0.1:3128"}, ""},
		{"the caller's come later", Config{Env: []string{"HOME=/x"}}, []string{"HOME=/x"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.cfg.Environment()
			for _, want := range tt.want {
				if !slices.Contains(got, want) {
					t.Errorf("Environment() = %q, want %q in it", got, want)
				}
			}
			if tt.not != "" && strings.Contains(strings.Join(got, "\n"), tt.not) {
				t.Errorf("Environment() = %q, want no %q", got, tt.not)
			}
			if i := slices.Index(got, "HOME=/x"); i >= 0 && i < slices.Index(got, "HOME=/home/user") {
				t.Error("the caller's HOME does not win")
			}
		})
	}
}

func TestParseLimits(t *testing.T) {
	tests := []struct {
		in           string
		pids, memory int
		ok           bool
	}{
		{Config{PIDs: 12, MemoryMiB: 34}.limits(), 12, 34, true},
		{"", 0, 0, false},
		{"1", 0, 0, false},
		{"1,x", 0, 0, false},
		{"0,5", 0, 0, false},
	}
	for _, tt := range tests {
		pids, memory, ok := parseLimits(tt.in)
		if ok != tt.ok || ok && (pids != tt.pids || memory != tt.memory) {
			t.Errorf("parseLimits(%q) = %d, %d, %t, want %d, %d, %t", tt.in, pids, memory, ok, tt.pids, tt.memory, tt.ok)
		}
	}
}

func TestSpawnOutside(t *testing.T) {
	want := errors.New("from start")
	if err := Spawn(func() error { return want }); err != want {
		t.Errorf("Spawn = %v, want %v", err, want)
	}
}
