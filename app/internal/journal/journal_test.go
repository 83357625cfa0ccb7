package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/journal"
)

func open(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func put(t *testing.T, j *journal.Journal, kind, key, value string) {
	t.Helper()
	if err := j.Put(kind, key, []byte(value), true); err != nil {
		t.Fatal(err)
	}
}

// all is what j keeps, as text.
func all(j *journal.Journal, kind string) string {
	got := map[string]string{}
	for k, v := range j.All(kind) {
		got[k] = string(v)
	}
	return fmt.Sprint(got)
}

// TestRead looks at a journal that another holds and that has a line cut short:
// the file stays as it is.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := open(t, path)
	put(t, j, "a", "1", `"x"`)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, `{"kind":"a","ke`...), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := all(r, "a"), `map[1:"x"]`; got != want {
		t.Errorf("records = %s, want %s", got, want)
	}
	if err := r.Put("a", "2", []byte(`1`), false); err == nil {
		t.Error("a journal that is only read was added to")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) || after.Size() != before.Size() {
		t.Errorf("the file has changed: %v", err)
	}
}

// TestKept reads records back with no orderly end in between.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := open(t, path)
	put(t, j, "box", "a", `{"n":1}`)
	put(t, j, "box", "b", `{"n":2}`)
	put(t, j, "run", "a", `{"n":3}`)
	put(t, j, "box", "a", `{"n":4}`)
	if err := j.Delete("box", "b"); err != nil {
		t.Fatal(err)
	}
	j = open(t, path)
	if got, want := all(j, "box"), `map[a:{"n":4}]`; got != want {
		t.Errorf("boxes %s, want %s", got, want)
	}
	if got, want := all(j, "run"), `map[a:{"n":3}]`; got != want {
		t.Errorf("runs %s, want %s", got, want)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestDamage(t *testing.T) {
	const good = `{"kind":"box","key":"a","value":{"n":1}}` + "\n"
	tests := []struct {
		name, text string
		want       string // "" is an error
	}{
		{"empty", "", "map[]"},
		{"whole", good, `map[a:{"n":1}]`},
		{"cut short", good + `{"kind":"box","key":"b","val`, `map[a:{"n":1}]`},
		{"cut short before the line ends", good + strings.TrimSuffix(good, "\n"), `map[a:{"n":1}]`},
		{"rubbish in the middle", good + "rubbish\n" + good, ""},
		{"no key", `{"kind":"box"}` + "\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "j")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			j, err := journal.Open(path)
			if err != nil {
				if tt.want != "" {
					t.Error(err)
				}
				return
			}
			defer j.Close()
			if got := all(j, "box"); got != tt.want {
				t.Errorf("boxes %s, want %q", got, tt.want)
			}
			put(t, j, "box", "z", `9`)
			j.Close()
			if got := all(open(t, path), "box"); !strings.Contains(got, "z:9") {
				t.Errorf("after one more: %s", got)
			}
		})
	}
}

// TestShrinks changes one record for ever: the file does not grow for ever.
func TestShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := open(t, path)
	for i := range 10_000 {
		if err := j.Put("box", "a", fmt.Appendf(nil, `%d`, i), false); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 200_000 {
		t.Errorf("%d bytes for one record", info.Size())
	}
	if got, want := all(open(t, path), "box"), "map[a:9999]"; got != want {
		t.Errorf("boxes %s, want %s", got, want)
	}
}

func TestClosed(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "j"))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Put("box", "a", []byte("1"), false); err == nil {
		t.Error("a closed journal takes records")
	}
}
