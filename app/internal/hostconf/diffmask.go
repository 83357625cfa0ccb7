package hostconf

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// What others keep in a file may be secret: the tokens of their servers stand
// next to our entry. So people and logs are shown the difference with every
// value hidden that is not ours to show; names and brackets stay, which tell
// where in the file it is.

const (
	hidden     = 0x01 // a byte that is not shown: no text of a configuration has it
	hiddenText = "•••"
	maxShown   = 4 << 20 // bytes of lines that are looked through for names
)

var (
	hiddenRun = regexp.MustCompile("\x01+(?:[^\x01\"'{}\\[\\]:=,]*\x01+)*")
	// A name without quotes, as TOML and YAML have it: at the beginning of a
	// line or of what is in brackets. Equal signs at the end may fill up base64.
	bareName = regexp.MustCompile(`^(?:- +)*[A-Za-z0-9_$@./-]+(?: [A-Za-z0-9_$@./-]+)* *[=:]`)
	// The head of a table in TOML. One that begins with a quote looks like a list.
	tableHead = regexp.MustCompile(`^\s*\[\[?\s*[A-Za-z_][^\[\]=,]*\]\]?\s*(?:#|$)`)
)

// shownDiff is diff without the values of others.
func shownDiff(path string, doc []byte, ps edit.Patches, created, removed bool) []DiffLine {
	return shownOf(path, doc, ps, created, removed, nil)
}

// shownTheirs is shownDiff of an entry that others wrote: what goes and what
// comes is hidden too, but for texts that are known to be ours.
func shownTheirs(path string, doc []byte, ps edit.Patches, created, removed bool, ours []string) []DiffLine {
	return shownOf(path, doc, ps, created, removed, func(text []byte) []byte {
		out := mask(text, nil)
		for _, s := range ours {
			for at := 0; len(s) >= minOurs; at += len(s) {
				i := bytes.Index(text[at:], []byte(s))
				if i < 0 {
					break
				}
				at += i
				copy(out[at:], s)
			}
		}
		return out
	})
}

// minOurs is how long a text of ours is at least, lest it be part of another.
const minOurs = 5

// textsIn are the texts in a value that we wrote.
func textsIn(value any) []string {
	var out []string
	switch v := plain(value).(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, e := range v {
			out = append(out, textsIn(e)...)
		}
	case map[string]any:
		for _, e := range v {
			out = append(out, textsIn(e)...)
		}
	}
	return out
}

// shownOf is shownDiff where hide, if it is there, hides what is in patches.
func shownOf(path string, doc []byte, ps edit.Patches, created, removed bool, hide func([]byte) []byte) []DiffLine {
	if len(ps) == 0 {
		return diff(path, doc, ps, created, removed)
	}
	if hide != nil {
		ps = slices.Clone(ps)
		for i := range ps {
			ps[i].Old, ps[i].New = hide(ps[i].Old), hide(ps[i].New)
		}
	}
	last := ps[len(ps)-1]
	from := backLines(doc, bytes.LastIndexByte(doc[:ps[0].Offset], '\n')+1, diffAround)
	to := forthLines(doc, int(last.Offset)+len(last.Old), diffAround+1)
	if to-from > maxShown { // on one line, most likely
		return unmarked(bareDiff(path, ps))
	}
	// The lines before count, their content does not.
	masked := make([]byte, 0, to-from)
	var rest edit.Patches
	for _, p := range ps {
		p.Offset -= int64(from)
		rest = append(rest, p)
	}
	masked = mask(append(masked, doc[from:to]...), rest)
	out := diff(path, masked, rest, created, removed)
	skipped := bytes.Count(doc[:from], []byte("\n"))
	var hunk int // where the last one begins
	for i := range out {
		l := &out[i]
		if l.Old > 0 {
			l.Old += skipped
		}
		if l.New > 0 {
			l.New += skipped
		}
		if l.Kind == DiffHunk {
			hunk = i
		}
		l.Text = hiddenRun.ReplaceAllLiteralString(l.Text, hiddenText)
		if hunk > 0 && (i+1 == len(out) || out[i+1].Kind == DiffHunk) {
			out[hunk].Text = hunkHead(out[hunk+1 : i+1])
		}
	}
	return out
}

