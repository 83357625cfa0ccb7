package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

// owner refuses what only the owner of the computer may do, by their own hand:
// never a tool, nor whoever comes with a token.
func (g *gate) owner(ctx context.Context) error {
	call := sandbox.CallOf(ctx)
	if call == nil {
		return nil
	}
	if c := call.Caller(); c.Token != "" || c.Tool != "" || c.HTTP {
		return notOwner()
	}
	return nil
}

func notOwner() error {
	return &sandbox.Error{
		Code: sandbox.Forbidden, Msg: "only the owner of the computer may do that, and no tool does",
		Hint: "ask them to do it in Arenero or with the command \"arenero\"", Details: map[string]any{"missing": []string{"owner"}},
	}
}

// steward is owner, for what needs the ledger too.
func (g *gate) steward(ctx context.Context) error {
	if err := g.owner(ctx); err != nil {
		return err
	}
	if g.books.ledger == nil {
		return g.books.unusable()
	}
	return g.books.inPlace()
}

// Profile does what the owner wants done with a profile.
func (g *gate) Profile(ctx context.Context, r control.ProfileRequest, tell func(control.ProfileEvent) error) ([]byte, error) {
	if err := g.owner(ctx); err != nil {
		return nil, err
	}
	return g.engine.Profile(ctx, r, tell)
}

// CreateToken makes a grant, and a token that opens it.
func (g *gate) CreateToken(ctx context.Context, want sandbox.Grant) (control.NewToken, error) {
	if err := g.steward(ctx); err != nil {
		return control.NewToken{}, err
	}
	a := g.books
	now := a.clock.Now()
	made, err := grant.New(want.Name, grant.Options{
		Scopes: want.Scopes, Limit: want.Limit, Period: want.Period, MaxHours: want.MaxHours, MaxConcurrent: want.MaxConcurrent, Templates: want.Templates,
		Profile: want.Profile, Burst: want.Burst, Rate: want.Rate, NotBefore: want.NotBefore, ExpiresAt: want.ExpiresAt,
	}, now)
	if err != nil {
		return control.NewToken{}, err
	}
	if made, err = a.ledger.CreateGrant(ctx, made); err != nil {
		return control.NewToken{}, err
	}
	secret, credential, hash := grant.NewCredential(made.ID, now)
	if credential, err = a.ledger.AddCredential(ctx, credential, hash); err != nil {
		return control.NewToken{}, err
	}
	a.known.forget()
	a.tellToken(sandbox.EventCreated, made, nil)
	return control.NewToken{Grant: made, Credential: credential, Secret: secret}, nil
}

// tellToken keeps what was done with a grant.
func (a *books) tellToken(kind sandbox.EventKind, g sandbox.Grant, more map[string]any) {
	data := map[string]any{"name": g.Name}
	for k, v := range more {
		data[k] = v
	}
	a.emit(sandbox.Event{Kind: kind, Severity: sandbox.SeverityInfo, Grant: g.ID, Subject: g.ID, Data: data})
}

