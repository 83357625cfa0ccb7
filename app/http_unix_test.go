//go:build unix

package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHTTPChild starts a program with what is ordered, and nothing of one client's.
func TestHTTPChild(t *testing.T) {
	t.Setenv("ARENERO_HOME", t.TempDir())
	t.Setenv("AWS_PROFILE", "of-a-client")
	t.Setenv("ARENERO_TOOLSETS", "of-a-client")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	dir := t.TempDir()
	c := &httpChild{program: filepath.Join(dir, "arenero-bridge"), language: func() string { return "es" }, log: slog.New(slog.DiscardHandler)}
	o := httpOrder{on: true, address: address, token: true}
	never := func(string) { t.Error("it is up") }
	if err := c.serve(t.Context(), o, never); !errors.Is(err, errAddressTaken) {
		t.Errorf("where another listens: %v", err)
	}
	for _, written := range []string{"garbage", "0.0.0.0:1", "127.0.0.1:0", ":1"} { // by hand
		if err := c.serve(t.Context(), httpOrder{on: true, address: written}, never); !errors.Is(err, errNoAddress) {
			t.Errorf("at %s: %v", written, err)
		}
	}
	free.Close()
	if err := c.serve(t.Context(), o, never); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a program: %v", err)
	}
	said := filepath.Join(dir, "said")
	write := func(script string) {
		t.Helper()
		if err := os.WriteFile(c.program, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("echo one >&2\necho 'arenero-bridge: no luck' >&2\nexit 2\n")
	if err := c.serve(t.Context(), o, never); err == nil || err.Error() != "it ended: no luck" {
		t.Errorf("of one that ends: %v", err)
	}
	write("echo \"$@\" >" + said + "\nenv >>" + said + "\necho http://here/mcp\ncat\necho over >>" + said + "\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := c.serve(ctx, o, func(url string) {
		if url != "http://here/mcp" {
			t.Errorf("it is up at %q", url)
		}
		cancel()
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	text, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address)
	for _, want := range []string{"--http --attached --host 127.0.0.1 --port " + port + " --auth token\n", "ARENERO_LANG=es\n", "ARENERO_HOME=" + os.Getenv("ARENERO_HOME") + "\n", "over\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(string(text), "of-a-client") {
		t.Errorf("it is told of a client: %s", text)
	}
	log, err := os.ReadFile(filepath.Join(os.Getenv("ARENERO_HOME"), "state", "log", httpLog))
	if err != nil || !strings.Contains(string(log), "no luck") {
		t.Errorf("its log: %q, %v", log, err)
	}
}
