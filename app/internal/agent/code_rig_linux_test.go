package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
	"github.com/arenero/arenero/app/internal/agent/kernel"
)

// A codeRig is a code service, and a client of it over gRPC.
type codeRig struct {
	agentpb.CodeServiceClient
	service *codeService
	gate    *gate
	clock   *runClock
	conn    *grpc.ClientConn
	dial    func() *grpc.ClientConn // makes another
	env     map[string]string       // what the sandbox brings
}

// newCodeRig starts a service whose kernels do without IPython, which is the
// faster start, and waits for the default one.
func newCodeRig(t *testing.T, base clockwork.Clock) *codeRig {
	t.Helper()
	home := t.TempDir()
	r := &codeRig{env: map[string]string{}}
	r.serve(t, base, func(dir string, envs map[string]string) (kernel.Config, error) {
		env := []string{"PATH=/usr/bin:/bin", "HOME=" + home}
		for _, m := range []map[string]string{r.env, envs} {
			for k, v := range m {
				env = append(env, k+"="+v)
			}
		}
		slices.Sort(env)
		if dir == "" {
			dir = home
		}
		return kernel.Config{Python: "/usr/bin/python3", Plain: true, Dir: dir, Env: env}, nil
	})
	return r
}

// serve runs a service that starts its kernels by command.
func (r *codeRig) serve(t testing.TB, base clockwork.Clock, command func(string, map[string]string) (kernel.Config, error)) {
	t.Helper()
	r.gate, r.clock = newGate(), newRunClock(base)
	r.service = newCodeService(codeConfig{
		gate: r.gate, clock: r.clock, budget: newBudget(budgetHigh, budgetMax),
		log: slog.New(slog.DiscardHandler), command: command,
	})
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.service.serve(ctx) }()
	ln := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.Creds(plain{}))
	agentpb.RegisterCodeServiceServer(server, r.service)
	go server.Serve(ln)
	r.dial = func() *grpc.ClientConn {
		conn, err := grpc.NewClient("passthrough:///kernel", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return ln.DialContext(ctx) }))
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	r.conn = r.dial()
	r.CodeServiceClient = agentpb.NewCodeServiceClient(r.conn)
	t.Cleanup(func() {
		r.conn.Close()
		cancel()
		server.Stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	for end := time.Now().Add(time.Minute); !r.service.ready(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the default kernel does not get ready")
		}
	}
}

// reconnect loses the connection, and makes another.
func (r *codeRig) reconnect() {
	r.conn.Close()
	r.conn = r.dial()
	r.CodeServiceClient = agentpb.NewCodeServiceClient(r.conn)
}

// A codeStream reads one stream, and notes what the protocol promises of it.
type codeStream struct {
	stream grpc.ServerStreamingClient[agentpb.ExecuteEvent]
	cancel context.CancelFunc
	id     string
	count  uint64
	seq    uint64
	log    []string
	ended  bool
}

func (r *codeRig) execute(t *testing.T, req *agentpb.ExecuteRequest) *codeStream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	stream, err := r.Execute(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	return &codeStream{stream: stream, cancel: cancel}
}

func (r *codeRig) reattach(t *testing.T, context_ string, id string, seq uint64) *codeStream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	stream, err := r.Reattach(ctx, &agentpb.ReattachRequest{ContextId: context_, ExecutionId: id, FromSeq: seq})
	if err != nil {
		t.Fatal(err)
	}
	return &codeStream{stream: stream, cancel: cancel}
}

// next reads one message that is no keepalive.
func (s *codeStream) next() error {
	for {
		e, err := s.stream.Recv()
		if err != nil {
			return err
		}
		if s.ended {
			return errors.New("a message after the end")
		}
		if e.GetKeepalive() != nil {
			if e.GetSeq() != 0 {
				return errors.New("a keepalive with a number")
			}
			continue
		}
		if s.seq != 0 && e.GetSeq() != s.seq+1 {
			return fmt.Errorf("number %d after %d", e.GetSeq(), s.seq)
		}
		s.seq = e.GetSeq()
		switch {
		case e.GetStarted() != nil:
			if e.GetSeq() != 1 {
				return errors.New("started is not the first message")
			}
			s.id, s.count = e.GetStarted().GetExecutionId(), e.GetStarted().GetExecutionCount()
		case e.GetStdout() != nil:
			s.add("o:", e.GetStdout().GetText())
		case e.GetStderr() != nil:
			s.add("e:", e.GetStderr().GetText())
		case e.GetResult() != nil:
			s.log = append(s.log, "r:"+e.GetResult().GetText())
		case e.GetError() != nil:
			s.log = append(s.log, "!:"+e.GetError().GetName())
		case e.GetEnd() != nil:
			s.ended = true
		}
		return nil
	}
}

func (s *codeStream) add(tag, text string) {
	if n := len(s.log); n > 0 && strings.HasPrefix(s.log[n-1], tag) {
		s.log[n-1] += text
		return
	}
	s.log = append(s.log, tag+text)
}

// until reads until the log has text in it.
func (s *codeStream) until(t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(s.String(), text) {
		if err := s.next(); err != nil {
			t.Fatalf("waiting for %q after %q: %v", text, s, err)
		}
	}
}

// rest reads to the end, and returns all there was.
func (s *codeStream) rest(t *testing.T) string {
	t.Helper()
	for {
		err := s.next()
		if errors.Is(err, io.EOF) {
			if !s.ended {
				t.Errorf("the stream ended without an end: %q", s)
			}
			return s.String()
		}
		if err != nil {
			t.Fatalf("after %.200q: %v", s, err)
		}
	}
}

// fails reads until the stream fails, and returns how.
func (s *codeStream) fails(t *testing.T) error {
	t.Helper()
	for {
		if err := s.next(); errors.Is(err, io.EOF) {
			t.Fatalf("the stream ended well: %q", s)
		} else if err != nil {
			return err
		}
	}
}

func (s *codeStream) String() string { return strings.Join(s.log, "|") }

// run runs code in the default context, to its end.
func (r *codeRig) run(t *testing.T, code string) string {
	t.Helper()
	return r.execute(t, &agentpb.ExecuteRequest{Code: code}).rest(t)
}
