// Screenshots takes pictures of every page of the windows, in both languages,
// light and dark, over scenes with nothing, with much, and with trouble, for
// somebody to look at. A sheet for each page has all of them beside each other.
//
//	make screenshots
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

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/e2e/scene"
	"github.com/arenero/arenero/app/internal/e2e/screen"
	"github.com/arenero/arenero/assets"
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
	pages, scenes, languages, looks list
	width, height                   int
	scale                           float64
}

func run() error {
	a := album{
		pages:     list{"sandboxes", "spend", "hosts", "profiles", "tokens", "activity", "settings", "guide"},
		scenes:    list{string(scene.Empty), string(scene.Busy), string(scene.Error)},
		languages: list{"es", "en"},
		looks:     list{"light", "dark"},
	}
	flag.StringVar(&a.window, "window", "bin/arenero-window", "`program` to take pictures of")
	flag.StringVar(&a.out, "o", "bin/screenshots", "`folder` for the pictures")
	flag.Var(&a.pages, "pages", "which; PAGE/SUBJECT is a page at one thing of it")
	flag.Var(&a.scenes, "scenes", "which")
	flag.Var(&a.languages, "languages", "which")
	flag.Var(&a.looks, "themes", "which")
	flag.IntVar(&a.width, "width", 1040, "of the window, in units of the toolkit")
	flag.IntVar(&a.height, "height", 680, "the same")
	flag.Float64Var(&a.scale, "scale", 1, "pixels of a unit")
	flag.Parse()
	if err := os.MkdirAll(a.out, 0o755); err != nil {
		return err
	}
	for _, kind := range a.scenes {
		if err := a.take(scene.Kind(kind)); err != nil {
			return fmt.Errorf("scene %s: %w", kind, err)
		}
	}
	for _, page := range a.pages {
		if err := a.sheet(page); err != nil {
			return fmt.Errorf("sheet of %s: %w", page, err)
		}
	}
	return nil
}

// file is where a picture is kept.
func (a *album) file(page, kind, language, look string) string {
	return filepath.Join(a.out, strings.Join([]string{strings.ReplaceAll(page, "/", "-"), kind, language, look}, "-")+".png")
}

// take takes the pictures of a scene. One window shows all of it: the language,
// the theme and the page change before its eyes, as a user changes them.
func (a *album) take(kind scene.Kind) (err error) {
	home, err := os.MkdirTemp("", "stage-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if err := os.Setenv("ARENERO_HOME", home); err != nil {
		return err
	}
	stage, err := scene.New(scene.Config{Kind: kind, Language: a.languages[0], Theme: a.looks[0]})
	if err != nil {
		return err
	}
	path, err := control.Path()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- stage.Serve(ctx, path) }()
	defer func() {
		cancel()
		err = errors.Join(err, <-served)
	}()
	client := control.NewClient(path)
	defer client.Close()
	size := fmt.Sprintf("%dx%d", a.width, a.height)
	if _, err := stage.EditPreferences(ctx, control.PreferencesEdit{Window: &size, GuideDone: new(true)}); err != nil {
		return err
	}
	s, err := screen.Open(int(float64(a.width)*a.scale)+20, int(float64(a.height)*a.scale)+20)
	if err != nil {
		return err
	}
	defer s.Close()
	cmd := exec.CommandContext(ctx, a.window)
	cmd.Env = append(os.Environ(), s.Env()...)
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
	if err := s.Rest(); err != nil {
		return err
	}
	at, err := appear(s, cmd.Process.Pid, ended)
	if err != nil {
		return err
	}
	// The first steps make a sandbox, so that nothing is empty any more.
	first := slices.DeleteFunc(slices.Clone(a.pages), isGuide)
	for _, pages := range []list{first, slices.DeleteFunc(slices.Clone(a.pages), func(p string) bool { return !isGuide(p) })} {
		for _, language := range a.languages {
			for _, look := range a.looks {
				if _, err := client.EditPreferences(ctx, control.PreferencesEdit{Language: &language, Theme: &look}); err != nil {
					return err
				}
				for _, page := range pages {
					if err := a.shoot(ctx, s, at, kind, page, language, look); err != nil {
						return fmt.Errorf("page %s: %w", page, err)
					}
				}
			}
		}
	}
	return nil
}

func isGuide(page string) bool { return page == "guide" }

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

// shoot takes one picture.
func (a *album) shoot(ctx context.Context, s *screen.Screen, at image.Rectangle, kind scene.Kind, page, language, look string) error {
	door, err := control.DoorPath()
	if err != nil {
		return err
	}
	name, subject, _ := strings.Cut(page, "/")
	if err := control.Knock(ctx, door, control.Place{Page: name, Subject: subject}); err != nil {
		return err
	}
	for limit := time.Now().Add(2 * time.Minute); ; {
		// What a page asks the engine for comes a moment after it is there.
		p, err := s.Calm(at.Dx()*at.Dy()/400, 1500*time.Millisecond, 20*time.Second)
		if err != nil {
			return err
		}
		p = screen.Cut(p, at)
		is, err := a.is(p, name, language, look)
		if err != nil {
			return err
		}
		if !is && time.Now().Before(limit) {
			continue
		}
		if !is { // what it shows instead says why
			return errors.Join(errors.New("the window does not show it"), save(a.file(page, string(kind), language, look), p))
		}
		return save(a.file(page, string(kind), language, look), p)
	}
}

// is reports whether a picture is of a page as it should be: its title can be
// read, and it is light or dark.
func (a *album) is(p *image.RGBA, page, language, look string) (bool, error) {
	corner := p.RGBAAt(3, p.Bounds().Dy()-3)
	if dark := corner.R < 0x80; dark != (look == "dark") {
		return false, nil
	}
	head := screen.Cut(p, image.Rect(int(60*a.scale), 0, int(600*a.scale), int(52*a.scale)))
	big := image.NewRGBA(image.Rect(0, 0, 3*head.Bounds().Dx(), 3*head.Bounds().Dy())) // small letters are read badly
	for y := range big.Bounds().Dy() {
		for x := range big.Bounds().Dx() {
			c := head.RGBAAt(x/3, y/3)
			if look == "dark" { // and so are light ones
				c.R, c.G, c.B = 0xff-c.R, 0xff-c.G, 0xff-c.B
			}
			big.SetRGBA(x, y, c)
		}
	}
	words, err := screen.Read(big, map[string]string{assets.English: "eng", assets.Spanish: "spa"}[language])
	if err != nil {
		return false, err
	}
	return strings.Contains(screen.Text(words), assets.Load(language, "window").Get("window.page."+page)), nil
}

func save(name string, p image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, p), f.Close())
}

// sheet puts all pictures of a page beside each other: a column for each scene,
// a row for each language and theme.
func (a *album) sheet(page string) error {
	const gap = 8
	w, h := int(float64(a.width)*a.scale), int(float64(a.height)*a.scale)
	half := 1
	if len(a.scenes)*w > 2400 {
		half = 2
	}
	cell := image.Pt(w/half+gap, h/half+gap)
	out := image.NewRGBA(image.Rect(0, 0, len(a.scenes)*cell.X, len(a.languages)*len(a.looks)*cell.Y))
	for row := range len(a.languages) * len(a.looks) {
		for column, kind := range a.scenes {
			f, err := os.Open(a.file(page, kind, a.languages[row/len(a.looks)], a.looks[row%len(a.looks)]))
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
	return save(filepath.Join(a.out, "sheet-"+strings.ReplaceAll(page, "/", "-")+".png"), out)
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
