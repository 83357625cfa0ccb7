package wire

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// Target returns the escaped path and the raw query of a call, without "?".
// Both are encoded strictly: all but letters, digits and -._~ as %XX.
func (op Operation) Target(in Input) (path, query string, err error) {
	labels := map[string]string{}
	var pairs []string
	members(in, func(f reflect.Value, label, key string) {
		for _, s := range texts(f) {
			if label != "" {
				labels[label] = s
			} else {
				pairs = append(pairs, Escape(key)+"="+Escape(s))
			}
		}
	})
	segments := strings.Split(op.Path, "/")
	for i, seg := range segments {
		label, ok := labelOf(seg)
		if !ok {
			continue
		}
		s := labels[label]
		if s == "" || s == "." || s == ".." { // would name another resource
			return "", "", &InvalidError{Problems: []Problem{{label, "Member must be a path segment"}}}
		}
		segments[i] = Escape(s)
	}
	return strings.Join(segments, "/"), strings.Join(pairs, "&"), nil
}

// Match reports whether an escaped request path is that of op, and returns its
// labels decoded. The method is not looked at.
func (op Operation) Match(escapedPath string) (labels map[string]string, ok bool) {
	want, got := strings.Split(op.Path, "/"), strings.Split(escapedPath, "/")
	if len(want) != len(got) {
		return nil, false
	}
	labels = map[string]string{}
	for i, seg := range want {
		label, isLabel := labelOf(seg)
		if !isLabel {
			if seg != got[i] {
				return nil, false
			}
			continue
		}
		s, err := url.PathUnescape(got[i])
		if err != nil {
			return nil, false
		}
		labels[label] = s
	}
	return labels, true
}

// Bind fills the members of in that travel in path and query, the counterpart
// of [Operation.Target]. The error names the member.
func Bind(in Input, labels map[string]string, query url.Values) error {
	var problems []Problem
	members(in, func(f reflect.Value, label, key string) {
		vals := query[key]
		if label != "" {
			key, vals = label, nil
			if s, ok := labels[label]; ok {
				vals = []string{s}
			}
		}
		if len(vals) > 0 && !setText(f, vals) {
			problems = append(problems, Problem{key, "Member must be an integer"})
		}
	})
	if problems != nil {
		return &InvalidError{Problems: problems}
	}
	return nil
}

// Escape encodes a path label or a query part.
func Escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

func labelOf(segment string) (string, bool) {
	if !strings.HasPrefix(segment, "{") {
		return "", false
	}
	return segment[1 : len(segment)-1], true
}

// members calls f for each member of in that has a label or query tag.
func members(in Input, f func(member reflect.Value, label, key string)) {
	v := reflect.ValueOf(in).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if label, key := tag.Get("label"), tag.Get("query"); label != "" || key != "" {
			f(v.Field(i), label, key)
		}
	}
}

// texts returns a member as text; nothing for an absent one.
func texts(f reflect.Value) []string {
	switch v := f.Interface().(type) {
	case *string:
		if v != nil {
			return []string{*v}
		}
	case *int32:
		if v != nil {
			return []string{strconv.Itoa(int(*v))}
		}
	case []string:
		return v
	default:
		if f.Kind() != reflect.String {
			panic(fmt.Sprintf("wire: no text form for %s", f.Type()))
		}
		if f.Len() > 0 {
			return []string{f.String()}
		}
	}
	return nil
}

// setText is the counterpart of texts. It fails on bad numbers only.
func setText(f reflect.Value, vals []string) bool {
	switch f.Interface().(type) {
	case *string:
		f.Set(reflect.ValueOf(&vals[0]))
	case *int32:
		n, err := strconv.ParseInt(vals[0], 10, 32)
		if err != nil {
			return false
		}
		f.Set(reflect.ValueOf(new(int32(n))))
	case []string:
		f.Set(reflect.ValueOf(vals))
	default:
		f.SetString(vals[0])
	}
	return true
}
