package e2e

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/arenero/arenero/app/control"
)

// TestR81_R85_TheSwitchServesOverHTTP has the engine serve the tools over HTTP with
// the real programs: an MCP client runs a command, the port is closed when the
// switch is off, and what serves ends with a killed engine and is back with the
// next one.
func TestR81_R85_TheSwitchServesOverHTTP(t *testing.T) {
	buildBridge(t)
	r := newEngineRig(t)
	ctx := t.Context()
	address := freeAddress(t)
	edit := func(e control.ServingEdit) control.Serving {
		t.Helper()
		p, err := r.client.EditPreferences(ctx, control.PreferencesEdit{HTTP: &e})
		if err != nil {
			t.Fatal(err)
		}
		return p.HTTP
	}
	becomes := func(state string) (s control.Serving) {
		t.Helper()
		eventually(t, "serving over HTTP is "+state, func() bool {
			p, err := r.client.Preferences(ctx)
			s = p.HTTP
			return err == nil && s.State == state
		})
		return s
	}
	if p, err := r.client.Preferences(ctx); err != nil || p.HTTP.On || p.HTTP.State != control.ServingOff || p.HTTP.Address != "127.0.0.1:8000" || p.HTTP.Auth != control.AuthNone {
		t.Fatalf("at first: %+v, %v", p.HTTP, err)
	}
	if s := edit(control.ServingEdit{On: new(true), Address: &address}); s.State == control.ServingOff {
		t.Errorf("switched on: %+v", s)
	}
	if s := becomes(control.ServingOn); s.URL != "http://"+address+"/mcp" || s.Open {
		t.Errorf("served: %+v", s)
	}
	if said := runOverHTTP(t, "http://"+address+"/mcp"); !strings.Contains(said, "over the wire") {
		t.Errorf("run_command said %q", said)
	}
	children := r.serving(t)
	if len(children) != 1 {
		t.Fatalf("%d programs serve", len(children))
	}

	// A killed engine takes along what serves, or the next one has nowhere to.
	status, err := r.client.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	kill9(status.PID)
	eventually(t, "what serves ends with its engine", func() bool { return syscall.Kill(children[0], 0) != nil })
	if s := becomes(control.ServingOn); s.URL != "http://"+address+"/mcp" {
		t.Errorf("served by the next engine: %+v", s)
	}
	if said := runOverHTTP(t, "http://"+address+"/mcp"); !strings.Contains(said, "over the wire") {
		t.Errorf("with the next engine run_command said %q", said)
	}

	// It is started again when it dies alone.
	children = r.serving(t)
	kill9(children[0])
	eventually(t, "another one serves", func() bool {
		now := r.serving(t)
		return len(now) == 1 && now[0] != children[0]
	})
	becomes(control.ServingOn)

	// With a token of the owner's only.
	edit(control.ServingEdit{Auth: new(control.AuthToken)})
	becomes(control.ServingOn)
	if err := hello(ctx, "http://"+address+"/mcp"); err == nil {
		t.Error("somebody without a token came in")
	}

	edit(control.ServingEdit{On: new(false)})
	eventually(t, "the port is closed", func() bool { return refused(address) })
	if left := r.serving(t); len(left) > 0 {
		eventually(t, "nothing serves", func() bool { return len(r.serving(t)) == 0 })
	}
	becomes(control.ServingOff)
}

// TestSwitchWaitsForItsAddress says that another program has the address, serves
// nothing beside it, and serves once the address is free.
func TestSwitchWaitsForItsAddress(t *testing.T) {
	buildBridge(t)
	r := newEngineRig(t)
	ctx := t.Context()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	address := other.Addr().String()
	if _, err := r.client.EditPreferences(ctx, control.PreferencesEdit{HTTP: &control.ServingEdit{On: new(true), Address: &address}}); err != nil {
		t.Fatal(err)
	}
	is := func(state string) (s control.Serving) {
		eventually(t, "serving over HTTP is "+state, func() bool {
			p, err := r.client.Preferences(ctx)
			s = p.HTTP
			return err == nil && s.State == state
		})
		return s
	}
	if s := is(control.ServingFailed); s.Why == nil || s.Why.Key != "verb.http.taken" || s.Remedy == nil || s.URL != "" {
		t.Errorf("beside another program: %+v", s)
	}
	if left := r.serving(t); len(left) > 0 {
		t.Errorf("%d programs serve nonetheless", len(left))
	}
	other.Close()
	is(control.ServingOn)
	if err := r.client.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the port is closed with the engine", func() bool { return refused(address) })
}

// serving are the programs that serve for an engine in the rig's home.
func (r *engineRig) serving(t *testing.T) []int {
	t.Helper()
	var out []int
	for pid := range processes(t) {
		args, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if err != nil || !strings.Contains(string(args), "\x00--attached\x00") {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		if err == nil && strings.Contains(string(env), "ARENERO_HOME="+r.home+"\x00") {
			out = append(out, pid)
		}
	}
	return out
}

// freeAddress is one where nothing listens now.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func refused(address string) bool {
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// hello greets a server, and comes back.
func hello(ctx context.Context, url string) error {
	c, err := client.NewStreamableHttpClient(url)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Start(ctx); err != nil {
		return err
	}
	_, err = c.Initialize(ctx, greeting())
	return err
}

func greeting() (hello mcp.InitializeRequest) {
	hello.Params.ProtocolVersion = "2025-11-25"
	hello.Params.ClientInfo = mcp.Implementation{Name: "web", Version: "1"}
	return hello
}

// runOverHTTP runs a command in the sandbox of a server's, and returns what the
// server says.
func runOverHTTP(t *testing.T, url string) string {
	t.Helper()
	c, err := client.NewStreamableHttpClient(url)
	if err == nil {
		err = c.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Initialize(t.Context(), greeting()); err != nil {
		t.Fatal(err)
	}
	var call mcp.CallToolRequest
	call.Params.Name = "run_command"
	call.Params.Arguments = map[string]any{"cmd": "echo over the wire"}
	out, err := c.CallTool(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for _, part := range out.Content {
		if text, ok := part.(mcp.TextContent); ok {
			said.WriteString(text.Text)
		}
	}
	return said.String()
}
