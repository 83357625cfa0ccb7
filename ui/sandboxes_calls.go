package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

const (
	mostCalls = 100       // that a list of them keeps
	mostSaid  = 128 << 10 // bytes that are kept of what one says
	mostTurns = 1024      // pieces of them, of one whose streams take turns
	mostLine  = 4000      // characters of a line
)

// A Said is a piece of what a call says, on one of its two streams, or of what it
// runs.
type Said struct {
	Text   string
	Stderr bool
	Code   bool
}

// A LiveCall is one that runs in a sandbox, or ran.
type LiveCall struct {
	ID, Host, Kind, Text string
	StartedAt, EndedAt   time.Time
	Exit                 *sandbox.Exit
	Raised               string // name of the exception that ended it
	Failed               *sandbox.Error
	Said                 []Said
	Cut                  bool // some of what it said is not here

	size    int
	pending [2][]byte // the beginning of a character whose rest is to come, by stream
}

// Runs reports whether it goes on.
func (c *LiveCall) Runs() bool { return c.EndedAt.IsZero() && c.Exit == nil && c.Failed == nil }

// LiveCalls are those of one sandbox, in the order in which they began.
type LiveCalls struct {
	all []*LiveCall
}

// Add takes in what happened, and returns which call that is about.
func (cs *LiveCalls) Add(n control.CallNews) *LiveCall {
	c := cs.Get(n.ID)
	if c == nil {
		c = &LiveCall{ID: n.ID}
		cs.all = append(cs.all, c)
		if len(cs.all) > mostCalls {
			cs.drop()
		}
	}
	if n.Kind != "" { // the first of a call: it is told anew after an engine has come back
		*c = LiveCall{ID: n.ID, Host: n.Host, Kind: n.Kind, Text: n.Text, StartedAt: n.StartedAt}
	}
	c.Cut = c.Cut || n.Cut
	c.say(n.Data, n.Stream == string(sandbox.Stderr))
	if n.Exit != nil {
		c.Exit, c.Raised = n.Exit, n.Raised
	}
	if n.Failed != nil {
		c.Failed = n.Failed
	}
	if !n.EndedAt.IsZero() {
		c.EndedAt = n.EndedAt
	}
	return c
}

// drop forgets the oldest that does not run.
func (cs *LiveCalls) drop() {
	i := max(0, slices.IndexFunc(cs.all, func(c *LiveCall) bool { return !c.Runs() }))
	cs.all = slices.Delete(cs.all, i, i+1)
}

// Get is the call with an id, or nil.
func (cs *LiveCalls) Get(id string) *LiveCall {
	for i := len(cs.all) - 1; i >= 0; i-- {
		if cs.all[i].ID == id {
			return cs.all[i]
		}
	}
	return nil
}

// Newest are all of them, the newest first.
func (cs *LiveCalls) Newest() []*LiveCall {
	out := slices.Clone(cs.all)
	slices.Reverse(out)
	return out
}

// say takes in output. A character may come in two pieces.
func (c *LiveCall) say(data []byte, stderr bool) {
	if len(data) == 0 {
		return
	}
	p := 0
	if stderr {
		p = 1
	}
	data = append(c.pending[p], data...)
	whole := len(data)
	for cut := 1; cut < utf8.UTFMax && cut <= len(data); cut++ {
		if last := data[len(data)-cut]; utf8.RuneStart(last) {
			if !utf8.FullRune(data[len(data)-cut:]) {
				whole = len(data) - cut
			}
			break
		}
	}
	c.pending[p] = slices.Clone(data[whole:])
	text := strings.ToValidUTF8(string(data[:whole]), "�")
	if text == "" {
		return
	}
	if n := len(c.Said); n > 0 && c.Said[n-1].Stderr == stderr && len(c.Said[n-1].Text) < 4<<10 {
		c.Said[n-1].Text += text
	} else {
		c.Said = append(c.Said, Said{Text: text, Stderr: stderr})
	}
	for c.size += len(text); (c.size > mostSaid || len(c.Said) > mostTurns) && len(c.Said) > 1; {
		c.size -= len(c.Said[0].Text)
		c.Said = slices.Delete(c.Said, 0, 1)
		c.Cut = true
	}
	if only := &c.Said[0]; c.size > mostSaid { // one piece that is too long by itself
		at := len(only.Text) - mostSaid
		for at < len(only.Text) && !utf8.RuneStart(only.Text[at]) {
			at++
		}
		only.Text, c.Cut = only.Text[at:], true
		c.size = len(only.Text)
	}
}

// A SaidLine is a line of output, in pieces of one stream each.
type SaidLine []Said

// Lines are what a call said as a terminal without escape sequences would show
// it: a line that is written over, as progress is, shows its last form.
func (c *LiveCall) Lines() []SaidLine {
	var out []SaidLine
	var line SaidLine
	over := false // what comes next goes over the line
	for _, s := range c.Said {
		rest := plain(s.Text)
		for rest != "" {
			text, end := rest, byte(0)
			if i := strings.IndexAny(rest, "\r\n"); i >= 0 {
				text, end = rest[:i], rest[i]
			}
			rest = rest[min(len(text)+1, len(rest)):]
			if text != "" {
				if over {
					line, over = nil, false
				}
				line = append(line, Said{Text: text, Stderr: s.Stderr})
			}
			switch end {
			case '\r':
				over = true
			case '\n':
				out, line, over = append(out, bounded(line)), nil, false
			}
		}
	}
	if len(line) > 0 {
		out = append(out, bounded(line))
	}
	return out
}

