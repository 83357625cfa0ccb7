package main

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A span is text of one style, that begins in a column of its line.
type span struct {
	column int
	style  style
	text   string
}

func (s span) width() int { return utf8.RuneCountInString(s.text) }

type style struct {
	bold, dim bool
	colour    int // 0 is that of plain text, else 30 to 37 or 90 to 97
}

// parse reads what a program wrote to a terminal.
func parse(text []byte) (lines [][]span, err error) {
	var now style
	var line []span
	column := 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			return nil, fmt.Errorf("line %d: %q is not UTF-8", len(lines)+1, text[0])
		case bytes.HasPrefix(text, []byte("\r\n")):
			lines, line, column, n = append(lines, line), nil, 0, 2
		case bytes.HasPrefix(text, []byte("\x1b[")):
			end := bytes.IndexByte(text, 'm')
			if end < 0 {
				return nil, fmt.Errorf("line %d: an escape sequence does not end: %q", len(lines)+1, text)
			}
			n = end + 1
			if now, err = now.change(string(text[2:end])); err != nil {
				return nil, fmt.Errorf("line %d: %w", len(lines)+1, err)
			}
		case !unicode.IsPrint(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana):
			return nil, fmt.Errorf("line %d: can't draw %q", len(lines)+1, r)
		case column == columns:
			return nil, fmt.Errorf("line %d is longer than %d columns", len(lines)+1, columns)
		default:
			if len(line) == 0 || line[len(line)-1].style != now {
				line = append(line, span{column: column, style: now})
			}
			line[len(line)-1].text += string(r)
			column++
		}
		text = text[n:]
	}
	if len(line) > 0 {
		lines = append(lines, line)
	}
	if len(lines) > rows {
		return nil, fmt.Errorf("%d lines are more than %d", len(lines), rows)
	}
	return lines, nil
}

// change applies the parameters of one select graphic rendition.
func (s style) change(parameters string) (style, error) {
	for p := range strings.SplitSeq(parameters, ";") {
		n, err := strconv.Atoi(p)
		switch {
		case p == "" || n == 0 && err == nil:
			s = style{}
		case err == nil && n == 1:
			s.bold = true
		case err == nil && n == 2:
			s.dim = true
		case err == nil && n == 39:
			s.colour = 0
		case err == nil && (n >= 30 && n <= 37 || n >= 90 && n <= 97):
			s.colour = n
		default:
			return s, fmt.Errorf("can't draw ESC[%sm", parameters)
		}
	}
	return s, nil
}

// Sizes in pixels. Every span is told how wide it is, since nobody knows the
// fonts of those who look.
const (
	fontSize  = 14
	cellWidth = 8.4
	lineStep  = 20
	margin    = 18
	bar       = 34 // at the top, with the title
)

const (
	background = "#16181d"
	barColour  = "#31353f"
	plain      = "#e6e6e6"
	faint      = "#a3a8b3"
)

// palette has colours that read well on the background.
var palette = map[int]string{
	30: "#8a8f99", 31: "#ff7b72", 32: "#7ee787", 33: "#f2cc60", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea", 37: plain,
	90: "#a3a8b3", 91: "#ffa198", 92: "#a5f3b0", 93: "#f8e3a1", 94: "#a5d6ff", 95: "#e2c5ff", 96: "#b3f0ff", 97: "#ffffff",
}

// draw draws a terminal with a title and lines. It is as wide as the longest.
func draw(title string, lines [][]span) []byte {
	for len(lines) > 0 && len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	cells := utf8.RuneCountInString(title)
	for _, line := range lines {
		if len(line) > 0 {
			last := line[len(line)-1]
			cells = max(cells, last.column+last.width())
		}
	}
	width := 2*margin + float64(cells)*cellWidth
	height := bar + 2*margin + lineStep*len(lines) - (lineStep - fontSize)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(title))
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%.0f" height="%d" rx="8" fill="%s" stroke="%s"/>`+"\n", width-1, height-1, background, barColour)
	fmt.Fprintf(&b, `<path d="M0 %d V8 Q0 0 8 0 H%.0f Q%.0f 0 %.0f 8 V%d Z" fill="%s"/>`+"\n", bar, width-8, width, width, bar, barColour)
	fmt.Fprintf(&b, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace" font-size="%d" fill="%s" xml:space="preserve">`+"\n", fontSize, plain)
	text := func(s span, y int) {
		// Blanks at the ends are nothing to see, and not all programs measure them.
		shown := strings.TrimLeft(s.text, " ")
		s.column += s.width() - utf8.RuneCountInString(shown)
		s.text = strings.TrimRight(shown, " ")
		if s.text == "" {
			return
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f"`, margin+float64(s.column)*cellWidth, y, float64(s.width())*cellWidth)
		colour := palette[s.style.colour]
		if s.style.dim && s.style.colour == 0 {
			colour = faint
		}
		if colour != "" {
			fmt.Fprintf(&b, ` fill="%s"`, colour)
		}
		if s.style.bold {
			b.WriteString(` font-weight="bold"`)
		}
		if s.style.dim && s.style.colour != 0 {
			b.WriteString(` opacity="0.8"`)
		}
		fmt.Fprintf(&b, ">%s</text>\n", html.EscapeString(s.text))
	}
	text(span{style: style{dim: true}, text: title}, bar/2+fontSize/3)
	for i, line := range lines {
		for _, s := range line {
			text(s, bar+margin+fontSize-3+i*lineStep)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}
