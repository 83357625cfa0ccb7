//go:build amd64 || arm64

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/agent"
	"github.com/arenero/arenero/app/internal/jail/link"
	"github.com/arenero/arenero/app/internal/jail/nest"
)

// expiredCode is how the program exits when the time of the sandbox is up. The
// platform tells it to the client as the reason.
const expiredCode = 124

// allowRootKey is the variable by which an image lets processes be root's.
const allowRootKey = "RAYITO_ALLOW_ROOT"

// The first thread stays with the main goroutine, and starts nothing: orphans
// become the children of that thread, so there it can be told whose they are.
func init() { runtime.LockOSThread() }

func main() {
	nest.Main()
	var o options
	flag.IntVar(&o.grpcPort, "grpc-port", 8080, "answer calls on this `PORT`")
	flag.IntVar(&o.hooksPort, "hooks-port", 9000, "answer the platform's hooks on this `PORT`")
	flag.BoolVar(&o.noKernel, "no-kernel", false, "run commands only, no cells of code")
	flag.StringVar(&o.user, "user", nest.User, "run programs as this `USER`")
	flag.StringVar(&o.home, "home", nest.Home, "the `FOLDER` of that user")
	flag.BoolVar(&o.asSelf, "as-self", false, "run programs as whoever runs this, even root, and call that the user")
	flag.IntVar(&o.memoryMiB, "memory-mib", 0, "tell clients that the sandbox has this many `MIB`")
	flag.IntVar(&o.cpus, "cpus", 0, "tell clients that the sandbox has this many `PROCESSORS`")
	flag.StringVar(&o.line, "link", "", "the `LINE` to the jail's host; set by the jail")
	flag.Parse()
	go func() { os.Exit(report(run(o))) }()
	agent.ReapOrphans()
}

// report prints err, and returns the exit code.
func report(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, agent.ErrExpired):
		return expiredCode
	}
	fmt.Fprintln(os.Stderr, "arenero-agent:", err)
	return 1
}

type options struct {
	grpcPort, hooksPort int
	noKernel, asSelf    bool
	user, home, line    string
	memoryMiB, cpus     int
}

func run(o options) error {
	if err := nest.Settle(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cfg := agent.Config{
		User: o.user, Home: o.home, NoKernel: o.noKernel,
		Memory: uint64(max(0, o.memoryMiB)) << 20, CPUs: max(0, o.cpus),
		AllowRoot: os.Getenv(allowRootKey) == "1", AsSelf: o.asSelf,
		Env:   environ(o.line != ""),
		Spawn: nest.Spawn,
		Log:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	var guest *link.Guest
	if o.line != "" {
		var err error
		if guest, err = link.OpenGuest(o.line); err != nil {
			return err
		}
		defer guest.Close()
		cfg.Platform = link.FromHost
	} else {
		// In a jail any program could send these.
		ctx, cancel = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer cancel()
	}
	if err := limit(guest != nil); err != nil {
		return err
	}
	// What we were given without asking is not for programs. An old kernel
	// can't do this, and there it isn't needed either.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	calls, hooks, err := listen(ctx, o, guest)
	if err != nil {
		return err
	}
	server := agent.NewServer(cfg)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer cancel()
		return server.Serve(ctx, calls, hooks)
	})
	if guest != nil {
		g.Go(func() error {
			if err := guest.Serve(ctx); errors.Is(err, link.ErrClosed) {
				os.Exit(1) // the host has gone, and nothing is worth saving
			}
			return nil
		})
	}
	return g.Wait()
}

// listen opens both ports. In a jail nobody else can come near them; elsewhere
// the platform comes from outside.
func listen(ctx context.Context, o options, guest *link.Guest) (calls, hooks net.Listener, err error) {
	host := ""
	if guest != nil {
		host = "127.0.0.1"
	}
	var lc net.ListenConfig
	if calls, err = lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(o.grpcPort))); err != nil {
		return nil, nil, err
	}
	if hooks, err = lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(o.hooksPort))); err != nil {
		calls.Close()
		return nil, nil, err
	}
	if guest != nil {
		calls, hooks = guest.Mark(calls), guest.Mark(hooks)
	}
	return calls, hooks, nil
}

// environ is what programs get of our own environment: in a jail all that was
// put there for them, elsewhere only the way out.
func environ(jailed bool) map[string]string {
	env := map[string]string{}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		switch strings.ToUpper(name) {
		case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY":
		default:
			if !jailed || strings.HasPrefix(name, "ARENERO_") {
				continue
			}
		}
		env[name] = value
	}
	return env
}
