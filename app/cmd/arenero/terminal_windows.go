package main

import (
	"context"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/term"

	"github.com/arenero/arenero/app/sandbox"
)

// makeRaw has the console pass all keys on as they are, and obey what the
// sandbox writes as a terminal would.
func makeRaw(in, out int) (restore func(), err error) {
	var before uint32
	if err := windows.GetConsoleMode(windows.Handle(out), &before); err != nil {
		return nil, err
	}
	state, err := term.MakeRaw(in)
	if err != nil {
		return nil, err
	}
	restore = func() {
		term.Restore(in, state)
		windows.SetConsoleMode(windows.Handle(out), before)
	}
	var input uint32
	err = windows.GetConsoleMode(windows.Handle(in), &input)
	if err == nil {
		err = windows.SetConsoleMode(windows.Handle(in), input|windows.ENABLE_VIRTUAL_TERMINAL_INPUT)
	}
	if err == nil {
		err = windows.SetConsoleMode(windows.Handle(out), before|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING|windows.DISABLE_NEWLINE_AUTO_RETURN)
	}
	if err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}

// lookEvery is how often the size is looked at: nothing tells of it here.
const lookEvery = 250 * time.Millisecond

// watchSize tells of each new size of the terminal until ctx is done.
func watchSize(ctx context.Context, fd int, last sandbox.Size, tell func(sandbox.Size)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if size, err := sizeOf(fd); err == nil && size != last {
			last = size
			tell(size)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
