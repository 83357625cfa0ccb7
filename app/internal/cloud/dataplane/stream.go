package dataplane

import (
	"context"
	"errors"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2/hpack"
)

// A stream is one call in a tunnel. To the handlers in front of the proxy it
// is a ResponseWriter that can carry a refusal: a status and headers, no body.
type stream struct {
	tunnel  *tunnel
	id      uint32
	fields  []hpack.HeaderField
	cancel  context.CancelFunc
	decided chan struct{} // closed when it is clear where its frames go
	over    chan struct{} // closed when the stream has ended
	awaited bool          // the client's reader waits for decided

	header http.Header // of the refusal
	status int         // of the refusal; 0 until it is known

	// Guarded by the tunnel's mu.
	passed    bool   // the app has seen it
	deaf      bool   // the client must not hear the app
	vm        VM     // once passed
	upEnded   bool   // the client will send no more
	downEnded bool   // nor will the app
	kept      []byte // frames of the client for the app to come
}

// maxKept bounds what a client can send before the app has given it a window.
const maxKept = 128 << 10

// open reads the head of a request, or its trailers.
func (t *tunnel) open(ctx context.Context, f frame) error {
	block, err := t.readBlock(f)
	if err != nil {
		return err
	}
	fields, err := t.decoder.decode(block)
	switch {
	case errors.Is(err, errBigHead):
		t.end(codeCalm)
		return err
	case err != nil:
		t.end(codeCompression)
		return err
	}
	t.mu.Lock()
	st, last, bound := t.streams[f.stream], t.last, t.app != nil
	t.mu.Unlock()
	switch {
	case st != nil:
		return t.trailers(st, f, fields)
	case f.stream <= last:
		return nil // trailers of a stream that has ended
	case f.stream%2 == 0:
		return errProtocol
	}
	r, ok := newRequest(t.client.conn.RemoteAddr().String(), fields)
	ctx, cancel := context.WithCancel(ctx)
	st = &stream{
		tunnel: t, id: f.stream, fields: fields, cancel: cancel,
		decided: make(chan struct{}), over: make(chan struct{}),
		header: http.Header{}, upEnded: f.has(flagEndStream), awaited: bound,
	}
	t.mu.Lock()
	t.last = f.stream
	t.streams[f.stream] = st
	t.waiting = append(t.waiting, f.stream)
	crowded := len(t.streams) > maxStreams
	t.mu.Unlock()
	if !ok || crowded {
		cancel()
		t.decide(st)
		code := uint32(codeProtocol)
		if crowded {
			code = codeRefused
		}
		return st.refuse(code)
	}
	t.wg.Go(func() { st.run(r.WithContext(ctx)) })
	if bound {
		// Frames of this stream are next: see where they go.
		select {
		case <-st.decided:
		case <-t.done:
		}
	}
	return nil
}

// readBlock returns a header block, together with its continuations.
func (t *tunnel) readBlock(f frame) ([]byte, error) {
	var all []byte
	for first := true; ; first = false {
		if f.length+len(all) > maxHeaderBlock {
			t.end(codeCalm)
			return nil, errProtocol
		}
		b := make([]byte, f.length)
		for n := 0; n < len(b); {
			m, err := t.client.br.Read(b[n:])
			if err != nil {
				return nil, err
			}
			n += m
		}
		if first {
			var ok bool
			if b, ok = headerBlock(f, b); !ok {
				return nil, errProtocol
			}
		}
		all = append(all, b...)
		if f.has(flagEndHeaders) {
			return all, nil
		}
		next, err := t.client.next()
		if err != nil {
			return nil, err
		}
		if next.kind != frameContinuation || next.stream != f.stream {
			return nil, errProtocol
		}
		f = next
	}
}

// trailers passes on the end of a request.
func (t *tunnel) trailers(st *stream, f frame, fields []hpack.HeaderField) error {
	if !f.has(flagEndStream) {
		return errProtocol
	}
	app := t.target()
	if app == nil || !st.isPassed() {
		// The frame was read before the app is there: its end is what counts.
		return st.keepEnd()
	}
	app.mu.Lock()
	err := app.writeHead(st.id, flagEndStream, forApp(fields))
	app.mu.Unlock()
	t.half(st, true)
	return err
}

