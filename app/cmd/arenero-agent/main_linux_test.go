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
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
	"github.com/arenero/arenero/app/internal/jail/link"
)

// asMain is the variable by which the test binary is told to be the program.
const asMain = "ARENERO_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A program is a running agent, alone or at a line as in a jail.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	calls string // where it answers
	hooks string
	line  *link.SocketHost // nil without
	conn  *grpc.ClientConn
	ctx   context.Context
}

// start runs the program until it answers.
func start(t *testing.T, linked bool) *program {
	t.Helper()
	name := "user" // whoever that is
	if os.Getuid() == 0 {
		name = "root"
	}
	p := &program{t: t, calls: freePort(t), hooks: freePort(t)}
	p.cmd = exec.Command(os.Args[0], "--no-kernel", "--user", name, "--home", t.TempDir(),
		"--grpc-port", p.calls, "--hooks-port", p.hooks)
	p.cmd.Env = append(os.Environ(), asMain+"=1", allowRootKey+"=1", "https_proxy=http://127.0.0.1:1")
	p.cmd.Stderr = t.Output()
	if linked {
		host, guest, err := link.SocketPair()
		if err != nil {
			t.Fatal(err)
		}
		defer guest.Close()
		p.cmd.ExtraFiles = []*os.File{guest}
		p.cmd.Args = append(p.cmd.Args, "--link", "fd:3")
		p.line = link.NewSocketHost(host, nil)
		ended := make(chan struct{})
		go func() {
			p.line.Serve()
			close(ended)
		}()
		t.Cleanup(func() {
			p.line.Close()
			<-ended
		})
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	var err error
	p.conn, err = grpc.NewClient("passthrough:///127.0.0.1:"+p.calls, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.conn.Close() })
	_, err = agentpb.NewHealthServiceClient(p.conn).Health(t.Context(), &agentpb.HealthRequest{}, grpc.WaitForReady(true))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// begin starts the program at a line and gives it a token, and more.
func begin(t *testing.T, more string) *program {
	t.Helper()
	p := start(t, true)
	token := make([]byte, 32)
	sum := sha256.Sum256(token)
	payload := strconv.Quote(fmt.Sprintf(`{"v":1,"token_sha256":"%s"%s}`, hex.EncodeToString(sum[:]), more))
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

// hook calls a hook as the platform does.
func (p *program) hook(name, body string) string {
	p.t.Helper()
	port, err := strconv.Atoi(p.hooks)
	if err != nil {
		p.t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return p.line.Dial(ctx, port)
		},
	}}
	res, err := client.Post("http://hooks/aws/lambda-microvms/runtime/v1/"+name, "application/json", strings.NewReader(body))
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
	p := begin(t, `,"limits":{"cpu_seconds":7}`)
	for name, tt := range map[string]struct{ script, want string }{
		"limits":            {"ulimit -Hc; ulimit -Hn; ulimit -Sn; ulimit -St; ulimit -Ht", "0\n4096\n4096\n7\n12\n"},
		"nothing inherited": {"exec ls /proc/self/fd", "0\n1\n2\n3\n"},
		"proxy":             {"echo $https_proxy", "http://127.0.0.1:1\n"},
		"no own variables":  {"echo $" + asMain, "\n"},
		"signals work":      {"trap - PIPE; kill -PIPE $$; echo not", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.sh(tt.script); got != tt.want {
				t.Errorf("output = %q, want %q", got, tt.want)
			}
		})
	}

	// Orphans come to the agent and are buried.
	pid := strings.TrimSpace(p.sh("(setsid sh -c 'echo $$; exec >/dev/null 2>&1; sleep 0.05' &)"))
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat("/proc/" + pid); err != nil {
			break
		}
		if time.Now().After(end) {
			data, _ := os.ReadFile("/proc/" + pid + "/stat")
			t.Fatalf("an orphan stays: %s", data)
		}
	}

	// Whoever isn't the platform may not end it.
	if os.Getuid() >= 1000 {
		res, err := http.Post("http://127.0.0.1:"+p.hooks+"/aws/lambda-microvms/runtime/v1/terminate", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if text, _ := io.ReadAll(res.Body); !strings.Contains(string(text), "peer_refused") {
			t.Errorf("terminate from beside = %s", text)
		}
	}
	if got := p.hook("terminate", ""); !strings.Contains(got, `"terminating"`) {
		t.Errorf("terminate = %s", got)
	}
	if got := p.exit(); got != 0 {
		t.Errorf("exit code = %d, want 0", got)
	}
}

func TestProgramEndsWithItsLine(t *testing.T) {
	p := begin(t, "")
	p.line.Close()
	if got := p.exit(); got != 1 {
		t.Errorf("exit code = %d, want 1", got)
	}
}

func TestProgramExpires(t *testing.T) {
	p := begin(t, `,"lifecycle":{"timeout_s":1,"cap_s":120,"on_timeout":"kill","auto_resume":false}`)
	if got := p.exit(); got != expiredCode {
		t.Errorf("exit code = %d, want %d", got, expiredCode)
	}
}

func TestProgramAlone(t *testing.T) {
	p := start(t, false)
	data, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/limits")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Max core file size        0                    0", "Max processes             512", "Max open files            4096                 4096"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("limits lack %q:\n%s", want, data)
		}
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if got := p.exit(); got != 0 {
		t.Errorf("exit code = %d after SIGTERM, want 0", got)
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
