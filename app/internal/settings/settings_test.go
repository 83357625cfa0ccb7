package settings_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/settings"
)

func TestRoundTrip(t *testing.T) {
	f := settings.Open(filepath.Join(t.TempDir(), "config"))
	if s, err := f.Read(); err != nil || len(s.Connections) > 0 {
		t.Fatalf("with no file: %+v, %v", s, err)
	}
	want := settings.Connection{
		ID: "c_a", Host: "cursor", Scope: "user", File: "/home/ü/<&>.json", Name: "arenero", Profile: "local",
		Toolsets: []string{"core"}, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	change(t, f, func(s *settings.Settings) {
		s.Language, s.DefaultProfile = "es", "local"
		s.Put(want)
		s.Put(settings.Connection{ID: "c_b", Host: "code", Name: "two"})
	})
	s, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Find("c_a"); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
	if s.Language != "es" || s.DefaultProfile != "local" || len(s.Connections) != 2 {
		t.Errorf("settings = %+v", s)
	}
	change(t, f, func(s *settings.Settings) { s.Drop("c_a") })
	if s, err = f.Read(); err != nil || len(s.Connections) != 1 || s.Connections[0].ID != "c_b" {
		t.Errorf("after a drop: %+v, %v", s, err)
	}
	if len(s.Former) != 1 || !reflect.DeepEqual(s.Former[0], want) {
		t.Errorf("former: %+v, want %+v", s.Former, want)
	}
	change(t, f, func(s *settings.Settings) {
		s.Put(want)
		for i := range 60 {
			s.Put(settings.Connection{ID: fmt.Sprint(i)})
			s.Drop(fmt.Sprint(i))
		}
	})
	if s, err = f.Read(); err != nil || len(s.Connections) != 2 || len(s.Former) != 50 || s.Former[0].ID != "59" {
		t.Errorf("after many: %+v, %v", s, err)
	}
	info, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode = %o", got)
	}
}

func TestUnknownKeysStay(t *testing.T) {
	f := file(t, `{"future": {"z": 1.50, "a": 12345678901234567890}, "language": "en", "connections": [{"id": "c_a", "new": [1e2], "host": "zed"}], "shade": "<dark>"}`)
	change(t, f, func(s *settings.Settings) {
		s.Language = "es"
		s.Put(settings.Connection{ID: "c_a", Host: "zed", Name: "arenero"}) // as one that knows nothing of "new" has it
	})
	text, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "language": "es",
  "connections": [
    {
      "id": "c_a",
      "host": "zed",
      "name": "arenero",
      "new": [
        1e2
      ]
    }
  ],
  "future": {
    "z": 1.50,
    "a": 12345678901234567890
  },
  "shade": "<dark>"
}
`
	if string(text) != want {
		t.Errorf("file:\n%s\nwant:\n%s", text, want)
	}
}

func TestDamaged(t *testing.T) {
	for _, text := range []string{`[]`, `{`, `{"language": 1}`, `{"connections": {}}`, `{"connections": [1]}`, `{"a":1,"a":2}`, `{} {}`, `nonsense`} {
		f := file(t, text)
		if s, err := f.Read(); err == nil || !strings.Contains(err.Error(), f.Path()) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
		if err := f.Change(t.Context(), func(s *settings.Settings) error { s.Language = "es"; return nil }); err == nil {
			t.Errorf("%s: was changed", text)
		}
		if got, _ := os.ReadFile(f.Path()); string(got) != text {
			t.Errorf("%s: is %s now", text, got)
		}
	}
	if s, err := file(t, " \n").Read(); err != nil {
		t.Errorf("empty: %+v, %v", s, err)
	}
}

func TestNothingIsWrittenForNothing(t *testing.T) {
	f := file(t, "")
	change(t, f, func(s *settings.Settings) { s.Language = "en" })
	before, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	change(t, f, func(s *settings.Settings) { s.Language = "en" })
	if err := f.Change(t.Context(), func(s *settings.Settings) error { s.Language = "es"; return errors.New("no") }); err == nil {
		t.Error("an edit that fails is no error")
	}
	after, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the file was replaced")
	}
}

// TestAtOnce has many change the file, each of which must see all others' changes.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			err := settings.Open(dir).Change(t.Context(), func(s *settings.Settings) error {
				s.Put(settings.Connection{ID: fmt.Sprintf("c_%d", i)})
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if s, err := settings.Open(dir).Read(); err != nil || len(s.Connections) != 40 {
		t.Errorf("%d connections, %v", len(s.Connections), err)
	}
}

func TestLockIsWaitedForAsLongAsTheContext(t *testing.T) {
	f := settings.Open(t.TempDir())
	err := f.Change(t.Context(), func(*settings.Settings) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return f.Change(ctx, func(*settings.Settings) error { return nil })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("while another changes it: %v", err)
	}
}

// TestRecover removes what a killed write left, and nothing while somebody writes.
func TestRecover(t *testing.T) {
	f := file(t, `{"language": "es"}`)
	left := filepath.Join(filepath.Dir(f.Path()), ".settings.json.tmp-123")
	if err := os.WriteFile(left, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := f.Change(t.Context(), func(*settings.Settings) error {
		err := f.Recover()
		if _, gone := os.Stat(left); gone != nil {
			t.Errorf("while another writes: %v", gone)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the next write left it: %v", err)
	}
	if err := os.WriteFile(left, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Recover(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is left: %v", err)
	}
	if s, err := f.Read(); err != nil || s.Language != "es" {
		t.Errorf("settings: %+v, %v", s, err)
	}
	none := filepath.Join(t.TempDir(), "none")
	if err := settings.Open(none).Recover(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("a folder was made: %v", err)
	}
}

func file(t *testing.T, text string) *settings.File {
	t.Helper()
	f := settings.Open(t.TempDir())
	if err := os.WriteFile(f.Path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

func change(t *testing.T, f *settings.File, edit func(*settings.Settings)) {
	t.Helper()
	if err := f.Change(t.Context(), func(s *settings.Settings) error { edit(s); return nil }); err != nil {
		t.Fatal(err)
	}
}
