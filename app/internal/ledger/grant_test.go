package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// TestGrants makes, changes, finds and revokes grants.
func TestGrants(t *testing.T) {
	r := newRig(t)
	owner, err := r.Grant(r.ctx(), sandbox.GrantOwner)
	r.must(err)
	if owner.Limit != nil || !reflect.DeepEqual(owner.Scopes, sandbox.Scopes()) || !owner.ExpiresAt.IsZero() {
		t.Errorf("the owner's: %+v", owner)
	}
	whole := sandbox.Grant{
		ID: "grt_1", Name: "agent", Scopes: sandbox.AgentScopes(), Limit: new(sandbox.Micro(12_500_000)), Period: sandbox.PeriodMonth, MaxHours: 2.5,
		MaxConcurrent: 3, Templates: []string{"default", "arn:aws:x"}, Profile: "work", Burst: sandbox.BurstBaseline, Rate: 7,
		NotBefore: noon.Add(-time.Hour), ExpiresAt: noon.Add(720*time.Hour + 1), Disabled: true, CreatedAt: noon,
	}
	made, err := r.CreateGrant(r.ctx(), whole)
	r.must(err)
	read, err := r.Grant(r.ctx(), "agent")
	r.must(err)
	if !reflect.DeepEqual(made, whole) || !reflect.DeepEqual(read, whole) {
		t.Errorf("made %+v, read %+v; want %+v", made, read, whole)
	}
	b, err := r.Budget(r.ctx(), sandbox.LevelGrant, "grt_1")
	r.must(err)
	if b.Limit == nil || *b.Limit != 12_500_000 || b.Period != sandbox.PeriodMonth {
		t.Errorf("budget: %+v", b)
	}
	_, err = r.CreateGrant(r.ctx(), sandbox.Grant{Name: "agent"})
	r.wantCode(err, sandbox.Exists)
	_, err = r.CreateGrant(r.ctx(), sandbox.Grant{ID: "grt_1", Name: "another"})
	r.wantCode(err, sandbox.Exists)
	_, err = r.CreateGrant(r.ctx(), sandbox.Grant{})
	r.wantCode(err, sandbox.Invalid)

	changed, err := r.ModifyGrant(r.ctx(), "grt_1", func(g *sandbox.Grant) error {
		*g = sandbox.Grant{Name: "renamed", Scopes: []sandbox.Scope{sandbox.ScopeRead}, RevokedAt: noon, ID: "x"}
		return nil
	})
	r.must(err)
	if changed.ID != "grt_1" || changed.Name != "renamed" || changed.Limit != nil || !changed.RevokedAt.IsZero() || !changed.CreatedAt.Equal(noon) {
		t.Errorf("changed: %+v", changed)
	}
	no := errors.New("no")
	if _, err := r.ModifyGrant(r.ctx(), "grt_1", func(g *sandbox.Grant) error { g.Name = "lost"; return no }); !errors.Is(err, no) {
		t.Errorf("error %v", err)
	}
	for _, change := range []func(*sandbox.Grant){
		func(g *sandbox.Grant) { g.Limit = new(sandbox.Micro) },
		func(g *sandbox.Grant) { g.ExpiresAt = noon },
		func(g *sandbox.Grant) { g.Disabled = true },
	} {
		_, err := r.ModifyGrant(r.ctx(), sandbox.GrantOwner, func(g *sandbox.Grant) error { change(g); return nil })
		r.wantCode(err, sandbox.Invalid)
	}
	_, err = r.ModifyGrant(r.ctx(), sandbox.GrantOwner, func(g *sandbox.Grant) error { g.Burst = sandbox.BurstBaseline; return nil })
	r.must(err)

	_, err = r.AddCredential(r.ctx(), sandbox.Credential{Grant: "grt_1"}, [32]byte{9})
	r.must(err)
	r.clock.Advance(time.Minute)
	gone, err := r.Revoke(r.ctx(), "grt_1")
	r.must(err)
	r.clock.Advance(time.Minute)
	again, err := r.Revoke(r.ctx(), "grt_1")
	r.must(err)
	if !gone.RevokedAt.Equal(noon.Add(time.Minute)) || !again.RevokedAt.Equal(gone.RevokedAt) {
		t.Errorf("revoked at %v, and again at %v", gone.RevokedAt, again.RevokedAt)
	}
	if c, g, err := r.ByHash(r.ctx(), [32]byte{9}); err != nil || c.RevokedAt.IsZero() || g.RevokedAt.IsZero() {
		t.Errorf("its credential: %+v, %v", c, err)
	}
	_, err = r.AddCredential(r.ctx(), sandbox.Credential{Grant: "grt_1"}, [32]byte{8})
	r.wantCode(err, sandbox.TokenRevoked)
	r.wantCode(r.Bind(r.ctx(), "con_9", "grt_1"), sandbox.TokenRevoked)
	_, err = r.Grant(r.ctx(), "renamed")
	r.wantCode(err, sandbox.NotFound)
	r.grant("renamed", 5) // the name is free
	_, err = r.Revoke(r.ctx(), sandbox.GrantOwner)
	r.wantCode(err, sandbox.Invalid)
	all, err := r.Grants(r.ctx())
	r.must(err)
	if len(all) != 3 || all[0].ID != sandbox.GrantOwner || all[2].ID != "grt_1" {
		t.Errorf("grants: %+v", all)
	}
}

