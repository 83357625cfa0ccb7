// Package edit changes one entry of a configuration file and leaves every
// other byte as it is.
//
// Such a file belongs to another program and to the user, so nothing here
// builds a document out of values: an edit is a few patches of the bytes that
// are there, and what comes out is read again and compared before it is
// returned. The package knows no files and no programs.
package edit

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// A Grammar is what the program that owns a file takes.
type Grammar string

// The grammars.
const (
	JSON          Grammar = "json"           // RFC 8259
	JSONC         Grammar = "jsonc"          // and comments
	JSONCTrailing Grammar = "jsonc-trailing" // and commas at the end
	TOML          Grammar = "toml"
	YAML          Grammar = "yaml"
)

// A Place says where in a document an entry is, or would be.
type Place struct {
	Keys []string // to the map or list of entries; none if that is the document
	Name string   // of the entry
	List string   // "" for a map; else entries are items of a list, and this is the field with their name
}

// An Object is the fields of an entry in order.
type Object []Member

// A Member is one field. Its value is a string, bool, int, []string or Object.
type Member struct {
	Key   string
	Value any
}

// An Edit is what [Set] would do.
type Edit struct {
	Patches Patches
	Made    []byte // what [Delete] needs to restore the bytes from before; JSON text
}

// A Found is an entry that is there.
type Found struct {
	Start, End int64  // of the member with its key, in the document
	Value      any    // nil, bool, int64, float64, string, []any or map[string]any
	Text       string // the bytes from Start to End
}

// An editor does the work for one grammar. Its documents are UTF-8 as far as
// can be told at a glance and come without a byte order mark.
type editor interface {
	set(doc []byte, p Place, value Object, drop []string) (Edit, error)
	remove(doc []byte, p Place, made []byte) (Patches, error)
	find(doc []byte, p Place) (*Found, error)
	names(doc []byte, p Place) ([]string, error)
	check(doc []byte) error
}

// editors has one line for each grammar.
var editors = map[Grammar]editor{
	JSON:          jsonEditor{},
	JSONC:         jsonEditor{comments: true},
	JSONCTrailing: jsonEditor{comments: true, trailing: true},
	TOML:          tomlEditor{},
	YAML:          yamlEditor{},
}

// Set inserts the entry, or updates it in place: the fields of value are set,
// those named in drop are deleted, and the user's other fields and comments
// stay. A field that is an Object itself is set as a whole. If nothing is to change there are no patches. The result has been
// parsed again, and all but the entry is proven to be equal.
//
// Made is nil unless Set inserted the entry: an update keeps the one of old.
func Set(doc []byte, g Grammar, p Place, value Object, drop ...string) (Edit, error) {
	if err := p.validate(); err != nil {
		return Edit{}, err
	}
	if err := value.validate(drop); err != nil {
		return Edit{}, err
	}
	ed, body, err := open(doc, g)
	if err != nil {
		return Edit{}, err
	}
	e, err := ed.set(body, p, value, drop)
	if err != nil {
		return Edit{}, err
	}
	e.Patches = e.Patches.shift(len(doc) - len(body))
	return e, nil
}

// Delete removes the entry; if it is not there, there are no patches. made is
// what the Set that inserted it returned, or nil if that is not known.
//
// With made, and nothing else changed since, Delete restores the bytes from
// before that Set. Containers go only if Set made them and they are empty now.
// Without made, exactly one member and its separator go, and an empty container
// stays.
func Delete(doc []byte, g Grammar, p Place, made []byte) (Patches, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	ed, body, err := open(doc, g)
	if err != nil {
		return nil, err
	}
	ps, err := ed.remove(body, p, made)
	if err != nil {
		return nil, err
	}
	return ps.shift(len(doc) - len(body)), nil
}

// Get returns the entry, or nil if it is not there.
func Get(doc []byte, g Grammar, p Place) (*Found, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	ed, body, err := open(doc, g)
	if err != nil {
		return nil, err
	}
	f, err := ed.find(body, p)
	if err != nil || f == nil {
		return nil, err
	}
	skipped := int64(len(doc) - len(body))
	f.Start += skipped
	f.End += skipped
	return f, nil
}

// List returns the names of all entries beside which p is, in their order. p
// needs no name.
func List(doc []byte, g Grammar, p Place) ([]string, error) {
	ed, body, err := open(doc, g)
	if err != nil {
		return nil, err
	}
	return ed.names(body, p)
}

// Check parses the whole document.
func Check(doc []byte, g Grammar) error {
	ed, body, err := open(doc, g)
	if err != nil {
		return err
	}
	return ed.check(body)
}

// mark is the byte order mark of UTF-8.
const mark = "\xef\xbb\xbf"

// HasMark reports whether doc begins with a byte order mark. Edits keep it,
// but not every program reads a file that has one.
func HasMark(doc []byte) bool { return bytes.HasPrefix(doc, []byte(mark)) }

// open returns the editor for g and the document without its byte order mark.
func open(doc []byte, g Grammar) (editor, []byte, error) {
	ed, ok := editors[g]
	if !ok {
		return nil, nil, fmt.Errorf("no editor for the grammar %q", g)
	}
	if isUTF16(doc) {
		return nil, nil, &RefusedError{Reason: UTF16, Line: 1, Column: 1, Msg: "the file is UTF-16, not UTF-8: save it as UTF-8 first"}
	}
	return ed, bytes.TrimPrefix(doc, []byte(mark)), nil
}

// isUTF16 goes by the mark, or without one by a first character that has a zero
// byte beside it: no text in UTF-8 has that.
func isUTF16(doc []byte) bool {
	if len(doc) < 2 {
		return false
	}
	a, b := doc[0], doc[1]
	return a == 0xff && b == 0xfe || a == 0xfe && b == 0xff || (a == 0) != (b == 0)
}

// validate finds what no file can have put right.
func (p Place) validate() error {
	if p.Name == "" {
		return fmt.Errorf("the entry has no name")
	}
	for _, s := range append([]string{p.Name, p.List}, p.Keys...) {
		if !utf8.ValidString(s) {
			return &RefusedError{Reason: UTF8, Msg: fmt.Sprintf("the name %q is not UTF-8", s)}
		}
	}
	return nil
}

// validate finds values that no grammar could take.
func (o Object) validate(drop []string) error {
	seen := make(map[string]bool, len(o)+len(drop))
	for _, key := range drop {
		seen[key] = true
	}
	for _, m := range o {
		if seen[m.Key] {
			return fmt.Errorf("the field %q is there twice", m.Key)
		}
		seen[m.Key] = true
		if err := validate(m); err != nil {
			return err
		}
	}
	return nil
}

func validate(m Member) error {
	texts := []string{m.Key}
	switch v := m.Value.(type) {
	case string:
		texts = append(texts, v)
	case []string:
		texts = append(texts, v...)
	case Object:
		if err := v.validate(nil); err != nil {
			return err
		}
	case bool, int:
	default:
		return fmt.Errorf("the field %q is a %T", m.Key, m.Value)
	}
	for _, s := range texts {
		if !utf8.ValidString(s) { // the value may be a secret
			return &RefusedError{Reason: UTF8, Msg: fmt.Sprintf("the field %q is not UTF-8", m.Key)}
		}
	}
	return nil
}
