package e2e

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/coder/websocket"
	"google.golang.org/grpc"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// TestAgentThroughEndpoint uses the agent as any client of its protocol would:
// with the generated stubs, through the VM's endpoint.
func TestAgentThroughEndpoint(t *testing.T) {
	r := newRig(t)
	v := r.run(t, nil, 9999)
	conn := v.grpc(t)

	t.Run("health needs no access token", func(t *testing.T) {
		bare := *v
		bare.secret = ""
		h, err := agentpb.NewHealthServiceClient(conn).Health(bare.context(t), &agentpb.HealthRequest{})
		if err != nil || h.SandboxId != v.id {
			t.Errorf("health = %v, %v", h, err)
		}
		_, err = agentpb.NewFilesystemServiceClient(conn).Stat(bare.context(t), &agentpb.StatRequest{Path: "/tmp"})
		if got, want := code(err), "Unauthenticated"; got != want {
			t.Errorf("stat without the access token: %s, want %s", got, want)
		}
	})
	t.Run("echo", func(t *testing.T) {
		stdout, exit := v.command(t, conn, "echo hello; exit 3")
		if got, want := string(stdout), "hello\n"; got != want || exit != 3 {
			t.Errorf("stdout %q, exit %d; want %q, 3", got, exit, want)
		}
	})
	t.Run("5 MB of output arrive whole", func(t *testing.T) {
		const script = `python3 -c 'import sys,hashlib; b=bytes(i*i%251 for i in range(1000))*5000; sys.stdout.buffer.write(b); sys.stderr.write(hashlib.sha256(b).hexdigest())'`
		stdout, _ := v.command(t, conn, script)
		var want []byte
		for i := range 1000 {
			want = append(want, byte(i*i%251))
		}
		want = bytes.Repeat(want, 5000)
		if sha256.Sum256(stdout) != sha256.Sum256(want) {
			t.Errorf("%d bytes came, not the %d that were written", len(stdout), len(want))
		}
	})
	t.Run("terminal", func(t *testing.T) {
		client := agentpb.NewPtyServiceClient(conn)
		stream, err := client.Create(v.context(t), &agentpb.PtyStart{Size: &agentpb.PtySize{Cols: 100, Rows: 30}})
		if err != nil {
			t.Fatal(err)
		}
		var seen strings.Builder
		asked := false
		for {
			msg, err := stream.Recv()
			if err != nil {
				t.Fatalf("after %q: %v", seen.String(), err)
			}
			if p := msg.GetStarted(); p != nil && !asked {
				asked = true
				in := &agentpb.SendInputRequest{Pid: p.Pid, Data: []byte("tty >/dev/null && stty size && exit 7\n")}
				if _, err := client.SendInput(v.context(t), in); err != nil {
					t.Fatal(err)
				}
			}
			seen.Write(msg.GetData())
			if e := msg.GetExited(); e != nil {
				if e.ExitCode != 7 || !strings.Contains(seen.String(), "30 100") {
					t.Errorf("exit %d after %q", e.ExitCode, seen.String())
				}
				return
			}
		}
	})
	t.Run("websocket", func(t *testing.T) {
		v.start(t, conn, echoServer)
		v.mint(t, 60, 8080, 7777)
		var ws *websocket.Conn
		eventually(t, "the server inside listens", func() bool {
			var err error
			ws, _, err = websocket.Dial(t.Context(), "ws://"+v.host+"/chat", &websocket.DialOptions{
				HTTPClient:   &http.Client{Transport: &http.Transport{DialContext: r.dial}},
				Subprotocols: []string{"lambda-microvms", "lambda-microvms.authentication." + v.token, "lambda-microvms.port.7777"},
			})
			return err == nil
		})
		defer ws.CloseNow()
		for _, want := range []string{"one", strings.Repeat("long ", 20_000)} {
			if err := ws.Write(t.Context(), websocket.MessageText, []byte(want)); err != nil {
				t.Fatal(err)
			}
			ws.SetReadLimit(1 << 20)
			_, got, err := ws.Read(t.Context())
			if err != nil || string(got) != want {
				t.Fatalf("echo of %d bytes: %d bytes, %v", len(want), len(got), err)
			}
		}
	})
	t.Run("refusals", func(t *testing.T) {
		v.mint(t, 60, 8080, 9999)
		for _, tt := range []struct {
			name, port string
			status     int
		}{
			{"port not in the token", "3000", 403},
			{"nothing listens", "9999", 502},
			{"no port", "none", 400},
		} {
			if status, code := v.get(t, tt.port, "/"); status != tt.status || code == "" {
				t.Errorf("%s: status %d, x-aws-proxy-error %q; want %d and a code", tt.name, status, code, tt.status)
			}
		}
		bare := *v
		bare.token = ""
		if status, _ := bare.get(t, "8080", "/"); status != 403 {
			t.Errorf("no token: status %d, want 403", status)
		}
		v.mint(t, 1, 8080)
		r.clock.Advance(61 * time.Second)
		if status, _ := v.get(t, "8080", "/"); status != 403 {
			t.Errorf("expired token: status %d, want 403", status)
		}
	})
}

