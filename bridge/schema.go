package bridge

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// A kind is what JSON Schema calls a type, with a few more that it has no word
// for.
type kind string

const (
	kindObject  kind = "object"
	kindMap     kind = "map" // an object with any names
	kindArray   kind = "array"
	kindString  kind = "string"
	kindInteger kind = "integer"
	kindNumber  kind = "number"
	kindBoolean kind = "boolean"
	kindTime    kind = "time"
	kindAny     kind = "any"
)

type direction string

const (
	input  direction = "input"
	output direction = "output"
)

// A schema is what a Go type accepts. It is made once for each tool, writes the
// JSON Schema and reads the arguments, so the two can't differ.
type schema struct {
	kind     kind
	nullable bool
	doc      string
	def      json.RawMessage // nil: none
	min, max *float64        // of the number, or of the length
	enum     []string
	fields   []field
	items    *schema // of an array or map
	failure  *schema // of a result: what it is when the call has failed
}

type field struct {
	name     string
	index    []int
	required bool
	*schema
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// schemaOf makes the schema of T. It looks up descriptions in docs and marks
// those it found in used.
func schemaOf[T any](dir direction, docs map[string]string, used map[string]bool) (*schema, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is no struct", t)
	}
	b := builder{dir: dir, docs: docs, used: used}
	s, err := b.schema(t, "")
	if err == nil && dir == output {
		s.failure, err = (&builder{dir: dir}).schema(reflect.TypeFor[failure](), "")
	}
	return s, err
}

type builder struct {
	dir  direction
	docs map[string]string
	used map[string]bool
	open []reflect.Type // the structs being described, to notice circles
}

func (b *builder) schema(t reflect.Type, path string) (*schema, error) {
	switch {
	case t == timeType:
		return &schema{kind: kindTime}, nil
	case t == rawType || t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return &schema{kind: kindAny}, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		s, err := b.schema(t.Elem(), path)
		if err == nil {
			s.nullable = true
		}
		return s, err
	case reflect.String:
		return &schema{kind: kindString}, nil
	case reflect.Bool:
		return &schema{kind: kindBoolean}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &schema{kind: kindInteger}, nil
	case reflect.Float32, reflect.Float64:
		return &schema{kind: kindNumber}, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil, fmt.Errorf("%s is bytes: use a string and say how it is encoded", path)
		}
		items, err := b.schema(t.Elem(), path)
		return &schema{kind: kindArray, items: items}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("%s is a map without strings for keys", path)
		}
		items, err := b.schema(t.Elem(), path)
		return &schema{kind: kindMap, items: items}, err
	case reflect.Struct:
		return b.object(t, path)
	}
	return nil, fmt.Errorf("%s is a %s, which JSON has no word for", path, t)
}

func (b *builder) object(t reflect.Type, path string) (*schema, error) {
	for _, o := range b.open {
		if o == t {
			return nil, fmt.Errorf("%s: %s holds itself", path, t)
		}
	}
	b.open = append(b.open, t)
	defer func() { b.open = b.open[:len(b.open)-1] }()

	s := &schema{kind: kindObject}
	for _, sf := range reflect.VisibleFields(t) {
		if !sf.IsExported() || sf.Anonymous {
			continue // what is in an anonymous one comes by itself
		}
		name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			return nil, fmt.Errorf("field %s of %s has no json name", sf.Name, t)
		}
		at := name
		if path != "" {
			at = path + "." + name
		}
		fs, err := b.schema(sf.Type, at)
		if err != nil {
			return nil, err
		}
		if err := b.tags(fs, sf, at); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		optional := strings.Contains(opts, "omitempty") || strings.Contains(opts, "omitzero")
		if b.dir == input {
			optional = optional || fs.nullable || fs.def != nil
			if fs.nullable && fs.def == nil {
				fs.def = json.RawMessage("null")
			}
		}
		s.fields = append(s.fields, field{name: name, index: sf.Index, required: !optional, schema: fs})
	}
	return s, nil
}

