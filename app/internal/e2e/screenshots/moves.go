package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/e2e/screen"
	"github.com/arenero/arenero/assets"
)

// A move is something that is done before a picture is taken.
type move func(ctx context.Context, st *studio) error

// keys presses keys.
func keys(names ...string) move {
	return func(_ context.Context, st *studio) error { return st.screen.Keys(names...) }
}

// scroll turns the wheel over the page, down or up.
func scroll(steps int) move {
	return func(_ context.Context, st *studio) error {
		at := image.Pt(st.at.Max.X-int(32*st.scale), st.at.Min.Y+st.at.Dy()*7/10) // where nothing else takes them
		// Turns that come with the pointer get lost.
		if err := st.screen.Scroll(at, steps/max(1, max(steps, -steps))); err != nil {
			return err
		}
		if _, err := st.screen.Calm(st.at.Dx()*st.at.Dy()/400, 500*time.Millisecond, 10*time.Second); err != nil {
			return err
		}
		if err := st.screen.Scroll(at, steps); err != nil {
			return err
		}
		_, err := st.screen.Calm(st.at.Dx()*st.at.Dy()/400, 500*time.Millisecond, 10*time.Second)
		return err
	}
}

// press clicks at what has a text.
func press(key string, args ...string) move {
	return func(ctx context.Context, st *studio) error {
		page, _, _ := strings.Cut(strings.TrimPrefix(key, "window."), ".")
		return pressWords(assets.Load(st.language, "window-"+page).Get(key, args...))(ctx, st)
	}
}

// pressOnce clicks at what has a text if that can be read; else it is on a ground of
// color, and chosen already.
func pressOnce(key string) move {
	return func(_ context.Context, st *studio) error {
		p, err := st.seen()
		if err != nil {
			return err
		}
		words, err := st.read(p, 2, st.look == "dark")
		if err != nil {
			return err
		}
		page, _, _ := strings.Cut(key, ".")
		if at, ok := find(words, assets.Load(st.language, "window-"+page).Get(key)); ok {
			return st.screen.Click(at.Add(st.at.Min))
		}
		return nil
	}
}

// pressWords clicks at words, the uppermost that are so.
func pressWords(text string) move {
	return func(_ context.Context, st *studio) error {
		var found []screen.Word
		for limit := time.Now().Add(patience); time.Now().Before(limit); {
			p, err := st.seen()
			if err != nil {
				return err
			}
			// What is on a ground of color is dark where else it is light.
			var best image.Point
			for _, dark := range []bool{true, false} {
				if found, err = st.read(p, 2, dark); err != nil {
					return err
				}
				if at, ok := find(found, text); ok && (best == image.Point{} || at.Y < best.Y) {
					best = at
				}
			}
			if best != (image.Point{}) {
				return st.screen.Click(best.Add(st.at.Min))
			}
		}
		return fmt.Errorf("%q can't be read in the window, which says:\n%s", text, screen.Text(found))
	}
}

// pressMain clicks at the uppermost of what the page has in the color of what is
// most wanted, on which words are read badly; and pressLast at the lowest, as a
// dialog has it.
func pressMain(_ context.Context, st *studio) error { return st.pressColor(false) }

func pressLast(_ context.Context, st *studio) error { return st.pressColor(true) }

func (st *studio) pressColor(last bool) error {
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		p, err := st.seen()
		if err != nil {
			return err
		}
		if at, ok := wide(p, int(190*st.scale), int(52*st.scale), int(30*st.scale), last); ok {
			inside := image.Pt(0, int(6*st.scale))
			if last {
				inside.Y = -inside.Y
			}
			return st.screen.Click(at.Add(st.at.Min).Add(inside))
		}
	}
	return errors.New("nothing in the window is to be pressed most")
}

// wide is the middle of the uppermost line, right of and below a place, that has a
// strong color for so long; or of the lowest.
func wide(p *image.RGBA, left, top, least int, lowest bool) (at image.Point, ok bool) {
	for y := top; y < p.Bounds().Dy(); y++ {
		begin := left
		for x := left; x < p.Bounds().Dx(); x++ {
			c := p.RGBAAt(x, y)
			if c != p.RGBAAt(begin, y) || int(c.R) < int(c.B)+0x60 {
				begin = x
			}
			if x-begin >= least {
				at, ok = image.Pt(begin+least/2, y), true
				break
			}
		}
		if ok && !lowest {
			break
		}
	}
	return at, ok
}

// find is the place of the uppermost words that are a text and have no others
// beside them.
func find(words []screen.Word, text string) (at image.Point, ok bool) {
	want := strings.Fields(plain(text))
	beside := func(a, b screen.Word) bool {
		gap := b.At.Min.X - a.At.Max.X
		return a.At.Overlaps(image.Rect(a.At.Min.X, b.At.Min.Y, a.At.Max.X, b.At.Max.Y)) && gap > -a.At.Dy() && gap < a.At.Dy()*3/4
	}
	for i := 0; i+len(want) <= len(words); i++ {
		same := true
		for j, w := range want {
			same = same && plain(words[i+j].Text) == w && (j == 0 || beside(words[i+j-1], words[i+j]))
		}
		last := i + len(want) - 1
		if !same || i > 0 && letters(words[i-1]) && beside(words[i-1], words[i]) || last+1 < len(words) && letters(words[last+1]) && beside(words[last], words[last+1]) {
			continue
		}
		all := words[i].At.Union(words[last].At)
		if middle := all.Min.Add(all.Max).Div(2); !ok || middle.Y < at.Y {
			at, ok = middle, true
		}
	}
	return at, ok
}

// plain is a text without what is read badly.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("….,:_'\"|", r) {
			return -1
		}
		return r
	}, text)
}

// letters reports whether a word is one, and no icon that was read as a letter or two.
func letters(w screen.Word) bool { return len([]rune(plain(w.Text))) > 2 }

// speak has what runs say something.
func speak(_ context.Context, st *studio) error {
	if st.look == "light" {
		st.stage.PlayOn()
	}
	return nil
}

// serve has the tools be served, to whoever comes.
func serve(ctx context.Context, st *studio) error {
	_, err := st.client.EditPreferences(ctx, control.PreferencesEdit{HTTP: &control.ServingEdit{On: new(true), Address: new("0.0.0.0:8000"), Auth: new(control.AuthNone)}})
	return err
}

// nameToken types a name that no token has.
func nameToken(_ context.Context, st *studio) error {
	if _, err := st.seen(); err != nil {
		return err
	}
	return st.screen.Type("informes-" + st.language + "-" + st.look)
}

// lose ends the engine.
func lose(_ context.Context, st *studio) error {
	if err := st.end(); err != nil {
		return err
	}
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		p, err := st.seen()
		if err != nil {
			return err
		}
		words, err := st.read(p, 2, st.look == "dark")
		if err != nil {
			return err
		}
		if strings.Contains(screen.Text(words), assets.Load(st.language, "window").Get("window.lost")) {
			return nil
		}
	}
	return errors.New("the window does not tell that there is no engine")
}
