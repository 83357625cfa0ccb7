package edit_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// A tree is a document of JSON as the tests read it: with a parser of their
// own, so that the editor's is not its own judge.
type tree struct {
	raw   string // of a scalar; else "{" or "["
	keys  []string
	items []*tree
}

// tokensOf splits a document, and lists its comments apart.
func tokensOf(doc string) (tokens, comments []string, err error) {
	doc = strings.TrimPrefix(doc, mark)
	for doc != "" {
		n := tokenLen(doc)
		switch token := doc[:n]; {
		case n == 0:
			return nil, nil, fmt.Errorf("no token at %.20q", doc)
		case token[0] == '/':
			comments = append(comments, token)
		case !strings.Contains(" \t\r\n", token[:1]):
			tokens = append(tokens, token)
		}
		doc = doc[n:]
	}
	return tokens, comments, nil
}

// tokenLen returns 0 if no token begins doc.
func tokenLen(doc string) int {
	switch c := doc[0]; {
	case strings.IndexByte("[]{}:, \t\r\n", c) >= 0:
		return 1
	case strings.HasPrefix(doc, "//"):
		if n := strings.IndexAny(doc, "\r\n"); n >= 0 {
			return n
		}
		return len(doc)
	case strings.HasPrefix(doc, "/*"):
		if n := strings.Index(doc[2:], "*/"); n >= 0 {
			return n + 4
		}
	case c == '"':
		for i := 1; i < len(doc) && doc[i] >= ' '; i++ {
			if doc[i] == '"' {
				return i + 1
			}
			if doc[i] == '\\' {
				i++
			}
		}
	default:
		return len(doc) - len(strings.TrimLeft(doc, "-+.0123456789abcdefghijklmnopqrstuvwxyzE"))
	}
	return 0
}

// treeOf reads a document; nil stands for an empty one.
func treeOf(doc string, g edit.Grammar) (*tree, error) {
	tokens, comments, err := tokensOf(doc)
	if err != nil {
		return nil, err
	}
	if g == edit.JSON && len(comments) > 0 {
		return nil, fmt.Errorf("comment %q", comments[0])
	}
	if len(tokens) == 0 {
		return nil, nil
	}
	p := &treeParser{tokens, g == edit.JSONCTrailing}
	t := p.value()
	if t == nil || len(p.tokens) > 0 {
		return nil, fmt.Errorf("%d tokens before the end", len(p.tokens))
	}
	return t, nil
}

type treeParser struct {
	tokens   []string
	trailing bool
}

func (p *treeParser) next() string {
	if len(p.tokens) == 0 {
		return ""
	}
	token := p.tokens[0]
	p.tokens = p.tokens[1:]
	return token
}

// value returns nil where there is none.
func (p *treeParser) value() *tree {
	t := &tree{raw: p.next()}
	closing := map[string]string{"{": "}", "[": "]"}[t.raw]
	if closing == "" {
		if t.raw == "" || strings.Contains("]}:,", t.raw) || !scalar(t.raw) {
			return nil
		}
		return t
	}
	for first := true; ; first = false {
		if len(p.tokens) > 0 && p.tokens[0] == closing {
			p.next()
			return t
		}
		if !first {
			if p.next() != "," {
				return nil
			}
			if p.trailing && len(p.tokens) > 0 && p.tokens[0] == closing {
				continue
			}
		}
		if t.raw == "{" {
			key := p.next()
			if !strings.HasPrefix(key, `"`) || !scalar(key) || p.next() != ":" {
				return nil
			}
			t.keys = append(t.keys, key)
		}
		item := p.value()
		if item == nil {
			return nil
		}
		t.items = append(t.items, item)
	}
}

func scalar(token string) bool { return json.Valid([]byte(strings.ToValidUTF8(token, "?"))) }

// said returns what a string says; one that is not Unicode says nothing that
// others could.
func said(raw string) string {
	var s string
	json.Unmarshal([]byte(raw), &s)
	if strings.Contains(s, "\ufffd") && !strings.Contains(raw, "\ufffd") && !strings.Contains(strings.ToLower(raw), `\ufffd`) {
		return raw
	}
	return s
}

