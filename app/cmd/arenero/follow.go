package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A follower joins a command in a sandbox to this program: its input, its
// output, and the signals that this program gets.
type follower struct {
	ctx            context.Context
	client         *control.Client
	id             string
	input          io.Reader // nil is none
	stdout, stderr io.Writer
	note           func(text string) // tells a person
	terminal       bool              // keys that were cut off are no reason to end; to be asked to end is
	lost           bool              // some output is missing

	stop     context.CancelFunc // ends the command
	signals  chan os.Signal
	progress *progress
	started  chan struct{} // closed once the command runs
	begin    sync.Once

	mu       sync.Mutex // guards what follows
	inputErr error
}

// newFollower returns one that takes signals from now on: those that come
// before the command runs end all.
func newFollower(ctx context.Context, client *control.Client, id string, stop context.CancelFunc) *follower {
	f := &follower{
		ctx: ctx, client: client, id: id, stdout: os.Stdout, stderr: os.Stderr, stop: stop,
		signals: make(chan os.Signal, 16), progress: newProgress(say("cli.progress.connecting")), started: make(chan struct{}),
	}
	f.note = func(text string) { fmt.Fprintln(os.Stderr, "arenero:", text) }
	for s := range passedOn() {
		if !signal.Ignored(s) { // as nohup does, and shells to what runs in the background
			signal.Notify(f.signals, s)
		}
	}
	// Else a reader that has gone would end this program, and not the command.
	for _, s := range brokenPipe() {
		signal.Notify(make(chan os.Signal, 1), s)
	}
	go f.pass()
	return f
}

func (f *follower) close() {
	f.progress.end()
	signal.Stop(f.signals)
}

// run runs e and follows it to its end.
func (f *follower) run(e sandbox.Exec) (sandbox.Exit, error) {
	exit, err := f.client.Exec(f.ctx, e, f.take)
	f.progress.end()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.inputErr != nil && err != nil:
		return exit, f.inputErr
	case errors.Is(err, syscall.EPIPE):
		return exit, &exitError{exitPipe}
	}
	return exit, err
}

// take passes on what the command says.
func (f *follower) take(o sandbox.Output) error {
	f.progress.end()
	var err error
	switch {
	case o.Notice == sandbox.NoticeStarted:
		f.begin.Do(func() {
			close(f.started)
			if f.input != nil {
				go f.feed()
			}
		})
	case o.Notice == sandbox.NoticeCreating:
		f.progress.say(say("cli.progress.creating"))
	case o.Notice == sandbox.NoticeResuming:
		f.progress.say(say("cli.progress.waking"))
	case o.Notice == sandbox.NoticeLost, o.Notice == sandbox.NoticeTruncated:
		f.lost = true
		f.note(say("cli.exec.missing"))
	case o.Stream == sandbox.Stderr:
		_, err = f.stderr.Write(o.Data)
	case len(o.Data) > 0:
		_, err = f.stdout.Write(o.Data)
	}
	return err
}

// feed passes input on until it or the command ends.
func (f *follower) feed() {
	buf := make([]byte, 256<<10)
	for {
		n, err := f.input.Read(buf)
		if n > 0 {
			if err := f.client.Input(f.ctx, f.id, buf[:n]); err != nil && !f.terminal {
				f.fail(err)
				return
			}
		}
		if err != nil { // its end, or there is none to be had, which is the same to the command
			if err := f.client.CloseInput(f.ctx, f.id); err != nil && !f.terminal {
				f.fail(err)
			}
			return
		}
	}
}

// fail ends the command because it can't have its input.
func (f *follower) fail(err error) {
	if isGone(err) || f.ctx.Err() != nil {
		return
	}
	if sandbox.CodeOf(err) == sandbox.ExecInDoubt {
		err = errInput()
	}
	f.mu.Lock()
	f.inputErr = err
	f.mu.Unlock()
	f.stop()
}

// pass passes signals on. One that comes before the command runs, the end of
// our terminal, and the third Ctrl-C end the command for good.
func (f *follower) pass() {
	numbers := passedOn()
	asked := 0
	for {
		var s os.Signal
		select {
		case s = <-f.signals:
		case <-f.ctx.Done():
			return
		}
		select {
		case <-f.started:
		default:
			f.stop()
			return
		}
		switch {
		case s == syscall.SIGHUP, s == syscall.SIGTERM && f.terminal: // which a shell would not obey
			asked = 3
		case s == os.Interrupt, s == syscall.SIGTERM:
			asked++
		}
		if asked > 2 {
			f.stop()
			return
		}
		if err := f.client.Signal(f.ctx, f.id, numbers[s]); err == nil && asked == 2 {
			f.note(say("cli.exec.goes-on"))
		}
	}
}