// Tokens lists all grants, or the one of an id or name.
func (g *gate) Tokens(ctx context.Context, name string) ([]control.Token, error) {
	if err := g.steward(ctx); err != nil {
		return nil, err
	}
	a := g.books
	var grants []sandbox.Grant
	if name == "" {
		var err error
		if grants, err = a.ledger.Grants(ctx); err != nil {
			return nil, err
		}
	} else {
		one, err := a.ledger.Grant(ctx, name)
		if err != nil {
			return nil, err
		}
		grants = []sandbox.Grant{one}
	}
	bound, err := a.ledger.Connections(ctx)
	if err != nil {
		return nil, err
	}
	out := []control.Token{}
	for _, gr := range grants {
		t := control.Token{Grant: gr, Credentials: []sandbox.Credential{}}
		if t.Budget, err = a.ledger.Budget(ctx, sandbox.LevelGrant, gr.ID); err != nil {
			return nil, err
		}
		creds, err := a.ledger.Credentials(ctx, gr.ID)
		if err != nil {
			return nil, err
		}
		t.Credentials = append(t.Credentials, creds...)
		if t.Running, err = a.ledger.Running(ctx, gr.ID); err != nil {
			return nil, err
		}
		for _, c := range bound {
			if c.Grant == gr.ID {
				t.Connections = append(t.Connections, c.ID)
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// EditToken changes what an edit says of a grant, and nothing else. Its account
// and its secrets stay as they are.
func (g *gate) EditToken(ctx context.Context, e control.TokenEdit) (sandbox.Grant, error) {
	if err := g.steward(ctx); err != nil {
		return sandbox.Grant{}, err
	}
	a := g.books
	var raised []string
	changed, err := a.ledger.ModifyGrant(ctx, e.Seen.ID, func(have *sandbox.Grant) error {
		was, want := *have, *have
		e.Apply(&want)
		if was.ID == sandbox.GrantOwner {
			want.Name, want.Scopes = was.Name, was.Scopes
		} else if err := grant.Validate(want, a.clock.Now()); err != nil {
			return err
		}
		if raised = grant.Raises(was, want); len(raised) > 0 {
			agreed := e.Seen
			e.Apply(&agreed)
			if unasked := beyond(raised, was, e.Seen, agreed); len(unasked) > 0 {
				return &sandbox.Error{
					Code: sandbox.WrongState, Msg: "the token was changed meanwhile, and this would allow more than it does now: " + strings.Join(unasked, ", "),
					Hint: "look at it and ask again", Details: map[string]any{"fields": unasked, "grant": was.ID, "name": was.Name},
				}
			}
		}
		*have = want
		return nil
	})
	if err != nil {
		return sandbox.Grant{}, err
	}
	a.known.forget()
	a.log.Info("grant changed", "grant", changed.ID, "raised", raised)
	return changed, nil
}

// beyond are those of some raised fields that nobody agreed to: who saw a grant
// and wants another has agreed to a field if it was then what it is now, and was
// raised then as well.
func beyond(raised []string, now, seen, agreed sandbox.Grant) []string {
	told := grant.Raises(seen, agreed)
	return slices.DeleteFunc(slices.Clone(raised), func(field string) bool {
		return slices.Contains(told, field) && grant.Same(field, now, seen)
	})
}

// maxOverlap is how long an old secret may go on beside the new one.
const maxOverlap = 24 * time.Hour

// RotateToken makes a new secret for a grant.
func (g *gate) RotateToken(ctx context.Context, r control.TokenRotation) (control.NewToken, error) {
	if err := g.steward(ctx); err != nil {
		return control.NewToken{}, err
	}
	if r.Overlap < 0 || r.Overlap > maxOverlap {
		return control.NewToken{}, &sandbox.Error{Code: sandbox.Invalid, Msg: "the old secret may go on for at most 24 hours", Details: map[string]any{"field": "overlap"}}
	}
	a := g.books
	have, err := a.ledger.Grant(ctx, r.Grant)
	if err != nil {
		return control.NewToken{}, err
	}
	if have.ID == sandbox.GrantOwner {
		return control.NewToken{}, &sandbox.Error{Code: sandbox.Invalid, Msg: "the owner's grant has no secret"}
	}
	now := a.clock.Now()
	secret, credential, hash := grant.NewCredential(have.ID, now)
	var until time.Time
	if r.Overlap > 0 {
		until = now.Add(r.Overlap)
	}
	if credential, err = a.ledger.Rotate(ctx, credential, hash, until); err != nil {
		return control.NewToken{}, err
	}
	a.known.forget()
	a.tellToken(sandbox.EventRotated, have, map[string]any{"overlap_s": int64(r.Overlap / time.Second)})
	return control.NewToken{Grant: have, Credential: credential, Secret: secret}, nil
}

// RevokeToken ends a grant for good, what is being done with it, and its
// sandboxes unless they are to be kept.
func (g *gate) RevokeToken(ctx context.Context, r control.TokenRevocation) (sandbox.Grant, error) {
	if err := g.steward(ctx); err != nil {
		return sandbox.Grant{}, err
	}
	a := g.books
	have, err := a.ledger.Grant(ctx, r.Grant)
	if err != nil {
		return sandbox.Grant{}, err
	}
	revoked, err := a.ledger.Revoke(ctx, have.ID)
	if err != nil {
		return sandbox.Grant{}, err
	}
	a.known.forget()
	a.shut(revoked.ID, grant.Usable(revoked, nil, a.clock.Now()))
	if !r.Keep {
		g.Fleet.EndGrant(revoked.ID, sandbox.EndBudget)
	}
	if have.RevokedAt.IsZero() {
		a.tellToken(sandbox.EventRevoked, revoked, map[string]any{"keep": r.Keep})
	}
	return revoked, nil
}

// DisableToken turns a grant off, or on again. What it has goes on.
func (g *gate) DisableToken(ctx context.Context, r control.TokenSwitch) (sandbox.Grant, error) {
	if err := g.steward(ctx); err != nil {
		return sandbox.Grant{}, err
	}
	a := g.books
	have, err := a.ledger.Grant(ctx, r.Grant)
	if err != nil {
		return sandbox.Grant{}, err
	}
	changed, err := a.ledger.ModifyGrant(ctx, have.ID, func(x *sandbox.Grant) error {
		x.Disabled = r.Disabled
		return nil
	})
	if err != nil {
		return sandbox.Grant{}, err
	}
	a.known.forget()
	if changed.Disabled {
		a.shut(changed.ID, grant.Usable(changed, nil, a.clock.Now()))
	}
	return changed, nil
}

// Bind has a connection use a grant, from its next call on.
func (g *gate) Bind(ctx context.Context, b control.Binding) (struct{}, error) {
	if err := g.steward(ctx); err != nil {
		return struct{}{}, err
	}
	a := g.books
	defer a.remark(ctx)
	defer a.known.forget()
	if b.Grant == "" || b.Grant == sandbox.GrantOwner {
		return struct{}{}, a.ledger.Unbind(ctx, b.Connection)
	}
	have, err := a.ledger.Grant(ctx, b.Grant)
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, a.ledger.Bind(ctx, b.Connection, have.ID)
}

// Budgets lists all budgets.
func (g *gate) Budgets(ctx context.Context, _ struct{}) ([]sandbox.Budget, error) {
	if err := g.steward(ctx); err != nil {
		return nil, err
	}
	all, err := g.books.ledger.Budgets(ctx)
	if all == nil {
		all = []sandbox.Budget{}
	}
	return all, err
}

// SetBudget sets a limit and its period.
func (g *gate) SetBudget(ctx context.Context, b sandbox.Budget) (sandbox.Budget, error) {
	if err := g.steward(ctx); err != nil {
		return sandbox.Budget{}, err
	}
	if b.Level == sandbox.LevelGrant {
		have, err := g.books.ledger.Grant(ctx, b.Owner)
		if err != nil {
			return sandbox.Budget{}, err
		}
		b.Owner = have.ID
	}
	defer g.books.known.forget()
	return g.books.ledger.SetBudget(ctx, b.Level, b.Owner, b.Limit, b.Period)
}

// ConfirmClock takes the owner's word that the time is right.
func (g *gate) ConfirmClock(ctx context.Context, _ struct{}) (struct{}, error) {
	if err := g.steward(ctx); err != nil {
		return struct{}{}, err
	}
	a := g.books
	a.heed(a.guard.Confirm(a.clock.Now(), a.clock.Since(a.began)), true)
	a.flush()
	return struct{}{}, nil
}
