package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/e2e/scene"
	"github.com/arenero/arenero/app/internal/e2e/screen"
	"github.com/arenero/arenero/assets"
)

// patience is how long the window may take to show what it should.
const patience = 2 * time.Minute

// A studio is a window before a scene, on a screen.
type studio struct {
	*album
	kind           scene.Kind
	screen         *screen.Screen
	at             image.Rectangle // of the window
	language, look string
	covered        bool // something lies over the page

	stage  *scene.Scene // nil is no engine
	client *control.Client
	cancel context.CancelFunc
	served chan error
}

// begin has an engine play the scene.
func (st *studio) begin(ctx context.Context, language, look string) error {
	stage, err := scene.New(scene.Config{Kind: st.kind, Language: language, Theme: look})
	if err != nil {
		return err
	}
	path, err := control.Path()
	if err != nil {
		return err
	}
	size := fmt.Sprintf("%dx%d", st.width, st.height)
	if _, err := stage.EditPreferences(ctx, control.PreferencesEdit{Window: &size, GuideDone: new(true)}); err != nil {
		return err
	}
	ctx, st.cancel = context.WithCancel(ctx)
	st.stage, st.client, st.served = stage, control.NewClient(path), make(chan error, 1)
	go func() { st.served <- stage.Serve(ctx, path) }()
	return nil
}

// end ends the engine.
func (st *studio) end() error {
	if st.stage == nil {
		return nil
	}
	st.client.Close()
	st.cancel()
	st.stage = nil
	return <-st.served
}

// dress has the window be in a language and a theme.
func (st *studio) dress(ctx context.Context, language, look string) error {
	st.language, st.look = language, look
	if st.stage == nil {
		return st.begin(ctx, language, look)
	}
	_, err := st.client.EditPreferences(ctx, control.PreferencesEdit{Language: &language, Theme: &look})
	return err
}

// shoot takes one picture.
func (st *studio) shoot(ctx context.Context, v view) error {
	if st.covered { // and it may ask whether it is to go
		if err := st.screen.Keys("Escape", "Escape"); err != nil {
			return err
		}
	}
	place := control.Place{Page: v.page, Subject: v.subject}
	if v.page == "sandboxes" && v.subject != "" {
		snap, _ := st.stage.Snapshot()
		for _, b := range snap.Sandboxes {
			if b.Name == v.subject {
				place.Subject = b.ID
			}
		}
	}
	door, err := control.DoorPath()
	if err != nil {
		return err
	}
	if err := control.Knock(ctx, door, place); err != nil {
		return err
	}
	if err := st.arrive(v); err != nil {
		return err
	}
	for _, m := range slices.Concat(v.once, v.do) {
		if err := m(ctx, st); err != nil {
			return err
		}
	}
	st.covered = v.dialog
	p, err := st.seen()
	if err != nil {
		return err
	}
	return save(st.file(v.name, string(st.kind), st.language, st.look), p)
}

// seen is the window once it has come to rest, without the pointer.
func (st *studio) seen() (*image.RGBA, error) {
	if err := st.screen.Rest(); err != nil {
		return nil, err
	}
	// What a page asks the engine for comes a moment after it is there, and
	// seconds are counted.
	p, err := st.screen.Calm(st.at.Dx()*st.at.Dy()/400, time.Second, 20*time.Second)
	if err != nil {
		return nil, err
	}
	return screen.Cut(p, st.at), nil
}

// arrive waits until the window shows the page of a view.
func (st *studio) arrive(v view) error {
	for limit := time.Now().Add(patience); ; {
		p, err := st.seen()
		if err != nil {
			return err
		}
		is, err := st.is(p, v.page)
		if err != nil || is {
			return err
		}
		if time.Now().After(limit) { // what it shows instead says why
			return errors.Join(errors.New("the window does not show it"), save(st.file(v.name, string(st.kind), st.language, st.look), p))
		}
	}
}

// is reports whether a picture is of a page as it should be: its title can be
// read, and it is light or dark.
func (st *studio) is(p *image.RGBA, page string) (bool, error) {
	corner := p.RGBAAt(3, p.Bounds().Dy()-3)
	if dark := corner.R < 0x80; dark != (st.look == "dark") {
		return false, nil
	}
	words, err := st.read(screen.Cut(p, image.Rect(int(60*st.scale), 0, int(600*st.scale), int(52*st.scale))), 3, st.look == "dark")
	if err != nil {
		return false, err
	}
	return strings.Contains(screen.Text(words), assets.Load(st.language, "window").Get("window.page."+page)), nil
}

// read reads the words of a picture, so many times as large: small letters are
// read badly, and so are light ones on a dark ground.
func (st *studio) read(p *image.RGBA, times int, dark bool) ([]screen.Word, error) {
	big := image.NewRGBA(image.Rect(0, 0, times*p.Bounds().Dx(), times*p.Bounds().Dy()))
	for y := range big.Bounds().Dy() {
		for x := range big.Bounds().Dx() {
			c := p.RGBAAt(x/times, y/times)
			if dark {
				c.R, c.G, c.B = 0xff-c.R, 0xff-c.G, 0xff-c.B
			}
			big.SetRGBA(x, y, c)
		}
	}
	words, err := screen.Read(big, map[string]string{assets.English: "eng", assets.Spanish: "spa"}[st.language])
	for i := range words {
		at := &words[i].At
		at.Min, at.Max = at.Min.Div(times), at.Max.Div(times)
	}
	return words, err
}
