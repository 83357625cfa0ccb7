package edit

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A manner is how the document around an insertion is written.
type manner struct {
	eol    string
	unit   string // of indentation
	colon  string // with the space around it
	space  string // after a comma on a line
	outer  string // the indentation of the line that a bracket is on
	own    bool   // the bracket's member begins a line
	multi  bool   // members have a line each
	indent string // of members, if so
	flat   bool   // but the members of those share one
}

// plainManner is the manner of the document itself.
func plainManner(doc []byte) manner {
	m := manner{eol: "\n", unit: "  ", colon: ": ", space: " ", own: true, multi: true}
	if at := indexEOL(doc); at >= 0 {
		m.eol = eolAt(doc, at)
	}
	return m
}

// through learns from all levels that a scan reached.
func (m manner) through(doc []byte, s *jsonScan) manner {
	m.outer, _ = indentOf(doc, s.root.val)
	for i := range s.levels {
		if i > 0 {
			m = m.at(doc, s.levels[i-1].hit.key)
		}
		m = m.into(doc, &s.levels[i])
	}
	return m
}

// at goes on to the value of a member.
func (m manner) at(doc []byte, key int64) manner {
	indent, own := indentOf(doc, key)
	if own {
		m.outer = indent
	}
	m.own = own
	return m
}

// into learns from the members of a level.
func (m manner) into(doc []byte, l *jsonLevel) manner {
	m.flat = false
	if l.count == 0 {
		m.multi = m.own
		m.indent = m.outer + m.unit
		return m
	}
	if l.kind == '{' {
		if colon := string(doc[l.last.keyEnd:l.last.val]); strings.Trim(colon, " \t") == ":" {
			m.colon = colon
			m.space = ""
			if len(colon) > 1 {
				m.space = " "
			}
		}
	}
	m.indent, m.multi = indentOf(doc, l.last.key)
	if !m.multi {
		before := bytes.TrimRight(doc[:l.last.key], " \t")
		if l.count > 1 && before[len(before)-1] == ',' {
			m.space = string(doc[len(before):l.last.key])
		}
		m.indent = m.outer + m.unit
		return m
	}
	at := int(l.last.key) - len(m.indent)
	m.eol = eolAt(doc, at-1)
	if unit, ok := strings.CutPrefix(m.indent, m.outer); ok && unit != "" {
		m.unit = unit
	}
	body := doc[l.last.val:l.last.end]
	m.flat = l.last.kind == '{' && indexEOL(body) < 0 && len(bytes.Trim(body, "{} \t")) > 0
	return m
}

// inner is the manner of the members' values.
func (m manner) inner() manner {
	m.multi = m.multi && !m.flat
	m.outer = m.indent
	return m
}

// indentOf returns the space before at if nothing else is there on the line.
func indentOf(doc []byte, at int64) (string, bool) {
	start := at
	for start > 0 && (doc[start-1] == ' ' || doc[start-1] == '\t') {
		start--
	}
	if start > 0 && !isEOL(doc[start-1]) {
		return "", false
	}
	return string(doc[start:at]), true
}

// eolAt returns the line end that has a byte at offset at.
func eolAt(doc []byte, at int) string {
	if doc[at] == '\n' && at > 0 && doc[at-1] == '\r' || doc[at] == '\r' && at+1 < len(doc) && doc[at+1] == '\n' {
		return "\r\n"
	}
	return string(doc[at : at+1])
}

// append writes a value that begins on a line with this indentation.
func (m manner) append(b []byte, value any, indent string) []byte {
	switch v := value.(type) {
	case string:
		return appendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case []string:
		b = append(b, '[')
		for i, s := range v {
			if i > 0 {
				b = append(append(b, ','), m.space...)
			}
			b = appendString(b, s)
		}
		return append(b, ']')
	case []Object:
		return m.group(b, '[', len(v), indent, func(b []byte, i int, inner string) []byte {
			return m.append(b, v[i], inner)
		})
	case Object:
		return m.group(b, '{', len(v), indent, func(b []byte, i int, inner string) []byte {
			b = append(appendString(b, v[i].Key), m.colon...)
			return m.append(b, v[i].Value, inner)
		})
	}
	return b // Object.validate lets nothing else come here
}

// group writes n members in brackets.
func (m manner) group(b []byte, bracket byte, n int, indent string, member func([]byte, int, string) []byte) []byte {
	b = append(b, bracket)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case m.multi:
			b = append(b, m.eol+indent+m.unit...)
		case i > 0:
			b = append(b, m.space...)
		}
		b = member(b, i, indent+m.unit)
	}
	if m.multi && n > 0 {
		b = append(b, m.eol+indent...)
	}
	return append(b, bracket+2) // in ASCII both kinds close two after they open
}

func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // Object.validate has seen that it is UTF-8
	return b
}
