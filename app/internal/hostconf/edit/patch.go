package edit

import (
	"bytes"
	"io"
)

// A Patch replaces Old at Offset by New.
type Patch struct {
	Offset   int64 // in bytes of the document before any patch
	Old, New []byte
}

// Patches are sorted by offset and disjoint.
type Patches []Patch

// Fit reports whether doc has each patch's Old where the patch says.
func (ps Patches) Fit(doc []byte) bool {
	end := int64(0)
	for _, p := range ps {
		if p.Offset < end || p.Offset > int64(len(doc)) || !bytes.HasPrefix(doc[p.Offset:], p.Old) {
			return false
		}
		end = p.Offset + int64(len(p.Old))
	}
	return true
}

// Apply returns the whole new document. The patches must fit.
func (ps Patches) Apply(doc []byte) []byte {
	out := make([]byte, 0, ps.Len(int64(len(doc))))
	at := int64(0)
	for _, p := range ps {
		out = append(append(out, doc[at:p.Offset]...), p.New...)
		at = p.Offset + int64(len(p.Old))
	}
	return append(out, doc[at:]...)
}

// Reader reads what [Patches.Apply] returns, and makes no copy of doc.
func (ps Patches) Reader(doc []byte) io.Reader {
	var rs []io.Reader
	at := int64(0)
	for _, p := range ps {
		rs = append(rs, bytes.NewReader(doc[at:p.Offset]), bytes.NewReader(p.New))
		at = p.Offset + int64(len(p.Old))
	}
	return io.MultiReader(append(rs, bytes.NewReader(doc[at:]))...)
}

// Reverse returns the patches that turn the new document into the old one.
func (ps Patches) Reverse() Patches {
	var out Patches
	moved := int64(0)
	for _, p := range ps {
		out = append(out, Patch{Offset: p.Offset + moved, Old: p.New, New: p.Old})
		moved += int64(len(p.New) - len(p.Old))
	}
	return out
}

// Len returns the length of the new document, if n is that of the old one.
func (ps Patches) Len(n int64) int64 {
	for _, p := range ps {
		n += int64(len(p.New) - len(p.Old))
	}
	return n
}

// shift moves all patches by n bytes.
func (ps Patches) shift(n int) Patches {
	for i := range ps {
		ps[i].Offset += int64(n)
	}
	return ps
}
