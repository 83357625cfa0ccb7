package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A field is one of an object, as it stands in the file: numbers keep their
// spelling, objects their order.
type field struct {
	key   string
	value json.RawMessage
}

// fieldsOf splits an object into its fields.
func fieldsOf(text []byte) ([]field, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	first, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if first != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	var all []field
	seen := map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		name := key.(string) // More and Token see to that
		if seen[name] {
			return nil, fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
		all = append(all, field{name, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	return all, nil
}

// take reads the fields that we know, and returns the others.
func take(all []field, known map[string]any) (rest []field, err error) {
	for _, f := range all {
		to, ok := known[f.key]
		if !ok {
			rest = append(rest, f)
			continue
		}
		if err := json.Unmarshal(f.value, to); err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
	}
	return rest, nil
}

// An entry is a field of ours to write, unless it says nothing.
type entry struct {
	key   string
	value any
	empty bool
}

// object puts our fields together, and behind them those that we don't know.
func object(ours []entry, rest []field) (json.RawMessage, error) {
	var b bytes.Buffer
	add := func(key string, value any) error {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		for i, v := range []any{key, value} {
			if i == 1 {
				b.WriteByte(':')
			}
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(v); err != nil {
				return err
			}
		}
		return nil
	}
	for _, e := range ours {
		if e.empty {
			continue
		}
		if err := add(e.key, e.value); err != nil {
			return nil, err
		}
	}
	for _, f := range rest {
		if err := add(f.key, f.value); err != nil {
			return nil, err
		}
	}
	return json.RawMessage("{" + b.String() + "}"), nil
}
