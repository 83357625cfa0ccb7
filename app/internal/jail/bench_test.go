//go:build linux

package jail

import (
	"context"
	"io"
	"os/exec"
	"testing"
)

// BenchmarkLife measures each step of a jail's life; "anchor" is a process
// that does nothing, started on the host.
func BenchmarkLife(b *testing.B) {
	ctx := context.Background()
	b.Run("anchor", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("start", func(b *testing.B) {
		spec := newSpec(b)
		for b.Loop() {
			j, err := Start(ctx, spec)
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			j.Kill()
			b.StartTimer()
		}
	})
	b.Run("kill", func(b *testing.B) {
		spec := newSpec(b)
		for b.Loop() {
			b.StopTimer()
			j, err := Start(ctx, spec)
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			j.Kill()
		}
	})
	j := startJail(b, newSpec(b))
	b.Run("freeze and thaw", func(b *testing.B) {
		for b.Loop() {
			if err := j.Freeze(ctx); err != nil {
				b.Fatal(err)
			}
			if err := j.Thaw(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("dial", func(b *testing.B) {
		for b.Loop() {
			c, err := j.Dial(ctx, hooksPort)
			if err != nil {
				b.Fatal(err)
			}
			io.ReadAll(c)
			c.Close()
		}
	})
	b.Run("fork and exec in the jail", func(b *testing.B) {
		for b.Loop() {
			if out, _ := sh(b, j, "exec /bin/true"); out != "" {
				b.Fatal(out)
			}
		}
	})
}
