package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"slices"
	"sync"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/sandbox"
)

// clouds are the clouds of all profiles, opened when first needed.
type clouds struct {
	local *local
	conns connections
	clock clockwork.Clock
	log   *slog.Logger

	mu   sync.Mutex // guards what follows
	open map[string]*cloud
}

// get returns the cloud of p. One in AWS is always there.
func (c *clouds) get(ctx context.Context, p sandbox.Profile, wake bool) (fleet.Cloud, error) {
	p, _, err := c.conns.profile(p)
	if err != nil {
		return nil, err
	}
	if p.Name == "" || p.Name == sandbox.ProfileLocal {
		return c.local.get(ctx, wake)
	}
	if len(p.Env) == 0 { // never by chance the account that this process would find
		return nil, &sandbox.Error{Code: sandbox.Access, Msg: "the credentials of profile " + p.Name + " are not here", Hint: "start the app that uses it"}
	}
	key := p.Name + " " + digest(p.Env)
	c.mu.Lock()
	have := c.open[key]
	c.mu.Unlock()
	if have != nil {
		return have, nil
	}
	cfg, err := awsauth.Environment(ctx, p.Env)
	if err != nil {
		e := &sandbox.Error{Code: sandbox.Access, Msg: "the AWS configuration can't be used", Hint: "check the AWS profile and its files", Err: err}
		if errors.Is(err, awsauth.ErrNoRegion) {
			e.Msg, e.Hint = "no AWS region is configured", "set AWS_REGION"
		}
		return nil, e
	}
	have = &cloud{clock: c.clock, log: c.log}
	have.api = microvm.NewFromConfig(cfg, func(o *microvm.Options) {
		o.RetryMaxAttempts = 5
		if at := first(p.Env, "AWS_ENDPOINT_URL_LAMBDA_MICROVMS", "AWS_ENDPOINT_URL"); at != "" {
			o.BaseEndpoint = &at
			have.dial = plain(at)
			o.NoRateLimit = have.dial != nil
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[key] == nil {
		c.open[key] = have
	}
	return c.open[key], nil
}

func first(env map[string]string, names ...string) string {
	for _, n := range names {
		if env[n] != "" {
			return env[n]
		}
	}
	return ""
}

// digest tells one environment from another without keeping what is in it.
func digest(env map[string]string) string {
	h := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(env)) {
		h.Write([]byte(k + "=" + env[k] + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// plain returns how to reach VMs whose cloud is at an endpoint without TLS,
// which is a local one: their names lead to this computer. Nil is the usual way.
func plain(endpoint string) func(ctx context.Context, host string) (net.Conn, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" {
		return nil
	}
	return func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	}
}
