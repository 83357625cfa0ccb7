package window

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// A computer is a home with the real programs, and an engine of its own.
type computer struct {
	t        *testing.T
	programs string
	home     string
	client   *control.Client
}

func newComputer(t *testing.T) *computer {
	t.Helper()
	c := &computer{t: t, programs: t.TempDir()}
	const module = "github.com/arenero/arenero/"
	build := exec.Command("go", "build", "-trimpath", "-o", c.programs, module+"app/cmd/arenero", module+"app/cmd/arenero-agent", module+"bridge/cmd/arenero-bridge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the programs: %v\n%s", err, out)
	}
	home, err := os.MkdirTemp("", "win") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	c.home = home
	c.client = control.NewClient(filepath.Join(home, "run", "control.sock"))
	c.client.Launch = func(context.Context) error {
		cmd := c.command("arenero", "engine", "--started")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		go cmd.Wait()
		return nil
	}
	t.Cleanup(c.close)
	return c
}

// command is a program as it runs in this home.
func (c *computer) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.programs, program), args...)
	cmd.Env = []string{"ARENERO_HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "USER=ana"}
	return cmd
}

// close ends the engine, and the cloud with what is in it.
func (c *computer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c.client.Launch = nil
	c.client.Stop(ctx)
	c.client.Close()
	if c.t.Failed() {
		text, _ := os.ReadFile(filepath.Join(c.home, "state", "log", "engine.log"))
		c.t.Logf("engine: %s", text)
	}
	var note struct{ PID int }
	text, err := os.ReadFile(filepath.Join(c.home, "state", "cloud", "running.json"))
	if err == nil && json.Unmarshal(text, &note) == nil && note.PID > 0 {
		syscall.Kill(note.PID, syscall.SIGINT)
		for limit := time.Now().Add(time.Minute); syscall.Kill(note.PID, 0) == nil && time.Now().Before(limit); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err := os.RemoveAll(c.home); err != nil {
		c.t.Errorf("left behind: %v", err)
	}
}

// put writes a file in the home.
func (c *computer) put(file, text string) string {
	c.t.Helper()
	path := filepath.Join(c.home, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// A played host is one end of the server that its entry starts.
type playedHost struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
	cmd   *exec.Cmd
}

// play starts what the entry in a file says, as a host would.
func (c *computer) play(file string) *playedHost {
	c.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	var doc struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		c.t.Fatalf("%v in\n%s", err, text)
	}
	e := doc.Servers["arenero"]
	if e.Command != filepath.Join(c.programs, "arenero-bridge") {
		c.t.Fatalf("the entry is %+v", e)
	}
	h := &playedHost{t: c.t, cmd: c.command("arenero-bridge", e.Args...)}
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	h.lines = bufio.NewScanner(out)
	h.lines.Buffer(nil, 4<<20)
	if err := h.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(h.quit)
	h.ask(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"cursor","version":"1"}}`)
	fmt.Fprintln(h.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return h
}

// ask sends a request, and returns the line that answers it.
func (h *playedHost) ask(id int, method, params string) string {
	h.t.Helper()
	fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	for h.lines.Scan() {
		var m struct{ ID int }
		if json.Unmarshal(h.lines.Bytes(), &m) == nil && m.ID == id {
			return h.lines.Text()
		}
	}
	h.t.Fatalf("%s has no answer: %v", method, h.lines.Err())
	return ""
}

// quit ends the host, and with it the server.
func (h *playedHost) quit() {
	h.in.Close()
	h.cmd.Wait()
}

// TestGuideForReal leads a new user of a computer with the real programs from
// nothing to the first call of an app, and then takes the app's file back to
// what it was, byte by byte.
func TestGuideForReal(t *testing.T) {
	c := newComputer(t)
	const before = "{\n\t\"mcpServers\": {\n\t\t\"github\": {\"command\": \"gh\", \"env\": {\"TOKEN\": \"hush-hush\"}}\n\t}\n}\n"
	file := c.put(".cursor/mcp.json", before)
	c.put(".config/Cursor/User/globalStorage/state.vscdb", "") // it was here

	r := newRig(t, assets.Spanish, newShelf())
	r.core.client = c.client
	tx := r.core.env.Texts
	p := person{t, r}
	page := newGuide(r.core).(*guide)
	r.show(page, sandbox.Snapshot{})
	follow(t.Context(), c.client.Watch, page.show, func(err error) { t.Errorf("watch: %v", err) })

	r.until("a first sandbox", func() bool { return page.shown.Trial.Stage == ui.TrialGood || page.shown.Trial.Stage == ui.TrialBad })
	if tr := page.shown.Trial; tr.Stage != ui.TrialGood || tr.Ready <= 0 || tr.Answer <= 0 {
		t.Fatalf("the trial came to %+v", tr)
	}
	r.until("the apps", func() bool { return page.shown.Looked })
	if len(page.shown.Hosts) != 1 || page.shown.Hosts[0].ID != "cursor" {
		t.Fatalf("apps: %+v", page.shown.Hosts)
	}
	r.enter()
	r.until("the plan", func() bool { return page.shown.Ready })
	if o, ok := page.form.Planned(); !ok || o.ID == "" {
		t.Errorf("planned: %+v", o)
	}
	if now, _ := os.ReadFile(file); string(now) != before {
		t.Errorf("it was written before anybody agreed:\n%s", now)
	}
	r.enter()
	r.until("it is connected", func() bool { return page.shown.Step == ui.GuideCall })
	if !p.sees(tx.Get("hosts.after.watched-toggle", "title", "Cursor")) {
		t.Error("nothing says what to do in the app")
	}

	app := c.play(file)
	r.until("its server", func() bool { return page.shown.Arrival == ui.ArrivalStarted })
	called := make(chan string, 1)
	go func() {
		called <- app.ask(2, "tools/call", `{"name":"run_command","arguments":{"cmd":"echo $((6*7))"}}`)
	}()
	r.until("its call", func() bool { return page.shown.Arrival == ui.ArrivalCalled && strings.Contains(page.shown.Call, "6*7") })
	if !p.sees(tx.Get("window.guide.arrival.called", "title", "Cursor")) {
		t.Error("nothing says that it works")
	}
	r.until("its answer", func() bool { return len(called) > 0 })
	if got := <-called; !strings.Contains(got, "42") {
		t.Errorf("the app was answered %s", got)
	}
	r.enter()
	r.until("the end", func() bool { return len(r.went) == 1 && strings.HasPrefix(r.went[0], "sandboxes/microvm-") })
	prefs, err := c.client.Preferences(t.Context())
	if err != nil || !prefs.GuideDone {
		t.Errorf("preferences: %+v, %v", prefs, err)
	}
	app.quit()

	// The same app on its own page: a check starts its server, and undo brings
	// the file back.
	list := newHosts(r.core).(*hosts)
	r.show(list, sandbox.Snapshot{})
	r.until("the entry", func() bool { return p.sees(tx.Get("window.hosts.act.undo")) && p.sees(file) })
	p.press(tx.Get("window.hosts.act.check"))
	r.until("the findings", func() bool { return list.shown.Check.Over })
	if list.shown.Check.Failed != "" || !slices.ContainsFunc(list.shown.Check.Findings, func(f control.Finding) bool { return f.Name == "start" && f.Level == "ok" }) {
		t.Errorf("the check: %+v", list.shown.Check)
	}
	for _, f := range list.shown.Check.Findings {
		if what, _ := ui.FindingText(tx, f); what == "" || strings.Contains(what, "verb.") || !p.sees(what) {
			t.Errorf("nothing says %q of %+v", what, f)
		}
	}
	p.press(tx.Get("window.hosts.act.undo"))
	r.until("what undoing does", func() bool { _, ok := list.form.Planned(); return ok })
	if hush := everyText(r.win.Canvas()); strings.Contains(hush, "hush-hush") || !strings.Contains(hush, "arenero-bridge") {
		t.Errorf("the difference is\n%s", hush)
	}
	p.press(tx.Get("window.hosts.do.undo"))
	r.until("it is undone", func() bool { return p.sees(tx.Get("window.hosts.did.revert")) })
	if now, err := os.ReadFile(file); err != nil || string(now) != before {
		t.Errorf("the file is %q, %v", now, err)
	}
	r.until("no entry", func() bool { return !p.sees(tx.Get("window.hosts.act.remove")) })
}

// everyText is all that grids of letters in front of a window say.
func everyText(c fyne.Canvas) string {
	var out strings.Builder
	for _, root := range c.Overlays().List() {
		walk(root, func(o fyne.CanvasObject) bool {
			if g, ok := o.(interface{ Text() string }); ok {
				out.WriteString(g.Text() + "\n")
			}
			return false
		})
	}
	return out.String()
}
