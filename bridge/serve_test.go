package bridge

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// serveForTest is main of the test binary as a server.
func serveForTest() int {
	out, err := TakeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s, _ := testServer(exiter{}, Config{Log: logTo(os.Stderr)})
	if err := s.ServeStdio(context.Background(), os.Stdin, out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// exiter is as much of a testing.TB as a server in a process needs.
type exiter struct{ testing.TB }

func (exiter) Helper() {}

func (exiter) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}
