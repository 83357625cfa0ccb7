package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// TestMoney_RevokedInTheMiddleOfCreates takes a token away while four clients
// have sandboxes made with it: the cloud has acted for two of them and says
// nothing yet, and not even begun for the others. It also had one before.
func TestMoney_RevokedInTheMiddleOfCreates(t *testing.T) {
	p := newPurse(t, 10, `{"rules":[]}`)
	url := p.serve()
	for _, name := range []string{"a", "b", "c", "d"} {
		p.web(name, url)
	}
	p.must(p.spenders[0], "create_sandbox", map[string]any{"name": "before", "hours": 1, "idle_seconds": 0})
	p.faults(`{"rules":[{"operation":"RunMicrovm","count":2,"answer_delay_ms":20000},{"operation":"RunMicrovm","skip":2,"count":2,"delay_ms":20000}]}`)

	var flights sync.WaitGroup
	outcomes := make([]outcome, len(p.spenders))
	for i, s := range p.spenders {
		flights.Go(func() {
			o, err := s.use(t.Context(), "create_sandbox", map[string]any{"name": s.name, "hours": 1, "idle_seconds": 0})
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
			outcomes[i] = o
		})
	}
	comes(t, "all are in flight", func() bool { return len(p.vms()) == 3 && len(p.orders(true)) == 5 && p.running() == 1 })
	p.run("tokens", "revoke", "agents", "--yes")
	revoked := time.Now()
	flights.Wait()
	for i, o := range outcomes {
		if o.Code != string(sandbox.TokenRevoked) {
			t.Errorf("%s was answered %s", p.spenders[i].name, o.text)
		}
	}

	// The next request is not let in.
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_sandbox","arguments":{"name":"after","hours":1}}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+string(p.token.Secret))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized || !strings.Contains(res.Header.Get("WWW-Authenticate"), "invalid_token") {
			t.Errorf("after it was revoked: %s, %q", res.Status, res.Header.Get("WWW-Authenticate"))
		}
	}
	if _, err := p.spenders[1].use(t.Context(), "list_sandboxes", nil); err == nil || !strings.Contains(err.Error(), "authorization required") {
		t.Errorf("a client of before: %v", err)
	}

	// What was on its way ends as soon as it is there, and nothing else begins.
	comes(t, "all orders have ended", func() bool { return len(p.orders(true)) == 0 })
	comes(t, "no sandbox is left", func() bool { return p.alive() == 0 })
	if n := len(p.vms()); n < 3 || n > 5 {
		t.Errorf("there were %d sandboxes, 5 were asked for and 3 were there when the token was revoked", n)
	}
	all := p.orders(false)
	for _, o := range all {
		if o.AskedAt.After(revoked) {
			t.Errorf("asked for after the token was revoked: %+v", o)
		}
	}
	if len(all) != 5 {
		t.Errorf("%d orders, want 5", len(all))
	}
	p.settled(nap{})
	p.check("after it was revoked")
}
