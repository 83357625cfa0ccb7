package cloud

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/arenero/arenero/app/internal/cloud/dataplane"
)

// An endpoint is <uuid>.lambda-microvm.<region>. and one of these.
const (
	endpointMark   = "lambda-microvm"
	suffixAWS      = "on.aws"
	suffixLoopback = "localhost" // resolves to this computer everywhere, without DNS
)

// suffixFor returns what endpoints end in for clients of a listener.
func (s *Server) suffixFor(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		_, port, err := net.SplitHostPort(tcp.String())
		if err == nil {
			return suffixLoopback + ":" + port
		}
	}
	return suffixAWS
}

// endpoint is the host name of a VM as the caller of ctx can use it.
func (s *Server) endpoint(ctx context.Context, label string) string {
	suffix, _ := ctx.Value(suffixKey{}).(string)
	return label + "." + endpointMark + "." + s.cfg.Region + "." + orDefault(suffix, suffixAWS)
}

// splitEndpoint returns the label of a VM and the rest of a host, in lower
// case and without a port.
func splitEndpoint(host string) (label, rest string) {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	label, rest, _ = strings.Cut(host, ".")
	return label, rest
}

func isEndpoint(host, region string) bool {
	_, rest := splitEndpoint(host)
	mark := endpointMark + "." + region + "."
	return rest == mark+suffixAWS || rest == mark+suffixLoopback
}

// VM finds the VM behind an endpoint, for the data plane.
func (s *Server) VM(host string) (dataplane.VM, bool) {
	if !isEndpoint(host, s.cfg.Region) {
		return nil, false
	}
	label, _ := splitEndpoint(host)
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.byHost[label]
	if !ok {
		return nil, false
	}
	return v, true
}

// serveData passes a request to the data plane, with the faults asked for it.
func (s *Server) serveData(w http.ResponseWriter, r *http.Request) {
	m := s.saboteur.meet(FaultDataPlane)
	if wait(r.Context(), s.cfg.Clock, m.before) != nil || m.cut {
		panic(http.ErrAbortHandler)
	}
	if m.err != nil {
		w.Header().Set("X-Aws-Proxy-Error", dataplane.CodeInternal)
		writeError(w, m.err)
		return
	}
	if m.drop { // the app sees the request, and the client never the answer
		s.proxy.ServeHTTP(dataplane.Deaf(w), r)
		panic(http.ErrAbortHandler)
	}
	s.proxy.ServeHTTP(w, r)
}
