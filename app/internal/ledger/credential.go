package ledger

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

const credentialColumns = "id, grant_id, hint, created_at, last_used_at, overlap_until, revoked_at"

func scanCredential(rows *sql.Rows, more ...any) (sandbox.Credential, error) {
	var c sandbox.Credential
	var created, used, overlap, revoked int64
	err := rows.Scan(append([]any{&c.ID, &c.Grant, &c.Hint, &created, &used, &overlap, &revoked}, more...)...)
	c.CreatedAt, c.LastUsedAt, c.OverlapUntil, c.RevokedAt = moment(created), moment(used), moment(overlap), moment(revoked)
	return c, err
}

// AddCredential keeps what opens a grant: hash is the digest of its secret,
// which is kept nowhere. Without an ID it gets one.
func (l *Ledger) AddCredential(ctx context.Context, c sandbox.Credential, hash [32]byte) (sandbox.Credential, error) {
	return l.addCredential(ctx, c, hash, func(*tx) error { return nil })
}

// Rotate puts a new credential in the place of all that a grant has. The old
// ones open it until then; zero is no longer.
func (l *Ledger) Rotate(ctx context.Context, c sandbox.Credential, hash [32]byte, until time.Time) (sandbox.Credential, error) {
	return l.addCredential(ctx, c, hash, func(t *tx) error {
		if until.After(t.now) {
			return t.do("UPDATE credentials SET overlap_until = ? WHERE grant_id = ? AND revoked_at = 0 AND (overlap_until = 0 OR overlap_until > ?)",
				stamp(until), c.Grant, stamp(until))
		}
		return t.do("UPDATE credentials SET revoked_at = ? WHERE grant_id = ? AND revoked_at = 0", stamp(t.now), c.Grant)
	})
}

func (l *Ledger) addCredential(ctx context.Context, c sandbox.Credential, hash [32]byte, before func(*tx) error) (sandbox.Credential, error) {
	if c.ID == "" {
		c.ID = "crd_" + uuid.NewString()
	}
	err := l.write(ctx, true, func(t *tx) error {
		g, err := grantOf(t.w.ctx, t, c.Grant)
		if err != nil {
			return err
		}
		if !g.RevokedAt.IsZero() {
			return usable(g, t.now)
		}
		if err := before(t); err != nil {
			return err
		}
		c.CreatedAt, c.LastUsedAt, c.RevokedAt = t.now, time.Time{}, time.Time{}
		err = t.do("INSERT INTO credentials ("+credentialColumns+", hash) VALUES (?, ?, ?, ?, 0, ?, 0, ?)",
			c.ID, c.Grant, c.Hint, stamp(c.CreatedAt), stamp(c.OverlapUntil), hash[:])
		if unique(err) {
			return &sandbox.Error{Code: sandbox.Exists, Msg: "there is such a credential"}
		}
		return err
	})
	return c, err
}

// ByHash returns the credential whose secret has a digest, and the grant that
// it opens: whether it does so now is for the caller to judge.
func (l *Ledger) ByHash(ctx context.Context, hash [32]byte) (sandbox.Credential, sandbox.Grant, error) {
	var c sandbox.Credential
	var found []byte
	err := one(ctx, l.read(), func(rows *sql.Rows) (err error) {
		c, err = scanCredential(rows, &found)
		return err
	}, "SELECT "+credentialColumns+", hash FROM credentials WHERE hash = ?", hash[:])
	if errors.Is(err, errNone) || err == nil && subtle.ConstantTimeCompare(found, hash[:]) != 1 {
		return sandbox.Credential{}, sandbox.Grant{}, &sandbox.Error{Code: sandbox.Unauthenticated, Msg: "the token opens nothing", Hint: "ask the owner for one"}
	}
	if err != nil {
		return sandbox.Credential{}, sandbox.Grant{}, l.explain(err)
	}
	g, err := grantOf(ctx, l.read(), c.Grant)
	return c, g, l.explain(err)
}

