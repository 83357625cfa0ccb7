package agent

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const benchSize = 64 << 20

// benchHome is a directory in memory, as a sandbox's home is.
func benchHome(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "arenero-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// BenchmarkCat is the anchor: cat of the same file into a unix socket.
func BenchmarkCat(b *testing.B) {
	dir := benchHome(b)
	if err := os.WriteFile(dir+"/f", make([]byte, benchSize), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(benchSize)
	buf := make([]byte, 256<<10)
	for b.Loop() {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			b.Fatal(err)
		}
		in, out := os.NewFile(uintptr(pair[0]), "in"), os.NewFile(uintptr(pair[1]), "out")
		cmd := exec.Command("cat", dir+"/f")
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		out.Close()
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, in, buf)
		if n != benchSize || err != nil {
			b.Fatal(n, err)
		}
		in.Close()
		cmd.Wait()
	}
}

func BenchmarkFilesRead(b *testing.B) {
	r := newFileRigIn(b, "unix", benchHome(b))
	r.fs.deny = nil // it holds /dev
	if err := os.WriteFile(r.path("f"), make([]byte, benchSize), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(benchSize)
	for b.Loop() {
		stream, err := r.Read(b.Context(), &agentpb.ReadRequest{Path: "f"})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for {
			res, err := stream.Recv()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n += len(res.Chunk)
		}
		if n != benchSize {
			b.Fatal(n)
		}
	}
}

func BenchmarkFilesWrite(b *testing.B) {
	r := newFileRigIn(b, "unix", benchHome(b))
	r.fs.deny = nil // it holds /dev
	b.SetBytes(benchSize)
	chunk := bytes.Repeat([]byte("x"), 512<<10)
	for b.Loop() {
		stream, err := r.Write(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := stream.Send(file("f", "")); err != nil {
			b.Fatal(err)
		}
		for range benchSize / len(chunk) {
			if err := stream.Send(&agentpb.WriteRequest{Chunk: chunk}); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := stream.CloseAndRecv(); err != nil {
			b.Fatal(err)
		}
	}
}
