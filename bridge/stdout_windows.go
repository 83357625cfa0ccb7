package bridge

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// TakeStdout returns what standard output was, for the protocol alone, and
// makes standard output the same as standard error, for Go code, for C code that
// asks the system and for child processes. So nothing that prints by mistake can
// get between the messages. Call it first thing in main.
func TakeStdout() (*os.File, error) {
	self := windows.CurrentProcess()
	var kept windows.Handle
	err := windows.DuplicateHandle(self, windows.Handle(os.Stdout.Fd()), self, &kept, 0, false, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return nil, fmt.Errorf("keep standard output: %w", err)
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, fmt.Errorf("redirect standard output: %w", err)
	}
	os.Stdout = os.Stderr
	return os.NewFile(uintptr(kept), "protocol"), nil
}
