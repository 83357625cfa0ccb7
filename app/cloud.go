package app

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/agent"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
	"github.com/arenero/arenero/app/sandbox"
)

// A cloud is AWS Lambda MicroVMs, or what stands for it on this computer, in
// the fleet's terms.
type cloud struct {
	api   *microvm.Client
	dial  func(ctx context.Context, host string) (net.Conn, error) // nil: TLS to the endpoint
	image string                                                   // for those who name none; "" is an error
	local bool                                                     // a process of this computer: when nothing listens, all it had is gone
	known *images                                                  // nil: each is asked for
	clock clockwork.Clock
	log   *slog.Logger
}

var _ fleet.Cloud = (*cloud)(nil)

// Run asks once. Asking again is for the caller, who knows what may be asked
// twice.
func (c *cloud) Run(ctx context.Context, r fleet.RunRequest) (fleet.VM, error) {
	payload, err := runPayload(r)
	if err != nil {
		return fleet.VM{}, err
	}
	in := &microvm.RunMicrovmInput{
		ImageIdentifier:          &r.Image,
		RunHookPayload:           &payload,
		MaximumDurationInSeconds: seconds(r.Life),
		ClientToken:              &r.Token,
		Logging:                  &wire.Logging{Disabled: &wire.LoggingDisabled{}},
	}
	if r.Version != "" {
		in.ImageVersion = &r.Version
	}
	if r.Role != "" {
		in.ExecutionRoleArn = &r.Role
		// The group that Lambda itself takes, so that a role made for that will do.
		group := "/aws/lambda-microvms/" + r.Image[strings.LastIndexByte(r.Image, ':')+1:]
		in.Logging = &wire.Logging{CloudWatch: &wire.CloudWatchLogging{LogGroup: &group}}
	}
	if r.Idle > 0 {
		in.IdlePolicy = &wire.IdlePolicy{
			MaxIdleDurationSeconds: seconds(r.Idle), SuspendedDurationSeconds: seconds(r.Life), AutoResumeEnabled: new(true),
		}
	}
	out, err := c.api.RunMicrovm(ctx, in, func(o *microvm.Options) { o.RetryMaxAttempts = 1 })
	if err != nil {
		return fleet.VM{}, runError(err)
	}
	return vmOf((*microvm.GetMicrovmOutput)(out)), nil
}

// runPayload is what the agent of a new VM is told. It is the same text for the
// same request, since the cloud compares.
func runPayload(r fleet.RunRequest) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(r.Secret)
	if err != nil {
		return "", fmt.Errorf("access token: %w", err)
	}
	digest := sha256.Sum256(raw)
	text, err := json.Marshal(struct {
		Envs  map[string]string `json:"envs,omitempty"`
		Token string            `json:"token_sha256"`
		V     int               `json:"v"`
	}{r.Env, hex.EncodeToString(digest[:]), 1})
	return string(text), err
}

func seconds(d time.Duration) *int32 { return new(int32(d / time.Second)) }

func (c *cloud) Get(ctx context.Context, id string) (fleet.VM, error) {
	var vm fleet.VM
	err := c.again(ctx, func() error {
		out, err := c.api.GetMicrovm(ctx, &microvm.GetMicrovmInput{MicrovmIdentifier: &id})
		if err == nil {
			vm = vmOf(out)
		}
		return err
	})
	return vm, err
}

func (c *cloud) List(ctx context.Context) ([]fleet.VM, error) {
	var vms []fleet.VM
	err := c.again(ctx, func() error {
		vms = nil
		pages := microvm.NewListMicrovmsPaginator(c.api, &microvm.ListMicrovmsInput{})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if e := awsauth.Unreachable(err); e != nil && unsent(err) {
				return e // whoever wants a list is told, and asks again later anyway
			}
			if err != nil {
				return err
			}
			for _, i := range page.Items {
				vms = append(vms, fleet.VM{
					ID: value(i.MicrovmId), State: sandbox.State(i.State), Image: value(i.ImageArn), Version: value(i.ImageVersion), StartedAt: value(i.StartedAt),
				})
			}
		}
		return nil
	})
	return vms, err
}

func (c *cloud) Suspend(ctx context.Context, id string) error {
	return c.again(ctx, func() error {
		_, err := c.api.SuspendMicrovm(ctx, &microvm.SuspendMicrovmInput{MicrovmIdentifier: &id})
		return err
	})
}

