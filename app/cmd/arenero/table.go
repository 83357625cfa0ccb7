package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

// writeTable writes rows as columns that are as wide as they must be. What is
// not ours to write, such as names, can't move the cursor.
func writeTable(w io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(printable(cell)))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			cell = printable(cell)
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+gap)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const gap = 2 // between two columns

// printable is s without what a terminal would obey.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError || isTurn(r) {
			return '?'
		}
		return r
	}, s)
}

// isTurn reports whether r turns the direction of writing.
func isTurn(r rune) bool {
	return r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
