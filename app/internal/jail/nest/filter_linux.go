//go:build amd64 || arm64

package nest

import (
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in the kernel's seccomp_data.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

// Flags of clone and unshare that make namespaces; CLONE_NEWTIME is for
// unshare only, its bit is part of the signal number in clone.
const (
	cloneNew   = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	unshareNew = cloneNew | unix.CLONE_NEWTIME
)

// denied are the system calls nothing in a jail has business with. Most would
// be refused for want of a capability anyway; the filter also keeps their code
// out of reach.
var denied = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR, sysOpenTreeAttr,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_SYSLOG,
}

// missing are calls that programs try and then do without, if they are told
// that the kernel has none.
var missing = []uint32{
	unix.SYS_CLONE3, // its flags are behind a pointer, which a filter can't read
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// sysOpenTreeAttr has the same number everywhere, and no name in x/sys yet.
const sysOpenTreeAttr = 467

func refuse(errno unix.Errno) bpf.RetConstant {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// program returns the filter: a call of another architecture ends the process,
// a call on the lists gets an error, everything else goes on.
func program() []bpf.Instruction {
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	number := bpf.LoadAbsolute{Off: offsetNumber, Size: 4}
	// The low word of argument n; all arguments looked at are 32 bits wide.
	arg := func(n uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offsetArgs + 8*n, Size: 4} }

	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		number,
	}
	if x32Bit != 0 {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: x32Bit, SkipTrue: 1}, refuse(unix.ENOSYS))
	}
	on := func(nr uint32, then ...bpf.Instruction) {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: uint8(len(then))})
		p = append(p, then...)
	}
	on(unix.SYS_CLONE, arg(0),
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: cloneNew, SkipTrue: 1}, refuse(unix.EPERM), allow)
	on(unix.SYS_UNSHARE, arg(0),
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unshareNew, SkipTrue: 1}, refuse(unix.EPERM), allow)
	for _, nr := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		on(nr, arg(0),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipTrue: 3},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipTrue: 1},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_NETLINK, SkipTrue: 1, SkipFalse: 3},
			allow,
			arg(2), // of netlink only the routing protocol, which getifaddrs uses
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 1},
			refuse(unix.EAFNOSUPPORT), allow)
	}
	for _, nr := range missing {
		on(nr, refuse(unix.ENOSYS))
	}
	for _, nr := range append(denied, deniedHere...) {
		on(nr, refuse(unix.EPERM))
	}
	return append(p, allow)
}

// filter returns the program in the kernel's form.
func filter() ([]unix.SockFilter, error) {
	raw, err := bpf.Assemble(program())
	if err != nil {
		return nil, err
	}
	out := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		out[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	return out, nil
}
