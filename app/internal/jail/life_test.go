//go:build linux

package jail

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestLife(t *testing.T) {
	j := startJail(t, newSpec(t))
	out, failed := sh(t, j, "echo $$ is $(id -un) in $(pwd) at $(hostname)")
	if failed != "" || !strings.Contains(out, "is user in /home/user at sandbox") {
		t.Errorf("first words = %q (%s)", out, failed)
	}
	if got := j.Exit(); got != (Exit{}) {
		t.Errorf("Exit of a living jail = %+v", got)
	}
	if err := j.Kill(); err != nil {
		t.Fatalf("Kill: %v", err)
	}
	<-j.Done()
	if got, want := j.Exit(), (Exit{Code: 137, Killed: true, Reason: "killed"}); got != want {
		t.Errorf("Exit = %+v, want %+v", got, want)
	}
	ctx := context.Background()
	if _, err := j.Dial(ctx, shellPort); !errors.Is(err, ErrEnded) {
		t.Errorf("Dial after the end: %v, want ErrEnded", err)
	}
	if err := j.Freeze(ctx); !errors.Is(err, ErrEnded) {
		t.Errorf("Freeze after the end: %v, want ErrEnded", err)
	}
	if err := j.Kill(); err != nil {
		t.Errorf("second Kill: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	tests := []struct {
		name string
		edit func(*Spec)
		want string
	}{
		{"no agent", func(s *Spec) { s.Agent = "/nowhere/agent" }, "no such file"},
		{"agent is a folder", func(s *Spec) { s.Agent = "/usr" }, "is not a file"},
		{"agent exits", func(s *Spec) { s.Args = []string{"exit"} }, "exited with code 7: last words"},
		{"no id", func(s *Spec) { s.ID = "" }, "no id"},
		{"a path as id", func(s *Spec) { s.ID = "../x" }, "no id"},
		{"unknown kind", func(s *Spec) { s.Kind = "hut" }, `"hut"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := newSpec(t)
			tt.edit(&spec)
			j, err := Start(context.Background(), spec)
			if err == nil {
				j.Kill()
				t.Fatal("Start succeeded")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Start: %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestStartCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Start(ctx, newSpec(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("Start = %v, want %v", err, context.Canceled)
	}
}

// cloud starts a jail, says its first process's id and waits to be killed.
func cloud(args []string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	ctx := context.Background()
	j, err := Start(ctx, Spec{ID: "orphan", Kind: Namespaces, Agent: exe, Args: []string{"guest"}})
	if err != nil {
		return err
	}
	if _, _, err := try(j, "setsid sleep 1234567 >/dev/null 2>&1 &"); err != nil {
		return err
	}
	if args[0] == "frozen" {
		if err := j.Freeze(ctx); err != nil {
			return err
		}
	}
	fmt.Println(j.(*tree).cmd.Process.Pid)
	<-j.Done()
	return errors.New("the jail ended by itself")
}

func TestOrphans(t *testing.T) {
	for _, state := range []string{"running", "frozen"} {
		t.Run(state, func(t *testing.T) {
			cmd := exec.Command(testProgram(t), "cloud", state)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			word, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			root, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil {
				t.Fatal(err)
			}
			all := descendants(root)
			if len(all) < 2 {
				t.Fatalf("the jail has %d processes, want the agent and its child", len(all))
			}
			cmd.Process.Kill()
			cmd.Wait()
			for _, p := range all {
				eventually(t, fmt.Sprintf("process %d is gone", p.pid), func() bool {
					if state == "frozen" { // what the system leaves goes when the next one is made
						for _, dir := range groupParents() {
							sweepGroups(dir)
						}
					}
					now, ok := readProc(p.pid)
					return !ok || now.parent != p.parent && now.parent != root
				})
			}
			for _, dir := range groupParents() { // its group goes when the next one is made
				eventually(t, "the group is gone", func() bool {
					sweepGroups(dir)
					left, err := filepath.Glob(fmt.Sprintf("%s/%s%d-*", dir, groupPrefix, cmd.Process.Pid))
					return err == nil && len(left) == 0
				})
			}
		})
	}
}

func TestLoop(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 10
	}
	spec := newSpec(t)
	before := usage(t)
	for i := range n {
		j := startJail(t, spec)
		if out, failed := sh(t, j, "echo $HOME"); out != "/home/user" || failed != "" {
			t.Fatalf("jail %d: %q %s", i, out, failed)
		}
		if i%2 == 0 {
			if err := j.Freeze(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "nothing is left of the jails", func() bool {
		after := usage(t)
		if after != before {
			t.Logf("before %+v, after %+v", before, after)
			time.Sleep(100 * time.Millisecond)
		}
		return after == before
	})
}

// left is what jails could leave behind.
type left struct{ fds, mounts, groups, children, temp int }

func usage(t *testing.T) left {
	t.Helper()
	count := func(dir, prefix string) int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), prefix) {
				n++
			}
		}
		return n
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	u := left{
		fds:      count("/proc/self/fd", ""),
		mounts:   strings.Count(string(mounts), "\n"),
		children: len(childrenOf(os.Getpid())),
		temp:     count(os.TempDir(), "arenero"),
	}
	for _, dir := range groupParents() {
		u.groups += count(dir, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid()))
	}
	return u
}
