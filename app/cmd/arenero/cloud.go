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
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/arenero/arenero/app/internal/cloud"
	"github.com/arenero/arenero/app/internal/paths"
)

// closeTimeout is how long the sandboxes have to end.
const closeTimeout = 20 * time.Second

type cloudCommand struct {
	Listen      string   `placeholder:"HOST:PORT" help:"Serve any AWS SDK on this address of this computer. Port 0 takes a free one. The default, without --socket, is 127.0.0.1:0."`
	Socket      string   `placeholder:"PATH" help:"Serve on a Unix socket that only this user can open. May be given beside --listen."`
	Data        string   `placeholder:"DIR" help:"Keep records and keys in this folder. One cloud at a time can use it. The default is one in the user's own state folder."`
	Templates   string   `placeholder:"FILE" help:"Read jail templates from this JSON file: {\"NAME\": {\"diskMiB\": 512, \"egress\": {\"allow\": [\"*.example.org\"], \"deny\": []}}}. An image made from s3://arenero-templates/NAME uses it, and arenero-local may be changed by its name."`
	Faults      string   `placeholder:"FILE" help:"Go wrong on purpose as this JSON file says. It is read again whenever it changes."`
	IdleExit    idleExit `help:"End when no sandbox lives and nobody has called for 10 minutes; --idle-exit=90s sets another time."`
	Region      string   `default:"us-east-1" help:"The AWS region to stand for."`
	JSON        bool     `name:"json" help:"Print one JSON object in place of lines for a shell."`
	PrintEnv    bool     `help:"Start nothing: print the lines of the cloud that is using --data."`
	Agent       string   `placeholder:"PATH" help:"The arenero-agent to put into sandboxes. The default is the one beside this program."`
	Verbose     bool     `short:"v" help:"Log what happens to standard error."`
	OpenToAll   bool     `name:"i-know-others-can-connect" help:"Let --listen take an address that other computers can reach."`
	NotIsolated bool     `name:"i-know-this-is-not-isolated" help:"Run sandboxes as plain processes of this user. Code in them can read and change everything that you can."`

	deaf bool // Ctrl-C is ignored
}

// Help is shown below the summary of "arenero cloud --help".
func (cloudCommand) Help() string {
	return `The signed API of AWS Lambda MicroVMs, with local sandboxes behind it. Once it can be called it prints
lines for a shell, and then runs until Ctrl-C, SIGTERM or --idle-exit; its sandboxes end with it. Ctrl-C does not reach it in the background.

  eval "$(arenero cloud &)"               start it in the background and point this shell at it
  eval "$(arenero cloud --print-env)"     point another shell at it
  kill $ARENERO_CLOUD_PID                 end it

The lines set AWS_ENDPOINT_URL_LAMBDA_MICROVMS, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, so
the AWS SDKs find it with no change to a program. The one image there at first is arenero-local.
With --socket they set ARENERO_CLOUD_SOCKET, the path of the socket, for programs that can speak HTTP over
one; without --listen beside it they unset AWS_ENDPOINT_URL_LAMBDA_MICROVMS.

A file for --faults that has every third RunMicrovm refused, and all answers come late:

  {"rules": [{"operation": "RunMicrovm", "every": 3, "error": "ThrottlingException", "retry_after_seconds": 1},
             {"operation": "*", "answer_delay_ms": 500}]}`
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
		return usagef("--region %q is not a region like us-east-1", c.Region)
	}
	if c.Faults != "" {
		b, err := os.ReadFile(c.Faults)
		if err != nil {
			return usagef("--faults: %w", err)
		}
		if _, err := cloud.ParseFaults(b); err != nil {
			return usagef("--faults %s: %w", c.Faults, err)
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
		return "", usagef("--data: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return dir, nil
	}
	if err != nil {
		return "", usagef("--data: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "lock")); err != nil {
		return "", usagef("--data %s holds files that no cloud made: give an empty folder, or a new one", dir)
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
		return fmt.Errorf("%w: use that one with eval \"$(%s)\", or start this one with another --data DIR", err, printEnv)
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
		key := "Ctrl-C or "
		if c.deaf {
			key = ""
		}
		fmt.Fprintf(os.Stderr, "arenero cloud is ready. %s\"kill %d\" ends it and its sandboxes.\n", key, env.PID)
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
		return "", usagef("--agent: %w", err)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is missing, and sandboxes need it: build it with \"make build-core\", or name it with --agent", path)
	}
	return path, nil
}
