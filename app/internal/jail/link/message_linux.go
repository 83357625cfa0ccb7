package link

import (
	"encoding/binary"
	"fmt"
)

// Messages on the socket pair are packets of messageSize bytes, some of them
// with one file descriptor. A guest that sends anything else is cut off.
const (
	messageSize = 8
	maxPending  = 128 // dials without an answer; their packets fit the socket's buffer, so writes never block
)

// What a message is. The values are the wire's.
const (
	kindDial    kind = 'd' // host to guest: connect to port
	kindDone    kind = 'c' // guest to host: connected, with the socket
	kindRefused kind = 'r' // guest to host: nothing listens there
	kindFailed  kind = 'f' // guest to host: it did not work, and port holds the errno
	kindEgress  kind = 'e' // guest to host, first: the listener of the proxy port, with the socket
	kindReady   kind = 'h' // guest to host: the agent's ports are open
)

type kind byte

type message struct {
	kind kind
	port uint16
	id   uint32
}

func (m message) encode() []byte {
	b := make([]byte, messageSize)
	b[0] = byte(m.kind)
	binary.BigEndian.PutUint16(b[2:], m.port)
	binary.BigEndian.PutUint32(b[4:], m.id)
	return b
}

func decode(b []byte) (message, error) {
	if len(b) != messageSize || b[1] != 0 {
		return message{}, fmt.Errorf("message of %d bytes is not one of ours", len(b))
	}
	return message{kind(b[0]), binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint32(b[4:])}, nil
}
