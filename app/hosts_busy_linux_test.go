package app

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf"
)

// keepOpen plays a Claude Code that has its file open to write it until the
// file stop is there.
func (d *desk) keepOpen(t *testing.T, stop string) {
	t.Helper()
	file := filepath.Join(d.home, ".claude.json")
	write(t, file, `{"n": 0}`, 0o600)
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer f.Close()
		for tick := time.Tick(20 * time.Millisecond); ; {
			select {
			case <-ended:
				return
			case <-tick:
			}
			if _, err := os.Stat(stop); err == nil {
				f.Close()
				_ = os.WriteFile(stop+"ped", nil, 0o600)
				return
			}
		}
	})
	t.Cleanup(func() { close(ended); wg.Wait() })
}

// A file that Claude Code never stops writing is left to its own command line,
// and what that one says is believed only when it shows in the file.
func TestClaudeCodeIsTooBusy(t *testing.T) {
	for name, puts := range map[string]bool{"it does": true, "it only says so": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "linux", "bin")
			stop := filepath.Join(t.TempDir(), "stop")
			file := filepath.Join(d.home, ".claude.json")
			script := "#!/bin/sh\n: >" + stop + "\nuntil [ -e " + stop + "ped ]; do sleep 0.05; done\n"
			if puts {
				script += `[ "$2" = remove ] || printf '{"mcpServers":{"%s":%s}}' "$3" "$4" >` + file + "\n"
			}
			program := filepath.Join(t.TempDir(), "claude")
			write(t, program, script, 0o755)
			d.path["claude"] = program
			d.keepOpen(t, stop)
			got, err := d.Install(t.Context(), host(t, claudeCode), HostEntry{}, false)
			status, failed := d.Status(t.Context(), host(t, claudeCode), "")
			if failed != nil {
				t.Fatal(failed)
			}
			if !puts {
				if e, ok := err.(*hostconf.Error); err == nil || ok && e.Code != hostconf.Busy || !strings.Contains(err.Error(), "is not in "+file) {
					t.Errorf("Install() = %v", err)
				}
				if len(status.Connections) > 0 {
					t.Errorf("a connection was kept: %+v", status.Connections)
				}
				return
			}
			if err != nil || len(got.Argv) == 0 {
				t.Fatalf("Install() = %+v, %v", got, err)
			}
			if len(status.Connections) != 1 || !status.Connections[0].ByHost || len(status.Entries) != 1 {
				t.Errorf("status: %+v", status)
			}
		})
	}
}
