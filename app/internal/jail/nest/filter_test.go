//go:build linux

package nest

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

func TestFilter(t *testing.T) {
	vm, err := bpf.NewVM(program())
	if err != nil {
		t.Fatal(err)
	}
	const (
		allow = unix.SECCOMP_RET_ALLOW
		kill  = unix.SECCOMP_RET_KILL_PROCESS
	)
	errno := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	tests := []struct {
		name string
		arch uint32
		nr   uint32
		args [6]uint64
		want uint32
	}{
		{"read", auditArch, unix.SYS_READ, [6]uint64{}, allow},
		{"execve", auditArch, unix.SYS_EXECVE, [6]uint64{}, allow},
		{"ptrace of one's own", auditArch, unix.SYS_PTRACE, [6]uint64{}, allow},
		{"other architecture", unix.AUDIT_ARCH_I386, unix.SYS_READ, [6]uint64{}, kill},
		{"thread", auditArch, unix.SYS_CLONE, [6]uint64{0x3d0f00}, allow},
		{"fork", auditArch, unix.SYS_CLONE, [6]uint64{0x1200011}, allow},
		{"user namespace by clone", auditArch, unix.SYS_CLONE, [6]uint64{unix.CLONE_NEWUSER | 17}, errno(unix.EPERM)},
		{"network namespace by clone", auditArch, unix.SYS_CLONE, [6]uint64{unix.CLONE_NEWNET | 17}, errno(unix.EPERM)},
		{"clone3", auditArch, unix.SYS_CLONE3, [6]uint64{}, errno(unix.ENOSYS)},
		{"child of the parent", auditArch, unix.SYS_CLONE, [6]uint64{unix.CLONE_PARENT | 17}, errno(unix.EPERM)},
		{"queued signal", auditArch, unix.SYS_RT_SIGQUEUEINFO, [6]uint64{1, 10, 99}, allow},
		{"forged fault", auditArch, unix.SYS_RT_SIGQUEUEINFO, [6]uint64{7, 11, 99}, errno(unix.EPERM)},
		{"fault of one's own thread", auditArch, unix.SYS_RT_TGSIGQUEUEINFO, [6]uint64{20, 21, 11, 99}, allow},
		{"forged fault of a thread", auditArch, unix.SYS_RT_TGSIGQUEUEINFO, [6]uint64{1, 7, 4, 99}, errno(unix.EPERM)},
		{"signal by descriptor", auditArch, unix.SYS_PIDFD_SEND_SIGNAL, [6]uint64{3, 11, 0}, allow},
		{"signal by descriptor with information", auditArch, unix.SYS_PIDFD_SEND_SIGNAL, [6]uint64{3, 10, 99}, allow},
		{"forged fault by descriptor", auditArch, unix.SYS_PIDFD_SEND_SIGNAL, [6]uint64{3, 31, 99}, errno(unix.EPERM)},
		{"forged fault by descriptor, high", auditArch, unix.SYS_PIDFD_SEND_SIGNAL, [6]uint64{3, 7, 1 << 40}, errno(unix.EPERM)},
		{"flags of a file", auditArch, unix.SYS_FCNTL, [6]uint64{3, unix.F_SETFL, 11}, allow},
		{"signal of input", auditArch, unix.SYS_FCNTL, [6]uint64{3, 10, 34}, allow},
		{"fault as signal of input", auditArch, unix.SYS_FCNTL, [6]uint64{3, 10, 11}, errno(unix.EPERM)},
		{"limit of one's own", auditArch, unix.SYS_PRLIMIT64, [6]uint64{0, 7, 99}, allow},
		{"look at a limit of another", auditArch, unix.SYS_PRLIMIT64, [6]uint64{1, 7, 0, 99}, allow},
		{"limit of another", auditArch, unix.SYS_PRLIMIT64, [6]uint64{1, 0, 99}, errno(unix.EPERM)},
		{"limit of another, high", auditArch, unix.SYS_PRLIMIT64, [6]uint64{7, 0, 1 << 40}, errno(unix.EPERM)},
		{"unshare files", auditArch, unix.SYS_UNSHARE, [6]uint64{unix.CLONE_FILES}, allow},
		{"unshare mounts", auditArch, unix.SYS_UNSHARE, [6]uint64{unix.CLONE_NEWNS}, errno(unix.EPERM)},
		{"unshare time", auditArch, unix.SYS_UNSHARE, [6]uint64{unix.CLONE_NEWTIME}, errno(unix.EPERM)},
		{"unix socket", auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM}, allow},
		{"unix socket pair", auditArch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM}, allow},
		{"IPv4 socket", auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_INET, unix.SOCK_STREAM}, allow},
		{"IPv6 socket", auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_INET6, unix.SOCK_STREAM}, allow},
		{"routing netlink", auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{"audit netlink", auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}, errno(unix.EAFNOSUPPORT)},
		{"netfilter netlink", auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}, errno(unix.EAFNOSUPPORT)},
		{"packet socket", auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_PACKET}, errno(unix.EAFNOSUPPORT)},
		{"vsock", auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_VSOCK}, errno(unix.EAFNOSUPPORT)},
		{"kernel crypto", auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_ALG}, errno(unix.EAFNOSUPPORT)},
		{"high half of the family", auditArch, unix.SYS_SOCKET, [6]uint64{1<<32 | unix.AF_PACKET}, errno(unix.EAFNOSUPPORT)},
		{"asynchronous input", auditArch, unix.SYS_IO_SETUP, [6]uint64{8}, errno(unix.ENOSYS)},
		{"io_uring", auditArch, unix.SYS_IO_URING_SETUP, [6]uint64{}, errno(unix.ENOSYS)},
	}
	for _, nr := range append(denied, deniedHere...) {
		tests = append(tests, struct {
			name string
			arch uint32
			nr   uint32
			args [6]uint64
			want uint32
		}{"denied", auditArch, nr, [6]uint64{}, errno(unix.EPERM)})
	}
	if x32Bit != 0 {
		tests = append(tests, struct {
			name string
			arch uint32
			nr   uint32
			args [6]uint64
			want uint32
		}{"x32", auditArch, unix.SYS_READ | x32Bit, [6]uint64{}, errno(unix.ENOSYS)})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := vm.Run(seccompData(tt.nr, tt.arch, tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if uint32(got) != tt.want {
				t.Errorf("call %d %#x = %#x, want %#x", tt.nr, tt.args, got, tt.want)
			}
		})
	}
	raw, err := filter(program())
	if err != nil || len(raw) > 4096 {
		t.Errorf("filter has %d instructions, %v", len(raw), err)
	}
}

