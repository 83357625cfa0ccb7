package fleet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

// A said is what a tail is held against: all that was said.
type said struct {
	streams []sandbox.Stream // by byte
	data    []byte
}

// TestTail says things of every size by turns, and looks at what is kept after
// each.
func TestTail(t *testing.T) {
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 1))
		var all said
		var tl tail
		limit := 1 + dice.IntN(600)
		told := int64(0)
		for range 60 {
			stream := []sandbox.Stream{sandbox.Stdout, sandbox.Stderr}[dice.IntN(2)]
			p := make([]byte, 1+dice.IntN(2*limit)>>dice.IntN(6))
			for i := range p {
				p[i] = byte(dice.Uint32())
				all.streams = append(all.streams, stream)
			}
			all.data = append(all.data, p...)
			tl.add(stream, p, limit)
			if dice.IntN(10) == 0 {
				tl.resize(max(1, limit/2))
			}
			if tl.end != int64(len(all.data)) || tl.n > limit || len(tl.buf) > limit || len(tl.spans) > maxSpans {
				t.Fatalf("seed %d: %d of %d bytes, %d kept in %d, %d spans, limit %d", seed, tl.end, len(all.data), tl.n, len(tl.buf), len(tl.spans), limit)
			}
			if dice.IntN(3) > 0 {
				continue // who looks is slow
			}
			chunks, cut := tl.since(told)
			first := max(told, tl.end-int64(tl.n))
			if cut != (first > told) {
				t.Fatalf("seed %d: cut is %t from %d on, %d is the first", seed, cut, told, first)
			}
			at := first
			for _, c := range chunks {
				if !bytes.Equal(c.data, all.data[at:at+int64(len(c.data))]) {
					t.Fatalf("seed %d: other bytes at %d", seed, at)
				}
				for i := range c.data {
					if all.streams[at+int64(i)] != c.stream {
						t.Fatalf("seed %d: byte %d is of %s", seed, at+int64(i), c.stream)
					}
				}
				at += int64(len(c.data))
			}
			if at != tl.end {
				t.Fatalf("seed %d: told up to %d of %d", seed, at, tl.end)
			}
			told = tl.end
		}
	}
}

// TestTailOfTurns has two streams take turns, byte by byte.
func TestTailOfTurns(t *testing.T) {
	var tl tail
	for i := range 100_000 {
		tl.add([]sandbox.Stream{sandbox.Stdout, sandbox.Stderr}[i%2], []byte{byte(i)}, maxSaid)
	}
	if len(tl.spans) > maxSpans || tl.n > maxSaid || tl.n == 0 {
		t.Errorf("%d bytes in %d spans", tl.n, len(tl.spans))
	}
}

func TestCommandText(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"ls", "-l"}, "ls -l"},
		{[]string{"/bin/sh", "-c", "echo $HOME | wc"}, "echo $HOME | wc"},
		{[]string{"bash", "-lc", "make"}, "make"},
		{[]string{"python3", "-c", "print(1)"}, "python3 -c 'print(1)'"},
		{[]string{"echo", "", "it's"}, `echo '' 'it'\''s'`},
		{[]string{"sh", "-c", strings.Repeat("ñ", 3000)}, strings.Repeat("ñ", 2000)},
	}
	for _, tt := range tests {
		if got := commandText(tt.args); got != tt.want {
			t.Errorf("%.40q: %.80q, want %.80q", fmt.Sprint(tt.args), got, tt.want)
		}
	}
	if got := commandText([]string{"printf", strings.Repeat("x", 5000), "y"}); len(got) != maxText {
		t.Errorf("a long one has %d characters", len(got))
	}
}
