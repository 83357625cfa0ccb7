package grant

import (
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// notBeforeLeeway forgives clocks that are a little late. An end has none.
const notBeforeLeeway = time.Minute

// Usable reports why a grant opens nothing now, or nothing by the credential c,
// which is nil for a connection. The grant of the computer's owner can only fail
// by its credential.
func Usable(g sandbox.Grant, c *sandbox.Credential, now time.Time) error {
	if g.ID != sandbox.GrantOwner {
		switch {
		case !g.RevokedAt.IsZero():
			return revoked(g, "revoked", g.RevokedAt)
		case g.Disabled:
			return revoked(g, "disabled", time.Time{})
		case !g.NotBefore.IsZero() && now.Before(g.NotBefore.Add(-notBeforeLeeway)):
			return &sandbox.Error{
				Code: sandbox.Unauthenticated, Msg: "the token is valid from " + stamp(g.NotBefore), Hint: "wait until then, or ask its owner for another one",
				Details: map[string]any{"why": "not_before", "grant": g.ID, "name": g.Name, "not_before": stamp(g.NotBefore)},
			}
		case !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt):
			return &sandbox.Error{
				Code: sandbox.TokenExpired, Msg: "the token expired at " + stamp(g.ExpiresAt), Hint: "its owner makes a new one with \"arenero tokens create\"",
				Details: map[string]any{"grant": g.ID, "name": g.Name, "expires_at": stamp(g.ExpiresAt)},
			}
		}
	}
	switch {
	case c == nil:
		return nil
	case c.Grant != g.ID: // whoever asks has mixed up two grants: nothing may come of that
		return Unknown()
	case !c.RevokedAt.IsZero():
		return revoked(g, "revoked", c.RevokedAt)
	case !c.OverlapUntil.IsZero() && !now.Before(c.OverlapUntil):
		return revoked(g, "rotated", c.OverlapUntil)
	}
	return nil
}

func revoked(g sandbox.Grant, why string, at time.Time) error {
	e := &sandbox.Error{
		Code: sandbox.TokenRevoked, Msg: "the token was revoked by its owner", Hint: "its owner makes a new one with \"arenero tokens create\"",
		Details: map[string]any{"why": why, "grant": g.ID, "name": g.Name},
	}
	switch why {
	case "disabled":
		e.Msg, e.Hint = "the token is switched off by its owner", "only its owner can switch it on again"
	case "rotated":
		e.Msg, e.Hint = "the token was replaced by a new one", "use the new one"
	}
	if !at.IsZero() {
		e.Details["at"] = stamp(at)
	}
	return e
}

// Admit judges a call before it is known what it asks for: that the grant is
// usable, that calls do not come too fast, and that the tool is for it, in this
// order. A request that is no tool's is judged by the first alone.
func Admit(g sandbox.Grant, c *sandbox.Credential, caller sandbox.Caller, limiter *Limiter, now time.Time) error {
	if err := Usable(g, c, now); err != nil {
		return err
	}
	if caller.Tool == "" {
		return nil
	}
	if caller.First {
		if err := limiter.Call(g, caller.HTTP); err != nil {
			return err
		}
		if tools[caller.Tool].Billable && Shows(g, caller.Tool) { // what is refused anyway counts as no create
			if err := limiter.Create(g); err != nil {
				return err
			}
		}
	}
	return CheckTool(g, caller.Tool)
}