// TestSleepAndLife turns the clock: traffic wakes a suspended VM with its
// Python variables, and idle time and lifetime end to the second.
func TestSleepAndLife(t *testing.T) {
	r := newRig(t)
	v := r.run(t, func(in *microvm.RunMicrovmInput) { in.MaximumDurationInSeconds = aws.Int32(2000) })
	start := r.clock.Now()
	conn := v.grpc(t)
	if _, got := v.cell(t, conn, "x = 6*7"); got != "" {
		t.Errorf("x = 6*7 shows %q", got)
	}

	// The endpoint was last used just now, so 299 s later it is still up.
	advance := r.clock.Advance
	advance(299 * time.Second)
	if state, _ := v.state(t); state != wire.MicrovmStateRunning {
		t.Errorf("after 299 s idle: %s", state)
	}
	advance(time.Second)
	v.reaches(t, wire.MicrovmStateSuspended)

	v.mint(t, 60, 8080)
	if _, got := v.cell(t, conn, "x"); got != "42" {
		t.Errorf("after waking, x is %q", got)
	}
	if state, _ := v.state(t); state != wire.MicrovmStateRunning {
		t.Errorf("after traffic: %s", state)
	}

	// Asked for, and again woken by a request that is held.
	if _, err := r.api.SuspendMicrovm(t.Context(), &microvm.SuspendMicrovmInput{MicrovmIdentifier: &v.id}); err != nil {
		t.Fatal(err)
	}
	v.reaches(t, wire.MicrovmStateSuspended)
	if _, got := v.cell(t, conn, "x + 1"); got != "43" {
		t.Errorf("after the second waking, x + 1 is %q", got)
	}

	// It never sleeps again, so that only its life can end it.
	for left := 2000*time.Second - r.clock.Since(start); left > time.Second; left = 2000*time.Second - r.clock.Since(start) {
		v.mint(t, 60, 8080)
		if _, got := v.cell(t, conn, "1"); got != "1" {
			t.Fatalf("%s before its end: %q", left, got)
		}
		advance(min(left-time.Second, 250*time.Second))
	}
	if state, _ := v.state(t); state != wire.MicrovmStateRunning {
		t.Errorf("one second before its end: %s", state)
	}
	advance(time.Second)
	v.reaches(t, wire.MicrovmStateTerminated)
	if _, reason := v.state(t); !strings.Contains(reason, "exceeded maximum lifetime") {
		t.Errorf("reason %q", reason)
	}
}

// command runs a shell command to its end.
func (v *vm) command(t testing.TB, conn *grpc.ClientConn, script string) (stdout []byte, exit int32) {
	t.Helper()
	stream := v.start(t, conn, script)
	for {
		event, err := stream.Recv()
		if err != nil {
			t.Fatalf("%d bytes into the output: %v", len(stdout), err)
		}
		stdout = append(stdout, event.GetData().GetStdout()...)
		if end := event.GetEnd(); end != nil {
			return stdout, end.ExitCode
		}
	}
}

// start runs a shell command and returns once it runs.
func (v *vm) start(t testing.TB, conn *grpc.ClientConn, script string) grpc.ServerStreamingClient[agentpb.ProcessEvent] {
	t.Helper()
	stream, err := agentpb.NewProcessServiceClient(conn).Start(v.context(t), &agentpb.StartRequest{
		Process: &agentpb.ProcessConfig{Cmd: "/bin/bash", Args: []string{"-l", "-c", script}},
	})
	if err != nil {
		t.Fatal(err)
	}
	event, err := stream.Recv()
	if err != nil || event.GetStart() == nil {
		t.Fatalf("first event %v, %v", event, err)
	}
	return stream
}

// cell runs Python to its end, and returns what it printed and its value.
func (v *vm) cell(t testing.TB, conn *grpc.ClientConn, code string) (stdout, value string) {
	t.Helper()
	stream, err := agentpb.NewCodeServiceClient(conn).Execute(v.context(t), &agentpb.ExecuteRequest{Code: code})
	if err != nil {
		t.Fatal(err)
	}
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stdout, value
		}
		if err != nil {
			t.Fatal(err)
		}
		stdout += event.GetStdout().GetText()
		if e := event.GetError(); e != nil {
			t.Fatalf("%s: %s", e.Name, e.Value)
		}
		if res := event.GetResult(); res.GetIsMainResult() {
			value = res.GetText()
		}
	}
}

// echoServer is a WebSocket server on port 7777 in nothing but the standard
// library, as a program inside a sandbox might have one.
const echoServer = `exec python3 -c '
import base64, hashlib, socketserver, struct
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        headers = {}
        for line in iter(self.rfile.readline, b"\r\n"):
            if not line: return
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        assert not any(h.startswith("x-aws-proxy") for h in headers), headers
        assert "sec-websocket-protocol" not in headers, headers
        accept = base64.b64encode(hashlib.sha1(headers["sec-websocket-key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        while True:
            head = self.rfile.read(2)
            if len(head) < 2 or head[0] & 15 == 8: return
            size = head[1] & 127
            if size == 126: size = struct.unpack(">H", self.rfile.read(2))[0]
            elif size == 127: size = struct.unpack(">Q", self.rfile.read(8))[0]
            mask = self.rfile.read(4)
            body = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(size)))
            length = bytes([size]) if size < 126 else b"\x7e" + struct.pack(">H", size) if size < 65536 else b"\x7f" + struct.pack(">Q", size)
            self.wfile.write(head[:1] + length + body)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
Server(("127.0.0.1", 7777), Echo).serve_forever()
'`
