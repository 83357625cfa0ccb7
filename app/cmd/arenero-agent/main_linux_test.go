//go:build amd64 || arm64

package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// asMain is the variable by which the test binary is told to be the program.
const asMain = "ARENERO_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A program is a running agent with a client.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	hooks string
	conn  *grpc.ClientConn
	ctx   context.Context
}

func start(t *testing.T, lifecycle string) *program {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	calls, hooks := freePort(t), freePort(t)
	p := &program{t: t, hooks: "http://127.0.0.1:" + hooks + "/aws/lambda-microvms/runtime/v1/"}
	p.cmd = exec.Command(os.Args[0], "--no-kernel", "--user", me.Username, "--home", t.TempDir(),
		"--grpc-port", calls, "--hooks-port", hooks)
	p.cmd.Env = append(os.Environ(), asMain+"=1", allowRootKey+"=1", "https_proxy=http://127.0.0.1:1")
	p.cmd.Stderr = t.Output()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	p.conn, err = grpc.NewClient("passthrough:///127.0.0.1:"+calls, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.conn.Close() })
	_, err = agentpb.NewHealthServiceClient(p.conn).Health(t.Context(), &agentpb.HealthRequest{}, grpc.WaitForReady(true))
	if err != nil {
		t.Fatal(err)
	}
	token := make([]byte, 32)
	sum := sha256.Sum256(token)
	payload := strconv.Quote(fmt.Sprintf(`{"v":1,"token_sha256":"%s"%s}`, hex.EncodeToString(sum[:]), lifecycle))
	if got := p.hook("run", `{"microvmId":"m","runHookPayload":`+payload+`}`); !strings.Contains(got, `"installed"`) {
		t.Fatalf("run = %s", got)
	}
	p.ctx = metadata.AppendToOutgoingContext(t.Context(), "x-access-token", base64.RawURLEncoding.EncodeToString(token))
	return p
}

func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return port
}

func (p *program) hook(name, body string) string {
	p.t.Helper()
	res, err := http.Post(p.hooks+name, "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}

// sh runs a script to its end.
func (p *program) sh(script string) string {
	p.t.Helper()
	st, err := agentpb.NewProcessServiceClient(p.conn).Start(p.ctx, &agentpb.StartRequest{
		Process: &agentpb.ProcessConfig{Cmd: "/bin/bash", Args: []string{"-c", script}},
	})
	var out strings.Builder
	for err == nil {
		var ev *agentpb.ProcessEvent
		if ev, err = st.Recv(); err == nil {
			out.Write(ev.GetData().GetStdout())
			out.Write(ev.GetData().GetStderr())
		}
	}
	if !errors.Is(err, io.EOF) {
		p.t.Fatal(err)
	}
	return out.String()
}

// exit waits for the program and returns its code.
func (p *program) exit() int {
	p.t.Helper()
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func TestProgram(t *testing.T) {
	p := start(t, `,"limits":{"cpu_seconds":7}`)
	for name, tt := range map[string]struct{ script, want string }{
		"limits":            {"ulimit -Hc; ulimit -Hn; ulimit -Hu; ulimit -Sn; ulimit -St; ulimit -Ht", "0\n4096\n512\n4096\n7\n12\n"},
		"nothing inherited": {"exec ls /proc/self/fd", "0\n1\n2\n3\n"},
		"proxy":             {"echo $https_proxy", "http://127.0.0.1:1\n"},
		"no own variables":  {"echo $" + asMain, "\n"},
		"signals work":      {"kill -PIPE $$", ""},
		"argument zero":     {"exec -a name bash -c 'echo $0'", "name\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.sh(tt.script); got != tt.want {
				t.Errorf("output = %q, want %q", got, tt.want)
			}
		})
	}

	// Orphans come to the agent and are buried.
	pid := strings.TrimSpace(p.sh("(setsid sh -c 'echo $$; exec >/dev/null 2>&1; read x < /proc/self/fd/0; sleep 0.05' &)"))
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat("/proc/" + pid); err != nil {
			break
		}
		if time.Now().After(end) {
			data, _ := os.ReadFile("/proc/" + pid + "/stat")
			t.Fatalf("an orphan stays: %s", data)
		}
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if got := p.exit(); got != 0 {
		t.Errorf("exit code = %d after SIGTERM, want 0", got)
	}
}

func TestProgramTerminates(t *testing.T) {
	p := start(t, "")
	if got := p.hook("terminate", ""); !strings.Contains(got, `"terminating"`) {
		t.Errorf("terminate = %s", got)
	}
	if got := p.exit(); got != 0 {
		t.Errorf("exit code = %d, want 0", got)
	}
}

func TestProgramExpires(t *testing.T) {
	p := start(t, `,"lifecycle":{"timeout_s":1,"cap_s":120,"on_timeout":"kill","auto_resume":false}`)
	if got := p.exit(); got != expiredCode {
		t.Errorf("exit code = %d, want %d", got, expiredCode)
	}
}

func TestPortTaken(t *testing.T) {
	ln, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	cmd := exec.Command(os.Args[0], "--no-kernel", "--grpc-port", port)
	cmd.Env = append(os.Environ(), asMain+"=1")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.HasPrefix(string(out), "arenero-agent: listen") {
		t.Errorf("exit code = %d, output %q", cmd.ProcessState.ExitCode(), out)
	}
}
