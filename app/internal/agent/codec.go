package agent

import (
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A fileCodec is gRPC's protobuf codec, but for messages that are the bytes of
// a file: these go through it without being copied. On the wire there is no
// difference.
type fileCodec struct{}

var _ encoding.CodecV2 = fileCodec{}

// Name is that of the codec it stands in for, since it writes the same.
func (fileCodec) Name() string { return protocodec.Name }

// Where the bytes are in the two messages that carry them.
const (
	readField  protowire.Number = 1 // of ReadResponse
	writeField protowire.Number = 4 // of WriteRequest
)

// readChunk is the size of every piece of a file but the last, when the agent
// sends it; and when the client does, by choice.
const readChunk = 256 << 10

// A fileMessage is a ReadResponse or a WriteRequest whose bytes are kept as
// they came. Who receives one frees its body.
type fileMessage struct {
	field protowire.Number
	rest  proto.Message // of the message's type; only Unmarshal sets it
	body  mem.BufferSlice
}

// Marshal takes the body of a fileMessage over.
func (fileCodec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*fileMessage)
	if !ok {
		return encoding.GetCodecV2(protocodec.Name).Marshal(v)
	}
	head := protowire.AppendTag(make([]byte, 0, 16), m.field, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(m.body.Len()))
	return append(mem.BufferSlice{mem.SliceBuffer(head)}, m.body...), nil
}

func (fileCodec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*fileMessage)
	if !ok {
		return encoding.GetCodecV2(protocodec.Name).Unmarshal(data, v)
	}
	proto.Reset(m.rest)
	if body, only := bodyOnly(data, m.field); only {
		m.body = body
		return nil
	}
	if err := proto.Unmarshal(data.Materialize(), m.rest); err != nil {
		return err
	}
	switch rest := m.rest.(type) {
	case *agentpb.ReadResponse:
		m.body, rest.Chunk = mem.BufferSlice{mem.SliceBuffer(rest.Chunk)}, nil
	case *agentpb.WriteRequest:
		m.body, rest.Chunk = mem.BufferSlice{mem.SliceBuffer(rest.Chunk)}, nil
	default:
		return fmt.Errorf("no file message: %T", rest)
	}
	return nil
}

// bodyOnly returns the bytes in data if the given field is all there is.
func bodyOnly(data mem.BufferSlice, field protowire.Number) (mem.BufferSlice, bool) {
	var buf [16]byte
	head := buf[:data.CopyTo(buf[:])]
	num, kind, n := protowire.ConsumeTag(head)
	if n < 0 || num != field || kind != protowire.BytesType {
		return nil, false
	}
	size, k := protowire.ConsumeVarint(head[n:])
	if k < 0 || uint64(data.Len()-n-k) != size {
		return nil, false
	}
	return dropFirst(data, n+k), true
}

// dropFirst returns data without its first n bytes, as references of their own.
func dropFirst(data mem.BufferSlice, n int) mem.BufferSlice {
	out := make(mem.BufferSlice, 0, len(data))
	for _, b := range data {
		if n >= b.Len() {
			n -= b.Len()
			continue
		}
		out = append(out, b.Slice(n, b.Len()))
		n = 0
	}
	return out
}

// A chunkPool is a pool of buffers of one size for gRPC, which gives them back
// when they are on the wire.
type chunkPool struct{ pool sync.Pool }

func newChunkPool(size int) *chunkPool {
	return &chunkPool{sync.Pool{New: func() any { b := make([]byte, size); return &b }}}
}

// Get returns a buffer of the pool's size, whatever is asked for.
func (p *chunkPool) Get(int) *[]byte { return p.pool.Get().(*[]byte) }

// Put takes back what Get returned.
func (p *chunkPool) Put(b *[]byte) {
	*b = (*b)[:cap(*b)]
	p.pool.Put(b)
}

// fill reads into a buffer of the pool by read, and returns what was read as
// something to send, even if it comes with an error.
func (p *chunkPool) fill(read func([]byte) (int, error)) (mem.Buffer, error) {
	b := p.Get(0)
	n, err := read(*b)
	if n <= 0 {
		p.Put(b)
		if err == nil {
			err = errors.New("nothing was read")
		}
		return nil, err
	}
	*b = (*b)[:n]
	return mem.NewBuffer(b, p), err
}
