package fleet

import "github.com/arenero/arenero/app/sandbox"

// A tail is the end of what a call said, in a buffer that grows as it is needed
// and goes round.
type tail struct {
	buf   []byte
	from  int    // of the first byte in buf
	n     int    // bytes in it
	end   int64  // bytes that were said in all
	spans []span // which streams they are of, the oldest first
}

// A span is bytes of one stream.
type span struct {
	stream sandbox.Stream
	n      int
}

const (
	firstTail = 256 // bytes of the first buffer
	maxSpans  = 256 // of a call whose streams take turns
)

// add takes in what was said, of which it keeps at most limit bytes.
func (t *tail) add(stream sandbox.Stream, p []byte, limit int) {
	t.end += int64(len(p))
	if len(p) >= limit {
		p = p[len(p)-limit:]
		t.drop(t.n)
	}
	t.drop(t.n + len(p) - limit)
	if need := t.n + len(p); need > len(t.buf) {
		t.resize(min(limit, max(need, 2*len(t.buf), firstTail)))
	}
	at := (t.from + t.n) % max(len(t.buf), 1)
	copy(t.buf, p[copy(t.buf[at:], p):])
	t.n += len(p)
	if last := len(t.spans) - 1; last >= 0 && t.spans[last].stream == stream {
		t.spans[last].n += len(p)
		return
	}
	if len(t.spans) == maxSpans {
		t.drop(t.spans[0].n)
	}
	t.spans = append(t.spans, span{stream, len(p)})
}

// drop forgets the first n bytes.
func (t *tail) drop(n int) {
	if n <= 0 {
		return
	}
	n = min(n, t.n)
	t.n -= n
	if len(t.buf) > 0 {
		t.from = (t.from + n) % len(t.buf)
	}
	gone := 0
	for n > 0 && gone < len(t.spans) {
		less := min(n, t.spans[gone].n)
		t.spans[gone].n -= less
		n -= less
		if t.spans[gone].n == 0 {
			gone++
		}
	}
	t.spans = t.spans[:copy(t.spans, t.spans[gone:])]
}

// resize gives t a buffer of another size, with the end of what is in it.
func (t *tail) resize(size int) {
	t.drop(t.n - size)
	buf := make([]byte, size)
	t.copyTo(buf, 0)
	t.buf, t.from = buf, 0
}

// copyTo copies from the byte at off on, as far as there is room.
func (t *tail) copyTo(p []byte, off int) {
	p = p[:min(len(p), t.n-off)]
	for done := 0; done < len(p); {
		done += copy(p[done:], t.buf[(t.from+off+done)%len(t.buf):])
	}
}

// since returns what was said from byte number at on, and whether some of it is
// gone.
func (t *tail) since(at int64) (said []chunk, cut bool) {
	first := t.end - int64(t.n)
	cut = at < first
	off := int(max(at-first, 0))
	pos := 0
	for _, s := range t.spans {
		from := max(off, pos)
		pos += s.n
		if from >= pos {
			continue
		}
		data := make([]byte, pos-from)
		t.copyTo(data, from)
		said = append(said, chunk{s.stream, data})
	}
	return said, cut
}

// A chunk is something that was said.
type chunk struct {
	stream sandbox.Stream
	data   []byte
}
