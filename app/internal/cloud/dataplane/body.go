package dataplane

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// A body is the body of a request on its way to the app. Its bytes count as
// activity.
type body struct {
	src     io.ReadCloser
	trailer http.Header // filled in when reading ends
	vm      VM
	rc      *http.ResponseController
	held    *held

	one    bool // HTTP/1: the connection has to be cleared of what isn't read
	expect bool // reading asks the client to send

	mu       sync.Mutex // guards all below
	err      error      // how reading ended
	began    bool       // something was asked for
	reading  int        // calls of Read under way
	finished bool       // the connection is not ours any more
}

func newBody(w http.ResponseWriter, r *http.Request, vm VM) *body {
	b := &body{src: r.Body, trailer: r.Trailer, vm: vm, rc: http.NewResponseController(w)}
	if r.Body == http.NoBody {
		b.err = io.EOF
		return b
	}
	if r.ProtoMajor == 1 {
		b.one, b.expect = true, r.Header.Get("Expect") != ""
		// The app may answer while the request still streams.
		_ = b.rc.EnableFullDuplex() // without it the two just take turns
	}
	return b
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	if b.finished {
		b.mu.Unlock()
		return 0, http.ErrBodyReadAfterClose
	}
	b.began = true
	b.reading++
	b.mu.Unlock()
	var src io.Reader = b.src
	if b.held != nil {
		src = b.held
	}
	n, err := src.Read(p)
	if n > 0 {
		b.vm.Touch()
	}
	if err == io.EOF {
		dropProxys(b.trailer) // ones that were not announced, too
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading--
	if err != nil {
		b.err = err
	}
	return n, err
}

// Close ends a Read under way. What the app has not read by then is dropped by
// finish: the HTTP/1 client may still be sending it.
func (b *body) Close() error {
	if !b.one {
		return b.src.Close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading > 0 && !b.finished {
		return b.rc.SetReadDeadline(time.Unix(1, 0))
	}
	return nil
}

// ended says how reading has ended, nil if it has not.
func (b *body) ended() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *body) started() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.began || b.held != nil
}

// failed says whether the client broke off or sent nonsense.
func (b *body) failed() bool {
	err := b.ended()
	return err != nil && err != io.EOF && !isTimeout(err)
}

// hold reads ahead while the request waits for the VM to wake: only so does
// the server notice a client that leaves. What is read is bounded.
func (b *body) hold() {
	if b.one && !b.expect && b.ended() == nil {
		b.held = newHeld(b.src)
	}
}

// finish clears away what is left of the request: after the answer, if err is
// nil, or before that of the proxy. Reads end by then.
func (b *body) finish(err error) {
	switch {
	case !b.one:
	case err == errAborted:
		// The connection is about to be reset. A read under way would keep it
		// open for as long as the client sends nothing.
		_ = b.rc.SetReadDeadline(time.Unix(1, 0))
	case b.ended() != io.EOF && (b.started() || !b.expect):
		if err == nil {
			_ = b.rc.Flush()
		}
		if b.rc.SetReadDeadline(time.Now().Add(drainTime)) == nil {
			_, _ = io.CopyN(io.Discard, b, drainBytes)
			_ = b.rc.SetReadDeadline(time.Unix(1, 0)) // ends reads under way
		}
	}
	b.mu.Lock()
	b.finished = true
	b.mu.Unlock()
	if b.held != nil {
		<-b.held.done
	}
	b.src.Close()
}

// A held reads ahead into a buffer until that is full.
type held struct {
	src  io.Reader
	done chan struct{} // closed when reading ahead has stopped

	mu   sync.Mutex // guards all below
	cond *sync.Cond
	buf  []byte
	stop bool
	err  error
}

func newHeld(src io.Reader) *held {
	h := &held{src: src, done: make(chan struct{}), buf: make([]byte, 0, bufferSize)}
	h.cond = sync.NewCond(&h.mu)
	go h.fill(make([]byte, bufferSize))
	return h
}

func (h *held) fill(p []byte) {
	defer close(h.done)
	for total := 0; ; {
		n, err := h.src.Read(p[total:])
		h.mu.Lock()
		h.buf = append(h.buf, p[total:total+n]...)
		total += n
		h.err = err
		h.stop = err != nil || total == len(p)
		stop := h.stop
		h.cond.Broadcast()
		h.mu.Unlock()
		if stop {
			return
		}
	}
}

func (h *held) Read(p []byte) (int, error) {
	h.mu.Lock()
	for len(h.buf) == 0 && !h.stop {
		h.cond.Wait()
	}
	if len(h.buf) > 0 {
		defer h.mu.Unlock()
		n := copy(p, h.buf)
		h.buf = h.buf[n:]
		return n, nil
	}
	err := h.err
	h.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return h.src.Read(p)
}
