// Package link is the line between the host and the agent in a jail. Over it
// the host reaches ports inside and serves connections that want out. On
// Linux it is a socket pair that passes connected sockets, so no bytes are
// copied on the way; into a container it is a stream of many channels over the
// container's standard input and output.
//
// The line is also the life of the jail: when it breaks the agent must end.
package link

import (
	"errors"
)

// ErrRefused says that nothing listens on the port.
var ErrRefused = errors.New("connection refused")

// ErrClosed says that the other end of the line has gone.
var ErrClosed = errors.New("the line is closed")
