package dataplane

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// An exchange is one accepted request on its way into a VM.
type exchange struct {
	id   string // value of x-amzn-requestid
	call call
	lane *lane
	vm   VM
}

// An app that answers before it has read the whole request must not cost the
// client the answer: up to so much of the rest is read and dropped.
const (
	drainBytes = 4 << 20
	drainTime  = 2 * time.Second
)

// forward passes r on and its answer back.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, x *exchange) (err error) {
	if st, ok := w.(*stream); ok {
		return p.attempt(r, x, func(s *session) error { return st.join(r, x, s) })
	}
	body := newBody(w, r, x.vm)
	defer func() { body.finish(err) }()
	if closed(x.vm.Cut()) {
		body.hold()
	}
	return p.attempt(r, x, func(s *session) error {
		if x.call.upgrade {
			return p.upgrade(w, r, x, s)
		}
		err := p.roundTrip(w, r, x, s, body)
		if err != nil && err != errAborted && body.failed() {
			return bad("The request body is malformed")
		}
		return err
	})
}

// attempt wakes the VM and makes a try; another if the VM has fallen asleep
// before anything was sent.
func (p *Proxy) attempt(r *http.Request, x *exchange, try func(*session) error) error {
	x.vm.Touch() // an idle timer that is about to fire must not
	for range 3 {
		s, err := p.awake(r.Context(), x.lane, x.vm)
		if err != nil {
			return err
		}
		x.vm.Touch()
		err = try(s)
		if err == nil || err == errAborted {
			return err
		}
		_, unsent := errors.AsType[*dialError](err)
		switch {
		case s.ended() && unsent:
			continue // fell asleep under our hands: wake it again
		case s.ended():
			return errUnreachable
		}
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			return refusal
		}
		return errApp
	}
	return errUnreachable
}

func (p *Proxy) roundTrip(w http.ResponseWriter, r *http.Request, x *exchange, s *session, body *body) error {
	t := s.plain
	if x.call.forceH2 || isGRPC(r) {
		t = s.h2
	}
	resp, err := t.RoundTrip(outgoing(r, x, body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return p.answer(w, r, x, resp)
}

// isGRPC says whether r can only be meant for an HTTP/2 server. The proxy of
// AWS passes gRPC without being told to force HTTP/2.
func isGRPC(r *http.Request) bool {
	return r.ProtoMajor == 2 && isGRPCType(r.Header.Get("Content-Type"))
}

// outgoing returns the request as the app shall see it.
func outgoing(r *http.Request, x *exchange, body *body) *http.Request {
	out := &http.Request{
		Method: r.Method,
		URL: &url.URL{
			Scheme: "http",
			Host:   net.JoinHostPort("127.0.0.1", strconv.Itoa(x.call.port)),
			Path:   r.URL.Path, RawPath: r.URL.RawPath,
			RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery,
		},
		Host:          r.Host,
		Header:        make(http.Header, len(r.Header)+1),
		ContentLength: r.ContentLength,
	}
	copyHeader(out.Header, r.Header)
	if httpguts.HeaderValuesContainsToken(r.Header["Te"], "trailers") {
		out.Header.Set("Te", "trailers") // gRPC servers ask for it
	}
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = []string{""} // or the client would add its own
	}
	out.Header[headerID] = []string{x.id}
	if body != nil && r.Body != nil && r.Body != http.NoBody {
		out.Body = body
		out.Trailer = r.Trailer // filled in when the body ends
		dropProxys(out.Trailer)
	}
	return out.WithContext(r.Context())
}

// copyHeader copies what is not between two hops alone, and not the proxy's.
func copyHeader(dst, src http.Header) {
	for k, vs := range src {
		if !strings.HasPrefix(k, headerPrefix) && !isHopByHop(k) {
			dst[k] = vs
		}
	}
	for _, v := range src["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			delete(dst, textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name)))
		}
	}
}

// dropProxys takes out what is for the proxy alone.
func dropProxys(h http.Header) {
	for k := range h {
		if strings.HasPrefix(k, headerPrefix) {
			delete(h, k)
		}
	}
}

func isHopByHop(key string) bool {
	switch key {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// errAborted says that an answer has begun and can't be finished. The client
// must see that, by a reset.
var errAborted = errors.New("answer aborted")

// answer writes the app's answer. It fails with errAborted only.
func (p *Proxy) answer(w http.ResponseWriter, r *http.Request, x *exchange, resp *http.Response) error {
	h := w.Header()
	copyHeader(h, resp.Header)
	for k := range resp.Trailer {
		h.Add("Trailer", k)
	}
	announced := len(resp.Trailer)
	w.WriteHeader(resp.StatusCode)
	if resp.ContentLength != 0 && r.Method != http.MethodHead {
		if err := p.copyBody(w, resp.Body, x.vm); err != nil {
			return errAborted
		}
	}
	for k, vs := range resp.Trailer {
		if strings.HasPrefix(k, headerPrefix) {
			continue
		}
		if announced != len(resp.Trailer) { // not all were: the prefix does without
			k = http.TrailerPrefix + k
		}
		h[k] = vs
	}
	return nil
}

// copyBody copies what comes when it comes.
func (p *Proxy) copyBody(w http.ResponseWriter, body io.Reader, vm VM) error {
	rc := http.NewResponseController(w)
	if err := rc.Flush(); err != nil {
		return err
	}
	buf := p.buffers.Get().(*[bufferSize]byte)
	defer p.buffers.Put(buf)
	for {
		n, err := body.Read(buf[:])
		if n > 0 {
			vm.Touch()
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			if n < len(buf) { // else there is more, which pushes this out
				if err := rc.Flush(); err != nil {
					return err
				}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
