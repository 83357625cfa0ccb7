package link

import (
	"context"
	"net"
)

// A Guest is the agent's end of the line.
type Guest struct {
	marks marks
	end   end
}

// end is one way for the line to reach the host.
type end interface {
	serve(ctx context.Context) error
	Close() error
}

// OpenGuest takes the line that the jail gave this process. name is the value
// of the agent's hidden flag --link, which the jail sets: "fd:N",
// [Stdio] or [StdioEgress]. With the latter two nothing else may read standard input or write standard output.
func OpenGuest(name string) (*Guest, error) { return openGuest(name) }

// Serve tells the host that the agent is ready, so all its ports must be open
// by now, then answers the host until the line breaks or ctx ends. The error
// is never nil; it is [ErrClosed] when the host has gone, and then the agent
// must exit at once without saving anything.
func (g *Guest) Serve(ctx context.Context) error { return g.end.serve(ctx) }

// Close breaks the line.
func (g *Guest) Close() error { return g.end.Close() }

// Mark returns a listener whose connections [FromHost] can tell apart: those
// the host made through the line, and those of programs inside the jail. Only
// a few of the latter can be open at a time; more are closed at once.
// ln must be a TCP listener on 127.0.0.1 or all addresses.
func (g *Guest) Mark(ln net.Listener) net.Listener { return g.marks.listen(ln) }

// FromHost reports whether the host made the connection, which came from a
// listener of [Guest.Mark]. It suits http.Server.ConnContext.
func FromHost(c net.Conn) bool {
	m, ok := c.(*markedConn)
	return ok && m.host
}
