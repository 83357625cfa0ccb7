package app

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

const (
	// flightPatience is how long a request waits for the same one that came
	// before it.
	flightPatience = 30 * time.Second
	flightRetry    = 5 * time.Second
	// usualLife is that of a sandbox of which nothing is said.
	usualLife = time.Hour
	// createTool is the name under which keys are kept for all who make sandboxes.
	createTool = "create_sandbox"
)

// Create makes a sandbox, where the connection that asks has its own, unless the
// same was asked for before. What it may cost is held before anything is made.
func (g *gate) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	p, err := g.books.who(ctx, spec.Profile.Connection)
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	if err := p.may(sandbox.ScopeRent, true); err != nil {
		return sandbox.Sandbox{}, err
	}
	if err := spec.Validate(); err != nil {
		return sandbox.Sandbox{}, err
	}
	if spec.IdempotencyKey != "" {
		if err := grant.CheckKey(spec.IdempotencyKey); err != nil {
			return sandbox.Sandbox{}, err
		}
	}
	if spec, err = g.app.connections.place(spec, false); err != nil {
		return sandbox.Sandbox{}, err
	}
	spec.Grant, spec.Timeout = p.grant.ID, cmp.Or(spec.Timeout, usualLife)
	ctx, done := g.books.open(ctx, p, "")
	defer done()
	s, err := g.create(ctx, p, spec)
	return s, because(ctx, err)
}

func (g *gate) create(ctx context.Context, p pass, spec sandbox.Spec) (sandbox.Sandbox, error) {
	a := g.books
	if p.blind {
		return sandbox.Sandbox{}, a.unusable()
	}
	var err error
	if spec.Key, err = a.freeKey(ctx, p, spec.Key); err != nil {
		return sandbox.Sandbox{}, err
	}
	if g.Fleet.Has(spec.Key) { // the same request once more, after its answer was lost
		return g.engine.Create(ctx, spec)
	}
	r := request{given: spec.Asked || spec.Timeout != 0 && p.caller.Tool == "" && p.caller.Token == "", template: spec.Template, credential: p.credential}
	ask := fleet.Ask{
		Key: spec.Key, Grant: spec.Grant, Profile: spec.Profile.Name, Host: g.app.connections.host(p.caller.Connection), Name: spec.Name, Image: fleet.Image{Version: spec.Version},
		Life: spec.Timeout, Idle: spec.Idle, At: a.clock.Now(),
	}
	if spec.IdempotencyKey != "" {
		hash, err := fingerprint(spec)
		if err != nil {
			return sandbox.Sandbox{}, err
		}
		r.want = ledger.Want{Tool: createTool, Key: spec.IdempotencyKey, Hash: hash}
		look := r.want
		look.Order.Grant = spec.Grant
		found, err := a.ledger.Look(ctx, look)
		if err != nil {
			return sandbox.Sandbox{}, err
		}
		if found.Outcome != ledger.Fresh {
			return g.again(ctx, p, found)
		}
	}
	if err := g.Paused(); err != nil {
		return sandbox.Sandbox{}, err
	}
	if err := a.policyBefore(p.grant, ask, r); err != nil { // before anything is asked of a cloud
		a.tellRefusal(ask, err)
		return sandbox.Sandbox{}, err
	}
	if err := a.billable(ctx); err != nil {
		return sandbox.Sandbox{}, err
	}
	if ask.Image, err = g.image(ctx, spec); err != nil {
		return sandbox.Sandbox{}, err
	}
	if spec.IdempotencyKey == "" && (p.caller.Tool != "" || p.caller.Token != "") {
		hash, err := grant.Fingerprint(map[string]any{
			"profile": spec.Profile.Name, "template": ask.Image.ARN, "version": ask.Image.Version, "name": spec.Name, "life_s": int64(secondsOf(spec.Timeout)),
		})
		if err != nil {
			return sandbox.Sandbox{}, err
		}
		r.want = ledger.Want{Tool: createTool, Hash: hash, Implicit: true}
	}
	found, err := a.reserve(ctx, ask, r)
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	if found.Outcome != ledger.Fresh {
		return g.again(ctx, p, found)
	}
	s, err := g.engine.Create(ctx, spec)
	switch {
	case err == nil:
	case !g.Fleet.Has(spec.Key): // it did not even get as far as to be asked for
		a.Released(spec.Key, err)
	case because(ctx, err) != err:
		return g.made(ctx, spec.Key, err)
	}
	return s, err
}

// made answers a request that was ended before its time, because its grant was
// switched off or revoked: what it asked for goes on being made, and who asked
// for it is to know that it is there. err is what they are told else.
func (g *gate) made(ctx context.Context, key string, err error) (sandbox.Sandbox, error) {
	s, failed := g.wait(context.WithoutCancel(ctx), key)
	if failed != nil || !s.State.Alive() {
		return sandbox.Sandbox{}, err
	}
	return s, nil
}

