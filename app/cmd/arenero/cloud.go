package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/arenero/arenero/app/internal/cloud"
	"github.com/arenero/arenero/app/internal/paths"
)

// closeTimeout is how long the sandboxes have to end.
const closeTimeout = 20 * time.Second

type cloudCommand struct {
	Listen      string `placeholder:"HOST:PORT"`
	Socket      string `placeholder:"PATH"`
	Data        string `placeholder:"DIR"`
	Templates   string `placeholder:"FILE"`
	Faults      string `placeholder:"FILE"`
	IdleExit    idleExit
	Region      string `default:"us-east-1"`
	JSON        bool   `name:"json"`
	PrintEnv    bool
	Agent       string `placeholder:"PATH"`
	Verbose     bool   `short:"v"`
	OpenToAll   bool   `name:"i-know-others-can-connect"`
	NotIsolated bool   `name:"i-know-this-is-not-isolated"`

	deaf bool // Ctrl-C is ignored
}

// Run is "arenero cloud".
func (c *cloudCommand) Run() error {
	dir, err := c.dataDir()
	if err != nil {
		return err
	}
	if c.PrintEnv {
		return c.printRunning(dir)
	}
	if err := c.check(); err != nil {
		return err
	}
	// Who reads our log may go before us, and must not take the sandboxes along.
	ends, drops := []os.Signal{syscall.SIGTERM}, []os.Signal{syscall.SIGPIPE}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) { // as a shell does for what it starts with "&", and nohup
			drops = append(drops, s)
		} else {
			ends = append(ends, s)
		}
	}
	c.deaf = signal.Ignored(os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	// To ignore a signal would be to have programs in sandboxes ignore it.
	signal.Notify(make(chan os.Signal, 1), drops...)
	return c.serve(ctx, dir)
}

// check finds mistakes before anything is started.
func (c *cloudCommand) check() error {
	if !regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]$`).MatchString(c.Region) {
		return wrong("cli.cloud.region", "region", c.Region)
	}
	if c.Faults != "" {
		b, err := os.ReadFile(c.Faults)
		if err != nil {
			return wrong("cli.flag", "flag", "--faults", "why", reason(err))
		}
		if _, err := cloud.ParseFaults(b); err != nil {
			return wrong("cli.flag.value", "flag", "--faults", "value", c.Faults, "why", reason(err))
		}
	}
	if c.Listen == "" && c.Socket == "" {
		c.Listen = "127.0.0.1:0"
	}
	return nil
}

// dataDir is where the cloud keeps its records. A folder with other things in
// it is refused: it would be closed to all but this user.
func (c *cloudCommand) dataDir() (string, error) {
	if c.Data == "" {
		dirs, err := paths.Find()
		if err != nil {
			return "", err
		}
		return dirs.OwnCloud(), nil
	}
	dir, err := filepath.Abs(c.Data)
	if err != nil {
		return "", wrong("cli.flag", "flag", "--data", "why", reason(err))
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return dir, nil
	}
	if err != nil {
		return "", wrong("cli.flag", "flag", "--data", "why", reason(err))
	}
	if _, err := os.Lstat(filepath.Join(dir, "lock")); err != nil {
		return "", wrong("cli.cloud.data", "folder", dir)
	}
	return dir, nil
}

// serve builds the cloud, says how to reach it, and waits for its end.
func (c *cloudCommand) serve(ctx context.Context, dir string) (err error) {
	log := c.log()
	machines, err := c.machines(log)
	if err != nil {
		return err
	}
	server, err := cloud.New(cloud.Config{
		Dir: dir, Launcher: machines, Region: c.Region, FaultsFile: c.Faults, Log: log.With("part", "cloud"),
	})
	if errors.Is(err, cloud.ErrTaken) {
		printEnv := "arenero cloud --print-env"
		if c.Data != "" {
			printEnv += " --data " + quote(c.Data)
		}
		return failure("cli.cloud.taken", "why", reason(err), "command", printEnv)
	}
	if err != nil {
		return err
	}
	defer func() {
		calm, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		err = errors.Join(err, server.Close(calm))
	}()
	// The folder is ours, so a note in it is that of a cloud that was killed.
	// It must be gone before something answers where it says.
	if err := os.Remove(environFile(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove old note: %w", err)
	}
	listeners, err := c.listen()
	if err != nil {
		return err
	}
	defer func() {
		for _, ln := range listeners {
			ln.Close()
		}
	}()
	return c.run(ctx, dir, server, listeners)
}

// run serves until ctx is done or nobody has needed the cloud for long enough.
func (c *cloudCommand) run(ctx context.Context, dir string, server *cloud.Server, listeners []net.Listener) error {
	env := environment(server, listeners)
	forget, err := env.save(dir)
	if err != nil {
		return err
	}
	defer forget()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	for _, ln := range listeners {
		g.Go(func() error { return server.Serve(ctx, ln) })
	}
	if c.IdleExit > 0 {
		g.Go(func() error {
			if server.WaitIdle(ctx, time.Duration(c.IdleExit)) == nil {
				stop()
			}
			return nil
		})
	}
	// The listeners take calls already, so whoever reads this can call.
	if err := c.announce(env); err != nil {
		stop()
		return errors.Join(err, g.Wait())
	}
	return g.Wait()
}

// announce prints env and closes standard output, so that a shell that waits
// for what we say goes on while we do.
func (c *cloudCommand) announce(env environ) error {
	if err := env.print(os.Stdout, c.JSON); err != nil {
		return err
	}
	if !c.JSON {
		key := "cli.cloud.ready"
		if c.deaf {
			key = "cli.cloud.ready.deaf"
		}
		fmt.Fprintln(os.Stderr, say(key, "pid", strconv.Itoa(env.PID)))
	}
	return closeStdout()
}

func (c *cloudCommand) log() *slog.Logger {
	level := slog.LevelWarn
	if c.Verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// agentPath finds the program that sandboxes run. Containers are Linux even
// where this computer is not.
func (c *cloudCommand) agentPath() (string, error) {
	path := c.Agent
	if path == "" {
		exe, err := os.Executable()
		if err == nil {
			exe, err = filepath.EvalSymlinks(exe)
		}
		if err != nil {
			return "", fmt.Errorf("find own program: %w", err)
		}
		name := "arenero-agent"
		if runtime.GOOS != "linux" {
			name += "-linux-" + runtime.GOARCH
		}
		path = filepath.Join(filepath.Dir(exe), name)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", wrong("cli.flag", "flag", "--agent", "why", reason(err))
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", failure("cli.cloud.agent", "file", path)
	}
	return path, nil
}
