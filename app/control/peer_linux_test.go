package control_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// TestOtherUser has another user connect, with the folder and the socket open to
// all. Only root can be another user; anyone else finds that the own one is
// let in.
func TestOtherUser(t *testing.T) {
	path := filepath.Join(shortDir(t), "run", "s")
	serve(t, path, newParrot())
	for _, p := range []string{filepath.Dir(filepath.Dir(path)), filepath.Dir(path), path} {
		must(t, os.Chmod(p, 0o777))
	}
	if os.Geteuid() == 0 {
		answer := make(chan error, 1)
		go func() {
			runtime.LockOSThread() // and never unlock it: the thread ends as another user's
			answer <- knock(path, 65534)
		}()
		if err := <-answer; err == nil {
			t.Error("another user gets an answer")
		}
	}
	c := control.NewClient(path)
	defer c.Close()
	if _, err := c.Status(t.Context()); err != nil {
		t.Errorf("this user: %v", err)
	}
}

// knock connects as uid, and fails if the other end hangs up.
func knock(path string, uid int) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
		return nil // which the test takes for an answer
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return nil
	}
	limit := unix.NsecToTimeval(time.Minute.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return nil
	}
	if _, err := unix.Write(fd, []byte("POST /v1/hello HTTP/1.1\r\nHost: arenero\r\nArenero-Protocol: 1\r\nContent-Length: 0\r\n\r\n")); err != nil {
		return err
	}
	buf := make([]byte, 1)
	n, err := unix.Read(fd, buf)
	if err == nil && n == 0 {
		err = unix.EPIPE
	}
	return err
}

// TestStranger finds another user's program at the path, in a folder of that
// user's making: it learns nothing, and a person learns what is wrong. Only root
// can be another user.
func TestStranger(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir := shortDir(t)
	must(t, os.Chmod(dir, 0o777))
	path := filepath.Join(dir, "s")
	listening := make(chan int, 1)
	go func() {
		runtime.LockOSThread() // and never unlock it: the thread ends as another user's
		listening <- squat(path, 65534)
	}()
	fd := <-listening
	if fd < 0 {
		t.Fatal("the other user can't listen")
	}
	file := os.NewFile(uintptr(fd), path)
	defer file.Close()
	ln, err := net.FileListener(file)
	must(t, err)
	defer ln.Close()
	heard := make(chan []byte, 100)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			text, _ := io.ReadAll(conn)
			heard <- text
			conn.Close()
		}
	}()
	launched := false
	c := &control.Client{Path: path, Launch: func(context.Context) error { launched = true; return nil }}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = c.Exec(ctx, sandbox.Exec{ID: "e", Target: sandbox.Target{Lease: "l"}, Args: []string{"secret"}}, func(sandbox.Output) error { return nil })
	if sandbox.CodeOf(err) != sandbox.Unreachable || !strings.Contains(sandbox.Message(err), "65534") {
		t.Errorf("Exec() = %v", err)
	}
	if _, err := c.Status(ctx); sandbox.CodeOf(err) != sandbox.Unreachable || !strings.Contains(sandbox.Message(err), "65534") {
		t.Errorf("Status() = %v", err)
	}
	if _, err := control.Listen(ctx, path); err == nil {
		t.Error("an engine takes the place of the other's")
	}
	if launched {
		t.Error("an engine was started")
	}
	for range 2 {
		if text := <-heard; len(text) > 0 {
			t.Errorf("the other user hears %q", text)
		}
	}
}

// squat listens at path as uid.
func squat(path string, uid int) int {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
		return -1
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil || unix.Bind(fd, &unix.SockaddrUnix{Name: path}) != nil || unix.Listen(fd, 10) != nil {
		return -1
	}
	return fd
}
