package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestClientFiles(t *testing.T) {
	r := newClientRig(t, false, nil)
	ctx := t.Context()
	info, err := r.WriteFile(ctx, Upload{Path: "d/f", Mode: 0o600, Metadata: map[string]string{"a": "b"}, Content: strings.NewReader("hello")})
	if err != nil || info.Path != r.path("d/f") || info.Size != 5 || info.Permissions != "-rw-------" || info.Metadata["a"] != "b" {
		t.Fatalf("write = %+v, %v", info, err)
	}
	if again, err := r.Stat(ctx, "d/f", ""); err != nil || again.Kind != KindFile || !again.Modified.Equal(info.Modified) {
		t.Errorf("stat = %+v, %v", again, err)
	}
	two, err := r.WriteFiles(ctx, Upload{Path: "one"}, Upload{Path: "two", Content: strings.NewReader("2")})
	if err != nil || len(two) != 2 || two[0].Size != 0 || two[1].Size != 1 {
		t.Errorf("write of two = %+v, %v", two, err)
	}
	var b bytes.Buffer
	if n, err := r.ReadFile(ctx, "d/f", "", &b); n != 5 || err != nil || b.String() != "hello" {
		t.Errorf("read = %d, %v, %q", n, err, &b)
	}
	if n, err := r.ReadFile(ctx, "one", "", io.Discard); n != 0 || err != nil {
		t.Errorf("read of nothing = %d, %v", n, err)
	}
	if _, err := r.MakeDir(ctx, "e/g", ""); err != nil {
		t.Error(err)
	}
	if _, err := r.MakeDir(ctx, "e/g", ""); CodeOf(err) != CodeExists {
		t.Errorf("second make = %v", err)
	}
	if to, err := r.Move(ctx, "two", "e/two", ""); err != nil || to.Name != "two" {
		t.Errorf("move = %+v, %v", to, err)
	}
	all, err := r.List(ctx, ".", 2, "")
	var names []string
	for _, f := range all {
		names = append(names, strings.TrimPrefix(f.Path, r.home+"/"))
	}
	if got, want := strings.Join(names, " "), "d d/f e e/g e/two one"; got != want || err != nil {
		t.Errorf("list = %q, %v; want %q", got, err, want)
	}
	if err := r.Remove(ctx, "e", false, ""); CodeOf(err) != CodeState {
		t.Errorf("remove of a full directory = %v", err)
	}
	if err := r.Remove(ctx, "e", true, ""); err != nil {
		t.Error(err)
	}
	if _, err := r.ReadFile(ctx, "e", "", io.Discard); CodeOf(err) != CodeNotFound {
		t.Errorf("read of what is gone = %v", err)
	}
	if _, err := r.ReadFile(ctx, "d", "", io.Discard); CodeOf(err) != CodeInvalid {
		t.Errorf("read of a directory = %v", err)
	}
	mine := errors.New("mine")
	if _, err := r.WriteFile(ctx, Upload{Path: "bad", Content: failing{mine}}); err != mine {
		t.Errorf("write of a failing reader = %v", err)
	}
	if _, err := os.Stat(r.path("bad")); err == nil {
		t.Error("a file that failed to be read is there")
	}
	if _, err := r.ReadFile(ctx, "d/f", "", failing{mine}); err != mine {
		t.Errorf("read into a failing writer = %v", err)
	}
}

// TestClientListTooLong is told that a directory is too big, and not that it
// might not be the next time.
func TestClientListTooLong(t *testing.T) {
	r := newClientRig(t, false, nil)
	if err := os.Mkdir(r.path("d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range maxEntries + 1 {
		if err := os.Symlink("x", r.path(fmt.Sprintf("d/%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.List(t.Context(), "d", 1, "")
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeTooBig || e.Retryable || r.proxy.count("ListDir") != 1 {
		t.Errorf("list = %v after %d calls, want too big after 1", err, r.proxy.count("ListDir"))
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestClientFileCuts moves files over connections that are cut.
func TestClientFileCuts(t *testing.T) {
	r := newClientRig(t, false, nil)
	want := make([]byte, 5<<20+123)
	rand.Read(want)
	var seen, cuts atomic.Int64
	r.proxy.set(func(method string, w http.ResponseWriter) http.ResponseWriter {
		switch method {
		case "Write":
			if cuts.Add(1) < maxBarren {
				panic(http.ErrAbortHandler)
			}
		case "Read":
			if n := cuts.Add(1); n < 8 {
				return &cutter{w, 600_000 * int(n), past(&seen)}
			}
		}
		return w
	})
	if _, err := r.WriteFile(t.Context(), Upload{Path: "f", Content: bytes.NewReader(want)}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(r.path("f")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("what was written differs, %v", err)
	}
	cuts.Store(0)
	var got bytes.Buffer
	n, err := r.ReadFile(t.Context(), "f", "", writerFunc(func(b []byte) (int, error) {
		seen.Add(int64(len(b)))
		return got.Write(b)
	}))
	if err != nil || n != int64(len(want)) || !bytes.Equal(got.Bytes(), want) || cuts.Load() != 8 {
		t.Errorf("read %d of %d bytes over %d connections, %v", n, len(want), cuts.Load(), err)
	}
	cuts.Store(0)
	if _, err := r.WriteFile(t.Context(), Upload{Path: "f", Content: io.MultiReader(bytes.NewReader(want))}); CodeOf(err) != CodeAway {
		t.Errorf("write of what can't be rewound, cut = %v", err)
	}
}

func TestClientFileChanged(t *testing.T) {
	r := newClientRig(t, false, nil)
	if err := os.WriteFile(r.path("f"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	r.proxy.set(func(method string, w http.ResponseWriter) http.ResponseWriter {
		if method == "Read" {
			return &cutter{w, 600_000, nil}
		}
		return w
	})
	_, err := r.ReadFile(t.Context(), "f", "", writerFunc(func(b []byte) (int, error) {
		os.WriteFile(r.path("g"), []byte("other"), 0o644)
		return len(b), os.Rename(r.path("g"), r.path("f"))
	}))
	if CodeOf(err) != CodeState {
		t.Errorf("read of a file that changed = %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestClientWatch(t *testing.T) {
	r := newClientRig(t, false, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var kinds []ChangeKind
	err := r.Watch(ctx, ".", true, false, "", func(c FileChange) error {
		kinds = append(kinds, c.Kind)
		switch len(kinds) {
		case 1:
			return os.WriteFile(r.path("a"), nil, 0o644)
		case 2:
			r.proxy.cut()
		case 3:
			return os.WriteFile(r.path("b"), nil, 0o644)
		case 4:
			if c.Name != "b" || c.Info == nil || c.Info.Kind != KindFile {
				t.Errorf("change = %+v", c)
			}
			cancel()
		}
		return nil
	})
	if CodeOf(err) != CodeCanceled {
		t.Errorf("watch ended with %v", err)
	}
	want := []ChangeKind{ChangeStarted, ChangeCreate, ChangeUnknown, ChangeCreate}
	if len(kinds) < 4 || !slices.Equal(kinds[:4], want) {
		t.Errorf("changes = %v, want %v", kinds, want)
	}
}
