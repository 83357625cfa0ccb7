package hostconf

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
	"github.com/arenero/arenero/app/internal/paths"
)

// A memory is what we wrote into an entry, for telling later what became of
// it. hostfile's journal knows that we wrote; this knows what.
type memory struct {
	Fields  map[string]any `json:"fields"`
	Before  map[string]any `json:"before,omitempty"`  // while a write is under way: either may be there
	Others  []string       `json:"others"`            // names beside it then
	Created bool           `json:"created,omitempty"` // the file was made for it
}

// memories keeps one file for each entry, and keeps it when the entry is
// removed, as that may be undone.
type memories struct {
	dir   string
	store *hostfile.Store // has the lock that whoever writes them holds
}

// writing is the name of that lock.
const writing = "entries"

// recover removes what a write that was killed left, unless somebody writes.
func (m memories) recover() error {
	return m.store.TryAlone(writing, func() error {
		return atomicfile.Sweep(m.dir, func(name string) bool { return filepath.Ext(name) == ".json" })
	})
}

func (m memories) path(file string, p edit.Place) string {
	key, err := json.Marshal([]any{file, p})
	if err != nil { // of strings only
		panic(err)
	}
	sum := sha256.Sum256(key)
	return filepath.Join(m.dir, hex.EncodeToString(sum[:16])+".json")
}

// get returns nil if there is none that can be read.
func (m memories) get(file string, p edit.Place) *memory {
	raw, err := os.ReadFile(m.path(file, p))
	if err != nil {
		return nil
	}
	var out memory
	if json.Unmarshal(raw, &out) != nil || out.Fields == nil {
		return nil
	}
	return &out
}

func (m memories) put(ctx context.Context, file string, p edit.Place, what memory) error {
	if err := paths.Private(m.dir); err != nil {
		return err
	}
	raw, err := json.Marshal(what)
	if err != nil {
		return err
	}
	err = m.store.Alone(ctx, writing, func() error { return atomicfile.WriteSync(m.path(file, p), raw, 0o600) })
	if err != nil {
		return fmt.Errorf("remember what was written: %w", err)
	}
	return nil
}

// hasMore reports whether an entry has fields that we did not write, which may
// be of somebody who had it before us.
func (m *memory) hasMore(value any) bool {
	fields, ok := plain(value).(map[string]any)
	if m == nil || !ok {
		return true
	}
	for key := range fields {
		if _, ours := m.Fields[key]; !ours {
			return true
		}
	}
	return false
}

// texts are those that we wrote.
func (m *memory) texts() []string {
	if m == nil {
		return nil
	}
	return textsIn(m.Fields)
}

// plain turns fields into what a JSON parser makes of them, to compare with.
func plain(v any) any {
	switch v := v.(type) {
	case edit.Object:
		m := map[string]any{}
		for _, f := range v {
			m[f.Key] = plain(f.Value)
		}
		return m
	case map[string]any:
		m := map[string]any{}
		for k, f := range v {
			m[k] = plain(f)
		}
		return m
	case []string:
		l := make([]any, len(v))
		for i, s := range v {
			l[i] = s
		}
		return l
	case []any:
		l := make([]any, len(v))
		for i, s := range v {
			l[i] = plain(s)
		}
		return l
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	return v
}

// differing returns the names of the fields that are not as they were written.
func differing(written map[string]any, found any) []string {
	m, ok := plain(found).(map[string]any)
	var out []string
	for key, value := range written {
		if !ok || !reflect.DeepEqual(plain(value), m[key]) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
