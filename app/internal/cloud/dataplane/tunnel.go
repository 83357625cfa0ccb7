package dataplane

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"
)

// A tunnel joins one gRPC connection to one connection into a VM. Frames pass
// as they are, with their stream numbers and flow control; only heads of
// requests are read and written anew. Calls to another VM or port are sent
// back for the client to make on a connection of their own.
type tunnel struct {
	proxy   *Proxy
	handler http.Handler
	client  *peer
	decoder *headDecoder   // of the client's heads; used by its reader alone
	wg      sync.WaitGroup // handlers, and readers of the app
	done    chan struct{}  // closed when the tunnel ends

	joining sync.Mutex // held while the app is dialled; guards app's setting
	mu      sync.Mutex // guards all below; nothing else is taken under it
	app     *upstream
	turn    *sync.Cond         // a stream was decided
	streams map[uint32]*stream // whose frames pass, or may
	waiting []uint32           // undecided ones, in order
	refused map[uint32]bool    // the client may still send to these
	last    uint32             // highest stream that the client opened
	passed  uint32             // highest stream that the app has seen
	window  int                // connection credit of the client for an app to come
	config  []byte             // the client's settings

	moved    bool // the client was told to connect again
	farewell bool // by the app itself
	ended    bool
}

// An upstream is the app's end.
type upstream struct {
	*peer
	session *session
	port    int
	heard   bool // the app's settings; used by its reader alone

	// Guarded by the peer's mu.
	encoder *hpack.Encoder
	block   bytes.Buffer
}

// errElsewhere says that a call belongs on another connection.
var errElsewhere = errors.New("another target than the tunnel's")

// errDeaf says that an answer has come that the client must not hear.
var errDeaf = errors.New("answer to a deaf client")

// maxRefused is how many refused streams may be left open by a client.
const maxRefused = 1000

// goodbyeTime is what a client has to take the last frames of a tunnel.
const goodbyeTime = time.Second

// runTunnel serves a connection until it ends.
func (p *Proxy) runTunnel(ctx context.Context, h http.Handler, conn net.Conn, from io.Reader) {
	t := &tunnel{
		proxy: p, handler: h,
		client:  newPeer(conn, bufio.NewReaderSize(from, tunnelBuffer)),
		decoder: newHeadDecoder(),
		done:    make(chan struct{}),
		streams: map[uint32]*stream{}, refused: map[uint32]bool{},
	}
	t.turn = sync.NewCond(&t.mu)
	p.mu.Lock()
	if closed(p.done) {
		p.mu.Unlock()
		conn.Close()
		return
	}
	p.wg.Add(1)
	p.mu.Unlock()
	defer p.wg.Done()
	ctx, cancel := context.WithCancel(ctx)
	t.wg.Go(func() {
		select {
		case <-p.done:
			t.end(codeNone)
		case <-t.done:
		}
		cancel() // streams still held are let go
	})
	code := uint32(codeNone)
	if err := t.readClient(ctx); errors.Is(err, errProtocol) {
		code = codeProtocol
	}
	t.end(code)
	t.wg.Wait()
}

// end closes both ends. The client is told which calls the app has not seen.
func (t *tunnel) end(code uint32) {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return
	}
	t.ended = true
	app, passed, farewell := t.app, t.passed, t.farewell
	t.turn.Broadcast()
	t.mu.Unlock()
	close(t.done)
	if app != nil {
		app.conn.Close()
	}
	// A write that a client holds up ends by this, and gives up the lock.
	if t.client.conn.SetWriteDeadline(time.Now().Add(goodbyeTime)) == nil && !farewell {
		_ = t.client.goAway(passed, code)
	}
	t.client.conn.Close()
}

// readClient passes on what the client sends.
func (t *tunnel) readClient(ctx context.Context) error {
	var magic [len(preface)]byte
	if _, err := io.ReadFull(t.client.br, magic[:]); err != nil {
		return err
	}
	for {
		if t.client.idle() {
			if app := t.target(); app != nil {
				if err := app.flush(); err != nil {
					return err
				}
			}
		}
		f, err := t.client.next()
		if err != nil {
			return err
		}
		switch f.kind {
		case frameData, frameWindow:
			err = t.passUp(f)
		case frameHeaders:
			err = t.open(ctx, f)
		case frameReset:
			err = t.resetUp(f)
		case frameSettings:
			err = t.configure(f)
		case framePing:
			err = pong(t.client, f)
		case framePush, frameContinuation:
			err = errProtocol
		default: // priorities, a goodbye, and what is to be ignored
			err = t.client.skip(f)
		}
		if err != nil {
			return err
		}
	}
}

