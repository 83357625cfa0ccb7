package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/sandbox"
)

// localImage is the ARN of the image that the local cloud always has, in the
// region that it stands for.
func localImage(region string) string {
	return "arn:aws:lambda:" + region + ":000000000000:microvm-image:arenero-local"
}

// A local is the cloud of this computer: a process of its own, so that it and
// its sandboxes outlive an engine that crashes or is replaced.
type local struct {
	program string // "arenero"
	socket  string
	data    string
	logFile string
	known   *images
	clock   clockwork.Clock
	log     *slog.Logger

	ended    func()     // is called when one that was started here has ended; may be nil
	starting sync.Mutex // held while it is started

	mu   sync.Mutex // guards what follows
	note note
	open *cloud // for note
}

// A note is what a running cloud says of itself, in a file that only its owner
// can read.
type note struct {
	Socket          string `json:"socket"`
	AccessKeyID     string `json:"accessKeyId"`
	SecretAccessKey string `json:"secretAccessKey"`
	Region          string `json:"region"`
	PID             int    `json:"pid"`
}

const (
	startWithin = 30 * time.Second // for a cloud to say that it is there
	dialWithin  = 5 * time.Second
)

// get returns the cloud, started if need be. With wake false one that does not
// run is nil: then it has no sandboxes either.
func (l *local) get(ctx context.Context, wake bool) (fleet.Cloud, error) {
	c, err := l.running(ctx)
	if c != nil || err != nil || !wake {
		return orNil(c), err
	}
	l.starting.Lock()
	defer l.starting.Unlock()
	if c, err = l.running(ctx); c == nil && err == nil {
		c, err = l.start(ctx)
	}
	return orNil(c), err
}

// orNil keeps a nil *cloud from looking like one that is there.
func orNil(c *cloud) fleet.Cloud {
	if c == nil {
		return nil
	}
	return c
}

// running returns the cloud that runs, or nil.
func (l *local) running(ctx context.Context) (*cloud, error) {
	text, err := atomicfile.Read(filepath.Join(l.data, "running.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var n note
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		return nil, cloudDown("the local cloud's note can't be read", err)
	}
	if n.Socket == "" {
		return nil, cloudDown("a cloud without a socket uses "+l.data, nil)
	}
	conn, err := dialUnix(ctx, n.Socket)
	switch {
	case nobodyListens(err):
		return nil, nil // it was killed
	case err != nil:
		return nil, cloudDown("the local cloud can't be reached", err)
	}
	conn.Close()
	return l.client(n), nil
}

// nobodyListens reports whether err says that no process has the socket open.
func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	return new(net.Dialer).DialContext(ctx, "unix", path)
}

func cloudDown(msg string, err error) error {
	return &sandbox.Error{Code: sandbox.CloudDown, Msg: msg, Retryable: true, Err: err}
}

// client returns the client for the cloud that n describes.
func (l *local) client(n note) *cloud {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open != nil && l.note == n {
		return l.open
	}
	dial := func(ctx context.Context, _ string) (net.Conn, error) { return dialUnix(ctx, n.Socket) }
	api := microvm.NewFromConfig(awsauth.Static(n.Region, n.AccessKeyID, n.SecretAccessKey, ""),
		microvm.WithDialer(func(ctx context.Context, _, host string) (net.Conn, error) { return dial(ctx, host) }),
		func(o *microvm.Options) {
			o.BaseEndpoint = new("http://lambda." + n.Region + ".amazonaws.com")
			o.NoRateLimit = true
		})
	l.note = n
	l.open = &cloud{
		api: api, dial: dial, local: true, known: l.known, clock: l.clock, log: l.log,
		image: localImage(n.Region),
	}
	return l.open
}

// start starts a cloud that outlives us, and returns when it can be called.
func (l *local) start(ctx context.Context) (*cloud, error) {
	if err := paths.Private(filepath.Dir(l.socket)); err != nil {
		return nil, cloudDown("the local cloud has no place for its socket", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	var last error
	for delay := 20 * time.Millisecond; ; delay = min(2*delay, time.Second) {
		n, err := l.spawn(ctx)
		if err == nil {
			l.log.Info("local cloud started", "pid", n.PID)
			return l.client(n), nil
		}
		last = err
		// One that is about to end may hold the folder still; one that somebody
		// else started meanwhile is as good.
		if c, err := l.running(ctx); c != nil && err == nil {
			return c, nil
		}
		timer := l.clock.NewTimer(delay)
		select {
		case <-timer.Chan():
		case <-ctx.Done():
			timer.Stop()
			return nil, cloudDown("the local cloud does not start", last)
		}
		if !again(last) {
			return nil, last
		}
	}
}

// again reports whether a start may do better in a moment.
func again(err error) bool {
	e, ok := errors.AsType[*sandbox.Error](err)
	return ok && e.Retryable
}

// spawn starts the process, detached from ours, and reads what it says of
// itself. Its standard error goes to a log file.
func (l *local) spawn(ctx context.Context) (note, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return note{}, cloudDown("the local cloud does not start", err)
	}
	defer out.Close()
	defer in.Close()
	sink, err := atomicfile.Open(l.logFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return note{}, &sandbox.Error{Code: sandbox.CloudDown, Msg: "the local cloud has no log", Hint: "look at " + l.logFile, Err: err}
	}
	defer sink.Close()
	cmd := exec.Command(l.program, "cloud", "--socket", l.socket, "--data", l.data, "--json", "--idle-exit")
	cmd.Stdout, cmd.Stderr = in, sink
	cmd.Dir = "/"
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return note{}, &sandbox.Error{Code: sandbox.CloudDown, Msg: "the local cloud does not start", Hint: "is " + l.program + " there?", Err: err}
	}
	go func() {
		cmd.Wait() // nobody else does, and so it leaves nothing behind
		if l.ended != nil {
			l.ended()
		}
	}()
	in.Close()
	stop := context.AfterFunc(ctx, func() { out.SetReadDeadline(time.Now()) })
	defer stop()
	line, err := bufio.NewReader(io.LimitReader(out, 1<<16)).ReadBytes('\n')
	if err != nil {
		return note{}, cloudDown("the local cloud ended before it was ready: "+l.lastWords(), err)
	}
	var n note
	if err := json.Unmarshal(line, &n); err != nil {
		return note{}, cloudDown("the local cloud speaks another language", fmt.Errorf("%d bytes: %w", len(line), err))
	}
	return n, nil
}

// lastWords is the last line that the cloud wrote to its log.
func (l *local) lastWords() string {
	text, err := atomicfile.Read(l.logFile)
	if err != nil {
		return "it said nothing"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
