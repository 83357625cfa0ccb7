// Serve plays a scene on the control socket of ARENERO_HOME, until it is
// interrupted or a client has it stop:
//
//	ARENERO_HOME=/tmp/stage go run ./app/internal/e2e/scene/serve -scene busy
//
// Whatever client is started with the same ARENERO_HOME meets it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/e2e/scene"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	kind := flag.String("scene", string(scene.Busy), fmt.Sprintf("which `scene`: one of %v", scene.Kinds()))
	language := flag.String("language", "", "`language` that the owner has set: en or es")
	theme := flag.String("theme", "", "`theme` that the owner has set: light or dark")
	play := flag.Duration("play", 0, "have those that run say something every `while`")
	stir := flag.Int("stir", 0, "for each line of standard input, change something small so many `times`, and say when that is done")
	flag.Parse()
	if os.Getenv("ARENERO_HOME") == "" {
		return errors.New("set ARENERO_HOME to a folder of its own, for the scene not to stand in the way of the real engine")
	}
	path, err := control.Path()
	if err != nil {
		return err
	}
	s, err := scene.New(scene.Config{Kind: scene.Kind(*kind), Language: *language, Theme: *theme})
	if err != nil {
		return err
	}
	if *play > 0 {
		go playOn(ctx, s, *play)
	}
	if *stir > 0 {
		go stirUp(s, *stir)
	}
	return s.Serve(ctx, path)
}

func playOn(ctx context.Context, s *scene.Scene, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.PlayOn()
		case <-ctx.Done():
			return
		}
	}
}

// stirUp goes at the pace of whoever watches.
func stirUp(s *scene.Scene, times int) {
	for {
		if _, err := fmt.Scanln(); errors.Is(err, io.EOF) {
			return
		}
		for range times {
			s.Stir()
		}
		fmt.Println(times)
	}
}