func TestLimitsFilter(t *testing.T) {
	vm, err := bpf.NewVM(limitsProgram())
	if err != nil {
		t.Fatal(err)
	}
	refused := unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	tests := []struct {
		name string
		nr   uint32
		args [6]uint64
		want uint32
	}{
		{"read", unix.SYS_READ, [6]uint64{}, unix.SECCOMP_RET_ALLOW},
		{"files", unix.SYS_PRLIMIT64, [6]uint64{0, unix.RLIMIT_NOFILE, 99}, unix.SECCOMP_RET_ALLOW},
		{"files, the old way", unix.SYS_SETRLIMIT, [6]uint64{unix.RLIMIT_NOFILE, 99}, unix.SECCOMP_RET_ALLOW},
		{"processes", unix.SYS_PRLIMIT64, [6]uint64{0, unix.RLIMIT_NPROC, 99}, refused},
		{"processes, the old way", unix.SYS_SETRLIMIT, [6]uint64{unix.RLIMIT_NPROC, 99}, refused},
		{"memory", unix.SYS_PRLIMIT64, [6]uint64{0, unix.RLIMIT_DATA, 1 << 40}, refused},
		{"memory, the old way", unix.SYS_SETRLIMIT, [6]uint64{unix.RLIMIT_DATA, 99}, refused},
		{"look", unix.SYS_PRLIMIT64, [6]uint64{0, unix.RLIMIT_NPROC, 0, 99}, unix.SECCOMP_RET_ALLOW},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := vm.Run(seccompData(tt.nr, auditArch, tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if uint32(got) != tt.want {
				t.Errorf("call %d %#x = %#x, want %#x", tt.nr, tt.args, got, tt.want)
			}
		})
	}
}

// seccompData lays a call out as the VM reads it: words in network order, the
// low half of an argument where a little-endian kernel has it.
func seccompData(nr, arch uint32, args [6]uint64) []byte {
	b := binary.BigEndian.AppendUint32(nil, nr)
	b = binary.BigEndian.AppendUint32(b, arch)
	b = append(b, make([]byte, 8)...) // the instruction pointer
	for _, a := range args {
		b = binary.BigEndian.AppendUint32(b, uint32(a))
		b = binary.BigEndian.AppendUint32(b, uint32(a>>32))
	}
	return b
}
