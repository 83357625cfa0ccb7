package hostconf_test

import (
	"encoding/json"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v4"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// document reads a whole file with parsers that ours is not made of, where that
// can be: comments are beyond the one for JSON, so fixtures that have some are
// read by ours.
func document(t *testing.T, g edit.Grammar, body string) any {
	t.Helper()
	var doc any
	var err error
	switch g {
	case edit.TOML:
		err = toml.Unmarshal([]byte(body), &doc)
	case edit.YAML:
		err = yaml.Unmarshal([]byte(body), &doc)
	default:
		err = json.Unmarshal([]byte(body), &doc)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	return plain(t, doc)
}

// plain is a value with the types that a JSON parser gives.
func plain(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// entryOf finds an entry by the host's key, as the host does.
func entryOf(t *testing.T, h hostconf.Host, body, name string) any {
	t.Helper()
	at := document(t, h.Grammar, body)
	for _, key := range h.Key {
		m, ok := at.(map[string]any)
		if !ok {
			t.Fatalf("there is no %s in\n%s", key, body)
		}
		at = m[key]
	}
	if list, ok := at.([]any); ok {
		for _, item := range list {
			if m, ok := item.(map[string]any); ok && m["name"] == name {
				return m
			}
		}
		t.Fatalf("there is no entry %s in\n%s", name, body)
	}
	m, ok := at.(map[string]any)
	if !ok || m[name] == nil {
		t.Fatalf("there is no entry %s in\n%s", name, body)
	}
	return m[name]
}
