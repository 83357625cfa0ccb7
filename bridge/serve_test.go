package bridge

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"testing"
	"time"
)

// serveForTest is main of the test binary as a server: over stdio, or over HTTP
// with the address on standard output.
func serveForTest() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serveMode(ctx, os.Getenv("BRIDGE_TEST_SERVER")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serveMode(ctx context.Context, mode string) error {
	cfg := Config{Log: logTo(os.Stderr), Cleanup: func(context.Context, *Conn) { fmt.Fprintln(os.Stderr, "cleaned up") }}
	s, _ := testServer(exiter{}, cfg)
	switch mode {
	case "fixture-http", "http":
		if mode == "fixture-http" {
			s = fixture(cfg)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Println(ln.Addr())
		return s.ServeListener(ctx, ln, HTTPConfig{Host: ln.Addr().String()})
	case "fixture":
		s = fixture(cfg)
	}
	out, err := TakeStdout()
	if err != nil {
		return err
	}
	if mode == "noisy" { // prints where it must not
		go func() {
			for {
				fmt.Println("stray line")
				os.Stdout.WriteString("stray")
				time.Sleep(time.Millisecond)
			}
		}()
	}
	return s.ServeStdio(ctx, os.Stdin, out)
}

// exiter is as much of a testing.TB as a server in a process needs.
type exiter struct{ testing.TB }

func (exiter) Helper() {}

func (exiter) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}
