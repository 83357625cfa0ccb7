package main

import (
	"cmp"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/arenero/arenero/app/sandbox"
)

// A style is how charts are drawn.
type style struct {
	width  int  // columns
	blocks bool // with the characters of a terminal; else with those of any file
	colour bool
}

const (
	usualWidth = 80
	leastBar   = 10 // narrower ones say nothing
	mostBar    = 40
	mostLabel  = 32
)

// styleOf is how to draw on a file: plainly, unless it is a terminal.
func styleOf(f *os.File) style {
	s := style{width: usualWidth}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.width = n
	}
	if !term.IsTerminal(int(f.Fd())) {
		return s
	}
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		s.width = n
	}
	s.blocks = os.Getenv("TERM") != "dumb"
	s.colour = s.blocks && os.Getenv("NO_COLOR") == ""
	return s
}

// The colours, as terminals number them.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
)

func (s style) paint(colour, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// A chartRow is one bar with what stands beside it.
type chartRow struct {
	label  string
	amount sandbox.Micro
	note   string
}

// chart draws bars, the longest for the greatest amount. Where there is no room
// for bars there are none.
func (s style) chart(rows []chartRow) []string {
	var labels, amounts []string
	var most sandbox.Micro
	label, amount, note := 0, 0, 0
	for i, digits := range sameDecimals(rows) {
		r := rows[i]
		text := cutTo(printable(cmp.Or(r.label, "-")), mostLabel)
		labels, amounts = append(labels, text), append(amounts, digits)
		label, amount, note = max(label, width(text)), max(amount, width(digits)), max(note, width(r.note))
		most = max(most, r.amount)
	}
	bar := min(mostBar, s.width-label-amount-note-3*gap)
	var out []string
	for i, r := range rows {
		line := pad(labels[i], label) + strings.Repeat(" ", gap) + strings.Repeat(" ", amount-width(amounts[i])) + amounts[i]
		if bar >= leastBar && most > 0 {
			line += strings.Repeat(" ", gap) + s.paint(green, s.part(r.amount, most, bar)) + strings.Repeat(" ", bar-s.cells(r.amount, most, bar))
		}
		if r.note != "" {
			line += strings.Repeat(" ", gap) + r.note
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return out
}

// cells is how many of width belong to a part of a whole: one at least, if there
// is anything.
func (s style) cells(part, whole sandbox.Micro, width int) int {
	if part <= 0 || whole <= 0 {
		return 0
	}
	return max(1, min(width, int(float64(part)/float64(whole)*float64(width)+0.5)))
}

func (s style) part(part, whole sandbox.Micro, width int) string {
	cell := "#"
	if s.blocks {
		cell = "█"
	}
	return strings.Repeat(cell, s.cells(part, whole, width))
}

// gauge draws how much of a limit is spent and held.
func (s style) gauge(spent, held, limit sandbox.Micro, width int) string {
	spentCell, heldCell, freeCell := "#", "-", "."
	if s.blocks {
		spentCell, heldCell, freeCell = "█", "▒", "·"
	}
	both := min(s.cells(spent.Plus(held), limit, width), width)
	if limit <= 0 && spent.Plus(held) > 0 {
		both = width
	}
	if free := limit - spent - held; free > 0 && both == width && width > 1 {
		both-- // it is not full
	}
	paid := min(s.cells(spent, limit, width), both)
	colour := green
	switch {
	case spent.Plus(held) >= limit:
		colour = red
	case float64(spent)+float64(held) >= 0.8*float64(limit):
		colour = yellow
	}
	return s.paint(colour, strings.Repeat(spentCell, paid)+strings.Repeat(heldCell, both-paid)) + strings.Repeat(freeCell, width-both)
}

// sameDecimals are the amounts of rows, rounded, with as many decimals each as
// the greatest is shown with elsewhere.
func sameDecimals(rows []chartRow) []string {
	var most sandbox.Micro
	for _, r := range rows {
		most = max(most, r.amount)
	}
	_, fraction, _ := strings.Cut(most.Short(), ".")
	decimals := len(fraction)
	var out []string
	for _, r := range rows {
		out = append(out, inDigits(rounded(r.amount, decimals)))
	}
	return out
}

// rounded is an amount with so many decimals. What is less than the last of them
// counts as one: it is not nothing.
func rounded(m sandbox.Micro, decimals int) string {
	unit := perDollar
	for range decimals {
		unit /= 10
	}
	n := m / unit
	if rest := m % unit; rest*2 >= unit || m > 0 && n == 0 {
		n++
	}
	scale := perDollar / unit
	whole, fraction := n/scale, n%scale
	text := strconv.FormatInt(int64(fraction), 10)
	return strconv.FormatInt(int64(whole), 10) + "." + strings.Repeat("0", decimals-len(text)) + text
}

const perDollar sandbox.Micro = 1_000_000

func width(s string) int { return utf8.RuneCountInString(s) }

func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-width(s))) }

func cutTo(s string, most int) string {
	if width(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
