package e2e

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
	"github.com/arenero/arenero/app/internal/cloud"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// A rig is a cloud of this process, on a private socket as the engine uses it,
// with real jails behind it and a clock that only the test turns.
type rig struct {
	server *cloud.Server
	clock  *clockwork.FakeClock
	api    *microvm.Client
	socket string

	mu  sync.Mutex
	ids []string // guarded by mu: of all VMs that were run
}

// made tells whether name is that of a VM of r, or has it in it.
func (r *rig) made(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.ids, func(id string) bool { return strings.Contains(name, id) })
}

func newRig(t testing.TB, edits ...func(*cloud.Config)) *rig {
	t.Helper()
	// Short, since the path of a socket may not be long.
	dir, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{clock: clockwork.NewFakeClockAt(time.Now()), socket: filepath.Join(dir, "s")}
	cfg := cloud.Config{
		Dir:      filepath.Join(dir, "data"),
		Launcher: &cloud.Jails{Agent: filepath.Join(programs, "arenero-agent")},
		Clock:    r.clock,
	}
	for _, edit := range edits {
		edit(&cfg)
	}
	r.server, err = cloud.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.server.Serve(ctx, ln) }()
	key := r.server.Credential()
	r.api = microvm.New(microvm.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String("http://lambda.us-east-1.amazonaws.com"),
		Credentials:  credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
		HTTPClient:   &http.Client{Transport: &http.Transport{DialContext: r.dial}},
		NoRateLimit:  true,
	})
	t.Cleanup(func() {
		r.api.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := r.server.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		removeAll(t, dir)
	})
	return r
}

// dial is how this computer reaches every name of the cloud.
func (r *rig) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", r.socket)
}

// A vm is one running VM and the keys to it.
type vm struct {
	rig      *rig
	id, host string
	secret   string // what the agent wants to see
	token    string // what the proxy wants to see
}

// run starts a VM and waits until its agent is ready. edit may change the
// request; ports are those that the token opens.
func (r *rig) run(t testing.TB, edit func(*microvm.RunMicrovmInput), ports ...int32) *vm {
	t.Helper()
	v := r.launch(t, edit)
	v.mint(t, 60, append(ports, 8080)...)
	conn := v.grpc(t)
	defer conn.Close()
	eventually(t, "the agent is ready", func() bool {
		h, err := agentpb.NewHealthServiceClient(conn).Health(v.context(t), &agentpb.HealthRequest{})
		return err == nil && h.AgentReady && h.KernelReady && h.SandboxId == v.id
	})
	return v
}

// launch starts a VM and waits for nothing.
func (r *rig) launch(t testing.TB, edit func(*microvm.RunMicrovmInput)) *vm {
	t.Helper()
	raw := make([]byte, 32)
	rand.Read(raw)
	digest := sha256.Sum256(raw)
	in := &microvm.RunMicrovmInput{
		ImageIdentifier: aws.String(localImage),
		RunHookPayload:  aws.String(fmt.Sprintf(`{"token_sha256":%q,"v":1}`, hex.EncodeToString(digest[:]))),
		IdlePolicy: &wire.IdlePolicy{
			MaxIdleDurationSeconds: aws.Int32(300), SuspendedDurationSeconds: aws.Int32(3600), AutoResumeEnabled: aws.Bool(true),
		},
		MaximumDurationInSeconds: aws.Int32(28800),
	}
	if edit != nil {
		edit(in)
	}
	out, err := r.api.RunMicrovm(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.ids = append(r.ids, *out.MicrovmId)
	r.mu.Unlock()
	return &vm{rig: r, id: *out.MicrovmId, host: *out.Endpoint, secret: base64.RawURLEncoding.EncodeToString(raw)}
}

// mint replaces the token by one for ports.
func (v *vm) mint(t testing.TB, minutes int32, ports ...int32) {
	t.Helper()
	in := &microvm.CreateMicrovmAuthTokenInput{MicrovmIdentifier: &v.id, ExpirationInMinutes: &minutes}
	for _, p := range ports {
		in.AllowedPorts = append(in.AllowedPorts, wire.PortSpecification{Port: aws.Int32(p)})
	}
	out, err := v.rig.api.CreateMicrovmAuthToken(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	v.token = out.AuthToken["X-aws-proxy-auth"]
}

// context carries the metadata of every call to the agent.
func (v *vm) context(t testing.TB) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(),
		"x-aws-proxy-auth", v.token, "x-aws-proxy-port", "8080", "x-aws-proxy-force-h2", "true", "x-access-token", v.secret)
}

// grpc connects to the agent through the endpoint.
func (v *vm) grpc(t testing.TB) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+v.host,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return v.rig.dial(ctx, "", "") }),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// get is a plain request to a port of the VM.
func (v *vm) get(t testing.TB, port, path string) (status int, code string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: v.rig.dial, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.token != "" {
		req.Header.Set("X-aws-proxy-auth", v.token)
	}
	req.Header.Set("X-aws-proxy-port", port)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("x-aws-proxy-error")
}

// state reads the VM's state and why it is so.
func (v *vm) state(t testing.TB) (wire.MicrovmState, string) {
	t.Helper()
	out, err := v.rig.api.GetMicrovm(t.Context(), &microvm.GetMicrovmInput{MicrovmIdentifier: &v.id})
	if err != nil {
		t.Fatal(err)
	}
	return out.State, aws.ToString(out.StateReason)
}

// reaches waits until the VM is in state want.
func (v *vm) reaches(t testing.TB, want wire.MicrovmState) {
	t.Helper()
	eventually(t, string("the VM is "+want), func() bool {
		got, _ := v.state(t)
		return got == want
	})
}
