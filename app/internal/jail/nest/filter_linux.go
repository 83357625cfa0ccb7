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
// unshare only, its bit is part of the signal number in clone. With
// CLONE_PARENT a program could give the agent children it knows nothing of.
const (
	cloneNew   = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	unshareNew = cloneNew | unix.CLONE_NEWTIME
	cloneNot   = cloneNew | unix.CLONE_PARENT
)

// faults are signals by which the kernel tells a process of a mistake of its
// own. The agent ends by them, or may: its runtime can't tell one that was
// forged, with the kernel's codes, from a real one.
var faults = []uint32{
	uint32(unix.SIGILL), uint32(unix.SIGTRAP), uint32(unix.SIGBUS), uint32(unix.SIGFPE),
	uint32(unix.SIGSEGV), uint32(unix.SIGSTKFLT), uint32(unix.SIGSYS),
}

// fSetSig is the command of fcntl that chooses which signal tells of input.
const fSetSig = 10

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
	unix.SYS_IO_SETUP, // the computer has a fixed number of these, for all users together
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
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: cloneNot, SkipTrue: 1}, refuse(unix.EPERM), allow)
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
	// ifFault goes on if argument n is one of faults, and allows the rest.
	ifFault := func(n uint32, then ...bpf.Instruction) []bpf.Instruction {
		list := []bpf.Instruction{arg(n)}
		for i, sig := range faults {
			list = append(list, bpf.JumpIf{Cond: bpf.JumpEqual, Val: sig, SkipTrue: uint8(len(faults) - i)})
		}
		return append(append(list, allow), then...)
	}
	// The first argument of rt_sigqueueinfo may be any thread of the agent.
	on(unix.SYS_RT_SIGQUEUEINFO, ifFault(1, refuse(unix.EPERM))...)
	on(unix.SYS_RT_TGSIGQUEUEINFO, ifFault(2,
		arg(0), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 1, SkipTrue: 1}, refuse(unix.EPERM), allow)...)
	on(unix.SYS_PIDFD_SEND_SIGNAL, ifFault(1, whenSet(2, refuse(unix.EPERM))...)...)
	on(unix.SYS_FCNTL, append([]bpf.Instruction{
		arg(1), bpf.JumpIf{Cond: bpf.JumpEqual, Val: fSetSig, SkipTrue: 1}, allow,
	}, ifFault(2, refuse(unix.EPERM))...)...)
	// The limits of one's own process only: with those of the agent it could be
	// ended.
	on(unix.SYS_PRLIMIT64, append([]bpf.Instruction{
		arg(0), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 1}, allow,
	}, whenSet(2, refuse(unix.EPERM))...)...)
	for _, nr := range missing {
		on(nr, refuse(unix.ENOSYS))
	}
	for _, nr := range append(denied, deniedHere...) {
		on(nr, refuse(unix.EPERM))
	}
	return append(p, allow)
}

// whenSet returns what to do if pointer argument n is not nil; else the call is
// allowed.
func whenSet(n uint32, then bpf.Instruction) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArgs + 8*n, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 2},
		bpf.LoadAbsolute{Off: offsetArgs + 8*n + 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1},
		then,
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	}
}

// filter returns a program in the kernel's form.
func filter(p []bpf.Instruction) ([]unix.SockFilter, error) {
	raw, err := bpf.Assemble(p)
	if err != nil {
		return nil, err
	}
	out := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		out[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	return out, nil
}
