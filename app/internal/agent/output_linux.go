package agent

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Pieces of output are no larger than these.
const (
	pipeChunk = 32 << 10
	ptyChunk  = 16 << 10
)

// How long output may follow the exit of the process, from children that
// still hold the pipe or terminal. What it wrote itself is always taken.
const (
	pipeGrace = 150 * time.Millisecond
	ptyGrace  = 400 * time.Millisecond
)

// buffers are pipeChunk long.
var buffers = sync.Pool{New: func() any { b := make([]byte, pipeChunk); return &b }}

// An outlet is our end of an output.
type outlet struct {
	file   *os.File
	stderr bool
	chunk  int
	grace  time.Duration
}

// exited bounds the reading. The pump goes on with what is there.
func (o *outlet) exited() { o.file.SetReadDeadline(time.Now().Add(o.grace)) }

// pump carries the output into the ring of p and calls done when that is
// complete. Afterwards it only keeps the pipe open and empty, so that a server
// left running in the background does not die of its next line.
func (o *outlet) pump(p *process, done func()) {
	buf := *buffers.Get().(*[]byte)
	finish := sync.OnceFunc(func() {
		buffers.Put(&buf)
		done()
	})
	defer finish()
	defer o.file.Close()
	for {
		n, err := o.file.Read(buf[:o.chunk])
		o.push(p, buf[:n])
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return // EOF, or EIO of a terminal nobody holds
		}
		o.drain(p, buf[:o.chunk])
		finish()
		o.discard(p.table)
		return
	}
}

func (o *outlet) push(p *process, data []byte) {
	if len(data) == 0 {
		return
	}
	data = append(make([]byte, 0, len(data)), data...)
	p.out.push(chunk{o.stderr, data}, len(data), p.table.stop)
}

// drain takes what is in the pipe now, and does not wait for more.
func (o *outlet) drain(p *process, buf []byte) {
	raw, err := o.file.SyscallConn()
	if err != nil {
		return
	}
	left := 0
	raw.Control(func(fd uintptr) { left, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	for left > 0 {
		n := 0
		raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), buf[:min(len(buf), left)]) })
		if n <= 0 {
			return
		}
		o.push(p, buf[:n])
		left -= n
	}
}

// discard reads on for nobody.
func (o *outlet) discard(t *processes) {
	if o.file.SetReadDeadline(time.Time{}) != nil || !t.leave(o.file) {
		return
	}
	defer t.left(o.file)
	io.CopyBuffer(io.Discard, struct{ io.Reader }{o.file}, make([]byte, 4<<10))
}
