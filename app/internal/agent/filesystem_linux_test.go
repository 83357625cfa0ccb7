package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

func TestFilesWriteRead(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s named=%v", network, named), func(t *testing.T) {
				r := newFileRig(t, network)
				r.fs.named.Store(named)
				big := bytes.Repeat([]byte("0123456789abcdef"), (2*readChunk+17*16)/16)
				res, err := r.write(t.Context(),
					file("a/b/big", string(big[:1<<18])), &agentpb.WriteRequest{Chunk: big[1<<18:]},
					&agentpb.WriteRequest{Path: proto.String("run.sh"), Mode: proto.Uint32(0o104755), Chunk: []byte("#!")},
					file("empty", ""))
				if err != nil {
					t.Fatal(err)
				}
				if len(res.Entries) != 3 {
					t.Fatalf("entries = %v, want 3", res.Entries)
				}
				for i, want := range []string{"-rw-r--r-- a/b/big", "-rwsr-xr-x run.sh", "-rw-r--r-- empty"} {
					e := res.Entries[i]
					rel, _ := filepath.Rel(r.home, e.Path)
					if got := e.Permissions + " " + rel; got != want {
						t.Errorf("entry %d = %q, want %q", i, got, want)
					}
				}
				sizes, got, err := r.read(t.Context(), "a/b/big")
				if err != nil {
					t.Fatal(err)
				}
				if want := fmt.Sprint([]int{readChunk, readChunk, 17 * 16}); fmt.Sprint(sizes) != want {
					t.Errorf("chunks = %v, want %v", sizes, want)
				}
				if sha256.Sum256(got) != sha256.Sum256(big) {
					t.Error("what was read is not what was written")
				}
				if sizes, _, err := r.read(t.Context(), "empty"); err != nil || len(sizes) != 0 {
					t.Errorf("read of an empty file = %v messages, %v; want none", sizes, err)
				}
				if _, err := r.write(t.Context(), file("empty", "now more")); err != nil {
					t.Fatal(err)
				}
				if _, got, _ := r.read(t.Context(), "empty"); string(got) != "now more" {
					t.Errorf("replaced file = %q", got)
				}
				if left := r.leftovers(t); left != nil {
					t.Errorf("temp files left: %q", left)
				}
			})
		}
	}
}