func (b *builder) tags(s *schema, sf reflect.StructField, at string) error {
	s.doc = sf.Tag.Get("doc")
	if doc, ok := b.docs[at]; ok {
		s.doc = doc
		b.used[at] = true
	}
	for tag, limit := range map[string]**float64{"min": &s.min, "max": &s.max} {
		text, ok := sf.Tag.Lookup(tag)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("tag %s: %w", tag, err)
		}
		*limit = &v
	}
	if enum := sf.Tag.Get("enum"); enum != "" {
		if s.kind != kindString {
			return fmt.Errorf("an enum is for strings, and this is of kind %s", s.kind)
		}
		s.enum = strings.Split(enum, ",")
	}
	def, ok := sf.Tag.Lookup("default")
	if !ok {
		return nil
	}
	s.def = json.RawMessage(def)
	if s.kind == kindString {
		s.def, _ = json.Marshal(def)
	}
	// A default that its own schema refuses would be a trap.
	v := reflect.New(sf.Type).Elem()
	tree, err := parse(s.def)
	if err != nil {
		return fmt.Errorf("default: %w", err)
	}
	d := decoder{texts: textsIn("en")}
	if d.value(s, tree, at, v); len(d.problems) > 0 {
		return fmt.Errorf("default: %s", d.problems[0].Problem)
	}
	return nil
}

// json writes the schema with fields in the order of the struct.
func (s *schema) json() json.RawMessage {
	w := &schemaWriter{}
	w.schema(s)
	return w.b
}

type schemaWriter struct{ b []byte }

func (w *schemaWriter) raw(s string) { w.b = append(w.b, s...) }

// member starts a member of the object being written.
func (w *schemaWriter) member(name string) {
	if last := w.b[len(w.b)-1]; last != '{' {
		w.raw(",")
	}
	w.value(name)
	w.raw(":")
}

func (w *schemaWriter) value(v any) {
	b, err := marshal(v)
	if err != nil {
		panic(err) // names, texts and numbers
	}
	w.b = append(w.b, b...)
}

func (w *schemaWriter) schema(s *schema) {
	w.raw("{")
	if s.failure != nil {
		w.member("type")
		w.raw(`"object"`)
		w.member("anyOf")
		w.raw("[{")
		w.body(s)
		w.raw("},")
		w.schema(s.failure)
		w.raw("]}")
		return
	}
	if s.doc != "" {
		w.member("description")
		w.value(s.doc)
	}
	if s.def != nil {
		w.member("default")
		w.value(s.def)
	}
	if s.nullable {
		w.member("anyOf")
		w.raw("[{")
		w.body(s)
		w.raw(`},{"type":"null"}]`)
	} else {
		w.body(s)
	}
	w.raw("}")
}

func (w *schemaWriter) body(s *schema) {
	switch s.kind {
	case kindAny:
		return
	case kindTime:
		w.member("type")
		w.raw(`"string","format":"date-time"`)
		return
	case kindMap:
		w.member("type")
		w.raw(`"object","additionalProperties":`)
		if s.items.kind == kindAny {
			w.raw("true")
			return
		}
		w.schema(s.items)
		return
	}
	w.member("type")
	w.value(s.kind)
	if len(s.enum) > 0 {
		w.member("enum")
		w.value(s.enum)
	}
	low, high := "minimum", "maximum"
	switch s.kind {
	case kindString:
		low, high = "minLength", "maxLength"
	case kindArray:
		low, high = "minItems", "maxItems"
	}
	if s.min != nil {
		w.member(low)
		w.value(*s.min)
	}
	if s.max != nil {
		w.member(high)
		w.value(*s.max)
	}
	switch s.kind {
	case kindArray:
		w.member("items")
		w.schema(s.items)
	case kindObject:
		w.object(s)
	}
}

func (w *schemaWriter) object(s *schema) {
	w.member("properties")
	w.raw("{")
	var required []string
	for _, f := range s.fields {
		w.member(f.name)
		w.schema(f.schema)
		if f.required {
			required = append(required, f.name)
		}
	}
	w.raw("}")
	if len(required) > 0 {
		w.member("required")
		w.value(required)
	}
	w.member("additionalProperties")
	w.raw("false")
}
