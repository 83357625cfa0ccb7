package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A problem is one way in which arguments break a schema.
type problem struct {
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Problem  string `json:"problem"` // a whole sentence: the field, what it must be, what to do
}

// decode reads arguments into dst, a pointer to the struct that s was made of.
// It goes on after a problem, so that a caller can mend all of them at once.
func (s *schema) decode(raw json.RawMessage, dst any, tx *texts) []problem {
	d := decoder{texts: tx}
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}") // no arguments are none
	}
	tree, err := parse(raw)
	if err != nil {
		d.add("arguments", tx.object, tx.isNoJSON)
		return d.problems
	}
	if _, ok := tree.(map[string]any); !ok {
		d.wrong(s, "arguments", tree)
		return d.problems
	}
	d.value(s, tree, "", reflect.ValueOf(dst).Elem())
	return d.problems
}

// parse reads one JSON value, with numbers as they were written.
func parse(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

type decoder struct {
	texts    *texts
	problems []problem
}

func (d *decoder) add(at, expected, sentence string) {
	d.problems = append(d.problems, problem{Field: at, Expected: expected, Problem: sentence})
}

// wrong notes that v, found at a place, is not what s wants.
func (d *decoder) wrong(s *schema, at string, v any) {
	want := d.texts.expect(s)
	d.add(at, want, d.texts.wrong(at, want, v, s))
}

func (d *decoder) value(s *schema, v any, at string, dst reflect.Value) {
	if v == nil && s.nullable {
		dst.SetZero()
		return
	}
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	switch s.kind {
	case kindObject:
		d.object(s, v, at, dst)
	case kindMap:
		d.dict(s, v, at, dst)
	case kindArray:
		d.array(s, v, at, dst)
	case kindAny:
		d.any(v, dst)
	case kindBoolean:
		b, ok := v.(bool)
		if !ok {
			d.wrong(s, at, v)
			return
		}
		dst.SetBool(b)
	case kindString:
		d.string(s, v, at, dst)
	case kindTime:
		text, _ := v.(string)
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			d.wrong(s, at, v)
			return
		}
		dst.Set(reflect.ValueOf(t))
	default:
		d.number(s, v, at, dst)
	}
}

func (d *decoder) object(s *schema, v any, at string, dst reflect.Value) {
	m, ok := v.(map[string]any)
	if !ok {
		d.wrong(s, at, v)
		return
	}
	for _, f := range s.fields {
		child := join(at, f.name)
		fv, given := m[f.name]
		switch {
		case given:
			d.value(f.schema, fv, child, dst.FieldByIndex(f.index))
		case f.def != nil:
			def, _ := parse(f.def) // it was tried when the schema was made
			d.value(f.schema, def, child, dst.FieldByIndex(f.index))
		case f.required:
			want := d.texts.expect(f.schema)
			d.add(child, want, d.texts.missing(child, want, f.doc))
		}
	}
	known := s.names()
	var extra []string
	for name := range m {
		if !slices.Contains(known, name) {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	for _, name := range extra {
		d.add(join(at, clip(name)), "", d.texts.unknown(join(at, clip(name)), known))
	}
}

func (s *schema) names() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

func (d *decoder) dict(s *schema, v any, at string, dst reflect.Value) {
	m, ok := v.(map[string]any)
	if !ok {
		d.wrong(s, at, v)
		return
	}
	dst.Set(reflect.MakeMapWithSize(dst.Type(), len(m)))
	for name, mv := range m {
		elem := reflect.New(dst.Type().Elem()).Elem()
		d.value(s.items, mv, join(at, clip(name)), elem)
		dst.SetMapIndex(reflect.ValueOf(name).Convert(dst.Type().Key()), elem)
	}
}

func (d *decoder) array(s *schema, v any, at string, dst reflect.Value) {
	list, ok := v.([]any)
	if !ok || outside(s, float64(len(list))) {
		d.wrong(s, at, v)
		return
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(list), len(list)))
	for i, item := range list {
		d.value(s.items, item, at+"["+strconv.Itoa(i)+"]", dst.Index(i))
	}
}

func (d *decoder) any(v any, dst reflect.Value) {
	if dst.Type() == rawType {
		b, err := marshal(v)
		if err == nil { // it was JSON a moment ago
			dst.SetBytes(b)
		}
		return
	}
	if v != nil {
		dst.Set(reflect.ValueOf(v))
	}
}

func (d *decoder) string(s *schema, v any, at string, dst reflect.Value) {
	text, ok := v.(string)
	if !ok || len(s.enum) > 0 && !slices.Contains(s.enum, text) ||
		(s.min != nil || s.max != nil) && outside(s, float64(utf8.RuneCountInString(text))) {
		d.wrong(s, at, v)
		return
	}
	dst.SetString(text)
}

// number takes what JSON Schema takes: 60, 60.0 and 6e1 are one integer.
func (d *decoder) number(s *schema, v any, at string, dst reflect.Value) {
	n, ok := v.(json.Number)
	if !ok {
		d.wrong(s, at, v)
		return
	}
	f, err := n.Float64()
	if err != nil || outside(s, f) {
		d.wrong(s, at, v)
		return
	}
	if s.kind == kindNumber {
		if dst.OverflowFloat(f) {
			d.wrong(s, at, v)
			return
		}
		dst.SetFloat(f)
		return
	}
	whole, err := n.Int64()
	if err != nil {
		if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			d.wrong(s, at, v)
			return
		}
		whole = int64(f)
	}
	switch {
	case dst.CanInt() && !dst.OverflowInt(whole):
		dst.SetInt(whole)
	case dst.CanUint() && whole >= 0 && !dst.OverflowUint(uint64(whole)):
		dst.SetUint(uint64(whole))
	default:
		d.wrong(s, at, v)
	}
}

func outside(s *schema, v float64) bool {
	return s.min != nil && v < *s.min || s.max != nil && v > *s.max
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// clip shortens what a caller sent, to be shown back to it.
func clip(s string) string {
	const most = 40
	s = strings.ToValidUTF8(s, "�")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
