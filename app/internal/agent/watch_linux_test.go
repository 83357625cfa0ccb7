package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

type watchStream = grpc.ServerStreamingClient[agentpb.WatchDirResponse]

func (r *fileRig) watch(t *testing.T, path string, recursive bool) watchStream {
	t.Helper()
	s, err := r.WatchDir(t.Context(), &agentpb.WatchDirRequest{Path: path, Recursive: recursive, IncludeEntry: true})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Recv()
	if err != nil || res.GetStarted() == nil {
		t.Fatalf("first message = %v, %v; want started", res, err)
	}
	return s
}

// until reads events up to the creation of name, which the test makes last.
func until(t *testing.T, s watchStream, name string) []string {
	t.Helper()
	var got []string
	for {
		res, err := s.Recv()
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		ev := res.GetFilesystem()
		if ev == nil {
			continue
		}
		if ev.Name == name {
			return got
		}
		text := strings.TrimPrefix(ev.Type.String(), "FILESYSTEM_EVENT_TYPE_") + " " + ev.Name
		if !slices.Contains(got, text) || !strings.HasPrefix(text, "WRITE") { // plain writes may be told in parts
			got = append(got, text)
		}
	}
}

func TestWatch(t *testing.T) {
	r := newFileRig(t, "tcp")
	outside := t.TempDir()
	put := func(name, content string) {
		if _, err := r.write(t.Context(), file(name, content)); err != nil {
			t.Error(err)
		}
	}
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	put("old", "x")
	put("sub/inner", "x")
	put("gone", "x")
	tests := []struct {
		name      string
		recursive bool
		do        func()
		want      []string
	}{
		{"a new file", false, func() { put("new", "1") }, []string{"CREATE new"}},
		{"a replaced file", false, func() { put("old", "2"); put("new", "2") }, []string{"WRITE old", "WRITE new"}},
		{"a plain write", false, func() { must(os.WriteFile(r.path("old"), []byte("abc"), 0o644)) }, []string{"WRITE old"}},
		{"a plain new file", false, func() { must(os.WriteFile(r.path("plain"), []byte("abc"), 0o644)) }, []string{"CREATE plain", "WRITE plain"}},
		{"chmod", false, func() { must(os.Chmod(r.path("old"), 0o600)) }, []string{"CHMOD old"}},
		{"remove", false, func() { must(os.Remove(r.path("gone"))) }, []string{"REMOVE gone"}},
		{"rename", false, func() { must(os.Rename(r.path("old"), r.path("older"))) }, []string{"RENAME old", "CREATE older"}},
		{"below, not recursive", false, func() { put("sub/x", "1") }, nil},
		{"below, recursive", true, func() { put("sub/y", "1"); put("sub/y", "2") }, []string{"CREATE sub/y", "WRITE sub/y"}},
		{"a new tree", true, func() { put("t/a/b", "1") }, []string{"CREATE t", "CREATE t/a", "CREATE t/a/b"}},
		{"a tree moved", true, func() {
			must(os.Rename(r.path("t"), r.path("u")))
			put("u/a/c", "1")
		}, []string{"RENAME t", "CREATE u", "CREATE u/a/c"}},
		{"a tree moved out", true, func() {
			must(os.Rename(r.path("u"), filepath.Join(outside, "u")))
			must(os.WriteFile(filepath.Join(outside, "u/a/d"), nil, 0o644))
		}, []string{"RENAME u"}},
		{"a name like a nameless file's", false, func() { must(os.WriteFile(r.path("#12"), []byte("x"), 0o644)) }, []string{"CREATE #12", "WRITE #12"}},
		{"a name that is no text", false, func() { must(os.WriteFile(r.path("\xff"), nil, 0o644)) }, []string{"CREATE \U0010FFFF"}},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := r.watch(t, ".", tt.recursive)
			tt.do()
			last := fmt.Sprint("last", i)
			put(last, "")
			got := until(t, s, last)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWatchEntry(t *testing.T) {
	r := newFileRig(t, "tcp")
	s := r.watch(t, ".", true)
	if _, err := r.write(t.Context(), file("d/f", "123")); err != nil {
		t.Fatal(err)
	}
	for {
		res, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		ev := res.GetFilesystem()
		if ev.GetName() == "d/f" {
			if ev.Entry.GetPath() != r.path("d/f") || ev.Entry.GetSize() != 3 {
				t.Errorf("entry = %v", ev.Entry)
			}
			return
		}
	}
}

func TestWatchEnds(t *testing.T) {
	r := newFileRig(t, "tcp")
	for _, name := range []string{"removed", "moved"} {
		if err := os.Mkdir(r.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		do   func() error
	}{
		{"removed", func() error { return os.Remove(r.path("removed")) }},
		{"moved", func() error { return os.Rename(r.path("moved"), r.path("away")) }},
	}
	for _, tt := range tests {
		s := r.watch(t, tt.name, false)
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		var err error
		for err == nil {
			_, err = s.Recv()
		}
		if status.Code(err) != codes.NotFound {
			t.Errorf("watch of a directory that was %s ended with %v", tt.name, err)
		}
	}
}

func TestWatchLimit(t *testing.T) {
	r := newFileRig(t, "tcp")
	var streams []watchStream
	for range maxWatches {
		streams = append(streams, r.watch(t, ".", false))
	}
	s, err := r.WatchDir(t.Context(), &agentpb.WatchDirRequest{Path: "."})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("watch %d: %v, want ResourceExhausted", len(streams)+1, err)
	}
}

// TestWatchOverflow makes changes that nobody takes.
func TestWatchOverflow(t *testing.T) {
	r := newFileRig(t, "tcp")
	s := r.watch(t, ".", false)
	long := strings.Repeat("n", 200)
	for _, x := range "ab" {
		if err := os.WriteFile(r.path(long+string(x)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20_000 { // more than the queue and all buffers on the way hold
		if err := os.Chmod(r.path(long+string("ab"[i%2])), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	for err == nil {
		_, err = s.Recv()
	}
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("watch ended with %v, want ResourceExhausted", err)
	}
}

func TestWatchKeepalive(t *testing.T) {
	r := newFileRig(t, "tcp")
	clock := clockwork.NewFakeClock()
	r.fs.clock = clock
	s := r.watch(t, ".", false)
	if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(50 * time.Second)
	res, err := s.Recv()
	if err != nil || res.GetKeepalive() == nil {
		t.Errorf("after 50 quiet seconds: %v, %v; want a keepalive", res, err)
	}
}
