package dataplane

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// Heads and trailers hold nothing for the app that is the proxy's.
func TestForApp(t *testing.T) {
	var in []hpack.HeaderField
	for _, name := range []string{":path", "x-sum", "x-aws-proxy-auth", "x-aws-proxy-future", "x-amzn-requestid", "te", "trailer"} {
		in = append(in, hpack.HeaderField{Name: name, Value: "1"})
	}
	var got []string
	for _, hf := range forApp(in) {
		got = append(got, hf.Name)
	}
	if want := []string{":path", "x-sum", "te"}; !slices.Equal(got, want) {
		t.Errorf("app gets %q, want %q", got, want)
	}
}

// bomb is a head of less than a frame with fields of more than maxHead.
func bomb(c *rawClient) []byte {
	const newest = 0x80 | 62 // in the dynamic table
	block := c.call("t", "x-big", strings.Repeat("x", 3800))
	return append(block, bytes.Repeat([]byte{newest}, minFrameSize-len(block))...)
}

func TestHeadDecoder(t *testing.T) {
	c := &rawClient{t: t}
	c.enc = hpack.NewEncoder(&c.buf)
	d := newHeadDecoder()
	for range 3 { // each head has a limit of its own
		if fields, err := d.decode(c.block("a", "b", "c", strings.Repeat("d", maxHead/2))); err != nil || len(fields) != 2 || fields[0].Value != "b" {
			t.Errorf("%d fields, %v", len(fields), err)
		}
	}
	if fields, err := d.decode(bomb(c)); err != errBigHead || fields != nil {
		t.Errorf("a head that unpacks to much: %d fields, %v", len(fields), err)
	}
}
