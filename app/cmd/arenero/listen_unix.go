//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/paths"
)

// listenSocket opens a socket that only this user can connect to. It replaces
// a socket that nobody listens on, and nothing else.
func listenSocket(path string) (net.Listener, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, wrong("cli.flag", "flag", "--socket", "why", reason(err))
	}
	dir := filepath.Dir(path)
	if len(path) > paths.MaxSocket { // the system says no more than "invalid argument"
		return nil, wrong("cli.socket.long", "path", path, "bytes", strconv.Itoa(len(path)), "most", strconv.Itoa(paths.MaxSocket))
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := paths.Private(dir); err != nil {
			return nil, err
		}
	}
	if err := clearStale(path); err != nil {
		return nil, err
	}
	// The folder may be open to others, so the socket must be closed to them
	// from the start. Nothing else of ours makes files yet.
	old := syscall.Umask(0o177)
	ln, err := net.Listen("unix", path)
	syscall.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return ln, nil
}

func clearStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return wrong("cli.socket.other", "path", path)
	}
	conn, err := net.DialTimeout("unix", path, 5*time.Second)
	if err == nil {
		conn.Close()
		return failure("cli.socket.taken", "path", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("try socket: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove old socket: %w", err)
	}
	return nil
}

// closeStdout lets go of whoever reads standard output, and keeps its number
// taken so that no file gets it.
func closeStdout() error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	return unix.Dup2(int(null.Fd()), unix.Stdout)
}