// policyBefore is the part of the policy that needs no cloud.
func (a *books) policyBefore(g sandbox.Grant, ask fleet.Ask, r request) error {
	g.Templates = nil // the name may be that of an ARN among them
	return a.policy(g, ask, r)
}

// freeKey is the key of a sandbox that is asked for by one. Requests are sent
// again when an engine ends, so a key may be that of an order which came to
// nothing: then the next one is taken, which is the same for all who ask.
func (a *books) freeKey(ctx context.Context, p pass, key string) (string, error) {
	if key == "" {
		return uuid.NewString(), nil
	}
	for n := 1; ; n++ {
		try := key
		if n > 1 {
			try = fmt.Sprintf("%s-%d", key, n)
		}
		o, err := a.ledger.Order(ctx, try)
		switch {
		case sandbox.CodeOf(err) == sandbox.NotFound:
			return try, nil
		case err != nil:
			return "", err
		case o.Grant != p.grant.ID:
			return "", &sandbox.Error{Code: sandbox.Invalid, Msg: "the key is somebody else's"}
		case o.State != sandbox.OrderReleased:
			return try, nil
		}
	}
}

// image is what a sandbox of spec would be made of.
func (g *gate) image(ctx context.Context, spec sandbox.Spec) (fleet.Image, error) {
	cloud, err := g.open(ctx, spec.Profile, true)
	if err != nil {
		return fleet.Image{}, err
	}
	return cloud.Image(ctx, spec.Template, spec.Version)
}

// fingerprint tells a request from another one under the same key.
func fingerprint(spec sandbox.Spec) (string, error) {
	return grant.Fingerprint(map[string]any{
		"profile": spec.Profile.Name, "template": spec.Template, "version": spec.Version, "role": spec.Role, "life_s": int64(secondsOf(spec.Timeout)),
		"idle_s": int64(secondsOf(spec.Idle)), "name": spec.Name, "env": spec.Env, "access_token": string(spec.AccessToken),
	})
}

// again answers a request with what the same one made before.
func (g *gate) again(ctx context.Context, p pass, found ledger.Found) (sandbox.Sandbox, error) {
	o := found.Order
	switch found.Outcome {
	case ledger.Reused:
		return sandbox.Sandbox{}, &sandbox.Error{
			Code: sandbox.KeyReused, Msg: "the idempotency key was used for another request", Hint: "use another key, or send the same request",
			Details: map[string]any{"grant": p.grant.ID},
		}
	case ledger.InDoubt:
		return sandbox.Sandbox{}, inDoubt(o)
	}
	s, err := g.wait(ctx, o.ID)
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	s.Replay = sandbox.ReplayKey
	if found.Implicit {
		s.Replay = sandbox.ReplaySame
	}
	return s, nil
}

func inDoubt(o sandbox.Order) error {
	return &sandbox.Error{
		Code: sandbox.CreateInDoubt, Retryable: true, RetryAfter: flightRetry,
		Msg:     "a sandbox was asked for, and the answer was lost: it may exist",
		Hint:    "look at the list of sandboxes before you ask again, and ask with the same key",
		Details: map[string]any{"order": o.ID},
	}
}

// wait waits until the sandbox of an order is there, or was.
func (g *gate) wait(ctx context.Context, key string) (sandbox.Sandbox, error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := g.books.clock.AfterFunc(flightPatience, cancel)
	defer timer.Stop()
	s, known, err := g.Fleet.Keyed(limited, key)
	for !known && limited.Err() == nil { // it is not begun yet, or was forgotten
		o, oerr := g.books.ledger.Order(ctx, key)
		switch {
		case oerr != nil:
			return s, oerr
		case !o.State.Open():
			return past(o), nil
		}
		pause := g.books.clock.NewTimer(20 * time.Millisecond)
		select {
		case <-pause.Chan():
		case <-limited.Done():
			pause.Stop()
		}
		s, known, err = g.Fleet.Keyed(limited, key)
	}
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case limited.Err() != nil && (err != nil || !known):
		return s, &sandbox.Error{
			Code: sandbox.KeyInFlight, Msg: "the same request is still being worked on", Hint: "ask again with the same key in some seconds",
			Retryable: true, RetryAfter: flightRetry, Details: map[string]any{"order": key},
		}
	}
	return s, err
}

// past is a sandbox that only the ledger remembers.
func past(o sandbox.Order) sandbox.Sandbox {
	return sandbox.Sandbox{
		ID: o.Sandbox, Key: o.ID, Name: o.Name, State: sandbox.Terminated, Profile: o.Profile, Template: o.Template, Version: o.Version, Host: o.Host,
		Idle: o.Idle.Duration(), StartedAt: o.StartedAt, EndsAt: o.MaxEndAt, EndedAt: o.EndedAt, EndReason: o.EndReason, Grant: o.Grant, SizeMiB: o.SizeMiB, Cost: o.Cost,
	}
}
