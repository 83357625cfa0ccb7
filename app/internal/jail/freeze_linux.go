//go:build amd64 || arm64

package jail

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

func (t *tree) Freeze(ctx context.Context) error {
	t.freezing.Lock()
	defer t.freezing.Unlock()
	if !t.alive() {
		return ErrEnded
	}
	if t.frozen {
		return nil
	}
	if err := t.freezeLocked(ctx); err != nil {
		t.thawLocked(context.WithoutCancel(ctx))
		return fmt.Errorf("freeze the jail: %w", err)
	}
	t.watch.pause()
	t.frozen = true
	return nil
}

func (t *tree) Thaw(ctx context.Context) error {
	t.freezing.Lock()
	defer t.freezing.Unlock()
	if !t.alive() {
		return ErrEnded
	}
	if !t.frozen {
		return nil
	}
	if err := t.thawLocked(ctx); err != nil {
		return fmt.Errorf("thaw the jail: %w", err)
	}
	t.watch.resume()
	t.frozen = false
	return nil
}

// alive reports whether the first process has not been waited for, so that its
// id is certainly its own.
func (t *tree) alive() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended && !t.killed && unix.PidfdSendSignal(t.pidfd, 0, nil, 0) == nil
}

func (t *tree) freezeLocked(ctx context.Context) error {
	if t.group != nil {
		return t.group.freeze(ctx, true)
	}
	return t.stopAllLocked(ctx)
}

func (t *tree) thawLocked(ctx context.Context) error {
	if t.group != nil {
		return t.group.freeze(ctx, false)
	}
	// Children first, so that no parent sees one stopped.
	for _, fd := range slices.Backward(t.stopped) {
		unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0) // one that has died needs none
		unix.Close(fd)
	}
	t.stopped = nil
	return nil
}

// stopAllLocked sends SIGSTOP down the tree of processes until a whole look
// finds none that is not stopped. Sessions and groups don't matter; a process
// can only get out of the tree by ending. One that another has woken meanwhile
// is told again.
func (t *tree) stopAllLocked(ctx context.Context) error {
	root := t.cmd.Process.Pid
	told := map[int]int{} // pidfds of those stopped by us
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		running := 0
		for _, p := range descendants(root) {
			fd, again := told[p.pid]
			switch stateOf(p.pid) {
			case stateStopped:
				continue // if not by us, then not ours to wake
			case stateGone:
				continue
			case stateInKernel: // e.g. a parent in vfork: it can't come out any more
				if again {
					continue
				}
			}
			running++
			if !again {
				var ok bool
				if fd, ok = t.open(p.pid); !ok {
					continue
				}
			}
			err := unix.PidfdSendSignal(fd, unix.SIGSTOP, nil, 0)
			switch {
			case err != nil && again:
				delete(told, p.pid) // another process has got the id
			case err != nil:
				unix.Close(fd)
			case !again:
				t.stopped = append(t.stopped, fd)
				told[p.pid] = fd
			}
		}
		if running == 0 {
			return nil
		}
		if !t.alive() {
			return ErrEnded
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// open returns a pidfd of a process of this jail. Ids are used again, and a
// signal must never reach a process of the host: so first the process is
// opened, then it is seen to be below the first process, then that one to be
// alive.
func (t *tree) open(pid int) (int, bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, false
	}
	root := t.cmd.Process.Pid
	for pid != root && pid > 1 {
		p, ok := readProc(pid)
		if !ok {
			break
		}
		pid = p.parent
	}
	if pid != root || unix.PidfdSendSignal(fd, 0, nil, 0) != nil || !t.alive() {
		unix.Close(fd)
		return -1, false
	}
	return fd, true
}
