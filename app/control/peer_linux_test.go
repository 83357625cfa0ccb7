package control_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/control"
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
