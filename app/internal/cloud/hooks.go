package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

const hookPath = "/aws/lambda-microvms/runtime/v1/"

// The lifecycle moments a guest may be told of.
const (
	hookRun       = "run"
	hookResume    = "resume"
	hookSuspend   = "suspend"
	hookTerminate = "terminate"
)

// hookAdvice ends every reason that blames a hook.
const hookAdvice = " Check the application's hook handler and its logs."

// bootTime is how long a machine may take until its hook port answers. AWS
// asks the ready hook before the snapshot; here there is no snapshot.
const bootTime = 30 * time.Second

// A hookInput is the body of the run hook.
type hookInput struct {
	MicrovmID      string  `json:"microvmId"`
	RunHookPayload *string `json:"runHookPayload,omitempty"`
}

// hook returns whether the image wants to be told of a moment, and for how
// long it may take.
func (v *microvm) hook(name string) (bool, time.Duration) {
	h := v.hooks.MicrovmHooks
	if h == nil || v.hooks.Port == nil {
		return false, 0
	}
	state, timeout := h.Run, h.RunTimeoutInSeconds
	switch name {
	case hookResume:
		state, timeout = h.Resume, h.ResumeTimeoutInSeconds
	case hookSuspend:
		state, timeout = h.Suspend, h.SuspendTimeoutInSeconds
	case hookTerminate:
		state, timeout = h.Terminate, h.TerminateTimeoutInSeconds
	}
	limit := time.Duration(wire.DefaultHookSeconds) * time.Second
	if timeout != nil {
		limit = seconds(timeout)
	}
	return state == wire.HookStateEnabled, limit
}

// callRun tells the guest who it is, once it listens.
func (v *microvm) callRun(ctx context.Context) error {
	if on, _ := v.hook(hookRun); !on {
		return nil
	}
	if err := v.awaitPort(ctx, int(*v.hooks.Port)); err != nil {
		return err
	}
	return v.callHook(ctx, hookRun)
}

// awaitPort returns when the port takes connections.
func (v *microvm) awaitPort(ctx context.Context, port int) error {
	const firstPause, maxPause = time.Millisecond, 20 * time.Millisecond
	ctx, cancel := withLimit(ctx, v.clock, bootTime)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		conn, err := v.machine.Dial(ctx, port)
		if err == nil {
			return conn.Close()
		}
		// The wait for another try is no part of the VM's time, so it is on
		// the wall's clock.
		select {
		case <-ctx.Done():
			return hookFailed(hookRun, "connection was refused")
		case <-v.machine.Done():
			return exited(v.machine, v.lags.Exit)
		case <-time.After(pause):
		}
	}
}

// callHook tells the guest of a moment, if its image asks for that. A guest
// that does not answer 200 in time has failed.
func (v *microvm) callHook(ctx context.Context, name string) error {
	on, limit := v.hook(name)
	if !on {
		return nil
	}
	ctx, cancel := withLimit(ctx, v.clock, limit)
	defer cancel()
	var body []byte
	if name == hookRun {
		var err error
		if body, err = json.Marshal(v.input); err != nil {
			return fmt.Errorf("write run hook: %w", err)
		}
	}
	status, err := v.post(ctx, int(*v.hooks.Port), hookPath+name, body)
	switch {
	case err == nil && status == http.StatusOK:
		return nil
	case err == nil:
		return hookFailed(name, fmt.Sprintf("returned HTTP status %d", status))
	case isTimeout(ctx):
		return hookFailed(name, "timed out")
	case errors.Is(err, ErrRefused), errors.Is(err, syscall.ECONNREFUSED):
		return hookFailed(name, "connection was refused")
	default:
		return hookFailed(name, "failed")
	}
}

func isTimeout(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), context.DeadlineExceeded)
}

var hookTitles = map[string]string{hookRun: "Run", hookResume: "Resume", hookSuspend: "Suspend", hookTerminate: "Terminate"}

func hookFailed(name, what string) ending {
	return ending{reason: hookTitles[name] + " lifecycle hook " + what + "." + hookAdvice}
}

// post makes one request on a connection of its own: a connection kept over a
// suspend would be dead on the wake.
func (v *microvm) post(ctx context.Context, port int, path string, body []byte) (int, error) {
	tr := &http.Transport{
		DisableKeepAlives:  true,
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return v.machine.Dial(ctx, port)
		},
	}
	defer tr.CloseIdleConnections()
	url := "http://localhost:" + strconv.Itoa(port) + path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header["User-Agent"] = nil // the platform sends none
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	const enough = 64 << 10
	io.Copy(io.Discard, io.LimitReader(res.Body, enough)) // the answer's text means nothing to us
	return res.StatusCode, nil
}
