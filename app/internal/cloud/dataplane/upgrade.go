package dataplane

import (
	"bufio"
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"time"
)

// lingerTime is what an app has to say goodbye to a client that has left.
const lingerTime = 5 * time.Second

// upgrade passes on a WebSocket handshake and then bytes, both ways.
func (p *Proxy) upgrade(w http.ResponseWriter, r *http.Request, x *exchange, s *session) error {
	app, err := s.dial(r.Context(), x.call.port)
	if err != nil {
		return err
	}
	defer app.Close()
	out := outgoing(r, x, nil)
	out.Header["Connection"] = []string{"Upgrade"}
	out.Header["Upgrade"] = []string{"websocket"}
	delete(out.Header, "Sec-Websocket-Protocol")
	if len(x.call.protocols) > 0 {
		out.Header["Sec-Websocket-Protocol"] = []string{strings.Join(x.call.protocols, ", ")}
	}
	stop := context.AfterFunc(r.Context(), func() { app.Close() })
	defer stop()
	if err := out.Write(app); err != nil {
		return err
	}
	head := &io.LimitedReader{R: app, N: 1 << 20}
	from := bufio.NewReader(head)
	resp, err := http.ReadResponse(from, out)
	if err != nil {
		return err
	}
	head.N = math.MaxInt64 // a body may have any length
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return p.answer(w, r, x, resp)
	}
	if !strings.EqualFold(resp.Header.Get("Upgrade"), "websocket") {
		return errApp
	}
	h := w.Header()
	copyHeader(h, resp.Header)
	h.Set("Connection", "Upgrade")
	h.Set("Upgrade", "websocket")
	if h.Get("Sec-Websocket-Protocol") == "" && x.call.marked {
		h.Set("Sec-Websocket-Protocol", marker)
	}
	w.WriteHeader(http.StatusSwitchingProtocols)
	client, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	stop()
	defer client.Close()
	if client.SetDeadline(time.Time{}) != nil || rw.Flush() != nil {
		return nil // the client is gone
	}
	x.vm.Touch()
	if p.splice(&wire{client, rw.Reader}, &wire{app, from}, x.vm) != nil || s.ended() {
		abort(client)
	}
	return nil
}

// A wire is a connection of which some bytes were read ahead.
type wire struct {
	net.Conn
	ahead *bufio.Reader
}

func (w *wire) Read(p []byte) (int, error) {
	if n := w.ahead.Buffered(); n > 0 {
		return w.ahead.Read(p[:min(n, len(p))])
	}
	return w.Conn.Read(p)
}

// splice copies both ways until either end is through. It returns an error if
// it was not for the end of a stream.
func (p *Proxy) splice(client, app *wire, vm VM) error {
	up := make(chan error, 1)
	go func() {
		err := p.copyWire(app, client, vm)
		if err == nil { // the client has left in order, so the app may too
			if half, ok := app.Conn.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
			_ = app.SetReadDeadline(time.Now().Add(lingerTime))
		} else {
			app.Close()
		}
		up <- err
	}()
	err := p.copyWire(client, app, vm)
	_ = client.SetReadDeadline(time.Unix(1, 0)) // ends the other copy
	if e := <-up; err == nil && e != nil && !isTimeout(e) {
		err = e
	}
	return err
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// copyWire copies until src ends.
func (p *Proxy) copyWire(dst, src net.Conn, vm VM) error {
	buf := p.buffers.Get().(*[bufferSize]byte)
	defer p.buffers.Put(buf)
	for {
		n, err := src.Read(buf[:])
		if n > 0 {
			vm.Touch()
			if _, err := dst.Write(buf[:n]); err != nil {
				return err
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

// abort closes a connection so that the other end sees a reset, if it can.
func abort(c net.Conn) {
	if tcp, ok := c.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	c.Close()
}