// unmarked has what was hidden shown as such.
func unmarked(out []DiffLine) []DiffLine {
	for i := range out {
		out[i].Text = hiddenRun.ReplaceAllLiteralString(out[i].Text, hiddenText)
	}
	return out
}

// bareDiff is what patches put in and take away, for lines too long to look
// through.
func bareDiff(path string, ps edit.Patches) []DiffLine {
	out := []DiffLine{{Kind: DiffFrom, Text: path}, {Kind: DiffTo, Text: path}}
	for _, p := range ps {
		for _, line := range lines(p.Old) {
			out = append(out, DiffLine{Kind: DiffDeleted, Text: cut(bytes.TrimRight(line, "\r\n"), 0)})
		}
		for _, line := range lines(p.New) {
			out = append(out, DiffLine{Kind: DiffAdded, Text: cut(bytes.TrimRight(line, "\r\n"), 0)})
		}
	}
	return out
}

// mask hides the values in doc, but for what patches take away, which is as they
// have it. It goes by
// lines, and where it can't tell what something is it hides it.
func mask(doc []byte, ps edit.Patches) []byte {
	out := bytes.Clone(doc)
	at := 0
	for _, line := range lines(doc) {
		maskLine(out[at:at+len(line)], line)
		at += len(line)
	}
	for _, p := range ps {
		copy(out[p.Offset:], p.Old)
	}
	return out
}

func hide(b []byte) {
	for i, c := range b {
		if c > ' ' {
			b[i] = hidden
		}
	}
}

// maskLine hides the values of a line in out, which begins as its copy.
func maskLine(out, line []byte) {
	if tableHead.Match(line) {
		if i := bytes.IndexByte(line, '#'); i >= 0 {
			hide(out[i+1:])
		}
		return
	}
	begins := true // a name may stand here
	for i := 0; i < len(line); {
		rest := line[i:]
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
		case c == '#':
			hide(out[i+1:])
			return
		case bytes.HasPrefix(rest, []byte("//")):
			hide(out[i+2:])
			return
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest, []byte("*/"))
			if end < 0 {
				hide(out[i+2:])
				return
			}
			hide(out[i+2 : i+end])
			i += end + 2
		case c == '{' || c == '[' || c == ',' || c == '}' || c == ']':
			begins = true
			i++
		case c == ':' || c == '=':
			begins = false
			i++
		case c == '"' || c == '\'':
			end := quoteEnd(line, i)
			if end < 0 {
				hide(out[i+1:])
				return
			}
			next := bytes.TrimLeft(line[end:], " \t")
			if !begins || len(next) == 0 || next[0] != ':' && next[0] != '=' {
				hide(out[i+1 : end-1])
			}
			begins, i = false, end
		default:
			if begins {
				if end := nameEnd(rest); end > 0 {
					begins = false
					i += end
					continue
				}
			}
			end := i
			for end < len(line) && !bytes.ContainsRune([]byte("\"'{}[],\r\n"), rune(line[end])) {
				end++
			}
			end = max(end, i+1)
			switch string(bytes.TrimSpace(line[i:end])) {
			case "true", "false", "null", "-":
			default:
				hide(out[i:end])
			}
			begins, i = false, end
		}
	}
}

// nameEnd is the end of a name without quotes, and of the sign behind it, 0 if
// there is none.
func nameEnd(text []byte) int {
	at := bareName.FindIndex(text)
	if at == nil {
		return 0
	}
	end := bytes.IndexAny(text, ":=") + 1
	if rest := bytes.TrimRight(text[end:], " \t\r\n"); text[end-1] == '=' && (len(rest) == 0 || rest[0] == '=') ||
		text[end-1] == ':' && len(rest) > 0 && text[end] != ' ' && text[end] != '\t' {
		return 0
	}
	return end
}

// quoteEnd is the end of the string that begins at i, -1 if it goes on beyond
// the line.
func quoteEnd(line []byte, i int) int {
	quote := line[i]
	for j := i + 1; j < len(line); j++ {
		switch {
		case line[j] == '\\' && quote == '"':
			j++
		case line[j] == quote:
			return j + 1
		}
	}
	return -1
}
