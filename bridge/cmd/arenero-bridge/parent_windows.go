package main

import (
	"context"
	"os"

	"golang.org/x/sys/windows"
)

// watchParent calls gone when the process that started this one has ended,
// unless ctx is done before. On Windows nobody is told to end, and what else the
// host started may still hold our standard input.
func watchParent(ctx context.Context, gone func()) {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(os.Getppid()))
	if err != nil {
		return // the end of the input has to do
	}
	defer windows.CloseHandle(h)
	if ev, err := windows.WaitForSingleObject(h, windows.INFINITE); err == nil && ev == windows.WAIT_OBJECT_0 && ctx.Err() == nil {
		gone()
	}
}
