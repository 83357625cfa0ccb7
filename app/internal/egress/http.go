package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
)

const (
	maxRequestHeader = 64 << 10
	maxAnswerHeader  = 256 << 10
)

// serveHTTP serves the requests of one client connection. It has a transport of
// its own, so connections to servers are kept as long as the client keeps its
// own, and are shared with nobody.
func (p *Proxy) serveHTTP(ctx context.Context, c *clientConn) {
	tr := &http.Transport{
		// The context of the client's connection, not of one request: it ends
		// a dial when nobody is left to want it.
		DialContext: func(_ context.Context, _, addr string) (net.Conn, error) {
			server, err := p.dial(ctx, addr)
			if err != nil {
				return nil, err
			}
			return p.live(server, newActivity(p.idle)), nil
		},
		DisableCompression:     true, // what the server sends is what the client gets
		ResponseHeaderTimeout:  p.firstByte,
		MaxResponseHeaderBytes: maxAnswerHeader,
		IdleConnTimeout:        p.idle,
	}
	defer tr.CloseIdleConnections()
	forward := &httputil.ReverseProxy{
		Transport:     tr,
		Rewrite:       asIs,
		FlushInterval: -1, // events reach the client as they come
		ErrorHandler:  func(w http.ResponseWriter, r *http.Request, err error) { p.answerError(w, r.URL.Host, err) },
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodConnect:
				p.serveConnect(w, r)
			case r.URL.Scheme == "http" && r.URL.Host != "":
				forward.ServeHTTP(w, r)
			case r.URL.Scheme != "":
				http.Error(w, "arenero: use CONNECT for "+r.URL.Scheme+" through this proxy", http.StatusBadRequest)
			default:
				http.Error(w, "arenero: this is a proxy, not a web server", http.StatusBadRequest)
			}
		}),
		ReadHeaderTimeout: p.firstByte,
		IdleTimeout:       p.idle,
		MaxHeaderBytes:    maxRequestHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	srv.Serve(&oneConn{conn: c})
	srv.Close()
}

// asIs undoes what a reverse proxy changes and a forward proxy should not.
func asIs(r *httputil.ProxyRequest) {
	r.Out.Host = r.In.URL.Host
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	for _, k := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[k]; ok {
			r.Out.Header[k] = v
		}
	}
}

// serveConnect opens a tunnel.
func (p *Proxy) serveConnect(w http.ResponseWriter, r *http.Request) {
	server, err := p.dial(r.Context(), r.Host)
	if err != nil {
		p.answerError(w, r.Host, err)
		return
	}
	defer server.Close()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Time{})
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	// A client may have sent ahead what is for the server.
	if n := buffered.Reader.Buffered(); n > 0 {
		ahead, _ := buffered.Reader.Peek(n)
		if _, err := server.Write(ahead); err != nil {
			return
		}
		p.count(int64(n), 0)
	}
	p.tunnel(conn, server)
}

// answerError tells the client in plain words why there is no connection.
func (p *Proxy) answerError(w http.ResponseWriter, target string, err error) {
	p.refused(target, err)
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	if r, ok := errors.AsType[*Refusal](err); ok {
		h.Set("X-Arenero-Refused", string(r.Rule))
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "arenero: %s\n%s\n", r.Error(), r.Hint())
		return
	}
	status, why := http.StatusBadGateway, "the server can't be reached"
	var timeout net.Error
	switch {
	case errors.Is(err, errNoName):
		why = errNoName.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		status, why = http.StatusGatewayTimeout, "the server does not answer"
	}
	w.WriteHeader(status)
	fmt.Fprintf(w, "arenero: %s: %s\n", target, why)
}

// oneConn is a listener that has one connection, and ends when that does.
type oneConn struct {
	conn *clientConn
	once sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	var conn net.Conn
	l.once.Do(func() { conn = l.conn })
	if conn != nil {
		return conn, nil
	}
	<-l.conn.closed
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }
