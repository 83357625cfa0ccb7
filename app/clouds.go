package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// clouds are the clouds of all profiles, opened when first needed.
type clouds struct {
	local    *local
	conns    connections
	accounts *accounts
	known    *images
	dated    func(time.Time) // is told what time it is for AWS
	clock    clockwork.Clock
	log      *slog.Logger

	mu    sync.Mutex // guards what follows
	open  map[string]*cloud
	auths []*awsauth.Auth // of environments
}

// close ends what runs to get credentials.
func (c *clouds) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, auth := range append(c.auths, c.accounts.auth) {
		auth.Close()
	}
}

// get returns the cloud of p. One in AWS is always there.
func (c *clouds) get(ctx context.Context, p sandbox.Profile, wake bool) (fleet.Cloud, error) {
	if p.Name == "" && p.Connection == "" { // the default has its name by now
		p.Name = sandbox.ProfileLocal
	}
	at, err := c.conns.find(p)
	if err != nil {
		return nil, err
	}
	switch p = at.profile; {
	case p.Name == sandbox.ProfileLocal:
		return c.local.get(ctx, wake)
	case at.own != nil:
		return c.ofOwner(ctx, *at.own)
	}
	return c.keep(p.Name+" "+digest(p.Env), func() (*cloud, error) {
		auth := awsauth.New(awsauth.Deps{Env: p.Env})
		cfg, err := auth.Config(ctx, awsauth.Profile{Kind: awsauth.KindEnvironment})
		if err != nil {
			return nil, authError(err)
		}
		c.mu.Lock()
		c.auths = append(c.auths, auth)
		c.mu.Unlock()
		return c.in(cfg.BaseEndpoint, func(o func(*microvm.Options)) *microvm.Client { return microvm.NewFromConfig(cfg, o) }), nil
	})
}

// of is get for those who want to know more of a cloud than the fleet does.
func (c *clouds) of(ctx context.Context, p sandbox.Profile) (*cloud, error) {
	at, err := c.get(ctx, p, true)
	if err != nil {
		return nil, err
	}
	have, ok := at.(*cloud)
	if !ok {
		return nil, cloudDown("the cloud of the profile does not run", nil)
	}
	return have, nil
}

// ofOwner returns the cloud of one of the owner's profiles. It is another when
// the profile was changed. Nothing here wants anybody to be signed in.
func (c *clouds) ofOwner(ctx context.Context, p settings.Profile) (*cloud, error) {
	said, err := json.Marshal(p.Profile)
	if err != nil {
		return nil, err
	}
	return c.keep(p.Name+" "+string(said), func() (*cloud, error) {
		cfg, err := c.accounts.auth.Config(ctx, p.Profile)
		if err != nil {
			return nil, authError(err)
		}
		have := c.in(cfg.BaseEndpoint, func(o func(*microvm.Options)) *microvm.Client { return microvm.NewFromConfig(cfg, o) })
		have.image = p.Template
		return have, nil
	})
}

// keep returns the cloud that is kept under key, or makes it.
func (c *clouds) keep(key string, make func() (*cloud, error)) (*cloud, error) {
	c.mu.Lock()
	have := c.open[key]
	c.mu.Unlock()
	if have != nil {
		return have, nil
	}
	made, err := make()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[key] == nil {
		c.open[key] = made
	}
	return c.open[key], nil
}

// in is the cloud whose client client makes. endpoint is where its API is; nil is
// where AWS has it, whatever the environment of the engine says.
func (c *clouds) in(endpoint *string, client func(func(*microvm.Options)) *microvm.Client) *cloud {
	have := &cloud{known: c.known, clock: c.clock, log: c.log}
	have.api = client(func(o *microvm.Options) {
		o.RetryMaxAttempts = 5
		if endpoint == nil { // a cloud on this computer has the clock that is in question
			o.Dated = c.dated
		}
		if o.BaseEndpoint = endpoint; endpoint != nil {
			have.dial = plain(*endpoint)
			o.NoRateLimit = have.dial != nil
		}
	})
	return have
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
