package scene

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// tokenLocked finds a token by the id or the name of its grant.
func (s *Scene) tokenLocked(name string) (*control.Token, error) {
	for i := range s.tokens {
		if g := s.tokens[i].Grant; g.ID == name || g.Name == name {
			return &s.tokens[i], nil
		}
	}
	return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no token " + name}
}

// change has do change a token that can be changed.
func (s *Scene) change(name string, do func(*control.Token) error) (sandbox.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return sandbox.Grant{}, err
	}
	t, err := s.tokenLocked(name)
	if err != nil {
		return sandbox.Grant{}, err
	}
	if t.Grant.ID == sandbox.GrantOwner {
		return sandbox.Grant{}, &sandbox.Error{Code: sandbox.Invalid, Msg: "the owner's own grant stays as it is"}
	}
	if err := do(t); err != nil {
		return sandbox.Grant{}, err
	}
	s.changedLocked()
	return t.Grant, nil
}

// Tokens lists all, or one.
func (s *Scene) Tokens(_ context.Context, name string) ([]control.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return nil, err
	}
	if name != "" {
		if _, err := s.tokenLocked(name); err != nil {
			return nil, err
		}
	}
	out := []control.Token{}
	for _, t := range s.tokens {
		if name != "" && name != t.Grant.ID && name != t.Grant.Name {
			continue
		}
		t.Budget = s.budgetOfLocked(t.Grant)
		t.Credentials, t.Connections = slices.Clone(t.Credentials), slices.Clone(t.Connections)
		for _, b := range s.boxes {
			if b.Grant == t.Grant.ID && b.State.Alive() {
				t.Running++
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// CreateToken makes one. Its secret opens nothing.
func (s *Scene) CreateToken(_ context.Context, g sandbox.Grant) (control.NewToken, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return control.NewToken{}, err
	}
	if _, err := s.tokenLocked(g.Name); err == nil {
		return control.NewToken{}, &sandbox.Error{Code: sandbox.Exists, Msg: "there is a token " + g.Name + " already", Hint: "choose another name"}
	}
	now := s.clock.Now().UTC()
	s.made++
	g.ID, g.CreatedAt = fmt.Sprintf("g_%08x", s.made), now
	g.Period, g.Burst = cmp.Or(g.Period, sandbox.PeriodNone), cmp.Or(g.Burst, sandbox.BurstStrict)
	if len(g.Scopes) == 0 {
		g.Scopes = sandbox.AgentScopes()
	}
	c, secret := s.credentialLocked(g.ID)
	s.tokens = append(s.tokens, control.Token{Grant: g, Credentials: []sandbox.Credential{c}})
	s.tellLocked(sandbox.Event{Kind: sandbox.EventCreated, Severity: sandbox.SeverityInfo, Grant: g.ID, Subject: g.ID, Data: map[string]any{"name": g.Name}})
	return control.NewToken{Grant: g, Credential: c, Secret: secret}, nil
}

func (s *Scene) credentialLocked(grant string) (sandbox.Credential, sandbox.Secret) {
	s.made++
	id := fmt.Sprintf("%08x", s.made)
	hint := fmt.Sprintf("%04x", s.made)
	return sandbox.Credential{ID: "cr_" + id, Grant: grant, Hint: hint, CreatedAt: s.clock.Now().UTC()}, sandbox.Secret("arn_" + hint + "_this-opens-nothing-it-is-of-a-scene")
}

// EditToken changes one.
func (s *Scene) EditToken(_ context.Context, e control.TokenEdit) (sandbox.Grant, error) {
	return s.change(e.Seen.ID, func(t *control.Token) error {
		e.Apply(&t.Grant)
		return nil
	})
}

// RotateToken gives one another secret.
func (s *Scene) RotateToken(_ context.Context, r control.TokenRotation) (control.NewToken, error) {
	var out control.NewToken
	g, err := s.change(r.Grant, func(t *control.Token) error {
		if !t.Grant.RevokedAt.IsZero() {
			return &sandbox.Error{Code: sandbox.TokenRevoked, Msg: "the token was revoked"}
		}
		now := s.clock.Now().UTC()
		for i := range t.Credentials {
			if c := &t.Credentials[i]; c.RevokedAt.IsZero() && r.Overlap > 0 {
				c.OverlapUntil = now.Add(r.Overlap)
			} else if c.RevokedAt.IsZero() {
				c.RevokedAt = now
			}
		}
		out.Credential, out.Secret = s.credentialLocked(t.Grant.ID)
		t.Credentials = append(t.Credentials, out.Credential)
		s.tellLocked(sandbox.Event{Kind: sandbox.EventRotated, Severity: sandbox.SeverityInfo, Grant: t.Grant.ID, Subject: t.Grant.ID, Data: map[string]any{"name": t.Grant.Name}})
		return nil
	})
	out.Grant = g
	return out, err
}

// RevokeToken ends one, and its sandboxes.
func (s *Scene) RevokeToken(_ context.Context, r control.TokenRevocation) (sandbox.Grant, error) {
	return s.change(r.Grant, func(t *control.Token) error {
		if !t.Grant.RevokedAt.IsZero() {
			return nil
		}
		t.Grant.RevokedAt = s.clock.Now().UTC()
		for i := range t.Credentials {
			t.Credentials[i].RevokedAt = t.Grant.RevokedAt
		}
		for _, b := range s.boxes {
			if b.Grant == t.Grant.ID && b.State.Alive() && !r.Keep {
				s.endLocked(b, sandbox.EndBudget)
			}
		}
		s.tellLocked(sandbox.Event{Kind: sandbox.EventRevoked, Severity: sandbox.SeverityInfo, Grant: t.Grant.ID, Subject: t.Grant.ID, Data: map[string]any{"name": t.Grant.Name}})
		return nil
	})
}

// DisableToken turns one off, or on again.
func (s *Scene) DisableToken(_ context.Context, r control.TokenSwitch) (sandbox.Grant, error) {
	return s.change(r.Grant, func(t *control.Token) error {
		t.Grant.Disabled = r.Disabled
		return nil
	})
}

// Bind has a connection use a token.
func (s *Scene) Bind(_ context.Context, b control.Binding) (struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return struct{}{}, err
	}
	var to *control.Token
	if b.Grant != "" {
		var err error
		if to, err = s.tokenLocked(b.Grant); err != nil {
			return struct{}{}, err
		}
	}
	for i := range s.tokens {
		t := &s.tokens[i]
		t.Connections = slices.DeleteFunc(t.Connections, func(c string) bool { return c == b.Connection })
	}
	name := ""
	if to != nil {
		to.Connections = append(to.Connections, b.Connection)
		name = to.Grant.Name
	}
	for _, h := range s.hosts {
		for i := range h.Entries {
			if h.Entries[i].Connection == b.Connection {
				h.Entries[i].Grant = name
			}
		}
	}
	return struct{}{}, nil
}
