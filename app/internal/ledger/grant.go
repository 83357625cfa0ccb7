package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

func ownerStays() error {
	return &sandbox.Error{
		Code: sandbox.Invalid, Msg: "the grant of the owner has no limit and no end",
		Hint: "limit the profile, or all sandboxes together",
	}
}

// first puts in what every ledger has: the owner's grant, and the budget of all.
func (l *Ledger) first(ctx context.Context, db *sql.DB) error {
	scopes, err := json.Marshal(sandbox.Scopes())
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `INSERT INTO grants (id, name, scopes, max_hours, max_concurrent, templates, profile, burst, rate, not_before, expires_at, disabled, created_at, revoked_at)
		VALUES (?, ?, ?, 0, 0, '[]', '', ?, 0, 0, 0, 0, ?, 0)`,
		sandbox.GrantOwner, sandbox.GrantOwner, string(scopes), string(sandbox.BurstStrict), stamp(l.clock.Now())); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "INSERT INTO budgets (level, owner, period, since) VALUES ('global', '', 'none', 0), ('grant', ?, 'none', 0)", sandbox.GrantOwner)
	return err
}

const grantQuery = `SELECT g.id, g.name, g.scopes, b.limit_micro, coalesce(b.period, 'none'), g.max_hours, g.max_concurrent, g.templates,
	g.profile, g.burst, g.rate, g.not_before, g.expires_at, g.disabled, g.created_at, g.revoked_at
	FROM grants g LEFT JOIN budgets b ON b.level = 'grant' AND b.owner = g.id `

func scanGrant(rows *sql.Rows) (sandbox.Grant, error) {
	var g sandbox.Grant
	var scopes, templates string
	var limit sql.NullInt64
	var notBefore, expires, created, revoked int64
	if err := rows.Scan(&g.ID, &g.Name, &scopes, &limit, &g.Period, &g.MaxHours, &g.MaxConcurrent, &templates,
		&g.Profile, &g.Burst, &g.Rate, &notBefore, &expires, &g.Disabled, &created, &revoked); err != nil {
		return g, err
	}
	if limit.Valid {
		g.Limit = new(sandbox.Micro(limit.Int64))
	}
	g.NotBefore, g.ExpiresAt, g.CreatedAt, g.RevokedAt = moment(notBefore), moment(expires), moment(created), moment(revoked)
	if err := json.Unmarshal([]byte(scopes), &g.Scopes); err != nil {
		return g, down(ReasonDamaged, err)
	}
	if err := json.Unmarshal([]byte(templates), &g.Templates); err != nil {
		return g, down(ReasonDamaged, err)
	}
	if len(g.Templates) == 0 {
		g.Templates = nil
	}
	return g, nil
}

// grantOf is the grant with an id.
func grantOf(ctx context.Context, q querier, id string) (sandbox.Grant, error) {
	return grantWhere(ctx, q, "WHERE g.id = ?", id)
}

func grantWhere(ctx context.Context, q querier, where string, args ...any) (sandbox.Grant, error) {
	var g sandbox.Grant
	err := one(ctx, q, func(rows *sql.Rows) (err error) {
		g, err = scanGrant(rows)
		return err
	}, grantQuery+where, args...)
	if errors.Is(err, errNone) {
		return g, missing("there is no such grant")
	}
	return g, err
}

// CreateGrant adds a grant. Without an ID it gets one; CreatedAt is now. Names
// are unique among the grants that are not revoked.
func (l *Ledger) CreateGrant(ctx context.Context, g sandbox.Grant) (sandbox.Grant, error) {
	if g.ID == "" {
		g.ID = "grt_" + uuid.NewString()
	}
	if g.Name == "" {
		return g, invalid("a grant needs a name")
	}
	var out sandbox.Grant
	err := l.write(ctx, true, func(t *tx) error {
		g.CreatedAt, g.RevokedAt = t.now, time.Time{}
		err := t.do(`INSERT INTO grants (id, name, scopes, max_hours, max_concurrent, templates, profile, burst, rate, not_before, expires_at, disabled, created_at, revoked_at)
			VALUES (?, '', '[]', 0, 0, '[]', '', '', 0, 0, 0, 0, ?, 1)`, g.ID, stamp(t.now))
		if unique(err) {
			return &sandbox.Error{Code: sandbox.Exists, Msg: "there is a grant of this id"}
		}
		if err != nil {
			return err
		}
		if err := t.putGrant(g); err != nil {
			return err
		}
		out, err = grantOf(t.w.ctx, t, g.ID)
		return err
	})
	return out, err
}

