package agent

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
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

// benchClient is a client on the unix socket of a file service.
func benchClient(b *testing.B) (*Client, *fileRig) {
	r := newFileRigIn(b, "unix", benchHome(b))
	r.fs.deny = nil // it holds /dev
	c, err := NewClient(ClientConfig{Host: "bench", Plain: true, Dial: r.dial})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c, r
}

func BenchmarkFilesRead(b *testing.B) {
	c, r := benchClient(b)
	if err := os.WriteFile(r.path("f"), make([]byte, benchSize), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(benchSize)
	for b.Loop() {
		if n, err := c.ReadFile(b.Context(), "f", "", io.Discard); n != benchSize || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkFilesWrite(b *testing.B) {
	c, _ := benchClient(b)
	content := make([]byte, benchSize)
	b.SetBytes(benchSize)
	for b.Loop() {
		if _, err := c.WriteFile(b.Context(), Upload{Path: "f", Content: bytes.NewReader(content)}); err != nil {
			b.Fatal(err)
		}
	}
}
