package dataplane

import (
	"errors"

	"golang.org/x/net/http2/hpack"
)

// maxHead is what the fields of one head may take unpacked: a byte of a block
// can stand for a field of thousands.
const maxHead = 1 << 20

var errBigHead = errors.New("http2: the fields of a head take too much")

// A headDecoder unpacks the header blocks of one connection, in order. It is of
// no more use after an error.
type headDecoder struct {
	hpack  *hpack.Decoder
	fields []hpack.HeaderField
	size   int
}

func newHeadDecoder() *headDecoder {
	d := &headDecoder{}
	d.hpack = hpack.NewDecoder(4096, d.take)
	d.hpack.SetMaxStringLength(maxHead)
	return d
}

func (d *headDecoder) take(f hpack.HeaderField) {
	if d.size += int(f.Size()); d.size > maxHead {
		d.fields = nil
		d.hpack.SetEmitEnabled(false)
		return
	}
	d.fields = append(d.fields, f)
}

func (d *headDecoder) decode(block []byte) ([]hpack.HeaderField, error) {
	d.fields, d.size = nil, 0
	if _, err := d.hpack.Write(block); err != nil {
		return nil, err
	}
	if err := d.hpack.Close(); err != nil {
		return nil, err
	}
	if d.size > maxHead {
		return nil, errBigHead
	}
	return d.fields, nil
}