// Wrap is lines in pieces of at most so many characters.
func Wrap(lines []SaidLine, columns int) []SaidLine {
	columns = max(1, columns)
	out := make([]SaidLine, 0, len(lines))
	for _, line := range lines {
		var now SaidLine
		room := columns
		for _, s := range line {
			for text := []rune(s.Text); len(text) > 0; {
				if room == 0 {
					out, now, room = append(out, now), nil, columns
				}
				n := min(room, len(text))
				now = append(now, Said{string(text[:n]), s.Stderr, s.Code})
				text, room = text[n:], room-n
			}
		}
		out = append(out, now)
	}
	return out
}

// bounded is a line of which a screen can be drawn.
func bounded(line SaidLine) SaidLine {
	room := mostLine
	for i, s := range line {
		n := utf8.RuneCountInString(s.Text)
		if n > room {
			line[i].Text = string([]rune(s.Text)[:room]) + "…"
			return line[:i+1]
		}
		room -= n
	}
	return line
}

// plain is text without what a terminal would obey, and with blanks for tabs.
func plain(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == 0x1b:
			i = escapeEnd(text, i)
		case ch == '\t':
			b.WriteString("    ")
		case ch == '\n', ch == '\r':
			b.WriteByte(ch)
		case ch < ' ' || ch == 0x7f:
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// escapeEnd is the last byte of the escape sequence that begins at i.
func escapeEnd(text string, i int) int {
	if i+1 >= len(text) {
		return i
	}
	switch text[i+1] {
	case '[': // parameters, and then a letter or the like
		for i += 2; i < len(text) && (text[i] < 0x40 || text[i] > 0x7e); i++ {
		}
		return i
	case ']', 'P', '_', '^': // up to a bell, or to ESC \
		for i += 2; i < len(text) && text[i] != 0x07; i++ {
			if text[i] == 0x1b && i+1 < len(text) && text[i+1] == '\\' {
				return i + 1
			}
		}
		return i
	}
	return i + 1
}

// Whole is all that a call said that is kept, as it is shown.
func (c *LiveCall) Whole() string {
	var b strings.Builder
	for _, line := range c.Lines() {
		for _, s := range line {
			b.WriteString(s.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// CallTitle is what runs, in a line.
func CallTitle(c *LiveCall) string {
	for line := range strings.Lines(c.Text) {
		if line = strings.TrimSpace(line); line != "" {
			return printableTo(line, 200)
		}
	}
	return printable(c.ID)
}

// CallWord says how a call is, or ended.
func CallWord(tx assets.Texts, c *LiveCall) (string, Tone) {
	switch {
	case c.Failed != nil && c.Failed.Code == sandbox.Canceled:
		return tx.Get("sandboxes.call.canceled"), ToneWarn
	case c.Failed != nil:
		return tx.Get("sandboxes.call.failed"), ToneBad
	case c.Exit != nil && c.Exit.TimedOut:
		return tx.Get("sandboxes.call.timeout"), ToneBad
	case c.Exit != nil && c.Exit.Signal > 0:
		return tx.Get("sandboxes.call.signal", "n", strconv.Itoa(c.Exit.Signal)), ToneBad
	case c.Raised != "":
		return tx.Get("sandboxes.call.raised.name", "name", printableTo(c.Raised, 60)), ToneBad
	case c.Exit != nil && c.Exit.Code != 0 && c.Kind == "code":
		return tx.Get("sandboxes.call.raised"), ToneBad
	case c.Exit != nil && c.Exit.Code != 0:
		return tx.Get("sandboxes.call.exit", "n", strconv.Itoa(c.Exit.Code)), ToneBad
	case c.Runs():
		return tx.Get("sandboxes.call.runs"), ToneGood
	}
	return tx.Get("sandboxes.call.done"), ToneMuted
}

// CallTook is how long a call took, or has taken so far.
func CallTook(tx assets.Texts, c *LiveCall, now time.Time) string {
	if c.StartedAt.IsZero() || c.EndedAt.IsZero() && !c.Runs() {
		return ""
	}
	until := now
	if !c.EndedAt.IsZero() {
		until = c.EndedAt
	}
	d := max(0, until.Sub(c.StartedAt))
	switch {
	case d >= time.Minute:
		return Span(tx, d)
	case c.Runs():
		return tx.Get("sandboxes.seconds", "s", strconv.Itoa(int(d/time.Second)))
	case d < 10*time.Second:
		tenths := strings.Replace(strconv.FormatFloat(d.Seconds(), 'f', 2, 64), ".", tx.Get("tray.money.point"), 1)
		return tx.Get("sandboxes.seconds", "s", tenths)
	}
	return tx.Get("sandboxes.seconds", "s", strconv.Itoa(int(d/time.Second)))
}

// Page is what runs, and below it what it says.
func (c *LiveCall) Page() []SaidLine {
	var out []SaidLine
	for line := range strings.Lines(plain(strings.TrimRight(c.Text, "\n"))) {
		out = append(out, bounded(SaidLine{{Text: Visible(strings.TrimRight(line, "\r\n")), Code: true}}))
	}
	return append(out, c.Lines()...)
}

// CallLine is who made a call, when, and how it went.
func CallLine(tx assets.Texts, c *LiveCall, now time.Time) string {
	word, _ := CallWord(tx, c)
	parts := []string{word, CallTook(tx, c, now), Stamp(c.StartedAt, now), printable(c.Host)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// CallNote is what there is to say about the output of a call beside it, or
// instead.
func CallNote(tx assets.Texts, c *LiveCall, explain func(error) string) string {
	switch {
	case c.Failed != nil:
		return explain(c.Failed)
	case c.Cut:
		return tx.Get("sandboxes.call.cut")
	case len(c.Said) == 0 && c.Runs():
		return tx.Get("sandboxes.call.quiet")
	case len(c.Said) == 0:
		return tx.Get("sandboxes.call.nothing")
	}
	return ""
}
