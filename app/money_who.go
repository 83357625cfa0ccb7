package app

import (
	"context"
	"sync"

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/sandbox"
)

// known is what was read of grants, so that a call need not read it again. It is
// forgotten with each change.
type known struct {
	mu          sync.Mutex // guards what follows
	grants      map[string]sandbox.Grant
	connections map[string]string // grant by connection
	tokens      map[[32]byte]sandbox.Credential
	change      int // counts how often it was forgotten
}

// maxKnown bounds what is remembered: callers choose the names of connections.
const maxKnown = 10_000

func (k *known) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.change++
	k.grants, k.connections, k.tokens = map[string]sandbox.Grant{}, map[string]string{}, map[[32]byte]sandbox.Credential{}
}

// recall returns what find finds, or found before and has not changed since.
func recall[K comparable, V any](k *known, where func() map[K]V, key K, find func() (V, error)) (V, error) {
	k.mu.Lock()
	have, ok := where()[key]
	change := k.change
	k.mu.Unlock()
	if ok {
		return have, nil
	}
	have, err := find()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil && change == k.change && len(where()) < maxKnown {
		where()[key] = have
	}
	return have, err
}

// grant returns the grant with an id.
func (a *books) grant(ctx context.Context, id string) (sandbox.Grant, error) {
	k := &a.known
	return recall(k, func() map[string]sandbox.Grant { return k.grants }, id, func() (sandbox.Grant, error) { return a.ledger.Grant(ctx, id) })
}

// ofConnection returns the grant that a connection uses.
func (a *books) ofConnection(ctx context.Context, connection string) (sandbox.Grant, error) {
	if connection == "" {
		return a.grant(ctx, sandbox.GrantOwner)
	}
	k := &a.known
	id, err := recall(k, func() map[string]string { return k.connections }, connection, func() (string, error) {
		g, err := a.ledger.GrantOf(ctx, connection)
		return g.ID, err
	})
	if err != nil {
		return sandbox.Grant{}, err
	}
	return a.grant(ctx, id)
}

// ofToken returns what a token opens, and by which credential.
func (a *books) ofToken(ctx context.Context, token sandbox.Secret) (sandbox.Grant, sandbox.Credential, error) {
	hash, err := grant.ParseToken(string(token))
	if err != nil {
		return sandbox.Grant{}, sandbox.Credential{}, err
	}
	k := &a.known
	c, err := recall(k, func() map[[32]byte]sandbox.Credential { return k.tokens }, hash, func() (sandbox.Credential, error) {
		c, _, err := a.ledger.ByHash(ctx, hash)
		return c, err
	})
	if sandbox.CodeOf(err) == sandbox.Unauthenticated {
		return sandbox.Grant{}, c, grant.Unknown()
	}
	if err != nil {
		return sandbox.Grant{}, c, err
	}
	g, err := a.grant(ctx, c.Grant)
	return g, c, err
}

// host is the title of the app that has a connection, or "".
func (c connections) host(connection string) string {
	if connection == "" {
		return ""
	}
	s, err := c.file.Read()
	if err != nil { // whatever needs the settings says so
		return ""
	}
	conn, _ := s.Find(connection)
	return hostconf.TitleOf(conn.Host)
}

// A pass is who makes a request, once it is known.
type pass struct {
	grant      sandbox.Grant
	caller     sandbox.Caller
	credential string // that was shown; "" if none was
	blind      bool   // nobody can tell: the ledger can't be used
}

// person reports whether the owner asks, by a program of this computer that is
// theirs, and no tool does.
func (p pass) person() bool {
	return p.caller.Token == "" && p.caller.Tool == "" && !p.caller.HTTP && p.grant.ID == sandbox.GrantOwner
}

// who finds out who makes the request of ctx. A token goes first, then the grant
// of the connection, and then the owner's. connection is that of the request
// itself, where the caller names none.
func (a *books) who(ctx context.Context, connection string) (pass, error) {
	var p pass
	if call := sandbox.CallOf(ctx); call != nil {
		p.caller = call.Caller()
	}
	if a.ledger == nil {
		return a.blindly(p, connection, a.unusable())
	}
	if p.caller.Token != "" {
		g, c, err := a.ofToken(ctx, p.caller.Token)
		if err != nil {
			return p, err
		}
		p.grant, p.credential = g, c.ID
		if err := grant.Admit(g, &c, p.caller, a.limiter, a.clock.Now()); err != nil {
			return p, err
		}
		a.soon(func() {
			if err := a.ledger.Touch(context.Background(), c.ID, a.clock.Now()); err != nil {
				a.log.Warn("use of a token not written down", "err", err)
			}
		})
		return p, nil
	}
	if p.caller.Connection != "" {
		connection = p.caller.Connection
	}
	g, err := a.ofConnection(ctx, connection)
	if sandbox.CodeOf(err) == sandbox.StoreDown { // in part, maybe: it could be opened
		return a.blindly(p, connection, err)
	}
	if err != nil {
		return p, err
	}
	p.grant = g
	return p, grant.Admit(g, nil, p.caller, a.limiter, a.clock.Now())
}

// blindly takes whoever makes a request for the owner of this computer, because
// the ledger can't tell, for what is not refused for lack of one: looking and
// ending. A token is nobody's then, and so is a connection that was bound to
// another grant when that was last known.
func (a *books) blindly(p pass, connection string, why error) (pass, error) {
	if p.caller.Connection != "" {
		connection = p.caller.Connection
	}
	if p.caller.Token != "" || a.mark.binds(connection) {
		e := *sandbox.ToError(why)
		e.Details = map[string]any{"reason": "caller"}
		return p, &e
	}
	p.grant, p.blind = grant.Owner(a.began), true
	return p, nil
}

// may reports why p may not do what needs a scope with what is its own, or not.
func (p pass) may(scope sandbox.Scope, own bool) error {
	g := p.grant
	if p.caller.Tool != "" {
		if err := grant.CheckObject(g, p.caller.Tool, own); err != nil {
			return err
		}
		if scope != sandbox.ScopeRent || g.Allows(scope) || !own && g.Allows(sandbox.ScopeManage) {
			return nil
		}
		return lacks(g, scope)
	}
	switch {
	case !g.Allows(scope):
		return lacks(g, scope)
	case !own && !g.Allows(sandbox.ScopeManage):
		return lacks(g, sandbox.ScopeManage)
	}
	return nil
}

func lacks(g sandbox.Grant, scope sandbox.Scope) error {
	return &sandbox.Error{
		Code: sandbox.Forbidden, Msg: "the token lacks the scope " + string(scope), Hint: "only the owner of the computer can give it: ask them, do not try again",
		Details: map[string]any{"missing": []string{string(scope)}, "grant": g.ID, "name": g.Name},
	}
}

// An openCall is a request that is being answered.
type openCall struct {
	grant, connection string
	end               context.CancelCauseFunc
}

// open counts a request of p in, until done. Its context ends when the grant is
// revoked.
func (a *books) open(ctx context.Context, p pass, connection string) (_ context.Context, done func()) {
	if p.caller.Connection != "" {
		connection = p.caller.Connection
	}
	ctx, end := context.WithCancelCause(ctx)
	c := &openCall{p.grant.ID, connection, end}
	a.mu.Lock()
	a.calls[c] = true
	a.mu.Unlock()
	return ctx, func() {
		a.mu.Lock()
		delete(a.calls, c)
		a.mu.Unlock()
		end(nil)
	}
}

// shut ends the requests of a grant that are being answered, for err.
func (a *books) shut(grantID string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.calls {
		if c.grant == grantID {
			c.end(err)
		}
	}
}