// TestCredentials adds, rotates, touches and revokes what opens a grant.
func TestCredentials(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 5)
	first, err := r.AddCredential(r.ctx(), sandbox.Credential{Grant: g.ID, Hint: "aaaa"}, [32]byte{1})
	r.must(err)
	_, err = r.AddCredential(r.ctx(), sandbox.Credential{Grant: g.ID}, [32]byte{1})
	r.wantCode(err, sandbox.Exists)
	_, err = r.AddCredential(r.ctx(), sandbox.Credential{Grant: "none"}, [32]byte{2})
	r.wantCode(err, sandbox.NotFound)
	_, _, err = r.ByHash(r.ctx(), [32]byte{2})
	r.wantCode(err, sandbox.Unauthenticated)

	r.must(r.Touch(r.ctx(), first.ID, noon.Add(90*time.Second)))
	r.must(r.Touch(r.ctx(), first.ID, noon.Add(100*time.Second)))
	r.must(r.Touch(r.ctx(), first.ID, noon))
	c, opened, err := r.ByHash(r.ctx(), [32]byte{1})
	r.must(err)
	if opened.ID != g.ID || c.ID != first.ID || c.Hint != "aaaa" || !c.LastUsedAt.Equal(noon.Add(time.Minute)) {
		t.Errorf("credential: %+v", c)
	}

	until := noon.Add(time.Hour)
	second, err := r.Rotate(r.ctx(), sandbox.Credential{Grant: g.ID, Hint: "bbbb"}, [32]byte{2}, until)
	r.must(err)
	r.clock.Advance(time.Minute)
	if c, _, err := r.ByHash(r.ctx(), [32]byte{1}); err != nil || !c.OverlapUntil.Equal(until) || !c.RevokedAt.IsZero() {
		t.Errorf("the old one: %+v, %v", c, err)
	}
	_, err = r.Rotate(r.ctx(), sandbox.Credential{Grant: g.ID}, [32]byte{3}, time.Time{})
	r.must(err)
	for _, hash := range [][32]byte{{1}, {2}} {
		if c, _, err := r.ByHash(r.ctx(), hash); err != nil || !c.RevokedAt.Equal(noon.Add(time.Minute)) {
			t.Errorf("an old one: %+v, %v", c, err)
		}
	}
	w := want(order("a", g.ID, 1))
	w.Credential = second.ID
	_, err = r.Reserve(r.ctx(), w)
	r.wantCode(err, sandbox.TokenRevoked)
	all, err := r.Credentials(r.ctx(), g.ID)
	r.must(err)
	if len(all) != 3 || all[0].RevokedAt != (time.Time{}) {
		t.Errorf("credentials: %+v", all)
	}
	r.must(r.Overlap(r.ctx(), all[0].ID, noon.Add(2*time.Minute)))
	w.Credential = all[0].ID
	_, err = r.Reserve(r.ctx(), w)
	r.must(err)
	r.clock.Advance(time.Minute) // the end of its overlap
	w.Order.ID = "b"
	_, err = r.Reserve(r.ctx(), w)
	r.wantCode(err, sandbox.TokenRevoked)
	r.wantCode(r.RevokeCredential(r.ctx(), "none"), sandbox.NotFound)
	r.wantCode(r.Overlap(r.ctx(), "none", noon), sandbox.NotFound)
}