// newRequest returns what handlers need to know of a call. Not ok means that
// the head is malformed.
func newRequest(from string, fields []hpack.HeaderField) (r *http.Request, ok bool) {
	r = &http.Request{
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: make(http.Header, len(fields)),
		Body: http.NoBody, RemoteAddr: from,
	}
	regular := false
	for _, hf := range fields {
		if !hf.IsPseudo() {
			regular = true
			if !httpguts.ValidHeaderFieldName(hf.Name) || hf.Name != strings.ToLower(hf.Name) || !httpguts.ValidHeaderFieldValue(hf.Value) {
				return nil, false
			}
			k := textproto.CanonicalMIMEHeaderKey(hf.Name)
			r.Header[k] = append(r.Header[k], hf.Value)
			continue
		}
		var to *string
		switch hf.Name {
		case ":method":
			to = &r.Method
		case ":path":
			to = &r.RequestURI
		case ":authority":
			to = &r.Host
		case ":scheme":
			if hf.Value != "http" && hf.Value != "https" {
				return nil, false
			}
			continue
		default:
			return nil, false
		}
		if regular || *to != "" || hf.Value == "" {
			return nil, false
		}
		*to = hf.Value
	}
	if r.Host == "" {
		r.Host = r.Header.Get("Host")
	}
	var err error
	r.URL, err = url.ParseRequestURI(r.RequestURI)
	return r, err == nil && r.Method != ""
}

// run lets the handler decide over the stream.
func (st *stream) run(r *http.Request) {
	t := st.tunnel
	defer st.cancel()
	defer t.decide(st)
	switch {
	case !isGRPC(r):
		_ = st.elsewhere() // the connection's reader sees what is wrong with it
		return
	case !st.serve(r):
		_ = st.refuse(codeInternal)
		return
	}
	if !st.isPassed() {
		_ = st.answer()
	}
}

// serve runs the handler and says whether that went well.
func (st *stream) serve(r *http.Request) (ok bool) {
	defer func() {
		e := recover()
		if e != nil && e != http.ErrAbortHandler {
			st.tunnel.proxy.cfg.Log.Error("handler panicked", "err", e)
		}
	}()
	st.tunnel.handler.ServeHTTP(st, r)
	return true
}

// join passes the stream into the VM and waits for its end.
func (st *stream) join(r *http.Request, x *exchange, s *session) error {
	t := st.tunnel
	app, err := t.bind(r.Context(), s, x.call.port)
	if errors.Is(err, errElsewhere) {
		return st.elsewhere()
	}
	if err != nil {
		return err
	}
	if err := t.awaitTurn(st); err != nil {
		return err
	}
	if err := st.pass(app, x); err != nil {
		return err
	}
	t.decide(st)
	select {
	case <-st.over:
	case <-t.done:
	}
	return nil
}

// pass sends the head to the app, and what came after it in the meantime.
func (st *stream) pass(app *upstream, x *exchange) error {
	t := st.tunnel
	out := forApp(st.fields)
	out = append(out, hpack.HeaderField{Name: strings.ToLower(headerID), Value: x.id})
	app.mu.Lock()
	defer app.mu.Unlock()
	t.mu.Lock()
	if t.ended || t.streams[st.id] != st {
		t.mu.Unlock()
		return errAborted
	}
	kept := st.kept
	st.kept, st.passed, st.vm = nil, true, x.vm
	t.passed = max(t.passed, st.id)
	bare := st.upEnded && len(kept) == 0
	t.mu.Unlock()
	var flags byte
	if bare {
		flags = flagEndStream
	}
	if err := app.writeHead(st.id, flags, out); err != nil {
		return err
	}
	if _, err := app.bw.Write(kept); err != nil {
		return err
	}
	if st.awaited {
		return nil // the reader flushes, after what comes next
	}
	return app.bw.Flush()
}

// forApp leaves out what is for the proxy, or between two hops alone.
func forApp(fields []hpack.HeaderField) []hpack.HeaderField {
	out := make([]hpack.HeaderField, 0, len(fields)+1)
	for _, hf := range fields {
		switch {
		case strings.HasPrefix(hf.Name, strings.ToLower(headerPrefix)), hf.Name == strings.ToLower(headerID):
		case hf.Name != "te" && isHopByHop(textproto.CanonicalMIMEHeaderKey(hf.Name)):
		default:
			out = append(out, hf)
		}
	}
	return out
}