func pong(p *peer, f frame) error {
	b, err := p.small(f)
	if err != nil {
		return err
	}
	if len(b) != 8 {
		return errProtocol
	}
	if f.has(flagAck) {
		return nil
	}
	return p.send(framePing, flagAck, 0, b)
}

func (t *tunnel) target() *upstream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.app
}

func (t *tunnel) isEnded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// configure keeps the client's settings for the app, or passes them on.
func (t *tunnel) configure(f frame) error {
	b, err := t.client.small(f)
	if err != nil || f.has(flagAck) {
		return err
	}
	if len(b)%6 != 0 {
		return errProtocol
	}
	t.mu.Lock()
	app := t.app
	if len(t.config) < smallFrame {
		t.config = append(t.config, b...)
	}
	t.mu.Unlock()
	if app != nil {
		if err := app.send(frameSettings, 0, 0, b); err != nil {
			return err
		}
	}
	return t.client.send(frameSettings, flagAck, 0, nil)
}

// passUp passes on data and flow control.
func (t *tunnel) passUp(f frame) error {
	if f.stream == 0 {
		return t.windowUp(f)
	}
	t.mu.Lock()
	if st := t.streams[f.stream]; st != nil && !st.passed && t.app != nil {
		// Another stream has brought the app, whose windows the client has been
		// told: more may come than can be kept.
		t.mu.Unlock()
		select {
		case <-st.decided:
		case <-t.done:
		}
		t.mu.Lock()
	}
	app, st, last, refused := t.app, t.streams[f.stream], t.last, t.refused[f.stream]
	end := f.kind == frameData && f.has(flagEndStream)
	if refused && end {
		delete(t.refused, f.stream)
	}
	t.mu.Unlock()
	switch {
	case f.stream > last:
		return errProtocol
	case refused:
		if err := t.client.skip(f); err != nil || f.kind != frameData {
			return err
		}
		return t.client.credit(0, f.length)
	case st != nil && !st.isPassed():
		return st.keep(f)
	case app == nil, st == nil && f.kind == frameWindow:
		return t.client.skip(f)
	}
	if st != nil && f.kind == frameData {
		st.touch()
	}
	app.mu.Lock()
	err := app.passLocked(f, t.client)
	app.mu.Unlock()
	if end && st != nil {
		t.half(st, true)
	}
	return err
}

func (t *tunnel) windowUp(f frame) error {
	b, err := t.client.small(f)
	if err != nil {
		return err
	}
	if f.kind != frameWindow || len(b) != 4 {
		return errProtocol
	}
	n := int(binary.BigEndian.Uint32(b) & (1<<31 - 1))
	t.mu.Lock()
	app := t.app
	if app == nil {
		t.window = min(t.window+n, 1<<31-1-65535)
	}
	t.mu.Unlock()
	if app == nil {
		return nil
	}
	app.mu.Lock()
	defer app.mu.Unlock()
	return app.writeLocked(frameWindow, 0, 0, b)
}

func (t *tunnel) resetUp(f frame) error {
	b, err := t.client.small(f)
	if err != nil {
		return err
	}
	t.mu.Lock()
	app, st, last := t.app, t.streams[f.stream], t.last
	delete(t.refused, f.stream)
	t.mu.Unlock()
	if len(b) != 4 || f.stream == 0 || f.stream > last {
		return errProtocol
	}
	if st == nil {
		return nil // it has ended already
	}
	passed := st.isPassed()
	t.drop(st)
	if app == nil || !passed {
		return nil
	}
	app.mu.Lock()
	defer app.mu.Unlock()
	return app.writeLocked(frameReset, 0, f.stream, b)
}

// half marks one direction of a stream as ended, and the stream with both.
func (t *tunnel) half(st *stream, up bool) {
	t.mu.Lock()
	if up {
		st.upEnded = true
	} else {
		st.downEnded = true
	}
	over := st.upEnded && st.downEnded
	t.mu.Unlock()
	if over {
		t.drop(st)
	}
}

// drop forgets a stream, and lets its handler end.
func (t *tunnel) drop(st *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.streams[st.id] == st {
		delete(t.streams, st.id)
		close(st.over)
		st.cancel()
		t.turn.Broadcast()
	}
}

// decide says that it is clear where the frames of a stream go.
func (t *tunnel) decide(st *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, id := range t.waiting {
		if id == st.id {
			t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
			close(st.decided)
			t.turn.Broadcast()
			return
		}
	}
}

// awaitTurn waits until all earlier streams are decided: the app has to see
// their numbers rise.
func (t *tunnel) awaitTurn(st *stream) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.ended && t.streams[st.id] == st && len(t.waiting) > 0 && t.waiting[0] < st.id {
		t.turn.Wait()
	}
	if t.ended || t.streams[st.id] != st {
		return errAborted
	}
	return nil
}
