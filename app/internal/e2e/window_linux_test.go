package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// TestWindow starts the window on a real screen, where it starts an engine, and
// reads there what happens: a sandbox that comes, the engine killed and
// another in its place, a second start. Closing the window ends nothing else.
func TestWindow(t *testing.T) {
	r := newWindowRig(t)
	put(t, filepath.Join(r.home, "config", "settings.json"), `{"guide_done": true}`, 0o600)
	w := r.start(t)
	eventually(t, "an engine runs", func() bool {
		_, err := r.client.Status(t.Context())
		return err == nil
	})
	r.reads(t, "Sandboxes", "Settings")
	b, err := r.client.Create(t.Context(), sandbox.Spec{Name: "pelican", Timeout: time.Hour})
	must(t, err)
	r.reads(t, "pelican")

	pid := r.enginePID(t)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	eventually(t, "another engine has taken over", func() bool {
		s, err := r.client.Status(t.Context())
		return err == nil && s.PID != pid
	})
	if _, err := r.client.Create(t.Context(), sandbox.Spec{Name: "heron", Timeout: time.Hour}); err != nil {
		t.Fatal(err)
	}
	r.reads(t, "pelican", "heron")

	second := r.start(t, "--page", "settings")
	eventually(t, "the second start ends", func() bool { return !second.runs() })
	if code := second.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the second start exits with %d", code)
	}
	r.reads(t, "Language")
	if all, err := r.screen.Windows(w.cmd.Process.Pid); err != nil || len(all) != 1 {
		t.Errorf("the windows are %+v, %v", all, err)
	}

	pid = r.enginePID(t)
	must(t, r.screen.CloseWindow())
	eventually(t, "the window's program has ended", func() bool { return !w.runs() })
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it exits with %d", code)
	}
	if now, err := r.client.Get(t.Context(), b.ID); err != nil || now.State != sandbox.Running || r.enginePID(t) != pid {
		t.Errorf("after the window was closed the sandbox is %+v, %v", now, err)
	}
	for _, name := range []string{"pelican", "heron"} {
		list, err := r.client.List(t.Context(), sandbox.ListRequest{})
		must(t, err)
		for _, b := range list {
			if b.Name == name {
				must(t, r.client.Terminate(t.Context(), b.ID, ""))
			}
		}
	}
}

// entryBeside reads our entry in a file, which starts the bridge that lies beside
// the window.
func entryBeside(t *testing.T, file, dir string) mcpEntry {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	var has struct {
		Servers map[string]mcpEntry `json:"mcpServers"`
	}
	must(t, json.Unmarshal(text, &has))
	e := has.Servers["arenero"]
	if e.Command != filepath.Join(dir, "arenero-bridge") || len(e.Args) == 0 {
		t.Fatalf("the entry is %+v in\n%s", e, text)
	}
	return e
}

// TestWindowStartsTheTray has the window start a tray where there is a desktop to
// show it on, which stays when the window is closed, and opens it again.
func TestWindowStartsTheTray(t *testing.T) {
	r, bus := newWindowRig(t), newBus(t)
	r.vars = []string{"DBUS_SESSION_BUS_ADDRESS=" + bus}
	put(t, filepath.Join(r.home, "config", "settings.json"), `{"guide_done": true}`, 0o600)
	h := newTrayHost(t, bus)
	w := r.start(t)
	h.wait(t)
	h.shows(t, ui.IconNone)
	r.reads(t, "Sandboxes", "Settings")
	pid := r.enginePID(t)
	must(t, r.screen.CloseWindow())
	eventually(t, "the window's program has ended", func() bool { return !w.runs() })
	h.has(t, "No sandboxes")
	if now := r.enginePID(t); now != pid {
		t.Errorf("the engine was process %d, and is %d", pid, now)
	}
	h.click(t, "Open Arenero")
	eventually(t, "it is open again", func() bool { return len(r.opened(t, pid)) == 1 })
	r.reads(t, "Sandboxes", "Settings")
	must(t, r.screen.CloseWindow())
	eventually(t, "it is closed again", func() bool { return len(r.opened(t, pid)) == 0 })
	interrupt(pid)
	eventually(t, "the tray has ended", func() bool { return processes(t)[pid].pid == 0 })
}

// opened are the programs with the windows that a tray has started.
func (r *windowRig) opened(t *testing.T, tray int) (pids []int) {
	t.Helper()
	for pid, p := range processes(t) {
		program, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
		if err == nil && p.parent == tray && program == filepath.Join(r.all, "arenero-window") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestWindowEndsAtAnyTime interrupts windows early and late in their start: none
// may stay, as it would keep others from being opened.
func TestWindowEndsAtAnyTime(t *testing.T) {
	r := newWindowRig(t)
	for after := range 8 {
		w := r.start(t)
		time.Sleep(time.Duration(after) * 150 * time.Millisecond)
		interrupt(w.cmd.Process.Pid)
		select {
		case <-w.ended:
		case <-time.After(time.Minute):
			w.cmd.Process.Kill()
			t.Fatalf("a window that was interrupted in its start (%d of 7) is there for a minute", after)
		}
	}
}

// TestWindowGuide goes the way of a new user with the keyboard alone: the first
// sandbox, an app connected, its first call.
func TestWindowGuide(t *testing.T) {
	r := newWindowRig(t)
	file := filepath.Join(r.home, ".cursor", "mcp.json")
	put(t, filepath.Join(r.home, ".config", "Cursor", "User", "globalStorage", "state.vscdb"), "", 0o600) // it was here
	r.start(t)
	r.reads(t, "Welcome to Arenero", "It was ready in")
	r.keys(t, "space") // Continue
	r.reads(t, "Connect an app", "Cursor")
	r.keys(t, "Home", "Return") // the first app, and the main button
	eventually(t, "the app has an entry", func() bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "arenero-bridge")
	})
	r.reads(t, "Make the first call", "Waiting for Cursor")
	c := r.connect(t, entryBeside(t, file, r.all))
	r.reads(t, "has started our server")
	if got := runCommand(t, c, "echo $((6*7))"); !strings.Contains(got, `"42\n"`) {
		t.Errorf("run_command answers %s", got)
	}
	r.reads(t, "has made its first call")
	r.keys(t, "space") // Finish
	r.reads(t, "Sandboxes", "running", "Cursor")
	eventually(t, "the guide is done for good", func() bool {
		p, err := r.client.Preferences(t.Context())
		return err == nil && p.GuideDone
	})
	if list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{}); err != nil || len(list.Tools) == 0 {
		t.Errorf("tools: %v, %v", list, err)
	}
	c.Close()
}