// TestFilesStatus asks for everything that is refused.
func TestFilesStatus(t *testing.T) {
	r := newFileRig(t, "tcp")
	ctx := t.Context()
	if _, err := r.write(ctx, file("f", "x"), file("d/inner", "x"), file("empty/x", "")); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"link": "f", "dlink": "d", "loop": "loop", "out": "/etc", "passwd": "/etc/passwd",
		"root": "/", "jump": "/proc/self/root/etc", "sock": "/proc/self/fd/0", "dangling": "nowhere/x",
	} {
		if err := os.Symlink(to, r.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(r.path("fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(r.path("closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path("secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stat := func(p string) error { _, err := r.Stat(ctx, &agentpb.StatRequest{Path: p}); return err }
	read := func(p string) error { _, _, err := r.read(ctx, p); return err }
	list := func(p string) error { _, err := r.ListDir(ctx, &agentpb.ListDirRequest{Path: p}); return err }
	mkdir := func(p string) error { _, err := r.MakeDir(ctx, &agentpb.MakeDirRequest{Path: p}); return err }
	write := func(p string) error { _, err := r.write(ctx, file(p, "x")); return err }
	move := func(from, to string) error {
		_, err := r.Move(ctx, &agentpb.MoveRequest{Source: from, Destination: to})
		return err
	}
	remove := func(p string, all bool) error {
		_, err := r.Remove(ctx, &agentpb.RemoveRequest{Path: p, Recursive: all})
		return err
	}
	watch := func(p string) error {
		s, err := r.WatchDir(ctx, &agentpb.WatchDirRequest{Path: p})
		if err == nil {
			_, err = s.Recv()
		}
		return err
	}
	send := func(reqs ...*agentpb.WriteRequest) error { _, err := r.write(ctx, reqs...); return err }
	long := strings.Repeat("n", 300)
	const (
		invalid = codes.InvalidArgument
		denied  = codes.PermissionDenied
		absent  = codes.NotFound
		state   = codes.FailedPrecondition
	)
	tests := []struct {
		name string
		got  error
		want codes.Code
	}{
		{"empty path", stat(""), invalid},
		{"NUL", stat("a\x00b"), invalid},
		{"dot dot", stat("a/../b"), invalid},
		{"dot dot that stays inside", write(r.home + "/x/.."), invalid},
		{"two dots in a name", stat("a..b"), absent},
		{"long name", stat(long), invalid},
		{"unknown user", func() error {
			_, err := r.Stat(ctx, &agentpb.StatRequest{Path: "f", User: &agentpb.User{Username: "nobody-here"}})
			return err
		}(), invalid},
		{"known user", func() error {
			_, err := r.Stat(ctx, &agentpb.StatRequest{Path: "f", User: &agentpb.User{Username: "user"}})
			return err
		}(), codes.OK},

		{"stat etc", stat("/etc/passwd"), denied},
		{"stat proc", stat("/proc/self/environ"), denied},
		{"stat what is not in etc", stat("/etc/nothing"), denied},
		{"stat usr by another name", stat("/bin/ls"), denied},
		{"stat the agent", stat(exe), denied},
		{"write the agent", write(exe), denied},
		{"stat through a link", stat("out/passwd"), denied},
		{"stat a link that leads out", stat("passwd"), codes.OK},
		{"stat through the root", stat("root/etc/passwd"), denied},
		{"stat through a jump in proc", stat("jump/passwd"), invalid},
		{"read a jump in proc", read("sock"), invalid},
		{"list a jump in proc", list("sock"), invalid},
		{"dotted etc", stat("/./etc//passwd"), denied},
		{"prefix of a denied name", stat("/etcetera"), absent},

		{"read nothing", read("nothing"), absent},
		{"read a directory", read("d"), invalid},
		{"read a link", read("link"), invalid},
		{"read a fifo", read("fifo"), invalid},
		{"read device", read("/dev/zero"), denied},
		{"read through a link", read("dlink/inner"), codes.OK},
		{"read a loop", read("loop/x"), invalid},
		{"read below a file", read("f/x"), invalid},
		{"read another's file", read("secret"), whenRoot(denied)},

		{"write to root", write("/"), invalid},
		{"write to a directory", write("d"), invalid},
		{"write into a denied directory", write("out/x"), denied},
		{"write into another's directory", write("closed/x"), whenRoot(denied)},
		{"write below a file", write("f/x"), invalid},
		{"write through a dangling link", write("dangling/x"), invalid},
		{"no path", send(&agentpb.WriteRequest{Chunk: []byte("x")}), invalid},
		{"mode without path", send(file("g", ""), &agentpb.WriteRequest{Mode: proto.Uint32(1)}), invalid},
		{"user without path", send(file("g", ""), &agentpb.WriteRequest{User: &agentpb.User{Username: "user"}}), invalid},
		{"metadata without path", send(file("g", ""), &agentpb.WriteRequest{Metadata: map[string]string{"a": "b"}}), invalid},
		{"long chunk", send(file("g", strings.Repeat("x", maxWriteChunk+1))), invalid},
		{"longest chunk", send(file("g", strings.Repeat("x", maxWriteChunk))), codes.OK},

		{"list a file", list("f"), invalid},
		{"list nothing", list("nothing"), absent},
		{"list a link to a directory", list("dlink"), codes.OK},
		{"list another's directory", list("closed"), whenRoot(denied)},
		{"list a way out", list("out"), denied},

		{"make what is there", mkdir("d"), codes.AlreadyExists},
		{"make over a file", mkdir("f"), invalid},
		{"make below a file", mkdir("f/x"), invalid},
		{"make deep", mkdir("x/y/z"), codes.OK},
		{"make in a denied place", mkdir("/etc/x"), denied},

		{"move nothing", move("nothing", "g"), absent},
		{"move into nowhere", move("f", "nowhere/g"), absent},
		{"move a directory over a file", move("d", "f"), state},
		{"move a file over a directory", move("f", "d"), state},
		{"move over a full directory", move("x", "d"), state},
		{"move into itself", move("d", "d/e"), state},
		{"move to another file system", move("f", "/dev/shm/g"), denied},
		{"move root", move("/", "g"), denied},
		{"move to root", move("f", "/"), denied},
		{"move etc", move("/etc", "g"), denied},
		{"move out", move("f", "out/g"), denied},
		{"move what etc is in", move("/opt", "g"), denied},

		{"remove nothing", remove("nothing", true), absent},
		{"remove a full directory", remove("d", false), state},
		{"remove root", remove("/", true), denied},
		{"remove the agent's directory", remove(filepath.Dir(exe), true), denied},
		{"remove through a link", remove("out/passwd", true), denied},
		{"remove a link, not what it leads to", remove("dlink", true), codes.OK},
		{"what the link led to is there", stat("d/inner"), codes.OK},
		{"remove a tree", remove("d", true), codes.OK},

		{"watch nothing", watch("nothing"), absent},
		{"watch a file", watch("f"), invalid},
		{"watch a denied place", watch("/proc"), denied},

		{"checkpoint", func() error {
			s, err := r.Checkpoint(ctx, &agentpb.CheckpointRequest{})
			if err == nil {
				_, err = s.Recv()
			}
			return err
		}(), codes.Unimplemented},
		{"transfer", func() error {
			_, err := r.GetTransfer(ctx, &agentpb.GetTransferRequest{})
			return err
		}(), codes.Unimplemented},
	}
	for _, tt := range tests {
		if got := status.Code(tt.got); got != tt.want {
			t.Errorf("%s: %v (%v), want %v", tt.name, got, tt.got, tt.want)
		}
	}
	if left := r.leftovers(t); left != nil {
		t.Errorf("temp files left: %q", left)
	}
}

// whenRoot is the code of what only root can set up: a file of another user.
func whenRoot(c codes.Code) codes.Code {
	if os.Geteuid() == 0 {
		return c
	}
	return codes.OK
}

func TestFilesStat(t *testing.T) {
	r := newFileRig(t, "tcp")
	meta := map[string]string{"author": "me", "x-1": "a b"}
	_, err := r.write(t.Context(), &agentpb.WriteRequest{Path: proto.String("f"), Metadata: meta, Chunk: []byte("12345")})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", r.path("l")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(r.path("p"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, want string
	}{
		{"f", "f FILE 5 644 - map[author:me x-1:a b]"},
		{"./f/", "f FILE 5 644 - map[author:me x-1:a b]"},
		{"l", "l SYMLINK 1 777 f map[]"},
		{"p", "p UNSPECIFIED 0 644 - map[]"},
	}
	for _, tt := range tests {
		res, err := r.Stat(t.Context(), &agentpb.StatRequest{Path: tt.path})
		if err != nil {
			t.Errorf("stat %s: %v", tt.path, err)
			continue
		}
		e := res.Entry
		target := "-"
		if e.SymlinkTarget != nil {
			target = *e.SymlinkTarget
		}
		got := fmt.Sprint(e.Name, " ", strings.TrimPrefix(e.Type.String(), "FILE_TYPE_"), " ", e.Size, " ",
			fmt.Sprintf("%o", e.Mode), " ", target, " ", e.Metadata)
		if got != tt.want {
			t.Errorf("stat %s = %q, want %q", tt.path, got, tt.want)
		}
		info, err := os.Lstat(r.path(tt.path))
		if err != nil {
			t.Fatal(err)
		}
		if e.ModifiedTimeUnixMs != info.ModTime().UnixMilli() {
			t.Errorf("stat %s: time %d, want %d", tt.path, e.ModifiedTimeUnixMs, info.ModTime().UnixMilli())
		}
	}
}

func TestFilesMetadataLimits(t *testing.T) {
	r := newFileRig(t, "tcp")
	many := map[string]string{}
	for i := range maxMetadataKeys + 1 {
		many[fmt.Sprint("k", i)] = ""
	}
	tests := []struct {
		name string
		meta map[string]string
		want codes.Code
		text string
	}{
		{"upper case", map[string]string{"A": "b"}, codes.InvalidArgument, ""},
		{"space in a key", map[string]string{"a b": "b"}, codes.InvalidArgument, ""},
		{"no key", map[string]string{"": "b"}, codes.InvalidArgument, ""},
		{"newline in a value", map[string]string{"a": "b\nc"}, codes.InvalidArgument, ""},
		{"not ASCII", map[string]string{"a": "ñ"}, codes.InvalidArgument, ""},
		{"too many", many, codes.InvalidArgument, "metadata_too_large"},
		{"too long", map[string]string{"a": strings.Repeat("b", 4000)}, codes.InvalidArgument, "metadata_too_large"},
		{"key the kernel can't hold", map[string]string{strings.Repeat("k", 250): ""}, codes.InvalidArgument, "metadata_too_large"},
		{"the most", map[string]string{"a": strings.Repeat("b", 3000)}, codes.OK, ""},
	}
	for _, tt := range tests {
		_, err := r.write(t.Context(), &agentpb.WriteRequest{Path: proto.String("m"), Metadata: tt.meta})
		if got := status.Code(err); got != tt.want {
			t.Errorf("%s: %v (%v), want %v", tt.name, got, err, tt.want)
		}
		if tt.text != "" && status.Convert(err).Message() != tt.text {
			t.Errorf("%s: message %q, want %q", tt.name, status.Convert(err).Message(), tt.text)
		}
	}
}

// TestFilesStreamCut cuts an upload and finds neither the file nor a temp one.
func TestFilesStreamCut(t *testing.T) {
	for _, named := range []bool{false, true} {
		r := newFileRig(t, "tcp")
		r.fs.named.Store(named)
		if _, err := r.write(t.Context(), file("f", "old")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := r.Write(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(file("f", "half")); err != nil {
			t.Fatal(err)
		}
		if named {
			eventually(t, "the temp file", func() bool { return len(r.leftovers(t)) == 1 })
		}
		cancel()
		if err := stream.RecvMsg(&agentpb.WriteResponse{}); status.Code(err) != codes.Canceled {
			t.Errorf("cut upload: %v", err)
		}
		eventually(t, "no temp file", func() bool { return len(r.leftovers(t)) == 0 })
		if got, err := os.ReadFile(r.path("f")); string(got) != "old" {
			t.Errorf("after a cut upload the file is %q, %v", got, err)
		}
	}
}

// TestFilesSuspend ends all kinds of streams.
func TestFilesSuspend(t *testing.T) {
	r := newFileRig(t, "tcp")
	if err := os.WriteFile(r.path("big"), make([]byte, 8<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	write, err := r.Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := write.Send(file("f", "half")); err != nil {
		t.Fatal(err)
	}
	read, err := r.Read(t.Context(), &agentpb.ReadRequest{Path: "big"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.Recv(); err != nil {
		t.Fatal(err)
	}
	watch, err := r.WatchDir(t.Context(), &agentpb.WatchDirRequest{Path: "."})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	r.gate.close(t.Context(), closingSuspend)
	_, werr := write.CloseAndRecv()
	var rerr, verr error
	for rerr == nil {
		_, rerr = read.Recv()
	}
	for verr == nil {
		_, verr = watch.Recv()
	}
	for name, err := range map[string]error{"write": werr, "read": rerr, "watch": verr} {
		if s := status.Convert(err); s.Code() != codes.Unavailable || s.Message() != "suspending" {
			t.Errorf("%s ended with %v, want suspending", name, err)
		}
	}
	if _, err := os.Stat(r.path("f")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a file is there: %v", err)
	}
}
