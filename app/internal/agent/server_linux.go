package agent

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// Version is what Health tells. Its first two numbers are those of the rayito
// SDKs whose protocol this is, which compare them to their own.
const Version = "0.10.0"

// ErrExpired is what Serve returns when a managed sandbox has lived as long as
// it may.
var ErrExpired = errors.New("the time of the sandbox is up")

// A Config says what a Server serves. Only Home and User are needed.
type Config struct {
	User string // the default user; the only one where the agent is not root
	Home string // of the default user

	AllowRoot bool              // let processes be root's, or a system user's
	AsSelf    bool              // processes are whose the agent is, even if that is root
	Env       map[string]string // of every process, unless the client says otherwise
	Memory    uint64            // bytes the sandbox may use; 0: all the machine has
	CPUs      int               // the same for processors
	NoKernel  bool              // run no code but commands

	// Spawn calls start, which starts a process. Nil just calls it.
	Spawn func(start func() error) error
	// Platform reports whether the platform made a connection to the hooks. Nil
	// leaves it to the owner of the socket.
	Platform func(net.Conn) bool

	Log   *slog.Logger
	Clock clockwork.Clock // nil: the system's
}

// A Server is the inside of a sandbox.
type Server struct {
	cfg        Config
	log        *slog.Logger
	clock      clockwork.Clock
	started    time.Time
	running    *runClock
	gate       *gate
	identities *identities
	processes  *processes
	kernels    kernels
	life       *lifecycle
	metrics    *metrics
	hooks      *hooks
	session    atomic.Pointer[session]

	stop     chan struct{} // closed when Serve begins to end
	ending   sync.Once
	terminal error // what Serve returns; written before stop is closed
}

// NewServer returns a server that has started nothing yet.
func NewServer(cfg Config) *Server {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Spawn == nil {
		cfg.Spawn = func(start func() error) error { return start() }
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, clock: cfg.Clock, started: cfg.Clock.Now(),
		running: newRunClock(cfg.Clock), gate: newGate(), identities: newIdentities(&cfg),
		kernels: noKernels{}, stop: make(chan struct{}),
	}
	s.processes = newProcesses(s.running, cfg.Spawn, s.stop)
	s.life = newLifecycle(s)
	s.metrics = newMetrics(&cfg)
	s.hooks = newHooks(s)
	if !cfg.NoKernel {
		s.kernels = s.newKernels()
	}
	return s
}

// Serve answers on both listeners until ctx is done, the terminate hook is
// called or the time of the sandbox is up, and then ends everything it started.
func (s *Server) Serve(ctx context.Context, calls, hooks net.Listener) error {
	rpc := s.register()
	web := s.hooks.server()
	g, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, func() { s.finish(nil) })
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	g.Go(func() error { return rpc.Serve(calls) })
	g.Go(func() error {
		if err := web.Serve(hooks); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error { return s.kernels.serve(work) })
	g.Go(func() error { s.metrics.sample(work, s.running); return nil })
	g.Go(func() error {
		<-s.stop
		s.shutdown(rpc, web)
		cancel()
		return nil
	})
	err := g.Wait()
	if s.terminal != nil {
		return s.terminal
	}
	return err
}

// finish makes Serve return err.
func (s *Server) finish(err error) {
	s.ending.Do(func() {
		s.terminal = err
		close(s.stop)
	})
}

// shutdown ends the streams, then the listeners, then what runs.
func (s *Server) shutdown(rpc *grpc.Server, web *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), streamsEndIn)
	defer cancel()
	s.gate.close(ctx, closingTerminate)
	s.life.close()
	web.Shutdown(ctx)
	web.Close()
	s.hooks.close()
	rpc.Stop()
	s.processes.close()
}

// register makes the gRPC server.
func (s *Server) register() *grpc.Server {
	rpc := grpc.NewServer(s.options()...)
	agentpb.RegisterHealthServiceServer(rpc, &healthService{s: s})
	agentpb.RegisterProcessServiceServer(rpc, &processService{s: s})
	agentpb.RegisterPtyServiceServer(rpc, &ptyService{s: s})
	agentpb.RegisterFilesystemServiceServer(rpc, newFilesystem(s.gate, s.account, s.clock))
	agentpb.RegisterCodeServiceServer(rpc, s.kernels)
	agentpb.RegisterLifecycleServiceServer(rpc, s.life)
	agentpb.RegisterNetworkServiceServer(rpc, agentpb.UnimplementedNetworkServiceServer{})
	agentpb.RegisterConfigureServiceServer(rpc, agentpb.UnimplementedConfigureServiceServer{})
	return rpc
}

// environ is what every program of id finds, under the variables of the
// sandbox and of the request.
func (s *Server) environ(id *identity) map[string]string {
	env := map[string]string{"PATH": searchPath, "HOME": id.home, "USER": id.name, "LOGNAME": id.name}
	maps.Copy(env, s.cfg.Env)
	return env
}

// account is the identity of u as the file service wants it.
func (s *Server) account(u *agentpb.User) (*identity, error) {
	return s.identities.find(u, s.session.Load().terms().user)
}
