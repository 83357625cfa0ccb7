// Screenshots takes pictures of every page of the windows with its parts and
// dialogs, in both languages, light and dark, over scenes with nothing, with much,
// with trouble, and without a record of spending, for somebody to look at. A sheet
// for each has all of them beside each other.
//
//	make screenshots
//	make screenshots FLAGS='-views spend,spend-budgets -scenes busy'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/e2e/scene"
	"github.com/arenero/arenero/app/internal/e2e/screen"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

// A list is a flag with several words.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

// Set reads the flag.
func (l *list) Set(s string) error {
	*l = strings.Split(s, ",")
	return nil
}

// An album is what pictures are taken of, and where they go.
type album struct {
	window                          string
	out                             string
	views, scenes, languages, looks list
	width, height                   int
	scale                           float64
}

func run() error {
	a := album{
		views:     viewNames(),
		scenes:    list{string(scene.Empty), string(scene.Busy), string(scene.Error), string(scene.Down)},
		languages: list{"es", "en"},
		looks:     list{"light", "dark"},
	}
	flag.StringVar(&a.window, "window", "bin/arenero-window", "`program` to take pictures of")
	flag.StringVar(&a.out, "o", "bin/screenshots", "`folder` for the pictures")
	flag.Var(&a.views, "views", "which")
	flag.Var(&a.scenes, "scenes", "which")
	flag.Var(&a.languages, "languages", "which")
	flag.Var(&a.looks, "themes", "which")
	flag.IntVar(&a.width, "width", 1040, "of the window, in units of the toolkit")
	flag.IntVar(&a.height, "height", 680, "the same")
	flag.Float64Var(&a.scale, "scale", 1, "pixels of a unit")
	flag.Parse()
	for _, name := range a.views {
		if !slices.Contains(viewNames(), name) {
			return fmt.Errorf("there is no view %q: choose some of %s", name, strings.Join(viewNames(), ","))
		}
	}
	if err := os.MkdirAll(a.out, 0o755); err != nil {
		return err
	}
	for _, kind := range a.scenes {
		if err := a.take(scene.Kind(kind)); err != nil {
			return fmt.Errorf("scene %s: %w", kind, err)
		}
	}
	for _, v := range views() {
		if !slices.Contains(a.views, v.name) {
			continue
		}
		if err := a.sheet(v); err != nil {
			return fmt.Errorf("sheet of %s: %w", v.name, err)
		}
	}
	return nil
}

// file is where a picture is kept.
func (a *album) file(view, kind, language, look string) string {
	return filepath.Join(a.out, strings.Join([]string{view, kind, language, look}, "-")+".png")
}

// take takes the pictures of a scene. One window shows all of it: the language,
// the theme and the page change before its eyes, as a user changes them.
func (a *album) take(kind scene.Kind) (err error) {
	// What changes the scene comes after all that shows it as it was.
	var first, last []view
	for _, v := range views() {
		switch {
		case !slices.Contains(a.views, v.name) || !v.in(kind):
		case v.changes:
			last = append(last, v)
		default:
			first = append(first, v)
		}
	}
	if len(first)+len(last) == 0 {
		return nil
	}
	home, err := os.MkdirTemp("", "stage-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if err := os.Setenv("ARENERO_HOME", home); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	st := &studio{album: a, kind: kind}
	if err := st.begin(ctx, a.languages[0], a.looks[0]); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.end()) }()
	if st.screen, err = screen.Open(int(float64(a.width)*a.scale)+20, int(float64(a.height)*a.scale)+20); err != nil {
		return err
	}
	defer st.screen.Close()
	cmd := exec.CommandContext(ctx, a.window)
	cmd.Env = append(os.Environ(), st.screen.Env()...)
	cmd.Env = append(cmd.Env, "HOME="+home, "LANG=en_US.UTF-8", fmt.Sprintf("FYNE_SCALE=%g", a.scale), "DBUS_SESSION_BUS_ADDRESS=")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	if err := st.screen.Rest(); err != nil {
		return err
	}
	if st.at, err = appear(st.screen, cmd.Process.Pid, ended); err != nil {
		return err
	}
	// Pages are many, and another language or theme is slow; what changes the scene
	// changes it for all pictures.
	rounds := [][]view{first}
	for _, v := range last {
		rounds = append(rounds, []view{v})
	}
	for _, views := range rounds {
		for i, language := range a.languages {
			for j, look := range a.looks {
				if err := st.dress(ctx, language, look); err != nil {
					return err
				}
				for _, v := range views {
					if i+j > 0 {
						v.once = nil
					}
					if err := st.shoot(ctx, v); err != nil {
						return fmt.Errorf("view %s, %s, %s: %w", v.name, language, look, err)
					}
				}
			}
		}
	}
	return nil
}

// appear waits for the window of a process.
func appear(s *screen.Screen, pid int, ended <-chan struct{}) (image.Rectangle, error) {
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		select {
		case <-ended:
			return image.Rectangle{}, errors.New("the window's program has ended")
		default:
		}
		all, err := s.Windows(pid)
		if err != nil {
			return image.Rectangle{}, err
		}
		if len(all) > 0 {
			_, err := s.Still(time.Second, 10*time.Second)
			return all[0].At, err
		}
	}
	return image.Rectangle{}, errors.New("there is no window")
}

func save(name string, p image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, p), f.Close())
}

// sheet puts all pictures of a view beside each other: a column for each scene,
// a row for each language and theme.
func (a *album) sheet(v view) error {
	const gap = 8
	scenes := slices.DeleteFunc(slices.Clone(a.scenes), func(kind string) bool { return !v.in(scene.Kind(kind)) })
	if len(scenes) == 0 {
		return nil
	}
	w, h := int(float64(a.width)*a.scale), int(float64(a.height)*a.scale)
	half := 1
	if len(scenes)*w > 2400 {
		half = 2
	}
	cell := image.Pt(w/half+gap, h/half+gap)
	out := image.NewRGBA(image.Rect(0, 0, len(scenes)*cell.X, len(a.languages)*len(a.looks)*cell.Y))
	for row := range len(a.languages) * len(a.looks) {
		for column, kind := range scenes {
			f, err := os.Open(a.file(v.name, kind, a.languages[row/len(a.looks)], a.looks[row%len(a.looks)]))
			if err != nil {
				return err
			}
			p, err := png.Decode(f)
			f.Close()
			if err != nil {
				return err
			}
			smaller(out, image.Pt(column*cell.X, row*cell.Y), p, half)
		}
	}
	return save(filepath.Join(a.out, "sheet-"+v.name+".png"), out)
}

// smaller draws p into out, with one pixel for a square of n.
func smaller(out *image.RGBA, at image.Point, p image.Image, n int) {
	for y := range p.Bounds().Dy() / n {
		for x := range p.Bounds().Dx() / n {
			var sum [3]uint32
			for i := range n * n {
				r, g, b, _ := p.At(p.Bounds().Min.X+x*n+i%n, p.Bounds().Min.Y+y*n+i/n).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+r>>8, sum[1]+g>>8, sum[2]+b>>8
			}
			o := out.PixOffset(at.X+x, at.Y+y)
			for c := range sum {
				out.Pix[o+c] = uint8(sum[c] / uint32(n*n))
			}
			out.Pix[o+3] = 0xff
		}
	}
}
