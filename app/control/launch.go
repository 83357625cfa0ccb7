package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/internal/filelock"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/sandbox"
)

// Beside returns the program of that name in the folder of this program, where
// all of ours are installed together.
func Beside(name string) (string, error) {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(exe), name), nil
}

// Launcher returns a Launch that starts "arenero engine" from beside this
// program, unless another program is about to. The engine outlives whoever
// starts it, and writes to its own log. Of one that failed to start, the next
// Launch tells why in place of trying again.
func Launcher() func(ctx context.Context) error { return TellingLauncher(nil) }

// TellingLauncher is as Launcher, and calls failed with why an engine that it
// started has failed to start, as soon as that is known and from any goroutine:
// the next Launch is another try then.
func TellingLauncher(failed func(err error)) func(ctx context.Context) error {
	l := &launcher{failed: failed}
	return func(ctx context.Context) error {
		program, err := Beside("arenero")
		if err != nil {
			return err
		}
		turn, err := takeTurn(ctx)
		if errors.Is(err, filelock.ErrTaken) {
			return nil
		}
		if err != nil {
			return err
		}
		return l.start(program, turn)
	}
}

// A turn is the right to start an engine, which one program has at a time: a
// host starts many bridges at once, and as many engines, of which all but one
// end at once, would keep that one from starting.
type turn struct {
	lock  *filelock.Lock // nil where there is no place for one
	there func() bool    // an engine answers
}

func takeTurn(ctx context.Context) (turn, error) {
	path, err := Path()
	if err != nil {
		return turn{}, err
	}
	dirs, err := paths.Find()
	if err != nil {
		return turn{}, err
	}
	t := turn{there: func() bool {
		conn, err := dial(context.WithoutCancel(ctx), path)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}}
	if paths.Private(dirs.State) == nil { // else the engine itself will say what is wrong
		t.lock, err = filelock.Try(filepath.Join(dirs.State, "launch.lock"))
		if errors.Is(err, filelock.ErrTaken) {
			return turn{}, err
		}
	}
	return t, nil
}

// end gives the turn back when the engine answers, when it has ended, or when
// there is no more waiting for it.
func (t turn) end(ended <-chan struct{}) {
	if t.lock == nil {
		return
	}
	defer t.lock.Close()
	tries := time.NewTicker(turnEvery)
	defer tries.Stop()
	limit := time.NewTimer(turnWithin)
	defer limit.Stop()
	for {
		select {
		case <-ended:
			return
		case <-limit.C:
			return
		case <-tries.C:
			if t.there() {
				return
			}
		}
	}
}

// LogFolder is where the engine and the tray write their logs.
func LogFolder() (string, error) {
	dirs, err := paths.Find()
	if err != nil {
		return "", err
	}
	return filepath.Join(dirs.State, "log"), nil
}

// A launcher knows how the last start of an engine ended.
type launcher struct {
	failed func(err error) // is told at once; nil has the next start tell

	mu   sync.Mutex
	why  string // the last words of one that failed, until told
	when time.Time
}

const (
	lastWords   = 1 << 10          // bytes of what an engine may say about its failure
	failedSoon  = 20 * time.Second // after its start, else it is no failure to start
	stillTrue   = 3 * launchEvery  // how long a failure is told in place of another try
	noWordsSaid = "see the engine's log"

	turnEvery  = 100 * time.Millisecond // between two looks whether it answers
	turnWithin = time.Minute
)

func (l *launcher) start(program string, t turn) error {
	begun := false
	defer func() {
		if !begun && t.lock != nil {
			t.lock.Close()
		}
	}()
	l.mu.Lock()
	why := l.why
	fresh := time.Since(l.when) < stillTrue
	l.why = ""
	l.mu.Unlock()
	if why != "" && fresh {
		return notStarted(why)
	}
	out, in, err := os.Pipe()
	if err != nil {
		return &sandbox.Error{Code: sandbox.Unreachable, Msg: "Arenero can't be started", Retryable: true, Err: err}
	}
	defer in.Close()
	cmd := exec.Command(program, "engine", "--started")
	cmd.Env = environment(os.Environ())
	cmd.Dir = filepath.Dir(program)
	cmd.SysProcAttr = detached()
	cmd.Stderr = in
	if err := cmd.Start(); err != nil {
		out.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return missingProgram(program, err)
		}
		return &sandbox.Error{Code: sandbox.Unreachable, Msg: "Arenero can't be started", Hint: "is " + program + " there?", Err: err}
	}
	begun = true
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.await(cmd, out)
	}()
	go t.end(ended)
	return nil
}

// await keeps what an engine says as it fails. A start that lost the race ends
// at once and well, and leaves nothing behind.
func (l *launcher) await(cmd *exec.Cmd, out *os.File) {
	defer out.Close()
	begun := time.Now()
	text, _ := io.ReadAll(io.LimitReader(out, lastWords))
	io.Copy(io.Discard, out)
	err := cmd.Wait()
	if failed, ok := errors.AsType[*exec.ExitError](err); !ok || !failed.Exited() || time.Since(begun) > failedSoon {
		return
	}
	words := strings.TrimPrefix(strings.TrimSpace(string(text)), "arenero: ")
	if l.failed != nil {
		l.failed(notStarted(cmp.Or(words, noWordsSaid)))
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.why, l.when = cmp.Or(words, noWordsSaid), time.Now()
}

// notStarted says that an engine has ended as it began.
func notStarted(why string) error {
	return &sandbox.Error{Code: sandbox.Unreachable, Msg: "Arenero can't be started: " + why, Retryable: true}
}

// missingProgram says that a part of Arenero is not installed, and what to do.
func missingProgram(program string, err error) error {
	return &sandbox.Error{
		Code: sandbox.Unreachable, Msg: program + ` is not there: install Arenero whole, or run "make build"`,
		Details: map[string]any{"program": program}, Err: err,
	}
}

// environment leaves out what is meant for one client alone: the engine serves
// all of them, and each sends what it has.
func environment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "RAYITO_")
	})
}
