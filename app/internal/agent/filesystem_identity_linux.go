package agent

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// as runs do with the rights of u, and with p as a path of that user.
func (f *filesystem) as(u *agentpb.User, p string, do func(p string) error) error {
	who, err := f.who(u)
	if err != nil {
		return err
	}
	p, err = cleanPath(who.home, p)
	if err != nil {
		return err
	}
	return who.run(func() error { return do(p) })
}

// run calls do on a thread that the file system takes for one of id's. Only root
// has that choice; anyone else is who they are.
func (id *identity) run(do func() error) error {
	if os.Geteuid() != 0 || id.uid == 0 {
		return do()
	}
	runtime.LockOSThread()
	own, err := os.Getgroups()
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("read own groups: %w", err)
	}
	groups := make([]uint32, 0, len(own))
	for _, g := range own {
		groups = append(groups, uint32(g))
	}
	// The kernel drops the rights of root over files from this thread with the
	// user id, and gives them back with it.
	err = setThread(id.groups, id.gid, id.uid)
	if err == nil {
		err = do()
	}
	if setThread(groups, uint32(os.Getegid()), 0) == nil {
		runtime.UnlockOSThread() // else the thread ends with its goroutine
	}
	return err
}

// setThread sets whom the file system sees in this thread alone.
func setThread(groups []uint32, gid, uid uint32) error {
	var first unsafe.Pointer
	if len(groups) > 0 {
		first = unsafe.Pointer(&groups[0])
	}
	if _, _, no := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(first), 0); no != 0 {
		return fmt.Errorf("set groups: %w", no)
	}
	// Both calls answer with the old id and no error; asking again tells.
	for _, set := range []struct {
		call uintptr
		id   uint32
	}{{unix.SYS_SETFSGID, gid}, {unix.SYS_SETFSUID, uid}} {
		unix.RawSyscall(set.call, uintptr(set.id), 0, 0)
		if got, _, _ := unix.RawSyscall(set.call, ^uintptr(0), 0, 0); uint32(got) != set.id {
			return fmt.Errorf("set file system id %d: %w", set.id, unix.EPERM)
		}
	}
	return nil
}
