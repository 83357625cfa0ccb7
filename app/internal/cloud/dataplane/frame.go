package dataplane

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"strconv"
	"sync"
)

// HTTP/2 as far as a tunnel needs it: RFC 9113.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Kinds of frames.
const (
	frameData         = 0
	frameHeaders      = 1
	framePriority     = 2
	frameReset        = 3
	frameSettings     = 4
	framePush         = 5
	framePing         = 6
	frameGoAway       = 7
	frameWindow       = 8
	frameContinuation = 9
)

// Flags of frames.
const (
	flagAck        = 0x1 // settings, ping
	flagEndStream  = 0x1 // data, headers
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

// Error codes of streams and connections.
const (
	codeNone        = 0
	codeProtocol    = 1
	codeInternal    = 2
	codeRefused     = 7
	codeCancel      = 8
	codeCompression = 9
	codeCalm        = 11
)

// Settings.
const (
	settingTableSize = 1
	settingWindow    = 4
	settingConnect   = 8
	settingHeaders   = 6
)

const (
	frameHeaderSize = 9
	minFrameSize    = 16384   // what every peer takes
	maxHeaderBlock  = 1 << 20 // of one request
	smallFrame      = 1 << 12 // more than any frame of control needs
)

var errProtocol = errors.New("http2: protocol error")

type frame struct {
	length int
	kind   byte
	flags  byte
	stream uint32
}

func (f frame) has(flag byte) bool { return f.flags&flag != 0 }

func parseFrame(b []byte) frame {
	return frame{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		kind:   b[3],
		flags:  b[4],
		stream: binary.BigEndian.Uint32(b[5:]) & (1<<31 - 1),
	}
}

func (f frame) appendTo(b []byte) []byte {
	b = append(b, byte(f.length>>16), byte(f.length>>8), byte(f.length), f.kind, f.flags)
	return binary.BigEndian.AppendUint32(b, f.stream)
}

// A peer is one end of a tunnel: frames are read by one goroutine, and written
// whole by many.
type peer struct {
	conn net.Conn
	br   *bufio.Reader

	mu sync.Mutex // guards bw; held from the first to the last byte of a frame
	bw *bufio.Writer
}

func newPeer(conn net.Conn, br *bufio.Reader) *peer {
	return &peer{conn: conn, br: br, bw: bufio.NewWriterSize(conn, tunnelBuffer)}
}

// next reads the head of a frame.
func (p *peer) next() (frame, error) {
	b, err := p.br.Peek(frameHeaderSize)
	if err != nil {
		return frame{}, err
	}
	f := parseFrame(b)
	_, err = p.br.Discard(frameHeaderSize)
	return f, err
}

// idle says that no whole frame head has arrived yet: time to flush.
func (p *peer) idle() bool { return p.br.Buffered() < frameHeaderSize }

// small returns the payload of a short frame. It is good until the next read.
func (p *peer) small(f frame) ([]byte, error) {
	if f.length > smallFrame {
		return nil, errProtocol
	}
	b, err := p.br.Peek(f.length)
	if err != nil {
		return nil, err
	}
	_, err = p.br.Discard(f.length)
	return b, err
}

func (p *peer) skip(f frame) error {
	_, err := p.br.Discard(f.length)
	return err
}

// passLocked copies a frame from src, whose head was read. p.mu is held.
func (p *peer) passLocked(f frame, src *peer) error {
	var head [frameHeaderSize]byte
	if _, err := p.bw.Write(f.appendTo(head[:0])); err != nil {
		return err
	}
	for n := f.length; n > 0; {
		if _, err := src.br.Peek(1); err != nil {
			return err
		}
		b, err := src.br.Peek(min(n, src.br.Buffered()))
		if err != nil {
			return err
		}
		if _, err := p.bw.Write(b); err != nil {
			return err
		}
		n -= len(b)
		if _, err := src.br.Discard(len(b)); err != nil {
			return err
		}
	}
	return nil
}

// writeLocked writes a frame. p.mu is held.
func (p *peer) writeLocked(kind, flags byte, stream uint32, payload []byte) error {
	var head [frameHeaderSize]byte
	if _, err := p.bw.Write(frame{len(payload), kind, flags, stream}.appendTo(head[:0])); err != nil {
		return err
	}
	_, err := p.bw.Write(payload)
	return err
}

// send writes a frame and flushes it.
func (p *peer) send(kind, flags byte, stream uint32, payload []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.writeLocked(kind, flags, stream, payload); err != nil {
		return err
	}
	return p.bw.Flush()
}

func (p *peer) flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bw.Flush()
}

func (p *peer) reset(stream, code uint32) error {
	return p.send(frameReset, 0, stream, binary.BigEndian.AppendUint32(nil, code))
}

// credit gives back flow control for bytes that were taken off the way.
func (p *peer) credit(stream uint32, n int) error {
	if n == 0 {
		return nil
	}
	return p.send(frameWindow, 0, stream, binary.BigEndian.AppendUint32(nil, uint32(n)))
}

func (p *peer) goAway(last, code uint32) error {
	b := binary.BigEndian.AppendUint32(nil, last)
	return p.send(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(b, code))
}

func appendSetting(b []byte, id uint16, value uint32) []byte {
	b = binary.BigEndian.AppendUint16(b, id)
	return binary.BigEndian.AppendUint32(b, value)
}

// appendStatus and appendField write HPACK that leaves the dynamic table
// alone: that belongs to the app's answers, which pass as they are.
func appendStatus(b []byte, status int) []byte {
	const nameIndex = 8 // :status in the static table
	return appendString(append(b, nameIndex), strconv.Itoa(status))
}

func appendField(b []byte, name, value string) []byte {
	return appendString(appendString(append(b, 0), name), value)
}

// appendString writes a string that is not Huffman coded.
func appendString(b []byte, s string) []byte {
	const prefix = 127 // 7 bits
	n := len(s)
	if n < prefix {
		b = append(b, byte(n))
	} else {
		b = append(b, prefix)
		for n -= prefix; n >= 128; n >>= 7 {
			b = append(b, byte(n&127|128))
		}
		b = append(b, byte(n))
	}
	return append(b, s...)
}
