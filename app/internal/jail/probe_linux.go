//go:build amd64 || arm64

package jail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/jail/nest"
)

// An unsupportedError says that this computer can't make this kind of jail.
type unsupportedError struct {
	means Means
	err   error
}

func (e *unsupportedError) Error() string { return e.means.Why + "; " + e.means.Remedy }
func (e *unsupportedError) Unwrap() error { return e.err }

// explain turns an error of starting a process in namespaces into one that
// says what the user can do.
func explain(err error) error {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return fmt.Errorf("start the jail: %w", err)
	}
	switch errno {
	case unix.EPERM, unix.EACCES, unix.ENOSPC, unix.EUSERS, unix.EINVAL, unix.ENOSYS:
		return unsupported(err)
	}
	return fmt.Errorf("start the jail: %w", err)
}

func unsupported(err error) error {
	return &unsupportedError{means: refusal(readSysctl, os.Geteuid(), err), err: err}
}

// refusal finds out why the kernel did not let us make namespaces.
func refusal(sysctl func(string) string, euid int, err error) Means {
	m := Means{Kind: Namespaces}
	switch {
	case sysctl("kernel/unprivileged_userns_clone") == "0" && euid != 0:
		m.Why = "user namespaces are off (kernel.unprivileged_userns_clone=0)"
		m.Remedy = "run: sudo sysctl -w kernel.unprivileged_userns_clone=1, or install Docker or Podman"
	case sysctl("user/max_user_namespaces") == "0":
		m.Why = "user namespaces are off (user.max_user_namespaces=0)"
		m.Remedy = "run: sudo sysctl -w user.max_user_namespaces=15000, or install Docker or Podman"
	case sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1" && euid != 0:
		m.Why = "AppArmor keeps programs without a profile from using user namespaces (kernel.apparmor_restrict_unprivileged_userns=1)"
		m.Remedy = "install Arenero's AppArmor profile, or run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or install Docker or Podman"
	default:
		m.Why = "the kernel refused to isolate a process (" + err.Error() + ")"
		m.Remedy = "Linux 5.12 or newer with user namespaces is needed; inside a container they are often off. Otherwise install Docker or Podman, or add an AWS profile"
	}
	return m
}

func readSysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func probe(ctx context.Context) Report {
	return newReport(append([]Means{probeNamespaces(ctx)}, probeContainers(ctx)...))
}

// probeNamespaces starts a program that does nothing, in the namespaces of a
// jail. The chroot to where it is anyway shows whether privileges inside are
// real, which some systems deny.
func probeNamespaces(ctx context.Context) Means {
	uid, gid := mapTo()
	cmd := exec.CommandContext(ctx, "/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  cloneflags,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: nest.UID, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: nest.GID, HostID: gid, Size: 1}},
		Credential:  &syscall.Credential{Uid: nest.UID, Gid: nest.GID, NoSetGroups: true},
		Chroot:      "/",
	}
	if err := cmd.Run(); err != nil {
		return refusal(readSysctl, os.Geteuid(), err)
	}
	if err := unix.MountSetattr(-1, "", 0, nil); errors.Is(err, unix.ENOSYS) {
		return refusal(readSysctl, os.Geteuid(), errors.New("mount_setattr is missing"))
	}
	return Means{Kind: Namespaces, Works: true, Notes: groupNotes()}
}

// groupNotes says which limits the kernel can't hold here.
func groupNotes() []string {
	g := newGroup(Spec{ID: "probe", CPUs: 1, MemoryMiB: 64, DiskMiB: 64, PIDs: 64})
	defer g.remove()
	if g == nil {
		g = &group{fd: -1}
		return append(g.notes(), "no control group can be made: suspending stops processes by signal")
	}
	return g.notes()
}

func (g *group) notes() []string {
	var out []string
	if !g.memory {
		out = append(out, "no memory controller: memory is limited per process and watched once a second")
	}
	if !g.pids {
		out = append(out, "no pids controller: processes are limited by number per user of the jail")
	}
	if !g.cpu {
		out = append(out, "no cpu controller: processor time is shared fairly but not limited")
	}
	return out
}
