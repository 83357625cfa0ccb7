package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
)

type engineCommand struct {
	Stop     bool `xor:"what"`
	Status   bool `xor:"what"`
	IdleExit idleExit
	JSON     bool `name:"json"`
	Verbose  bool `short:"v"`
	Started  bool `hidden:""` // by a client: end when nobody needs it, and say nothing if one runs
}

// Run is "arenero engine".
func (c *engineCommand) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch {
	case c.Stop:
		return c.stop(ctx)
	case c.Status:
		return c.status(ctx)
	}
	return c.serve(ctx)
}

func (c *engineCommand) serve(ctx context.Context) error {
	file, err := app.OpenLog("engine.log")
	if err != nil {
		return err
	}
	defer file.Close()
	if err := app.KeepCrashes(); err != nil {
		return err
	}
	var log slog.Handler = slog.NewTextHandler(file, nil)
	if c.Verbose {
		log = slog.NewMultiHandler(log, slog.NewTextHandler(os.Stderr, nil))
	}
	if c.Started {
		// Standard error goes to whoever started us, and may be gone: that ends
		// nothing. Ignored, the signal would be so for all that we start.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		if c.IdleExit == 0 {
			c.IdleExit = idleExit(defaultIdle)
		}
	}
	engine, err := c.open(ctx, slog.New(log))
	if errors.Is(err, app.ErrRunning) && c.Started {
		return nil
	}
	if err != nil {
		slog.New(log).Error("engine does not start", "err", err)
		return err
	}
	if !c.Started && !c.JSON {
		fmt.Fprintln(os.Stderr, say("cli.engine.ready"))
	}
	defer time.AfterFunc(settleAfter, settle).Stop()
	return engine.Run(ctx)
}

// settleAfter is how long the start of an engine may take, with the first calls
// of whoever has started it.
const settleAfter = 10 * time.Second

// open takes the place of the engine. One that is about to end holds it still,
// and whoever started us waits: so we do, unless that one answers.
func (c *engineCommand) open(ctx context.Context, log *slog.Logger) (*app.App, error) {
	for end := time.Now().Add(endWithin); ; {
		engine, err := app.New(ctx, app.Config{Version: versionText(), Build: build(), IdleExit: time.Duration(c.IdleExit), Log: log})
		if !errors.Is(err, app.ErrRunning) || !c.Started || time.Now().After(end) || ctx.Err() != nil {
			return engine, err
		}
		if client, cerr := c.client(); cerr == nil {
			if _, serr := client.Status(ctx); serr == nil {
				return nil, err
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// endWithin is how long an engine may take to end.
const endWithin = 10 * time.Second

// build tells two programs of the same version apart.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func (c *engineCommand) client() (*control.Client, error) {
	path, err := control.Path()
	if err != nil {
		return nil, err
	}
	return control.NewClient(path), nil
}

func (c *engineCommand) stop(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	return client.Stop(ctx)
}

func (c *engineCommand) status(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	s, err := client.Status(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(s)
	}
	_, err = fmt.Println(say("cli.engine.status", "version", s.Version, "pid", strconv.Itoa(s.PID), "since", s.Since.Local().Format(time.DateTime),
		"sandboxes", count(s.Sandboxes, "sandbox"), "connections", count(s.Leases, "connection")))
	return err
}