// Credentials returns those of a grant, the newest first; "" is all grants.
func (l *Ledger) Credentials(ctx context.Context, grant string) ([]sandbox.Credential, error) {
	var out []sandbox.Credential
	err := each(ctx, l.read(), func(rows *sql.Rows) error {
		c, err := scanCredential(rows)
		out = append(out, c)
		return err
	}, "SELECT "+credentialColumns+" FROM credentials WHERE ? IN ('', grant_id) ORDER BY created_at DESC, id", grant)
	return out, l.explain(err)
}

// RevokeCredential ends one credential; its grant stays.
func (l *Ledger) RevokeCredential(ctx context.Context, id string) error {
	return l.changeCredential(ctx, "UPDATE credentials SET revoked_at = CASE revoked_at WHEN 0 THEN ? ELSE revoked_at END WHERE id = ?", id)
}

// Overlap ends a credential at a time to come.
func (l *Ledger) Overlap(ctx context.Context, id string, until time.Time) error {
	return l.write(ctx, true, func(t *tx) error {
		return changed(t.exec("UPDATE credentials SET overlap_until = ? WHERE id = ?", stamp(until), id))
	})
}

func (l *Ledger) changeCredential(ctx context.Context, query, id string) error {
	return l.write(ctx, true, func(t *tx) error { return changed(t.exec(query, stamp(t.now), id)) })
}

// changed is the error of a change to a credential that there is none of.
func changed(n int64, err error) error {
	if err == nil && n == 0 {
		return missing("there is no such credential")
	}
	return err
}

// Touch takes in that a credential is used, to the minute.
func (l *Ledger) Touch(ctx context.Context, id string, at time.Time) error {
	at = at.Truncate(time.Minute)
	l.mu.Lock()
	known := !at.After(l.touched[id])
	l.mu.Unlock()
	if known {
		return nil
	}
	return l.write(ctx, false, func(t *tx) error {
		t.after = append(t.after, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.touched[id] = at
		})
		return t.do("UPDATE credentials SET last_used_at = ? WHERE id = ? AND last_used_at < ?", stamp(at), id, stamp(at))
	})
}

// A Connection is the entry of a host that is bound to a grant.
type Connection struct {
	ID        string    `json:"id"`
	Grant     string    `json:"grant"`
	CreatedAt time.Time `json:"created_at"`
}

// Bind has a connection use a grant from now on.
func (l *Ledger) Bind(ctx context.Context, connection, grant string) error {
	if connection == "" {
		return invalid("a connection needs an id")
	}
	return l.write(ctx, true, func(t *tx) error {
		g, err := grantOf(t.w.ctx, t, grant)
		if err != nil {
			return err
		}
		if !g.RevokedAt.IsZero() {
			return usable(g, t.now)
		}
		return t.do("INSERT INTO connections (id, grant_id, created_at) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET grant_id = excluded.grant_id",
			connection, grant, stamp(t.now))
	})
}

// Unbind has a connection use the owner's grant again.
func (l *Ledger) Unbind(ctx context.Context, connection string) error {
	return l.write(ctx, true, func(t *tx) error { return t.do("DELETE FROM connections WHERE id = ?", connection) })
}

// Connections returns those that are bound, by ID.
func (l *Ledger) Connections(ctx context.Context) ([]Connection, error) {
	var out []Connection
	err := each(ctx, l.read(), func(rows *sql.Rows) error {
		var c Connection
		var created int64
		err := rows.Scan(&c.ID, &c.Grant, &created)
		c.CreatedAt = moment(created)
		out = append(out, c)
		return err
	}, "SELECT id, grant_id, created_at FROM connections ORDER BY id")
	return out, l.explain(err)
}

// GrantOf returns the grant that a connection is bound to, be it revoked, or
// the owner's.
func (l *Ledger) GrantOf(ctx context.Context, connection string) (sandbox.Grant, error) {
	g, err := grantWhere(ctx, l.read(), "WHERE g.id = (SELECT grant_id FROM connections WHERE id = ?)", connection)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		g, err = grantOf(ctx, l.read(), sandbox.GrantOwner)
	}
	return g, l.explain(err)
}
