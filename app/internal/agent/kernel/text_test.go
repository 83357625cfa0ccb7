package kernel

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecoder(t *testing.T) {
	tests := []struct {
		name string
		in   []string
		want []string // after each piece, then of flush
	}{
		{"ascii", []string{"ab", "c"}, []string{"ab", "c", ""}},
		{"cut", []string{"a\xc3", "\xa9b"}, []string{"a", "éb", ""}},
		{"cut thrice", []string{"\xf0", "\x9f", "\x8f", "\x96"}, []string{"", "", "", "🏖", ""}},
		{"never whole", []string{"\xf0\x9f"}, []string{"", "��"}},
		{"cut by others", []string{"\xc3", "a"}, []string{"", "\ufffda", ""}},
		{"invalid", []string{"a\xff\xfeb"}, []string{"a\ufffd\ufffdb", ""}},
		{"surrogate", []string{"\xed\xa0\x80"}, []string{"\ufffd\ufffd\ufffd", ""}},
		{"lone continuation", []string{"\x80", "x"}, []string{"\ufffd", "x", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d decoder
			for i, in := range tt.in {
				if got := d.next([]byte(in)); got != tt.want[i] {
					t.Errorf("piece %d gave %q, want %q", i, got, tt.want[i])
				}
			}
			if got, want := d.flush(), tt.want[len(tt.in)]; got != want {
				t.Errorf("flush gave %q, want %q", got, want)
			}
		})
	}
}

func TestChunks(t *testing.T) {
	for _, s := range []string{"", "a", strings.Repeat("é", MaxChunk), strings.Repeat("🏖", 50_000), strings.Repeat("a", 3*MaxChunk)} {
		var got strings.Builder
		chunks(s, func(c string) {
			if len(c) == 0 || len(c) > MaxChunk || !utf8.ValidString(c) {
				t.Errorf("a chunk has %d bytes, valid: %v", len(c), utf8.ValidString(c))
			}
			got.WriteString(c)
		})
		if got.String() != s {
			t.Errorf("chunks of %d bytes give %d", len(s), got.Len())
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("a\xc3\xa9\xff🏖"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, cut uint8) {
		var d decoder
		var got strings.Builder
		n := min(int(cut), len(data))
		got.WriteString(d.next(append([]byte(nil), data[:n]...)))
		got.WriteString(d.next(append([]byte(nil), data[n:]...)))
		got.WriteString(d.flush())
		if want := string([]rune(string(data))); got.String() != want {
			t.Errorf("cut at %d: %q, want %q", n, got.String(), want)
		}
	})
}

func FuzzFrames(f *testing.F) {
	whole, _ := encode(frame{Type: "done", Error: &Error{Name: "E"}})
	f.Add(whole)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, '{'})
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var fr frames
		for len(data) > 0 {
			n := min(7, len(data))
			fr.add(data[:n])
			data = data[n:]
			for {
				if _, ok, err := fr.next(); err != nil {
					return
				} else if !ok {
					break
				}
			}
		}
		if len(fr.buf) > maxFrame {
			t.Errorf("%d bytes wait for a frame", len(fr.buf))
		}
	})
}
