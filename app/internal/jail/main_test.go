//go:build linux

package jail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/arenero/arenero/app/internal/jail/link"
	"github.com/arenero/arenero/app/internal/jail/nest"
)

// The test's program is also the agent of its jails: a nest first, then a
// guest that runs shell scripts for the tests.
func TestMain(m *testing.M) {
	nest.Main()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "guest":
			fmt.Fprintln(os.Stderr, "guest:", guest(os.Args[2:]))
			os.Exit(3)
		case "cloud":
			fmt.Fprintln(os.Stderr, "cloud:", cloud(os.Args[2:]))
			os.Exit(3)
		case "exit":
			fmt.Fprintln(os.Stderr, "last words")
			os.Exit(7)
		}
	}
	goleak.VerifyTestMain(m)
}

const (
	shellPort = 8080
	hooksPort = 9000
)

// guest serves scripts on shellPort, and on hooksPort says who is calling.
func guest(args []string) error {
	if err := nest.Settle(); err != nil {
		return err
	}
	line, err := link.OpenGuest(args[len(args)-1])
	if err != nil {
		return err
	}
	shell, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", shellPort))
	if err != nil {
		return err
	}
	hooks, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", hooksPort))
	if err != nil {
		return err
	}
	go http.Serve(shell, http.HandlerFunc(runScript))
	go serveHooks(line.Mark(hooks))
	return line.Serve(context.Background())
}

func runScript(w http.ResponseWriter, r *http.Request) {
	script, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	cmd := exec.Command("/bin/sh", "-c", string(script))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // background processes may keep the pipes
	if err := nest.Spawn(cmd.Start); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	err = cmd.Wait()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		w.Header().Set("Exit", err.Error())
	}
	w.Write(out.Bytes())
}

func serveHooks(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		who := "inside"
		if link.FromHost(c) {
			who = "host"
		}
		io.WriteString(c, who)
		c.Close()
	}
}

// newSpec describes a jail whose agent is this test.
func newSpec(t testing.TB) Spec {
	t.Helper()
	return Spec{
		ID:     strings.ToLower(strings.NewReplacer("/", "-", "_", "-", " ", "-", "#", "-").Replace(t.Name())),
		Kind:   Namespaces,
		Agent:  testProgram(t),
		Args:   []string{"guest"},
		Output: func(line string) { t.Log("jail:", line) },
	}
}

func testProgram(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func startJail(t testing.TB, spec Spec) Jail {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, err := Start(ctx, spec)
	if err != nil {
		t.Fatalf("Start: %v\nnamespaces must work here: %+v", err, probe(ctx))
	}
	t.Cleanup(func() {
		if err := j.Kill(); err != nil {
			t.Errorf("Kill: %v", err)
		}
	})
	return j
}

// sh runs a script in the jail and returns what it printed, and how it failed.
func sh(t testing.TB, j Jail, script string) (out, failed string) {
	t.Helper()
	out, failed, err := try(j, script)
	if err != nil {
		t.Fatalf("script in jail: %v", err)
	}
	return out, failed
}

func try(j Jail, script string) (out, failed string, err error) {
	tr := &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return j.Dial(ctx, shellPort) },
		DisableKeepAlives: true,
	}
	client := http.Client{Transport: tr, Timeout: 2 * time.Minute}
	res, err := client.Post("http://jail/", "text/plain", strings.NewReader(script))
	if err != nil {
		return "", "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		return "", "", fmt.Errorf("%s: %s", res.Status, b)
	}
	return strings.TrimSpace(string(b)), res.Header.Get("Exit"), err
}

// eventually fails the test if cond does not come true.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not so after a minute: %s", what)
		}
	}
}

// ordinary are the tests that must also pass for a user without any rights.
const ordinary = "^(TestIsolation|TestLife|TestFreeze|TestFreezeEvaders|TestLimits|TestMeasure|TestOrphans|TestLoop|TestDial|TestEgress)$"

// TestAsOrdinaryUser runs this test again as a user that owns nothing.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // then the others have run as one already
	}
	const uid = 4242
	dir, err := os.MkdirTemp("", "arenero-user")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	exe := filepath.Join(dir, "jail.test")
	b, err := os.ReadFile(testProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, b, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, exe} {
		if err := os.Chown(path, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(exe, "-test.run="+ordinary, "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	t.Logf("as user %d:\n%s", uid, out)
	if err != nil {
		t.Errorf("as user %d: %v", uid, err)
	}
}
