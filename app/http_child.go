package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
)

// A httpChild starts "arenero-bridge --http", attached to this process.
type httpChild struct {
	program  string
	language func() string // of the owner
	log      *slog.Logger
}

// httpLog is the log of the program that serves over HTTP.
const httpLog = "http.log"

// errNoAddress means that nothing can ever be served at what is in the settings.
var errNoAddress = errors.New("there is no such address")

// errAddressTaken means that another program listens at an address.
var errAddressTaken = errors.New("another program has the address")

// A lastWordsError is what the program said as it ended.
type lastWordsError struct{ words string }

func (e *lastWordsError) Error() string { return "it ended: " + e.words }

// serve serves until ctx is done, and waits for the end of the program.
func (c *httpChild) serve(ctx context.Context, o httpOrder, up func(url string)) error {
	// Whoever has written the settings by hand was not told yet.
	if err := settings.CheckAddress(o.address); err != nil {
		c.log.Warn("nothing can be served over HTTP", "err", err)
		return fmt.Errorf("%w: %w", errNoAddress, err)
	}
	host, port, err := net.SplitHostPort(o.address)
	if err != nil {
		return err
	}
	// The program would fail as well, but in words of its own.
	if err := tryAddress(ctx, o.address); err != nil {
		c.log.Warn("nothing can be served over HTTP", "address", o.address, "err", err)
		return err
	}
	auth := "none"
	if o.token {
		auth = "token"
	}
	file, err := OpenLog(httpLog)
	if err != nil {
		return err
	}
	defer file.Close()
	words := &lastLine{to: file}
	cmd := exec.CommandContext(ctx, c.program, "--http", "--attached", "--host", host, "--port", port, "--auth", auth)
	cmd.Env = httpEnviron(os.Environ(), c.language())
	cmd.Dir = filepath.Dir(c.program)
	cmd.SysProcAttr = detached()
	cmd.Stderr = words
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	// It ends when its input does, as it does when this process is killed.
	cmd.Cancel = in.Close
	cmd.WaitDelay = httpEndWithin
	if err := cmd.Start(); err != nil {
		c.log.Warn("nothing serves over HTTP", "err", err)
		return err
	}
	c.log.Info("serving over HTTP begins", "address", o.address, "auth", auth, "pid", cmd.Process.Pid)
	const most = 1 << 10
	if line, err := bufio.NewReader(io.LimitReader(out, most)).ReadString('\n'); err == nil {
		up(strings.TrimSpace(line))
	}
	err = cmd.Wait()
	c.log.Info("serving over HTTP ends", "address", o.address, "err", err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &lastWordsError{strings.TrimPrefix(words.text(), "arenero-bridge: ")}
}

// tryAddress reports why nothing can listen at an address now.
func tryAddress(ctx context.Context, address string) error {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		return ln.Close()
	}
	if errors.Is(err, addressInUse) {
		return fmt.Errorf("%w: %w", errAddressTaken, err)
	}
	return err
}

// httpEnviron is env for a program that serves all: nothing in it that is of one
// client, who may have started this engine.
func httpEnviron(env []string, language string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		for _, prefix := range []string{"AWS_", "RAYITO_", "ARENERO_"} {
			if strings.HasPrefix(v, prefix) && !strings.HasPrefix(v, paths.Home+"=") {
				return true
			}
		}
		return false
	})
	if language == "" {
		return out // that of the system
	}
	return append(out, "ARENERO_LANG="+language)
}

// A lastLine writes what a program says to a log, and knows the last line.
type lastLine struct {
	to io.Writer

	mu   sync.Mutex // guards last
	last []byte
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const most = 1 << 10
	l.last = append(l.last, p...)
	if lines := bytes.Split(bytes.TrimRight(l.last, "\n"), []byte("\n")); len(lines) > 1 {
		l.last = append(slices.Clone(lines[len(lines)-1]), '\n')
	}
	l.last = l.last[:min(len(l.last), most)]
	return l.to.Write(p)
}

func (l *lastLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(l.last), "\ufffd"))
}
