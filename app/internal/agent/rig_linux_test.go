package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A rig is a server over real connections, with no kernel, and its clients. As
// root its user is uid 1000; otherwise whoever runs the test.
type rig struct {
	t      *testing.T
	s      *Server
	home   string
	hooks  string // where they are
	conn   *grpc.ClientConn
	token  []byte
	served chan error // what Serve returned
}

// newRig starts a server. edit may be nil; prepare sees the server before it
// serves.
func newRig(t *testing.T, edit func(*Config), prepare ...func(*Server)) *rig {
	t.Helper()
	r := &rig{t: t, home: t.TempDir(), token: bytes.Repeat([]byte{7}, 32), served: make(chan error, 1)}
	if os.Geteuid() == 0 {
		for dir := r.home; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chown(r.home, minUserID, minUserID); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{User: "user", Home: r.home, NoKernel: true, Platform: func(net.Conn) bool { return true }}
	if edit != nil {
		edit(&cfg)
	}
	r.s = NewServer(cfg)
	r.s.identities.lookupUser = r.lookup
	for _, f := range prepare {
		f(r.s)
	}
	calls, hooks := listen(t), listen(t)
	r.hooks = "http://" + hooks.Addr().String() + hookPath
	ctx, cancel := context.WithCancel(context.Background())
	go func() { r.served <- r.s.Serve(ctx, calls, hooks) }()
	r.conn = r.dial(calls.Addr().String())
	t.Cleanup(func() {
		r.conn.Close()
		cancel()
		<-r.served
	})
	return r
}

// lookup is a table of users of which one can be used.
func (r *rig) lookup(name string) (*user.User, error) {
	users := map[string]string{"user": "1000", "root": "0", "daemon": "1", "nobody": "65534", "huge": "70000"}
	id, ok := users[name]
	if !ok {
		return nil, user.UnknownUserError(name)
	}
	return &user.User{Username: name, Uid: id, Gid: id, HomeDir: r.home}, nil
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func (r *rig) dial(addr string, opts ...grpc.DialOption) *grpc.ClientConn {
	r.t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr,
		append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		r.t.Fatal(err)
	}
	return conn
}

// ctx is a context with the token.
func (r *rig) ctx() context.Context {
	return metadata.AppendToOutgoingContext(r.t.Context(), tokenKey, base64.RawURLEncoding.EncodeToString(r.token))
}

// run calls the run hook with the token and what else is given.
func (r *rig) run(more map[string]any) *rig {
	r.t.Helper()
	sum := sha256.Sum256(r.token)
	payload := map[string]any{"v": 1, "token_sha256": hex.EncodeToString(sum[:])}
	for k, v := range more {
		payload[k] = v
	}
	text, err := json.Marshal(payload)
	if err != nil {
		r.t.Fatal(err)
	}
	body, err := json.Marshal(map[string]string{"microvmId": "microvm-1", "runHookPayload": string(text)})
	if err != nil {
		r.t.Fatal(err)
	}
	if got := r.hook("run", string(body)).Outcome; got != "installed" {
		r.t.Fatalf("outcome of run = %q, want installed", got)
	}
	return r
}

// hook calls a hook that has to answer.
func (r *rig) hook(name, body string) hookAnswer {
	r.t.Helper()
	res, err := http.Post(r.hooks+name, "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	var a hookAnswer
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		r.t.Fatal(err)
	}
	if !res.Close {
		r.t.Errorf("hook %s keeps its connection", name)
	}
	a.status = res.StatusCode
	return a
}

func (r *rig) health() *agentpb.HealthResponse {
	r.t.Helper()
	h, err := agentpb.NewHealthServiceClient(r.conn).Health(r.t.Context(), &agentpb.HealthRequest{})
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

func (r *rig) process() agentpb.ProcessServiceClient { return agentpb.NewProcessServiceClient(r.conn) }

// sh is a request to run a script.
func sh(script string) *agentpb.StartRequest {
	return &agentpb.StartRequest{Process: &agentpb.ProcessConfig{Cmd: "/bin/bash", Args: []string{"-c", script}}}
}

// A stream is a process as a client sees it.
type stream struct {
	t    *testing.T
	grpc grpc.ServerStreamingClient[agentpb.ProcessEvent]
	pid  uint32
	out  bytes.Buffer
	err  bytes.Buffer
	seq  uint64
	last int // keepalives seen
	end  *agentpb.EndEvent
}

// start runs req and checks the first event.
func (r *rig) start(req *agentpb.StartRequest) *stream {
	r.t.Helper()
	st, err := r.process().Start(r.ctx(), req)
	return r.opened(st, err)
}

func (r *rig) connect(pid uint32, from uint64) *stream {
	r.t.Helper()
	st, err := r.process().Connect(r.ctx(), &agentpb.ConnectRequest{Pid: pid, FromSeq: from})
	s := r.opened(st, err)
	if s.pid != pid {
		r.t.Fatalf("pid after Connect = %d, want %d", s.pid, pid)
	}
	if from > 0 {
		s.seq = from - 1
	}
	return s
}

func (r *rig) opened(st grpc.ServerStreamingClient[agentpb.ProcessEvent], err error) *stream {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	ev, err := st.Recv()
	if err != nil {
		r.t.Fatalf("first event: %v", err)
	}
	if ev.GetStart() == nil {
		r.t.Fatalf("first event = %v, want a start", ev)
	}
	return &stream{t: r.t, grpc: st, pid: ev.GetStart().GetPid()}
}

// next reads one event; it is false at the end of the stream.
func (s *stream) next() bool {
	s.t.Helper()
	ev, err := s.grpc.Recv()
	if errors.Is(err, io.EOF) {
		return false
	}
	if err != nil {
		s.t.Fatalf("stream: %v", err)
	}
	if s.end != nil {
		s.t.Fatalf("event after the end: %v", ev)
	}
	switch e := ev.GetEvent().(type) {
	case *agentpb.ProcessEvent_Data:
		if s.seq != 0 && e.Data.GetSeq() != s.seq+1 {
			s.t.Fatalf("seq = %d after %d", e.Data.GetSeq(), s.seq)
		}
		s.seq = e.Data.GetSeq()
		if n := len(e.Data.GetStdout()) + len(e.Data.GetStderr()); n == 0 || n > pipeChunk {
			s.t.Fatalf("chunk of %d bytes", n)
		}
		s.out.Write(e.Data.GetStdout())
		s.err.Write(e.Data.GetStderr())
	case *agentpb.ProcessEvent_End:
		s.end = e.End
	case *agentpb.ProcessEvent_Keepalive:
		s.last++
	default:
		s.t.Fatalf("event = %v", ev)
	}
	return true
}

// rest reads to the end, which there has to be.
func (s *stream) rest() *stream {
	s.t.Helper()
	for s.next() {
	}
	if s.end == nil {
		s.t.Fatal("the stream ended without an end event")
	}
	return s
}

// until reads until the output has text.
func (s *stream) until(text string) *stream {
	s.t.Helper()
	for !strings.Contains(s.out.String(), text) {
		if !s.next() {
			s.t.Fatalf("the stream ended before %q; output %q", text, s.out.String())
		}
	}
	return s
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	p, ok := parseStat(pid, data)
	return ok && p.state != 'Z'
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
