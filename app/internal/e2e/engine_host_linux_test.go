package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// command is our program in the rig's home. Nothing of this process's
// environment that could matter comes along.
func (r *engineRig) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programs, "arenero"), args...)
	cmd.Env = []string{"ARENERO_HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "HOME=" + r.home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// cloudPID is the process of the local cloud, or 0.
func (r *engineRig) cloudPID() int {
	text, err := os.ReadFile(filepath.Join(r.home, "state", "cloud", "running.json"))
	var note struct{ PID int }
	if err != nil || json.Unmarshal(text, &note) != nil || syscall.Kill(note.PID, 0) != nil {
		return 0
	}
	return note.PID
}

func interrupt(pid int) { syscall.Kill(pid, syscall.SIGINT) }
func kill9(pid int)     { syscall.Kill(pid, syscall.SIGKILL) }
