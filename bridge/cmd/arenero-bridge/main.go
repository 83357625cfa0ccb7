// Command arenero-bridge is what an MCP host starts: an MCP server over stdio,
// or over HTTP with --http. It holds no secrets and no state; the sandboxes are
// the engine's, which it starts when there is none.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/bridge"
)

const name = "arenero-bridge"

// Exit codes.
const (
	exitDone   = 0 // the host has gone, or a signal came
	exitFailed = 1 // something broke
	exitUsage  = 2 // environment or arguments are wrong, or a part of Arenero is missing
)

// version is set by the linker.
var version string

func main() { os.Exit(run()) }

func run() int {
	// Nothing but the protocol may get to standard output, whatever happens.
	out, err := bridge.TakeStdout()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return exitFailed
	}
	st, err := configure(os.Args[1:], os.LookupEnv, os.Environ())
	if help, ok := errors.AsType[*helpError](err); ok {
		fmt.Fprint(os.Stderr, help.text)
		return exitDone
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return exitUsage
	}
	path, err := control.Path()
	if err == nil {
		err = findEngine(st, path)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, st.texts.Get("start.engine", "why", err.Error()))
		return exitUsage
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: st.level}))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := newService(st, path, log)
	if st.http {
		err = s.serveHTTP(ctx, os.Stdin, out)
	} else {
		err = s.serveStdio(ctx, os.Stdin, out)
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, usage)
		return exitUsage
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return exitFailed
	}
	return exitDone
}

// findEngine makes sure that there is an engine, or a program to start one with.
func findEngine(st *settings, path string) error {
	program, err := control.Beside("arenero")
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if _, err := control.NewClient(path).Status(ctx); err != nil {
		return errors.New(st.texts.Get("start.missing", "program", program))
	}
	return nil
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
