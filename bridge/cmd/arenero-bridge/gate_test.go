package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

// explained is an error as tools put it, but for the words.
func explained(err error) error {
	e := sandbox.ToError(err)
	return &bridge.Error{Code: string(e.Code), Text: e.Msg, Retryable: e.Retryable, RetryAfter: e.RetryAfter}
}

func TestGateAsksWithTheToken(t *testing.T) {
	asked := 0
	g := &gate{explain: explained, authorize: func(ctx context.Context) (sandbox.Grant, error) {
		asked++
		c := sandbox.CallOf(ctx).Caller()
		if c != (sandbox.Caller{Token: "arenero_agt_good", HTTP: true}) {
			return sandbox.Grant{}, &sandbox.Error{Code: sandbox.Unauthenticated, Msg: "no"}
		}
		return sandbox.Grant{ID: "g"}, nil
	}}
	for range 3 {
		ctx, err := g.check(t.Context(), "arenero_agt_good")
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := admittedAs(ctx); !ok || a.grant.ID != "g" || a.token != "arenero_agt_good" {
			t.Errorf("admitted as %+v", a)
		}
	}
	if asked > 3 {
		t.Errorf("asked %d times", asked)
	}
	for _, bad := range []string{"arenero_agt_bad", string(make([]byte, 256))} {
		_, err := g.check(t.Context(), bad)
		if e, ok := errors.AsType[*bridge.Error](err); !ok || e.Code != "unauthenticated" {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
	if len(g.cached) != 1 {
		t.Errorf("%d tokens are remembered, want the good one", len(g.cached))
	}
}

func TestGateKeepsOutWhoCallsTooOften(t *testing.T) {
	g := &gate{explain: explained, authorize: func(context.Context) (sandbox.Grant, error) { return sandbox.Grant{ID: "g"}, nil }}
	ctx, err := g.check(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	tooMany := func(kind string) error {
		return &sandbox.Error{Code: sandbox.RateLimited, Msg: "no", RetryAfter: time.Hour, Details: map[string]any{"kind": kind}}
	}
	g.failed(ctx, tooMany("create")) // which is about creates alone
	g.failed(t.Context(), tooMany(kindHTTP))
	if _, err := g.check(t.Context(), "a"); err != nil {
		t.Fatalf("kept out for another reason: %v", err)
	}
	g.failed(ctx, tooMany(kindHTTP))
	for _, token := range []string{"a", "b"} { // both of the same grant
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+token)
		bridge.Bearer{Check: g.check}.Guard(http.NotFoundHandler()).ServeHTTP(w, r)
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "3600" {
			t.Errorf("%s: status %d, Retry-After %q", token, w.Code, w.Header().Get("Retry-After"))
		}
	}
	g.until["g"] = time.Now().Add(-time.Second)
	if _, err := g.check(t.Context(), "a"); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// What the engine does not count is not free either, and is no reason to cut off
// what is open.
func TestGateCountsRequestsOfAllKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := map[string]int{"usual": 0, "busy": 600, "slow": 1}
		g := &gate{explain: explained, authorize: func(ctx context.Context) (sandbox.Grant, error) {
			id := string(sandbox.CallOf(ctx).Caller().Token)
			return sandbox.Grant{ID: id, Rate: calls[id]}, nil
		}}
		for id, most := range map[string]int{"usual": 200, "busy": 2000, "slow": 3} {
			var ctx context.Context
			for n := range most {
				var err error
				if ctx, err = g.check(t.Context(), id); err != nil {
					t.Fatalf("%s, request %d: %v", id, n, err)
				}
			}
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
			r.Header.Set("Authorization", "Bearer "+id)
			bridge.Bearer{Check: g.check}.Guard(http.NotFoundHandler()).ServeHTTP(w, r)
			if after, _ := strconv.Atoi(w.Header().Get("Retry-After")); w.Code != http.StatusTooManyRequests || after < 1 || after > 6 {
				t.Errorf("%s, one more: status %d, Retry-After %q", id, w.Code, w.Header().Get("Retry-After"))
			}
			if _, err := g.check(ctx, id); err != nil {
				t.Errorf("%s, one that is open: %v", id, err)
			}
		}
		time.Sleep(6 * time.Second)
		for id := range calls {
			if _, err := g.check(t.Context(), id); err != nil {
				t.Errorf("%s, later: %v", id, err)
			}
		}
	})
}

// What the engine says of a token holds for a moment, but not beyond the first
// call that it refuses.
func TestGateForgetsTokensThatOpenNothing(t *testing.T) {
	asked, revoked := 0, &sandbox.Error{Code: sandbox.TokenRevoked, Msg: "no"}
	g := &gate{explain: explained, authorize: func(context.Context) (sandbox.Grant, error) {
		if asked++; asked > 1 {
			return sandbox.Grant{}, revoked
		}
		return sandbox.Grant{ID: "g"}, nil
	}}
	for range 2 {
		ctx, err := g.check(t.Context(), "a")
		if err != nil || asked != 1 {
			t.Fatalf("asked %d times: %v", asked, err)
		}
		g.failed(ctx, &sandbox.Error{Code: sandbox.BudgetExceeded, Msg: "no"})
	}
	ctx, err := g.check(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	g.failed(ctx, revoked)
	if _, err := g.check(t.Context(), "a"); err == nil || asked != 2 {
		t.Errorf("let in after a refusal: %v, asked %d times", err, asked)
	}
}

func TestLeasesOfGrantsAndSessions(t *testing.T) {
	engine := control.NewClient("/nowhere")
	ls := newLeases(func() *lease { return newLease(sandbox.Lease{}, engine, slog.New(slog.DiscardHandler)) })
	one := ls.of("a", "s1")
	if ls.of("a", "s1") != one {
		t.Error("a session has two leases")
	}
	for _, other := range []*lease{ls.of("a", "s2"), ls.of("b", "s1"), ls.of("a", "")} {
		if other == one || other.ID == one.ID {
			t.Error("a lease is shared")
		}
	}
	free := ls.of("a", "")
	ls.endSession(t.Context(), "s1")
	if one.life.Err() == nil || ls.of("a", "s1") == one {
		t.Error("the end of a session is not that of its lease")
	}
	ls.endSession(t.Context(), "")
	ls.sweep(t.Context(), time.Now().Add(leaseIdle-time.Minute))
	if free.life.Err() != nil {
		t.Error("ended while it was in use")
	}
	ls.sweep(t.Context(), time.Now().Add(leaseIdle+time.Minute))
	if free.life.Err() == nil || len(ls.all) != 2 {
		t.Errorf("not swept; %d are left", len(ls.all))
	}
	ls.endAll(t.Context())
	if len(ls.all) != 0 {
		t.Error("some are left")
	}
}