// ModifyGrant changes a grant, as the only one at that moment. Its ID, and when
// it was made and revoked, stay. change may be called more than once.
func (l *Ledger) ModifyGrant(ctx context.Context, id string, change func(*sandbox.Grant) error) (sandbox.Grant, error) {
	var out sandbox.Grant
	err := l.write(ctx, true, func(t *tx) error {
		g, err := grantOf(t.w.ctx, t, id)
		if err != nil {
			return err
		}
		was := g
		if err := change(&g); err != nil {
			return err
		}
		g.ID, g.CreatedAt, g.RevokedAt = was.ID, was.CreatedAt, was.RevokedAt
		if id == sandbox.GrantOwner && (g.Limit != nil || !g.ExpiresAt.IsZero() || g.Disabled || !g.NotBefore.IsZero()) {
			return ownerStays()
		}
		if err := t.putGrant(g); err != nil {
			return err
		}
		out, err = grantOf(t.w.ctx, t, id)
		return err
	})
	return out, err
}

// putGrant writes all of g, and the limit of its budget.
func (t *tx) putGrant(g sandbox.Grant) error {
	scopes, err := json.Marshal(g.Scopes)
	if err != nil {
		return err
	}
	templates, err := json.Marshal(g.Templates)
	if err != nil {
		return err
	}
	err = t.do(`UPDATE grants SET name = ?, scopes = ?, max_hours = ?, max_concurrent = ?, templates = ?, profile = ?, burst = ?, rate = ?,
		not_before = ?, expires_at = ?, disabled = ?, revoked_at = ? WHERE id = ?`,
		g.Name, string(scopes), g.MaxHours, g.MaxConcurrent, string(templates), g.Profile, string(g.Burst), g.Rate,
		stamp(g.NotBefore), stamp(g.ExpiresAt), g.Disabled, stamp(g.RevokedAt), g.ID)
	if unique(err) {
		return &sandbox.Error{Code: sandbox.Exists, Msg: "there is a grant of this name", Hint: "choose another name, or revoke that grant"}
	}
	if err != nil {
		return err
	}
	_, err = t.setBudget(sandbox.LevelGrant, g.ID, g.Limit, g.Period)
	return err
}

// Grant returns a grant by its ID, or by its name: a revoked one only by its ID.
func (l *Ledger) Grant(ctx context.Context, idOrName string) (sandbox.Grant, error) {
	g, err := grantOf(ctx, l.read(), idOrName)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		g, err = grantWhere(ctx, l.read(), "WHERE g.name = ? AND g.revoked_at = 0", idOrName)
	}
	return g, l.explain(err)
}

// Grants returns all grants, revoked ones too: the owner's first, then the
// newest.
func (l *Ledger) Grants(ctx context.Context) ([]sandbox.Grant, error) {
	var out []sandbox.Grant
	err := each(ctx, l.read(), func(rows *sql.Rows) error {
		g, err := scanGrant(rows)
		out = append(out, g)
		return err
	}, grantQuery+"ORDER BY g.id <> 'owner', g.created_at DESC, g.id")
	return out, l.explain(err)
}

// Revoke ends a grant for good, with all its credentials and connections, and
// returns it. Nothing is reserved for it after Revoke has returned. A second
// time does nothing.
func (l *Ledger) Revoke(ctx context.Context, id string) (sandbox.Grant, error) {
	var out sandbox.Grant
	err := l.write(ctx, true, func(t *tx) error {
		g, err := grantOf(t.w.ctx, t, id)
		if err != nil {
			return err
		}
		if id == sandbox.GrantOwner {
			return &sandbox.Error{Code: sandbox.Invalid, Msg: "the grant of the owner can't be revoked"}
		}
		if !g.RevokedAt.IsZero() {
			out = g
			return nil
		}
		if err := t.do("UPDATE grants SET revoked_at = ? WHERE id = ?", stamp(t.now), id); err != nil {
			return err
		}
		if err := t.do("UPDATE credentials SET revoked_at = ? WHERE grant_id = ? AND revoked_at = 0", stamp(t.now), id); err != nil {
			return err
		}
		out, err = grantOf(t.w.ctx, t, id)
		return err
	})
	return out, err
}

// notBeforeLeeway is how far another clock may be ahead of ours.
const notBeforeLeeway = time.Minute

// usable reports why a grant opens nothing at a time.
func usable(g sandbox.Grant, now time.Time) error {
	switch {
	case !g.RevokedAt.IsZero():
		return &sandbox.Error{Code: sandbox.TokenRevoked, Msg: "the grant was revoked by its owner", Hint: "ask the owner for another"}
	case g.Disabled:
		return &sandbox.Error{Code: sandbox.TokenRevoked, Msg: "the grant is disabled by its owner", Hint: "ask the owner to enable it"}
	case !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt):
		return &sandbox.Error{Code: sandbox.TokenExpired, Msg: "the grant has expired", Hint: "ask the owner for another"}
	case now.Add(notBeforeLeeway).Before(g.NotBefore):
		return &sandbox.Error{Code: sandbox.Unauthenticated, Msg: "the grant is not valid yet"}
	}
	return nil
}
