package agent

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// ReapOrphans never returns. It buries the processes whose parents ended
// first, and leaves alone those started here: the kernel gives orphans to the
// first thread of a process, and it asks for that thread's children only. So
// it must be called on the first thread, which must start nothing.
func ReapOrphans() {
	// Where the agent is not the first process of the system, orphans go past
	// it unless it asks for them.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	for range ended {
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WNOTHREAD, nil)
			if err != unix.EINTR && pid <= 0 {
				break
			}
		}
	}
}