// find returns the index of a member or, in a list, of the item with that name.
func (t *tree) find(name, list string) int {
	if t.raw == "[" {
		return slices.IndexFunc(t.items, func(item *tree) bool {
			i := item.find(list, "")
			return item.raw == "{" && i >= 0 && strings.HasPrefix(item.items[i].raw, `"`) && said(item.items[i].raw) == name
		})
	}
	return slices.IndexFunc(t.keys, func(key string) bool { return said(key) == name })
}

func (t *tree) clone() *tree {
	if t == nil {
		return nil
	}
	c := &tree{raw: t.raw, keys: slices.Clone(t.keys)}
	for _, item := range t.items {
		c.items = append(c.items, item.clone())
	}
	return c
}

func (t *tree) put(name string, value *tree) {
	if t.raw == "{" {
		t.keys = append(t.keys, spelled(name))
	}
	t.items = append(t.items, value)
}

func (t *tree) delete(i int) {
	if t.raw == "{" {
		t.keys = slices.Delete(t.keys, i, i+1)
	}
	t.items = slices.Delete(t.items, i, i+1)
}

// with returns what t is to be after a Set.
func (t *tree) with(p edit.Place, value edit.Object, drop []string) *tree {
	t = t.clone()
	if t == nil || t.raw == "null" {
		t = &tree{raw: "{"}
		if p.List != "" && len(p.Keys) == 0 {
			t.raw = "["
		}
	}
	at := t
	for i, key := range append(slices.Clone(p.Keys), p.Name) {
		kind := "{"
		if p.List != "" && i == len(p.Keys)-1 {
			kind = "["
		}
		n := at.find(key, p.List)
		if n < 0 {
			at.put(key, &tree{raw: kind})
			n = len(at.items) - 1
		}
		if at.items[n].raw == "null" {
			at.items[n] = &tree{raw: kind}
		}
		at = at.items[n]
	}
	for _, key := range drop {
		if n := at.find(key, ""); n >= 0 {
			at.delete(n)
		}
	}
	if p.List != "" {
		value = append(edit.Object{{Key: p.List, Value: p.Name}}, value...)
	}
	for _, m := range value {
		v := valueTree(m.Value)
		if n := at.find(m.Key, ""); n < 0 {
			at.put(m.Key, v)
		} else if !reflect.DeepEqual(at.items[n].decode(), v.decode()) {
			at.items[n] = v
		}
	}
	return t
}

// without returns t without the entry, or nil if it is not there.
func (t *tree) without(p edit.Place) *tree {
	if t == nil {
		return nil
	}
	t = t.clone()
	at := t
	for _, key := range p.Keys {
		n := at.find(key, "")
		if n < 0 {
			return nil
		}
		at = at.items[n]
	}
	n := at.find(p.Name, p.List)
	if n < 0 {
		return nil
	}
	at.delete(n)
	return t
}

func valueTree(v any) *tree {
	if o, ok := v.(edit.Object); ok {
		t := &tree{raw: "{"}
		for _, m := range o {
			t.put(m.Key, valueTree(m.Value))
		}
		return t
	}
	t, _ := treeOf(spelled(v), edit.JSON)
	return t
}

// spelled is a value as people write it: with & and < as they are.
func spelled(v any) string {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.Encode(v)
	return lineEnds.Replace(strings.TrimSpace(text.String()))
}

// lineEnds are those that the encoder spells out for the sake of JavaScript,
// unless a backslash of the text itself stands before them.
var lineEnds = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// decode returns what two spellings of one value have in common.
func (t *tree) decode() any {
	switch t.raw {
	case "{":
		out := map[string]any{}
		for i, key := range t.keys {
			out[said(key)] = t.items[i].decode()
		}
		return out
	case "[":
		out := []any{}
		for _, item := range t.items {
			out = append(out, item.decode())
		}
		return out
	}
	var v any
	json.Unmarshal([]byte(t.raw), &v)
	return v
}

func (t *tree) String() string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(t.raw)
	for i, item := range t.items {
		if t.raw == "{" {
			b.WriteString(t.keys[i] + ":")
		}
		b.WriteString(item.String() + ",")
	}
	if t.raw == "{" || t.raw == "[" {
		b.WriteByte(t.raw[0] + 2)
	}
	return b.String()
}
