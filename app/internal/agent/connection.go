package agent

import (
	"context"
	"errors"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// A connection knows which of its calls were open when it ended. To a handler
// a call that the client has cancelled and one whose connection was lost look
// the same, but only the client of the second wants to come back.
//
// A connection ends when a read of it fails, or with Close, and gRPC ends the
// calls after that; what cancels one of them gRPC has read, and obeyed, before
// it reads on. So there is no doubt about the order.
type connection struct {
	net.Conn

	mu    sync.Mutex // guards what follows
	ended bool
	calls map[*fate]struct{}
}

// A fate is how one call ends. Nothing is known of a nil one.
type fate struct {
	conn *connection
	over <-chan struct{} // closed when the call has ended
	cut  bool            // it was open when the connection ended; guarded by conn.mu
}

// watchCall watches the call of ctx until leave is called.
func watchCall(ctx context.Context) *fate {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	conn, ok := p.AuthInfo.(*connection)
	if !ok {
		return nil
	}
	f := &fate{conn: conn, over: ctx.Done()}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if !conn.ended {
		conn.calls[f] = struct{}{}
	}
	return f
}

func (f *fate) leave() {
	if f == nil {
		return
	}
	f.conn.mu.Lock()
	defer f.conn.mu.Unlock()
	delete(f.conn.calls, f)
}

// wasCut reports whether the call has ended with its connection.
func (f *fate) wasCut() bool {
	if f == nil {
		return false
	}
	f.conn.mu.Lock()
	defer f.conn.mu.Unlock()
	return f.cut
}

func (c *connection) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	for f := range c.calls {
		select {
		case <-f.over:
		default:
			f.cut = true
		}
	}
	clear(c.calls)
}

func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.end()
	}
	return n, err
}

func (c *connection) Close() error {
	c.end()
	return c.Conn.Close()
}

// AuthType makes a connection what gRPC keeps of it for its calls.
func (*connection) AuthType() string { return "plain" }

// plain are the credentials of a server that makes each of its connections a
// [connection], and nothing more of it.
type plain struct{}

var _ credentials.TransportCredentials = plain{}

func (plain) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	c := &connection{Conn: raw, calls: map[*fate]struct{}{}}
	return c, c, nil
}

func (plain) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("credentials of a server")
}

func (plain) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "plain"}
}

func (plain) Clone() credentials.TransportCredentials { return plain{} }

func (plain) OverrideServerName(string) error { return nil }