// TestConnections binds hosts to grants.
func TestConnections(t *testing.T) {
	r := newRig(t)
	g, g2 := r.grant("agent", 5), r.grant("other", 5)
	wantGrant := func(connection, want string) {
		t.Helper()
		if got, err := r.GrantOf(r.ctx(), connection); err != nil || got.ID != want {
			t.Errorf("grant of %s: %s, %v; want %s", connection, got.ID, err, want)
		}
	}
	wantGrant("con_1", sandbox.GrantOwner)
	r.must(r.Bind(r.ctx(), "con_1", g.ID))
	r.must(r.Bind(r.ctx(), "con_2", g.ID))
	r.must(r.Bind(r.ctx(), "con_2", g2.ID))
	wantGrant("con_1", g.ID)
	wantGrant("con_2", g2.ID)
	all, err := r.Connections(r.ctx())
	r.must(err)
	if len(all) != 2 || all[1] != (ledger.Connection{ID: "con_2", Grant: g2.ID, CreatedAt: noon}) {
		t.Errorf("connections: %+v", all)
	}
	_, err = r.Revoke(r.ctx(), g.ID)
	r.must(err)
	wantGrant("con_1", g.ID) // it does not become the owner's by that
	r.must(r.Unbind(r.ctx(), "con_2"))
	wantGrant("con_2", sandbox.GrantOwner)
	r.wantCode(r.Bind(r.ctx(), "con_3", "none"), sandbox.NotFound)
	r.wantCode(r.Bind(r.ctx(), "", g2.ID), sandbox.Invalid)
}

// TestA8_NoSecret looks for a token, and its digest, in all files of a ledger
// and in all that it tells.
func TestA8_NoSecret(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000)
	const token = "arenero_agt_0123456789abcdefghijABCDEFGHIJ4k2Zq9"
	hash := sha256.Sum256([]byte(token))
	made, err := r.AddCredential(r.ctx(), sandbox.Credential{Grant: g.ID, Hint: token[12:16]}, hash)
	r.must(err)
	w := want(order("a", g.ID, 1))
	w.Credential = made.ID
	_, err = r.Reserve(r.ctx(), w)
	r.must(err)

	found, opened, err := r.ByHash(r.ctx(), hash)
	r.must(err)
	all, err := r.Credentials(r.ctx(), "")
	r.must(err)
	events, err := r.Events(r.ctx(), sandbox.EventQuery{})
	r.must(err)
	said, err := json.Marshal([]any{made, found, opened, all, events, r.export(ledger.TableOrders, ledger.TableEntries)})
	r.must(err)
	for _, secret := range []string{token, token[12:], hex.EncodeToString(hash[:]), string(hash[:])} {
		if strings.Contains(string(said), secret) {
			t.Error("the ledger tells the secret or its digest")
		}
	}
	check := func() {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(filepath.Dir(r.path), "*"))
		if err != nil || len(files) < 2 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			r.must(err)
			if bytes.Contains(text, []byte(token[16:])) {
				t.Errorf("%s has the secret", filepath.Base(f))
			}
		}
	}
	check() // the log, too
	r.must(r.Close())
	check()
}
