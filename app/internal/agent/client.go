package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A Life is what the control plane says of a sandbox.
type Life string

const (
	Awake  Life = "awake"  // running, or starting to
	Asleep Life = "asleep" // suspended: a call would wake it
	Gone   Life = "gone"   // terminated, for good
)

// A ClientConfig says how to reach one sandbox. Only Host and AccessToken are
// needed for one in AWS, with Tokens.
type ClientConfig struct {
	// Host is the endpoint's name, as the control plane tells it. It is what
	// TLS checks and what the proxy goes by, wherever Dial leads.
	Host string
	// Dial connects to the proxy. Nil is TCP to port 443 of Host.
	Dial func(context.Context) (net.Conn, error)
	// Plain speaks HTTP/2 without TLS.
	Plain bool
	// Roots are the authorities TLS trusts. Nil is the system's.
	Roots *x509.CertPool

	// Tokens mints a token for the proxy. Nil sends none.
	Tokens func(context.Context) (Token, error)
	// AccessToken is the secret of the sandbox, as base64url.
	AccessToken string

	// Life asks the control plane about the sandbox, which wakes nobody. It is
	// asked while the client waits for the sandbox to come back. Nil is no way
	// to know: then background calls don't reconnect.
	Life func(context.Context) (Life, error)

	Clock clockwork.Clock // nil: the system's
	Log   *slog.Logger    // nil: nothing is logged
}

const (
	agentPort = "8080" // where the agent listens in the sandbox

	maxAnswer    = 64 << 20
	clientWindow = 4 << 20 // of a stream, and twice that of a connection
	clientBuffer = 128 << 10
)

// A Client speaks to the agent of one sandbox, over at most two connections
// that are made when first used: the proxy counts them, and a stream that is
// not read must not hold up a short call.
type Client struct {
	cfg    ClientConfig
	clock  clockwork.Clock
	log    *slog.Logger
	tokens *minter // nil: no proxy to please

	short, long *grpc.ClientConn // for calls and for streams

	health    agentpb.HealthServiceClient
	life      agentpb.LifecycleServiceClient
	processes agentpb.ProcessServiceClient
	procs     agentpb.ProcessServiceClient // its streams
	terminals agentpb.PtyServiceClient
	ptys      agentpb.PtyServiceClient // its streams
	files     agentpb.FilesystemServiceClient
	transfers agentpb.FilesystemServiceClient // its streams
	contexts  agentpb.CodeServiceClient
	cells     agentpb.CodeServiceClient // its streams
	chunks    *chunkPool
}

// NewClient returns a client that has not connected yet.
func NewClient(cfg ClientConfig) (*Client, error) {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{cfg: cfg, clock: cfg.Clock, log: cfg.Log, chunks: newChunkPool(readChunk)}
	if cfg.Tokens != nil {
		c.tokens = newMinter(cfg.Tokens, cfg.Clock)
	}
	var err error
	if c.short, err = c.connection(); err != nil {
		return nil, err
	}
	if c.long, err = c.connection(); err != nil {
		c.short.Close()
		return nil, err
	}
	c.health = agentpb.NewHealthServiceClient(c.short)
	c.life = agentpb.NewLifecycleServiceClient(c.short)
	c.processes, c.procs = agentpb.NewProcessServiceClient(c.short), agentpb.NewProcessServiceClient(c.long)
	c.terminals, c.ptys = agentpb.NewPtyServiceClient(c.short), agentpb.NewPtyServiceClient(c.long)
	c.files, c.transfers = agentpb.NewFilesystemServiceClient(c.short), agentpb.NewFilesystemServiceClient(c.long)
	c.contexts, c.cells = agentpb.NewCodeServiceClient(c.short), agentpb.NewCodeServiceClient(c.long)
	return c, nil
}

// Close ends all calls and connections.
func (c *Client) Close() error {
	c.long.Close()
	return c.short.Close()
}

func (c *Client) connection() (*grpc.ClientConn, error) {
	dial := c.cfg.Dial
	if dial == nil {
		address := net.JoinHostPort(c.cfg.Host, "443")
		dial = func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
	}
	secure := insecure.NewCredentials()
	if !c.cfg.Plain {
		secure = credentials.NewTLS(&tls.Config{
			ServerName: c.cfg.Host, RootCAs: c.cfg.Roots, MinVersion: tls.VersionTLS12,
		})
	}
	return grpc.NewClient("passthrough:///"+c.cfg.Host,
		grpc.WithTransportCredentials(secure),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }),
		grpc.WithAuthority(c.cfg.Host),
		grpc.WithNoProxy(),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithStatsHandler(watchCalls{}),
		grpc.WithInitialWindowSize(clientWindow),
		grpc.WithInitialConnWindowSize(2*clientWindow),
		grpc.WithReadBufferSize(clientBuffer),
		grpc.WithWriteBufferSize(clientBuffer),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingInterval, Timeout: pingTimeout, PermitWithoutStream: true}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 500 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
			MinConnectTimeout: 10 * time.Second,
		}),
	)
}

const (
	pingInterval = 30 * time.Second
	pingTimeout  = 10 * time.Second
)

// outgoing adds the keys that every call carries.
func (c *Client) outgoing(ctx context.Context, f *facts) (context.Context, error) {
	pairs := []string{"x-access-token", c.cfg.AccessToken, "x-aws-proxy-port", agentPort, "x-aws-proxy-force-h2", "true"}
	if c.tokens != nil {
		jwe, err := c.tokens.get(ctx)
		if err != nil {
			return nil, err
		}
		f.jwe = jwe
		pairs = append(pairs, "x-aws-proxy-auth", jwe)
	}
	return metadata.NewOutgoingContext(context.WithValue(ctx, factsKey{}, f), metadata.Pairs(pairs...)), nil
}
