package main

import (
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	got, err := parse([]byte("a\x1b[1mbc\x1b[0;32m d\x1b[m\r\n\r\n→ x"))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]span{
		{{0, style{}, "a"}, {1, style{bold: true}, "bc"}, {3, style{colour: 32}, " d"}},
		nil,
		{{0, style{}, "→ x"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What is not understood is not drawn otherwise than a terminal would.
func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"cursor":      "\x1b[2Jm",
		"no end":      "\x1b[1",
		"background":  "\x1b[41mx",
		"tab":         "a\tb",
		"return":      "50 %\r100 %",
		"not UTF-8":   "\xff",
		"wide":        "漢",
		"long line":   strings.Repeat("x", columns+1),
		"many lines":  strings.Repeat("x\r\n", rows+1),
		"other style": "\x1b[38;5;1mx",
	} {
		if lines, err := parse([]byte(text)); err == nil {
			t.Errorf("%s: %q was read as %+v", name, text, lines)
		}
	}
}

// A picture is XML, and holds every word.
func TestDraw(t *testing.T) {
	lines, err := parse([]byte("1 < 2 \x1b[36m& 'so' on\x1b[0m\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	dec := xml.NewDecoder(strings.NewReader(string(draw("$ x", lines))))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			said = append(said, string(text))
		}
	}
	if want := []string{"$ x", "$ x", "1 < 2", "& 'so' on"}; !reflect.DeepEqual(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
}

func TestRecord(t *testing.T) {
	text, err := record([]string{"sh", "-c", "test -t 1 && printf 'a\\n\\033[1mb\\033[0m\\n'"})
	if err != nil || string(text) != "a\r\n\x1b[1mb\x1b[0m\r\n" {
		t.Errorf("recorded %q, %v", text, err)
	}
	if _, err := record([]string{"sh", "-c", "exit 3"}); err == nil {
		t.Error("a command that fails is no picture")
	}
}