// writeHead writes a header block. The peer's mu is held.
func (u *upstream) writeHead(id uint32, flags byte, fields []hpack.HeaderField) error {
	u.block.Reset()
	for _, hf := range fields {
		if err := u.encoder.WriteField(hf); err != nil {
			return err
		}
	}
	kind := byte(frameHeaders)
	for b := u.block.Bytes(); ; {
		n := min(len(b), minFrameSize)
		if n == len(b) {
			flags |= flagEndHeaders
		}
		if err := u.writeLocked(kind, flags, id, b[:n]); err != nil {
			return err
		}
		if b = b[n:]; len(b) == 0 {
			return nil
		}
		kind, flags = frameContinuation, 0
	}
}

// keep stores a frame until the app is there.
func (st *stream) keep(f frame) error {
	t := st.tunnel
	b := f.appendTo(nil)
	for n := f.length; n > 0; {
		if _, err := t.client.br.Peek(1); err != nil {
			return err
		}
		p, err := t.client.br.Peek(min(n, t.client.br.Buffered()))
		if err != nil {
			return err
		}
		b = append(b, p...)
		n -= len(p)
		if _, err := t.client.br.Discard(len(p)); err != nil {
			return err
		}
	}
	return st.keepBytes(b, f)
}

func (st *stream) keepEnd() error {
	f := frame{kind: frameData, flags: flagEndStream, stream: st.id}
	return st.keepBytes(f.appendTo(nil), f)
}

func (st *stream) keepBytes(b []byte, f frame) error {
	t := st.tunnel
	end := f.kind == frameData && f.has(flagEndStream)
	t.mu.Lock()
	app, passed, mine := t.app, st.passed, t.streams[st.id] == st
	switch {
	case !mine: // refused in the meantime
		if end {
			delete(t.refused, st.id)
		}
	case !passed:
		st.kept = append(st.kept, b...)
		st.upEnded = st.upEnded || end
	}
	full := len(st.kept) > maxKept
	t.mu.Unlock()
	switch {
	case full:
		return errProtocol
	case !mine && !passed:
		return t.client.credit(0, dataBytes(b))
	case !passed:
		return nil
	}
	// It was passed on in the meantime.
	app.mu.Lock()
	_, err := app.bw.Write(b)
	app.mu.Unlock()
	if end {
		t.half(st, true)
	}
	return err
}

func (st *stream) isPassed() bool {
	st.tunnel.mu.Lock()
	defer st.tunnel.mu.Unlock()
	return st.passed
}

func (st *stream) touch() { st.vm.Touch() }

// elsewhere sends the call back: it has not been seen by anyone, and the
// client makes it again on another connection.
func (st *stream) elsewhere() error {
	t := st.tunnel
	st.status = -1 // no answer
	t.mu.Lock()
	told, last := t.moved, t.last
	t.moved = true
	t.mu.Unlock()
	if !told { // first, for the client not to try again here
		if err := t.client.goAway(last, codeNone); err != nil {
			return err
		}
	}
	return st.refuse(codeRefused)
}

// refuse resets the stream, and has what the client still sends dropped. In a
// tunnel that ends, the goodbye says which calls may be made again.
func (st *stream) refuse(code uint32) error {
	st.leave()
	if st.tunnel.isEnded() {
		return nil
	}
	return st.tunnel.client.reset(st.id, code)
}

// leave ends a stream on the client's side, for it to be told so.
func (st *stream) leave() {
	t := st.tunnel
	t.mu.Lock()
	mine := t.streams[st.id] == st
	kept := 0
	if mine && !st.passed && !st.upEnded {
		t.refused[st.id] = true
	}
	crowded := len(t.refused) > maxRefused
	if !st.passed {
		kept = dataBytes(st.kept)
		st.kept = nil
	}
	t.mu.Unlock()
	_ = t.client.credit(0, kept) // the reader sees what is wrong with it
	t.drop(st)
	if crowded {
		t.end(codeCalm)
	}
}

// dataBytes returns how much of the connection's window stored frames took.
func dataBytes(b []byte) int {
	n := 0
	for len(b) > 0 {
		f := parseFrame(b)
		if f.kind == frameData {
			n += f.length
		}
		b = b[frameHeaderSize+f.length:]
	}
	return n
}
