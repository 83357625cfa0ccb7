package cloud

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// listen serves r on a listener until the test ends.
func (r *rig) listen(network, address string) (addr net.Addr, stop func()) {
	r.t.Helper()
	ln, err := net.Listen(network, address)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx, ln) }()
	return ln.Addr(), func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("serve: %v", err)
		}
	}
}

// client makes all its connections to one address.
func client(addr net.Addr) (*http.Client, func()) {
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, addr.Network(), addr.String())
	}}
	return &http.Client{Transport: tr}, tr.CloseIdleConnections
}

func TestServe(t *testing.T) {
	r := newRig(t, nil)
	sock := filepath.Join(t.TempDir(), "cloud.sock")
	tcp, stopTCP := r.listen("tcp", "127.0.0.1:0")
	unix, stopUnix := r.listen("unix", sock)
	defer stopTCP()
	defer stopUnix()

	for _, addr := range []net.Addr{tcp, unix} {
		t.Run(addr.Network(), func(t *testing.T) {
			c, done := client(addr)
			defer done()
			body := `{"imageIdentifier":"` + r.ImageARN(LocalImage) + `"}`
			req, err := http.NewRequest(http.MethodPost, "http://lambda.us-east-1.amazonaws.com"+vmPath, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.sign(req, []byte(body))
			res, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if got := res.Header.Get("Date"); got != testStart.Format(http.TimeFormat) {
				t.Errorf("date = %q", got)
			}
			var vm wire.RunMicrovmOutput
			if err := json.NewDecoder(res.Body).Decode(&vm); err != nil || res.StatusCode != 200 {
				t.Fatalf("status %d, %v", res.StatusCode, err)
			}
			want := ".lambda-microvm.us-east-1.on.aws"
			if addr.Network() == "tcp" {
				_, port, _ := net.SplitHostPort(addr.String())
				want = ".lambda-microvm.us-east-1.localhost:" + port
			}
			if !strings.HasSuffix(*vm.Endpoint, want) || strings.Contains(*vm.Endpoint, "microvm-") && strings.HasPrefix(*vm.Endpoint, *vm.MicrovmId) {
				t.Errorf("endpoint = %s", *vm.Endpoint)
			}
			r.reach(*vm.MicrovmId, wire.MicrovmStateRunning)

			// With a token, the same listener leads into the VM.
			var token wire.CreateMicrovmAuthTokenOutput
			r.must("CreateMicrovmAuthToken", &wire.CreateMicrovmAuthTokenInput{
				MicrovmIdentifier: vm.MicrovmId, ExpirationInMinutes: new(int32(5)), AllowedPorts: []wire.PortSpecification{{Port: new(int32(3000))}},
			}, &token)
			for _, tt := range []struct {
				host, port, token string
				want              int
			}{
				{*vm.Endpoint, "3000", token.AuthToken[wire.AuthHeader], 200},
				{strings.ToUpper(*vm.Endpoint), "3000", token.AuthToken[wire.AuthHeader], 200},
				{*vm.Endpoint, "3001", token.AuthToken[wire.AuthHeader], 403},
				{*vm.Endpoint, "3000", "", 403},
				{"nobody" + want, "3000", token.AuthToken[wire.AuthHeader], 403},
			} {
				req, err := http.NewRequest(http.MethodGet, "http://"+tt.host+"/", nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("X-Aws-Proxy-Port", tt.port)
				if tt.token != "" {
					req.Header.Set(wire.AuthHeader, tt.token)
				}
				res, err := c.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != tt.want {
					t.Errorf("%s port %s: status %d, want %d", tt.host, tt.port, res.StatusCode, tt.want)
				}
			}
		})
	}
}

func TestClose(t *testing.T) {
	r := newRig(t, nil)
	var all []*guest
	for range 5 {
		all = append(all, r.guests.of(r.run(nil)))
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, g := range all {
		if !isClosed(g.Done()) {
			t.Error("a machine is still there")
		}
		if n := g.count("terminate"); n != 0 {
			t.Error("the guest was told")
		}
	}
	if got := r.call("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage))}, nil); got.class != wire.InternalServer {
		t.Errorf("run on a closed cloud = %+v", got)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestIdleExit(t *testing.T) {
	r := newRig(t, nil)
	r.clock.Advance(time.Minute)
	if got := r.IdleFor(); got != time.Minute {
		t.Errorf("idle for %v", got)
	}
	id := r.run(nil)
	r.clock.Advance(time.Hour)
	if got := r.IdleFor(); got != 0 {
		t.Errorf("idle for %v with a VM alive", got)
	}
	done := make(chan error, 1)
	go func() { done <- r.WaitIdle(context.Background(), 10*time.Minute) }()
	r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.reach(id, wire.MicrovmStateTerminated)
	r.clock.Advance(9 * time.Minute)
	if got := r.IdleFor(); got != 9*time.Minute {
		t.Errorf("idle for %v", got)
	}
	select {
	case <-done:
		t.Fatal("idle too early")
	default:
	}
	r.get(id) // a call starts the wait anew
	if got := r.IdleFor(); got != 0 {
		t.Errorf("idle for %v after a call", got)
	}
	r.eventually("the wait is over", func() bool {
		select {
		case err := <-done:
			if got := r.IdleFor(); err != nil || got < 10*time.Minute {
				t.Errorf("wait = %v after %v", err, got)
			}
			return true
		default:
			r.clock.Advance(10 * time.Second)
			return false
		}
	})
}
