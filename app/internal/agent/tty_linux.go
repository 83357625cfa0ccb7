package agent

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openTerminal makes a terminal of that size. It returns our end, which waits
// in the poller, and the descriptor of the shell's end.
func openTerminal(size *unix.Winsize) (master *os.File, slave int, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, -1, err
	}
	slave, err = openSlave(fd)
	if err == nil {
		if err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size); err != nil {
			unix.Close(slave)
		}
	}
	if err != nil {
		unix.Close(fd)
		return nil, -1, err
	}
	return os.NewFile(uintptr(fd), "terminal"), slave, nil
}

// openSlave opens the other end of master.
func openSlave(master int) (int, error) {
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, err
	}
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	// The master knows its peer, however /dev/pts may be mounted; old kernels
	// have to look there.
	if fd, _, no := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, flags); no == 0 {
		return int(fd), nil
	}
	n, err := unix.IoctlGetUint32(master, unix.TIOCGPTN)
	if err != nil {
		return -1, err
	}
	return unix.Open("/dev/pts/"+strconv.Itoa(int(n)), flags, 0)
}

// setSize changes the size of a terminal that is in use.
func setSize(f *os.File, size *unix.Winsize) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	ctl := raw.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size)
	})
	if ctl != nil {
		return ctl
	}
	return err
}
