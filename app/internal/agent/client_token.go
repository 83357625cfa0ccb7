package agent

import (
	"context"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// A Token opens the proxy before a sandbox.
type Token struct {
	JWE     string
	Expires time.Time
}

// mintAgain is how long a token is kept past its due time when no new one
// could be had.
const mintAgain = 60 * time.Second

// A minter keeps a token fresh: it asks for a new one when three quarters of
// the life of the old one have passed, which is 45 minutes of the usual hour.
type minter struct {
	mint  func(context.Context) (Token, error)
	clock clockwork.Clock

	mu      sync.Mutex // guards what follows
	token   Token
	due     time.Time
	minting chan struct{} // closed when the one request at a time is over; nil if there is none
}

func newMinter(mint func(context.Context) (Token, error), clock clockwork.Clock) *minter {
	return &minter{mint: mint, clock: clock}
}

// get returns a token that is good now.
func (m *minter) get(ctx context.Context) (string, error) {
	for {
		jwe, wait, mint := m.present()
		switch {
		case mint:
			return m.renew(ctx)
		case wait == nil:
			return jwe, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return "", translate(ctx.Err(), nil)
		}
	}
}

// present returns the token, or that somebody else is minting one, or that the
// caller has to.
func (m *minter) present() (jwe string, wait <-chan struct{}, mint bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	good := m.goodLocked(now)
	switch {
	case good && (now.Before(m.due) || m.minting != nil):
		return m.token.JWE, nil, false
	case m.minting != nil:
		return "", m.minting, false
	}
	m.minting = make(chan struct{})
	return "", nil, true
}

func (m *minter) goodLocked(now time.Time) bool {
	return m.token.JWE != "" && now.Before(m.token.Expires)
}

// renew mints, and falls back to the old token while that is good.
func (m *minter) renew(ctx context.Context) (string, error) {
	asked := m.clock.Now()
	token, err := m.mint(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.minting)
	m.minting = nil
	now := m.clock.Now()
	if err != nil {
		if m.goodLocked(now) {
			m.due = now.Add(mintAgain)
			return m.token.JWE, nil
		}
		return "", &Error{Code: CodeToken, Msg: "there is no token for the sandbox's endpoint", Err: err, Retryable: true}
	}
	m.token = token
	m.due = asked.Add(token.Expires.Sub(asked) * 3 / 4)
	return token.JWE, nil
}

// reject drops jwe, which the proxy refused, unless it was replaced meanwhile.
func (m *minter) reject(jwe string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.token.JWE == jwe {
		m.token = Token{}
	}
}
