package egress

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// tunnel carries bytes both ways until both ends have said all, one fails, or
// nothing has moved for the idle time. It closes both.
func (p *Proxy) tunnel(client, server net.Conn) {
	act := newActivity(p.idle)
	near := &liveConn{Conn: client, act: act, in: func(int64) {}, out: func(int64) {}}
	far := p.live(server, act)
	carry := func(dst, src *liveConn) {
		_, err := io.CopyBuffer(onlyWriter{dst}, onlyReader{src}, make([]byte, 32<<10))
		if err == nil {
			err = closeWrite(dst.Conn)
		}
		if err != nil { // the other way has no use any more
			client.Close()
			server.Close()
		}
	}
	var both sync.WaitGroup
	both.Go(func() { carry(far, near) })
	both.Go(func() { carry(near, far) })
	both.Wait()
	client.Close()
	server.Close()
}

// live counts what passes on a connection to a server, and ends it when
// nothing does.
func (p *Proxy) live(server net.Conn, act *activity) *liveConn {
	return &liveConn{
		Conn: server, act: act,
		in:  func(n int64) { p.count(0, n) },
		out: func(n int64) { p.count(n, 0) },
	}
}

// activity is when something last moved on one or more connections.
type activity struct {
	idle time.Duration
	last atomic.Int64
}

func newActivity(idle time.Duration) *activity {
	a := &activity{idle: idle}
	a.touch()
	return a
}

func (a *activity) touch()              { a.last.Store(time.Now().UnixNano()) }
func (a *activity) deadline() time.Time { return time.Unix(0, a.last.Load()).Add(a.idle) }

// A liveConn fails to read and write once nothing has moved for the idle time
// on all the connections of its activity. One that only sends, or only gets, is
// not idle.
type liveConn struct {
	net.Conn
	act     *activity
	in, out func(int64)
}

func (c *liveConn) Read(b []byte) (int, error) {
	for {
		c.SetReadDeadline(c.act.deadline())
		n, err := c.Conn.Read(b)
		if n > 0 {
			c.act.touch()
			c.in(int64(n))
			return n, err
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(c.act.deadline()) {
			continue // the other way has been busy
		}
		return n, err
	}
}

func (c *liveConn) Write(b []byte) (int, error) {
	c.SetWriteDeadline(time.Now().Add(c.act.idle))
	n, err := c.Conn.Write(b)
	if n > 0 {
		c.act.touch()
		c.out(int64(n))
	}
	return n, err
}

// onlyReader and onlyWriter hide the shortcuts of a connection, which would
// pass by our Read and Write.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)

// closeWrite ends what is sent on c. A connection that can't do that by itself
// (a pipe) is closed.
func closeWrite(c net.Conn) error {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}
