package e2e

import (
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/e2e/scene"
	"github.com/arenero/arenero/app/internal/e2e/screen"
	"github.com/arenero/arenero/app/sandbox"
)

// BenchmarkWindow measures the windows over played engines: how soon the list is
// there, beside the least that a program with a window can be; how they bear a
// thousand sandboxes; and whether a day of updates leaves anything in memory.
func BenchmarkWindow(b *testing.B) {
	bare := filepath.Join(b.TempDir(), "barewindow")
	if out, err := exec.Command("go", "build", "-tags", "gles", "-trimpath", "-ldflags", "-s -w", "-o", bare, "./barewindow").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	for b.Loop() {
		printFigures(slices.Concat(windowStarts(b, bare), windowCrowd(b), windowDay(b)))
	}
}

// A stage is a screen with a played engine that a window shows.
type stage struct {
	scene  *scene.Scene
	screen *screen.Screen
	home   string
	window string
}

func newStage(b *testing.B, kind scene.Kind) *stage {
	b.Helper()
	all, err := buildAll()
	if err != nil {
		b.Fatal(err)
	}
	home, err := shortDir()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { removeAll(b, home) })
	s := &stage{home: home, window: filepath.Join(all, "arenero-window")}
	if s.screen, err = screen.Open(1060, 700); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.screen.Close() })
	if s.scene, err = scene.New(scene.Config{Kind: kind, Language: "en", Theme: "light"}); err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.scene.Serve(b.Context(), filepath.Join(home, "run", "control.sock")) }()
	b.Cleanup(func() {
		s.scene.Stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	return s
}

// start starts a program on the stage, and returns what ends it.
func (s *stage) start(b *testing.B, program string) (pid int, end func()) {
	b.Helper()
	cmd := exec.Command(program)
	cmd.Env = append([]string{"ARENERO_HOME=" + s.home, "HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "LANG=en_US.UTF-8", "FYNE_SCALE=1"}, s.screen.Env()...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return cmd.Process.Pid, func() {
		interrupt(cmd.Process.Pid)
		cmd.Wait()
	}
}

// A frame is what was on the screen from some moment on.
type frame struct {
	at      time.Time
	picture *image.RGBA
}

// frames are those that come until nothing has for a while, but for what counts
// seconds. That while begins with the first of them.
func (s *stage) frames(b *testing.B, quiet time.Duration) (all []frame) {
	b.Helper()
	begin, begun := time.Now(), false
	for last := begin; time.Since(last) < quiet || !begun && time.Since(begin) < time.Minute; time.Sleep(time.Millisecond) {
		p, err := s.screen.Picture()
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		if len(all) > 0 {
			n = screen.Differ(all[len(all)-1].picture, p)
		}
		if len(all) == 0 || n > 0 {
			all = append(all, frame{time.Now(), p})
		}
		if n > few(p) {
			last, begun = time.Now(), true
		}
	}
	return all
}

// few is how many pixels what counts seconds may change.
func few(p *image.RGBA) int { return len(p.Pix) / 4 / 100 }

// drawn is how long a program takes from its start until the screen shows what
// it shows in the end.
func (s *stage) drawn(b *testing.B, program string) time.Duration {
	b.Helper()
	before, err := s.screen.Still(200*time.Millisecond, 5*time.Second)
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	_, end := s.start(b, program)
	defer end()
	all := s.frames(b, 4*time.Second)
	final := all[len(all)-1].picture
	if screen.Differ(before, final) < 10*few(final) {
		b.Fatalf("%s shows nothing", program)
	}
	i := slices.IndexFunc(all, func(f frame) bool { return screen.Differ(f.picture, final) <= few(final) })
	return all[i].at.Sub(begin)
}

func windowStarts(b *testing.B, bare string) []figure {
	s := newStage(b, scene.Busy)
	var ours, theirs []time.Duration
	for range 7 {
		ours = append(ours, s.drawn(b, s.window))
		theirs = append(theirs, s.drawn(b, bare))
	}
	return []figure{beside("window, start to first drawn list", median(ours), "an empty Fyne program", median(theirs), 1.3)}
}

// windowCrowd has the youngest of a thousand sandboxes, which stands on top, go
// to sleep and wake up, and then scrolls.
func windowCrowd(b *testing.B) []figure {
	s := newStage(b, scene.Many)
	pid, end := s.start(b, s.window)
	defer end()
	s.frames(b, 5*time.Second)
	mib := float64(resident(b, pid)) / (1 << 20)
	snap, _ := s.scene.Snapshot()
	awake := slices.DeleteFunc(snap.Sandboxes, func(x sandbox.Sandbox) bool { return x.State != sandbox.Running })
	top := slices.MaxFunc(awake, func(x, y sandbox.Sandbox) int { return x.StartedAt.Compare(y.StartedAt) }).ID
	// The states are in the first column; what counts the time is in others.
	states := image.Rect(190, 60, 300, 700)
	var took []time.Duration
	for i := range 20 {
		before, err := s.screen.Picture()
		if err != nil {
			b.Fatal(err)
		}
		before = screen.Cut(before, states)
		begin := time.Now()
		if i%2 == 0 {
			_, err = s.scene.Suspend(b.Context(), top)
		} else {
			_, err = s.scene.Resume(b.Context(), top)
		}
		if err != nil {
			b.Fatal(err)
		}
		for screen.Differ(before, screen.Cut(s.picture(b), states)) == 0 {
			if time.Since(begin) > time.Minute {
				b.Fatal("the list does not show that a sandbox has gone to sleep")
			}
		}
		took = append(took, time.Since(begin))
		time.Sleep(300 * time.Millisecond) // for the next not to wait for this one
	}
	go s.screen.Scroll(image.Pt(500, 200), 120)
	all := s.frames(b, 2*time.Second)
	var gaps []time.Duration
	for i := 1; i < len(all); i++ {
		if screen.Differ(all[i-1].picture, all[i].picture) > few(all[i].picture) {
			gaps = append(gaps, all[i].at.Sub(all[i-1].at))
		}
	}
	if len(gaps) < 10 {
		b.Fatalf("the list scrolls in %d frames", len(gaps))
	}
	slices.Sort(gaps)
	return []figure{
		within("1,000 sandboxes: snapshot to drawn list", median(took), 100*time.Millisecond),
		{fmt.Sprintf("1,000 sandboxes: a frame while scrolling (of %d)", len(gaps)), "the slowest twentieth", millis(median(gaps)), millis(gaps[len(gaps)*19/20]), "ms", 0},
		{"1,000 sandboxes: window, resident", "a hidden Fyne window", mib, 123, "MiB", 0},
	}
}

func (s *stage) picture(b *testing.B) *image.RGBA {
	b.Helper()
	p, err := s.screen.Picture()
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// A day is 8 hours of updates, one a second.
const day = 8 * 60 * 60

// windowDay shows as many updates as come in 8 hours, as fast as they are drawn,
// on every page in turn.
func windowDay(b *testing.B) []figure {
	s := newStage(b, scene.Busy)
	pid, end := s.start(b, s.window)
	defer end()
	s.frames(b, 4*time.Second)
	mib := func() float64 { return float64(resident(b, pid)) / (1 << 20) }
	stir := func(times int) {
		pages := []string{"sandboxes", "spend", "hosts", "profiles", "tokens", "activity", "settings"}
		for i := range times {
			if i%500 == 0 {
				if err := control.Knock(b.Context(), filepath.Join(s.home, "run", "window.sock"), control.Place{Page: pages[i/500%len(pages)]}); err != nil {
					b.Fatal(err)
				}
			}
			s.scene.Stir()
		}
	}
	stir(day / 8) // until all that is kept has come to be
	before := mib()
	begin := time.Now()
	stir(day)
	after := mib()
	return []figure{
		{"window after 8 hours of updates, resident", "before them", after, before, "MiB", 1.1},
		{what: "window, an update taken in", ours: millis(time.Since(begin)) / day, theirs: 1000, unit: "ms", goal: 1},
	}
}