func (c *cloud) Resume(ctx context.Context, id string) error {
	return c.again(ctx, func() error {
		_, err := c.api.ResumeMicrovm(ctx, &microvm.ResumeMicrovmInput{MicrovmIdentifier: &id})
		return err
	})
}

func (c *cloud) Terminate(ctx context.Context, id string) error {
	return c.again(ctx, func() error {
		_, err := c.api.TerminateMicrovm(ctx, &microvm.TerminateMicrovmInput{MicrovmIdentifier: &id})
		return err
	})
}

// patience is how long a call is tried again that may be made twice.
const patience = 20 * time.Second

// again makes a call that may be made twice until it gets an answer that is
// more than a plea for patience.
func (c *cloud) again(ctx context.Context, call func() error) error {
	limit := c.clock.Now().Add(patience)
	for delay := 100 * time.Millisecond; ; delay = min(2*delay, 2*time.Second) {
		err := c.failure(call())
		if err == nil || ctx.Err() != nil || !c.clock.Now().Before(limit) {
			return err
		}
		switch sandbox.CodeOf(err) {
		case sandbox.RateLimited, sandbox.CloudDown:
		default:
			return err
		}
		if is[*awsauth.ErrUnreachable](err) { // whoever found out has been patient
			return err
		}
		timer := c.clock.NewTimer(delay)
		select {
		case <-timer.Chan():
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// failure is err in our terms.
func (c *cloud) failure(err error) error {
	if c.local && nobodyListens(err) {
		return &sandbox.Error{Code: sandbox.Gone, Msg: "the local cloud has ended, and its sandboxes with it", Retryable: true, Err: err}
	}
	return apiError(err)
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func vmOf(o *microvm.GetMicrovmOutput) fleet.VM {
	vm := fleet.VM{
		ID: value(o.MicrovmId), Endpoint: value(o.Endpoint), Image: value(o.ImageArn), Version: value(o.ImageVersion),
		State: sandbox.State(o.State), Reason: value(o.StateReason), Life: time.Duration(value(o.MaximumDurationInSeconds)) * time.Second,
		StartedAt: value(o.StartedAt), EndedAt: value(o.TerminatedAt),
	}
	if o.IdlePolicy != nil {
		vm.Idle = time.Duration(value(o.IdlePolicy.MaxIdleDurationSeconds)) * time.Second
	}
	return vm
}

// agentPort is where the agent listens in a sandbox.
const (
	agentPort    = 8080
	tokenMinutes = 60
	tokenHeader  = "X-aws-proxy-auth"
)

func (c *cloud) Agent(vm fleet.VM, secret string) (fleet.Agent, error) {
	cfg := agent.ClientConfig{
		Host: vm.Endpoint, AccessToken: secret, Clock: c.clock, Log: c.log.With("sandbox", vm.ID),
		Tokens: func(ctx context.Context) (agent.Token, error) { return c.mint(ctx, vm.ID) },
		Life:   func(ctx context.Context) (agent.Life, error) { return c.life(ctx, vm.ID) },
	}
	if c.dial != nil {
		cfg.Plain = true
		cfg.Dial = func(ctx context.Context) (net.Conn, error) { return c.dial(ctx, vm.Endpoint) }
	}
	client, err := agent.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	return &guest{client, vm.ID}, nil
}

// mint makes a token for the agent's port of a VM's endpoint.
func (c *cloud) mint(ctx context.Context, id string) (agent.Token, error) {
	var token agent.Token
	err := c.again(ctx, func() error {
		asked := c.clock.Now()
		out, err := c.api.CreateMicrovmAuthToken(ctx, &microvm.CreateMicrovmAuthTokenInput{
			MicrovmIdentifier: &id, ExpirationInMinutes: new(int32(tokenMinutes)),
			AllowedPorts: []wire.PortSpecification{{Port: new(int32(agentPort))}},
		})
		if err == nil {
			token = agent.Token{JWE: out.AuthToken[tokenHeader], Expires: asked.Add(tokenMinutes * time.Minute)}
		}
		return err
	})
	return token, err
}

func (c *cloud) life(ctx context.Context, id string) (agent.Life, error) {
	vm, err := c.Get(ctx, id)
	switch {
	case sandbox.CodeOf(err) == sandbox.NotFound, sandbox.CodeOf(err) == sandbox.Gone:
		return agent.Gone, nil
	case err != nil:
		return "", err
	case vm.State == sandbox.Terminated:
		return agent.Gone, nil
	case vm.State == sandbox.Suspended || vm.State == sandbox.Suspending:
		return agent.Asleep, nil
	}
	return agent.Awake, nil
}
