package egress

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// SOCKS5 as in RFC 1928. Names are looked up here, never by the client.
const (
	socks5   = 5
	noAuth   = 0
	noMethod = 0xff

	cmdConnect = 1
	typeIPv4   = 1
	typeName   = 3
	typeIPv6   = 4

	repOK          = 0
	repFailure     = 1
	repNotAllowed  = 2
	repNetwork     = 3
	repHost        = 4
	repConnRefused = 5
	repTimeout     = 6
	repCommand     = 7
	repAddressType = 8

	socks4         = 4
	socks4Rejected = "\x00\x5b\x00\x00\x00\x00\x00\x00"
)

func (p *Proxy) serveSOCKS(ctx context.Context, c *clientConn) {
	c.SetDeadline(time.Now().Add(p.firstByte))
	hostport, rep, err := readSOCKS(c)
	if err != nil {
		return // not SOCKS5: no answer would be understood
	}
	if rep != repOK {
		writeReply(c, rep)
		return
	}
	server, err := p.dial(ctx, hostport)
	if err != nil {
		p.refused(hostport, err)
		c.SetDeadline(time.Now().Add(p.firstByte))
		writeReply(c, replyTo(err))
		return
	}
	defer server.Close()
	c.SetDeadline(time.Time{})
	if err := writeReply(c, repOK); err != nil {
		return
	}
	p.tunnel(c, server)
}

// readSOCKS reads the greeting and the request of a client. A reply other than
// repOK is the answer to it; an error means that there is nobody to answer.
func readSOCKS(c io.ReadWriter) (hostport string, rep byte, err error) {
	var b [257]byte
	if _, err := io.ReadFull(c, b[:2]); err != nil {
		return "", 0, err
	}
	methods := b[2 : 2+int(b[1])]
	if b[0] != socks5 {
		return "", 0, errors.New("not SOCKS5")
	}
	if _, err := io.ReadFull(c, methods); err != nil {
		return "", 0, err
	}
	if bytes.IndexByte(methods, noAuth) < 0 {
		c.Write([]byte{socks5, noMethod})
		return "", 0, errors.New("client wants to sign in")
	}
	if _, err := c.Write([]byte{socks5, noAuth}); err != nil {
		return "", 0, err
	}
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return "", 0, err
	}
	if head[0] != socks5 {
		return "", 0, errors.New("not SOCKS5")
	}
	host, err := readHost(c, head[3])
	if err != nil {
		return "", 0, err
	}
	if host == "" {
		return "", repAddressType, nil
	}
	var port [2]byte
	if _, err := io.ReadFull(c, port[:]); err != nil {
		return "", 0, err
	}
	if head[1] != cmdConnect { // BIND and UDP have no place in a sandbox
		return "", repCommand, nil
	}
	return net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(port[:])))), repOK, nil
}

// readHost reads an address of the given type; "" is a type or a length that
// SOCKS5 does not have.
func readHost(r io.Reader, addrType byte) (string, error) {
	var b [255]byte
	n := 0
	switch addrType {
	case typeIPv4:
		n = 4
	case typeIPv6:
		n = 16
	case typeName:
		if _, err := io.ReadFull(r, b[:1]); err != nil {
			return "", err
		}
		n = int(b[0])
	}
	if _, err := io.ReadFull(r, b[:n]); err != nil {
		return "", err
	}
	if addrType == typeName {
		return string(b[:n]), nil
	}
	addr, ok := netip.AddrFromSlice(b[:n])
	if !ok {
		return "", nil
	}
	return addr.String(), nil
}

// writeReply never tells which address of this computer the connection has.
func writeReply(w io.Writer, rep byte) error {
	_, err := w.Write([]byte{socks5, rep, 0, typeIPv4, 0, 0, 0, 0, 0, 0})
	return err
}

func replyTo(err error) byte {
	_, refused := errors.AsType[*Refusal](err)
	switch {
	case refused:
		return repNotAllowed
	case errors.Is(err, errNoName):
		return repHost
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return repTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return repConnRefused
	case errors.Is(err, syscall.ENETUNREACH):
		return repNetwork
	case errors.Is(err, syscall.EHOSTUNREACH):
		return repHost
	}
	return repFailure
}
