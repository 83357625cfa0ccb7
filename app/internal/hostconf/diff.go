package hostconf

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// A DiffLine is one line of a unified diff.
type DiffLine struct {
	Kind     DiffKind
	Text     string // without the kind's sign and the line's end; a long line is cut around what changes in it
	Old, New int    // numbers of the line before and after, from 1; 0 where it is not
}

// A DiffKind says what a line of a diff is. Those of one character are the sign
// that it begins with.
type DiffKind string

// The kinds.
const (
	DiffFrom    DiffKind = "---"
	DiffTo      DiffKind = "+++"
	DiffHunk    DiffKind = "@@"
	DiffContext DiffKind = " "
	DiffAdded   DiffKind = "+"
	DiffDeleted DiffKind = "-"
	DiffNoEnd   DiffKind = `\` // the line before has no end
)

// String is the line as programs that read diffs take it.
func (l DiffLine) String() string {
	switch l.Kind {
	case DiffFrom, DiffTo, DiffNoEnd:
		return string(l.Kind) + " " + l.Text
	}
	return string(l.Kind) + l.Text
}

const (
	diffAround = 3   // lines
	diffLong   = 400 // bytes of a line that is shown whole
)

// A chunk is whole lines that patches change.
type chunk struct {
	from, to int // bytes of the old document, both at the beginning of a line
	patches  edit.Patches
	lines    [][]byte // in their place
}

// apply sets lines, and leaves out those at both ends that stay the same.
func (c chunk) apply(doc []byte) chunk {
	old := lines(doc[c.from:c.to])
	c.lines = lines(c.patches.Apply(doc[c.from:c.to]))
	for len(old) > 0 && len(c.lines) > 0 && bytes.Equal(old[0], c.lines[0]) {
		c.from += len(old[0])
		old, c.lines = old[1:], c.lines[1:]
	}
	for len(old) > 0 && len(c.lines) > 0 && bytes.Equal(old[len(old)-1], c.lines[len(c.lines)-1]) {
		c.to -= len(old[len(old)-1])
		old, c.lines = old[:len(old)-1], c.lines[:len(c.lines)-1]
	}
	return c
}

// diff returns what ps does to doc, line by line.
func diff(path string, doc []byte, ps edit.Patches, created, removed bool) []DiffLine {
	if len(ps) == 0 && !created && !removed {
		return nil
	}
	from, to := path, path
	if created {
		from = "/dev/null"
	}
	if removed {
		to = "/dev/null"
	}
	out := []DiffLine{{Kind: DiffFrom, Text: from}, {Kind: DiffTo, Text: to}}
	oldLine, newLine, at := 1, 1, 0 // of the byte at
	var hunk []DiffLine
	var head DiffLine // of hunk
	end := 0          // of what hunk shows
	flush := func() {
		if hunk != nil {
			head.Text = hunkHead(hunk)
			out = append(append(out, head), hunk...)
			hunk = nil
		}
	}
	advance := func(to int) {
		n := bytes.Count(doc[at:to], []byte("\n"))
		oldLine, newLine, at = oldLine+n, newLine+n, to
	}
	context := func(from, to int) {
		for _, line := range lines(doc[from:to]) {
			advance(min(from, len(doc)))
			hunk = append(hunk, shown(DiffContext, line, oldLine, newLine, 0)...)
			from += len(line)
			end = from
		}
		advance(end)
	}
	var chunks []chunk
	for _, c := range chunksOf(doc, ps) {
		if c = c.apply(doc); c.from < c.to || len(c.lines) > 0 {
			chunks = append(chunks, c)
		}
	}
	for i, c := range chunks {
		start := backLines(doc, c.from, diffAround)
		if hunk != nil && start > end {
			flush()
		}
		if hunk == nil {
			advance(start)
			head, end = DiffLine{Kind: DiffHunk, Old: oldLine, New: newLine}, start
		}
		context(end, c.from)
		for _, line := range lines(doc[c.from:c.to]) {
			hunk = append(hunk, shown(DiffDeleted, line, oldLine, 0, focus(c.patches))...)
			oldLine++
		}
		for _, line := range c.lines {
			hunk = append(hunk, shown(DiffAdded, line, 0, newLine, focus(c.patches))...)
			newLine++
		}
		at, end = c.to, c.to
		limit := forthLines(doc, c.to, diffAround)
		if i+1 < len(chunks) {
			limit = min(limit, chunks[i+1].from)
		}
		context(end, limit)
	}
	flush()
	return out
}

// focus is where a long line changes first.
func focus(ps edit.Patches) int {
	if len(ps) == 0 {
		return 0
	}
	return int(ps[0].Offset)
}

// chunksOf widens patches to whole lines, and joins those that meet. The
// patches in a chunk count from its beginning.
func chunksOf(doc []byte, ps edit.Patches) []chunk {
	var out []chunk
	for _, p := range ps {
		from := bytes.LastIndexByte(doc[:p.Offset], '\n') + 1
		end := int(p.Offset) + len(p.Old)
		to := end
		// A patch that is whole lines leaves the line after it alone.
		whole := (int(p.Offset) == from) && (len(p.New) == 0 || bytes.HasSuffix(p.New, []byte("\n"))) && (len(p.Old) == 0 || bytes.HasSuffix(p.Old, []byte("\n")))
		if !whole {
			to = forthLines(doc, end, 1)
		}
		if n := len(out); n > 0 && from < out[n-1].to {
			c := &out[n-1]
			p.Offset -= int64(c.from)
			c.to, c.patches = max(c.to, to), append(c.patches, p)
			continue
		}
		p.Offset -= int64(from)
		out = append(out, chunk{from: from, to: to, patches: edit.Patches{p}})
	}
	return out
}

// backLines is the beginning of the line n lines before at, which is one too.
func backLines(doc []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		at = bytes.LastIndexByte(doc[:at-1], '\n') + 1
	}
	return at
}

// forthLines is the end of the nth line from at.
func forthLines(doc []byte, at, n int) int {
	for ; n > 0 && at < len(doc); n-- {
		i := bytes.IndexByte(doc[at:], '\n')
		if i < 0 {
			return len(doc)
		}
		at += i + 1
	}
	return at
}

// lines splits text after each line's end.
func lines(text []byte) [][]byte {
	if len(text) == 0 {
		return nil
	}
	out := bytes.SplitAfter(text, []byte("\n"))
	if len(out[len(out)-1]) == 0 {
		out = out[:len(out)-1]
	}
	return out
}

// shown is a line, and that it has no end if that is so.
func shown(k DiffKind, line []byte, before, after, focus int) []DiffLine {
	body, ended := bytes.CutSuffix(line, []byte("\n"))
	out := []DiffLine{{Kind: k, Text: cut(body, focus), Old: before, New: after}}
	if !ended {
		out = append(out, DiffLine{Kind: DiffNoEnd, Text: "No newline at end of file"})
	}
	return out
}

// cut shortens a long line, as some hosts write all they have into one.
func cut(line []byte, focus int) string {
	if len(line) <= diffLong {
		return string(bytes.ToValidUTF8(line, []byte("\ufffd")))
	}
	from := max(0, min(focus, len(line))-diffLong/4)
	to := min(len(line), from+diffLong)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to--
	}
	s := string(bytes.ToValidUTF8(line[from:to], []byte("\ufffd")))
	if from > 0 {
		s = "…" + s
	}
	if to < len(line) {
		s += "…"
	}
	return s
}

// hunkHead counts the lines of a hunk.
func hunkHead(hunk []DiffLine) string {
	var before, after, firstBefore, firstAfter int
	for _, l := range hunk {
		if l.Kind == DiffContext || l.Kind == DiffDeleted {
			before++
		}
		if l.Kind == DiffContext || l.Kind == DiffAdded {
			after++
		}
		if firstBefore == 0 {
			firstBefore = l.Old
		}
		if firstAfter == 0 {
			firstAfter = l.New
		}
	}
	span := func(first, n int) string {
		s := strconv.Itoa(first)
		if n != 1 {
			s += "," + strconv.Itoa(n)
		}
		return s
	}
	return " -" + span(firstBefore, before) + " +" + span(firstAfter, after) + " @@"
}
