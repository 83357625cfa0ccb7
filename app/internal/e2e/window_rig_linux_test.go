package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/e2e/screen"
)

// A windowRig is a screen for our windows, and the home of an engine.
type windowRig struct {
	*engineRig
	screen *screen.Screen
	all    string // folder of the programs, beside each other
	vars   []string
}

// units is how many pixels a unit of the toolkit has: enough for words to be
// read, and for few pixels to be drawn.
const units = "1.7"

func newWindowRig(t testing.TB) *windowRig {
	t.Helper()
	all, err := buildAll()
	if err != nil {
		t.Fatal(err)
	}
	s, err := screen.Open(1800, 1180)
	if err != nil {
		t.Fatal(err)
	}
	r := &windowRig{engineRig: newEngineRig(t), screen: s, all: all}
	r.client.Launch = nil // that is for the window to do
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// A shown is a program with a window that runs.
type shown struct {
	cmd   *exec.Cmd
	said  *logBuffer
	ended chan struct{}
}

// start starts the program with the windows, without waiting for it.
func (r *windowRig) start(t testing.TB, args ...string) *shown {
	t.Helper()
	cmd := r.command(args...)
	cmd.Path = filepath.Join(r.all, "arenero-window")
	cmd.Env = append(cmd.Env, r.screen.Env()...)
	cmd.Env = append(cmd.Env, "ARENERO_LANG=en", "LANG=en_US.UTF-8", "FYNE_SCALE="+units)
	cmd.Env = append(cmd.Env, r.vars...)
	w := &shown{cmd, &logBuffer{}, make(chan struct{})}
	cmd.Stdout, cmd.Stderr = w.said, w.said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		close(w.ended)
	}()
	t.Cleanup(func() {
		interrupt(cmd.Process.Pid)
		<-w.ended
		if t.Failed() {
			t.Logf("the window says %q", w.said)
		}
	})
	return w
}

// runs reports whether it does.
func (w *shown) runs() bool {
	select {
	case <-w.ended:
		return false
	default:
		return true
	}
}

// words are those on the screen.
func (r *windowRig) words(t testing.TB) []screen.Word {
	t.Helper()
	p, err := r.screen.Still(300*time.Millisecond, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	words, err := screen.Read(p, "eng")
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// reads waits until all these can be read on the screen.
func (r *windowRig) reads(t testing.TB, want ...string) {
	t.Helper()
	text := ""
	for limit := time.Now().Add(3 * time.Minute); time.Now().Before(limit); {
		text = strings.Join(strings.Fields(screen.Text(r.words(t))), " ")
		missing := false
		for _, w := range want {
			missing = missing || !strings.Contains(text, w)
		}
		if !missing {
			return
		}
	}
	t.Fatalf("the screen never says %q, but\n%s", want, text)
}

// keys presses keys.
func (r *windowRig) keys(t testing.TB, keys ...string) {
	t.Helper()
	must(t, r.screen.Keys(keys...))
}
