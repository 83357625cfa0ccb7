package app_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/cloud"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/sandbox"
)

// limit is how long a test waits for what must happen.
const limit = 2 * time.Minute

// agentProgram is the agent that sandboxes have in them.
var agentProgram string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "arenero-app-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // the users of sandboxes start it
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	agentProgram = filepath.Join(dir, "arenero-agent")
	build := exec.Command("go", "build", "-trimpath", "-o", agentProgram, "github.com/arenero/arenero/app/cmd/arenero-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the agent: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// eventually waits until what must become true does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after %v: %s", limit, what)
		}
	}
}

// A rig is an engine that takes a cloud with a clock of its own, which only the
// test turns, for AWS. Sandboxes are real ones, with a real agent.
type rig struct {
	t       *testing.T
	clock   *clockwork.FakeClock // of the cloud; nil: it goes by the computer's
	server  *cloud.Server
	api     *microvm.Client // to the cloud, past the engine
	client  *control.Client // to the engine
	profile sandbox.Profile
	address string
}

func newRig(t *testing.T, edits ...func(*cloud.Config)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "ar-") // short, for the sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eventually(t, "folder "+dir+" removed", func() bool { return os.RemoveAll(dir) == nil }) })
	t.Setenv("ARENERO_HOME", filepath.Join(dir, "home"))
	r := &rig{t: t, clock: clockwork.NewFakeClockAt(time.Now())}
	r.serve(filepath.Join(dir, "cloud"), edits)
	r.start()
	return r
}

// serve has the cloud listen.
func (r *rig) serve(dir string, edits []func(*cloud.Config)) {
	r.t.Helper()
	cfg := cloud.Config{Dir: dir, Launcher: &cloud.Jails{Agent: agentProgram}, Clock: r.clock}
	for _, edit := range edits {
		edit(&cfg)
	}
	if cfg.Clock != r.clock {
		r.clock = nil
	}
	var err error
	if r.server, err = cloud.New(cfg); err != nil {
		r.t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.server.Serve(ctx, ln) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			r.t.Errorf("serve: %v", err)
		}
		if err := r.server.Close(context.Background()); err != nil {
			r.t.Errorf("close: %v", err)
		}
	})
	key := r.server.Credential()
	r.address = "http://" + ln.Addr().String()
	r.profile = sandbox.Profile{Name: "env:test", Env: map[string]string{
		"AWS_ENDPOINT_URL_LAMBDA_MICROVMS": r.address, "AWS_REGION": r.server.Region(),
		"AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey,
	}}
	r.api = microvm.NewFromConfig(awsauth.Static(r.server.Region(), key.AccessKeyID, key.SecretAccessKey, ""), func(o *microvm.Options) {
		o.BaseEndpoint, o.NoRateLimit, o.RetryMaxAttempts = &r.address, true, 1
	})
	r.t.Cleanup(r.api.CloseIdleConnections)
}

// start starts the engine.
func (r *rig) start() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	engine, err := app.New(ctx, app.Config{Version: "test", Program: filepath.Join(r.t.TempDir(), "none")})
	if err != nil {
		r.t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- engine.Run(ctx) }()
	path, err := control.Path()
	if err != nil {
		r.t.Fatal(err)
	}
	r.client = control.NewClient(path)
	r.t.Cleanup(func() {
		r.client.Close()
		cancel()
		if err := <-ran; err != nil {
			r.t.Errorf("engine: %v", err)
		}
	})
}

// spec is what sandboxes of r usually are.
func (r *rig) spec() sandbox.Spec {
	return sandbox.Spec{Profile: r.profile, Template: cloud.LocalImage, Timeout: time.Hour, Idle: 5 * time.Minute}
}

// create makes a sandbox that belongs to nobody.
func (r *rig) create(spec sandbox.Spec) sandbox.Sandbox {
	r.t.Helper()
	b, err := r.client.Create(r.t.Context(), spec)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// hold keeps a lease until the test ends.
func (r *rig) hold(spec sandbox.Spec) (lease string) {
	r.t.Helper()
	l := sandbox.Lease{ID: uuid.NewString(), Host: "test", Spec: spec}
	ctx, cancel := context.WithCancel(context.Background())
	held, done := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(done)
		if err := r.client.Hold(ctx, l, func() { held <- struct{}{} }); err != nil && ctx.Err() == nil {
			r.t.Errorf("hold: %v", err)
		}
	}()
	r.t.Cleanup(func() {
		cancel()
		<-done
	})
	select {
	case <-held:
	case <-done:
		r.t.FailNow()
	}
	return l.ID
}

// run runs a shell command, and returns what it says and in which sandbox.
func (r *rig) run(t sandbox.Target, script string) (said, id string, err error) {
	var all strings.Builder
	e := sandbox.Exec{ID: uuid.NewString(), Target: t, Args: []string{"/bin/sh", "-c", script}, Timeout: time.Minute}
	exit, err := r.client.Exec(r.t.Context(), e, func(o sandbox.Output) error {
		all.Write(o.Data)
		return nil
	})
	return all.String(), exit.Sandbox, err
}

func (r *rig) must(t sandbox.Target, script string) (said, id string) {
	r.t.Helper()
	said, id, err := r.run(t, script)
	if err != nil {
		r.t.Fatalf("%s: %v", script, err)
	}
	return said, id
}

// seen is a sandbox as the engine lists it, with the state that the cloud has
// it in.
func (r *rig) seen(id string) sandbox.Sandbox {
	r.t.Helper()
	all, err := r.client.List(r.t.Context(), sandbox.ListRequest{Profile: r.profile, Ended: true})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, b := range all {
		if b.ID == id {
			return b
		}
	}
	return sandbox.Sandbox{}
}

// reaches waits until the engine lists a sandbox in a state.
func (r *rig) reaches(id string, state sandbox.State) sandbox.Sandbox {
	r.t.Helper()
	var b sandbox.Sandbox
	eventually(r.t, id+" is listed as "+string(state), func() bool {
		b = r.seen(id)
		return b.State == state
	})
	return b
}

// A freezer counts how often its machines are put to sleep.
type freezer struct {
	*cloud.Jails
	frozen atomic.Int64
}

// Start makes a machine that is counted.
func (f *freezer) Start(ctx context.Context, spec cloud.Spec) (cloud.Machine, error) {
	m, err := f.Jails.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &frozen{m, f}, nil
}

type frozen struct {
	cloud.Machine
	freezer *freezer
}

// Freeze counts.
func (m *frozen) Freeze(ctx context.Context) error {
	err := m.Machine.Freeze(ctx)
	m.freezer.frozen.Add(1)
	return err
}
