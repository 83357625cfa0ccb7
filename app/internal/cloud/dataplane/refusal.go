package dataplane

import (
	"net/http"
	"strings"
)

var _ http.ResponseWriter = (*stream)(nil)

// Header is part of [http.ResponseWriter].
func (st *stream) Header() http.Header { return st.header }

// WriteHeader is part of [http.ResponseWriter].
func (st *stream) WriteHeader(status int) {
	if st.status == 0 && status >= 200 {
		st.status = status
	}
}

// Write drops the text of a refusal: gRPC clients have no use for it.
func (st *stream) Write(p []byte) (int, error) {
	st.WriteHeader(http.StatusOK)
	return len(p), nil
}

// answer sends the refusal.
func (st *stream) answer() error {
	if st.status < 0 {
		return nil
	}
	st.WriteHeader(http.StatusOK)
	b := appendStatus(nil, st.status)
	for k, vs := range st.header {
		if k == "Content-Length" || isHopByHop(k) { // of a body that isn't sent
			continue
		}
		for _, v := range vs {
			b = appendField(b, strings.ToLower(k), v)
		}
	}
	if len(b) > minFrameSize {
		return st.refuse(codeInternal)
	}
	t := st.tunnel
	t.mu.Lock()
	mine, upEnded := t.streams[st.id] == st, st.upEnded
	t.mu.Unlock()
	if !mine {
		return nil // the client has left
	}
	if err := t.client.send(frameHeaders, flagEndHeaders|flagEndStream, st.id, b); err != nil {
		return err
	}
	if upEnded {
		st.leave()
		return nil
	}
	return st.refuse(codeNone)
}

// Deaf returns a ResponseWriter from whose client the answer is kept. A tunnel
// ends when there is one.
func Deaf(w http.ResponseWriter) http.ResponseWriter {
	st, ok := w.(*stream)
	if !ok {
		return &deaf{http.Header{}}
	}
	st.tunnel.mu.Lock()
	defer st.tunnel.mu.Unlock()
	st.deaf = true
	return st
}

type deaf struct{ header http.Header }

func (d *deaf) Header() http.Header         { return d.header }
func (d *deaf) Write(p []byte) (int, error) { return len(p), nil }
func (d *deaf) WriteHeader(int)             {}
func (d *deaf) Flush()                      {}
