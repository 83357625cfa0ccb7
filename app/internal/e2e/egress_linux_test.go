package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/cloud"
	"github.com/arenero/arenero/app/internal/egress"
)

// TestEgress looks from inside a sandbox at a service on this computer's
// loopback: there is no way to it, around the proxy or through it, unless the
// template says so.
func TestEgress(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") }))
	defer service.Close()
	_, port, _ := net.SplitHostPort(service.Listener.Addr().String())

	for _, tt := range []struct {
		name   string
		policy egress.Policy
		want   map[string]string // by name of the attempt
	}{
		{"default", egress.Policy{}, map[string]string{
			"curl": "HTTP 403", "curl by name": "HTTP 403", "curl tunnel": "refused", "python": "HTTP 403", "around the proxy": "refused",
		}},
		{"allowed", egress.Policy{Allow: []string{"127.0.0.1/32"}}, map[string]string{
			"curl": "reached", "curl tunnel": "reached", "python": "reached", "around the proxy": "refused",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, func(c *cloud.Config) {
				c.Launcher.(*cloud.Jails).Templates = map[string]cloud.Template{cloud.LocalImage: {Egress: tt.policy}}
			})
			v := r.run(t, nil)
			conn := v.grpc(t)
			attempts := map[string]string{
				"curl":             `curl -s -m 20 --noproxy '' -o /tmp/o -w '%{http_code}' http://127.0.0.1:PORT/ > /tmp/c; [ "$(cat /tmp/c)" = 200 ] && cat /tmp/o || echo HTTP $(cat /tmp/c)`,
				"curl by name":     `curl -s -m 20 --noproxy '' -o /tmp/o -w '%{http_code}' http://localhost.:PORT/ > /tmp/c; [ "$(cat /tmp/c)" = 200 ] && cat /tmp/o || echo HTTP $(cat /tmp/c)`,
				"curl tunnel":      `curl -s -m 20 --noproxy '' -p -x "$http_proxy" http://127.0.0.1:PORT/ || echo refused`,
				"around the proxy": `curl -s -m 20 --noproxy '*' http://127.0.0.1:PORT/ || echo refused`,
			}
			for name, want := range tt.want {
				var got string
				if name == "python" {
					got, _ = v.cell(t, conn, strings.ReplaceAll(pythonGet, "PORT", port))
				} else {
					out, _ := v.command(t, conn, strings.ReplaceAll(attempts[name], "PORT", port))
					got = string(out)
				}
				if strings.TrimSpace(got) != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

// pythonGet asks as most programs in Python do. The sandbox keeps its own
// loopback out of the proxy, so the name must not say that it is one.
const pythonGet = `
import os, urllib.request, urllib.error
proxy = urllib.request.ProxyHandler({"http": os.environ["http_proxy"]})
os.environ.pop("no_proxy", None); os.environ.pop("NO_PROXY", None)
try:
    print(urllib.request.build_opener(proxy).open("http://127.0.0.1:PORT/", timeout=20).read().decode())
except urllib.error.HTTPError as e:
    print("HTTP", e.code)
`
