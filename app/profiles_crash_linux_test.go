package app

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
)

const (
	breakOffAt = "ARENERO_TEST_BREAK_OFF" // the step at which this process is killed
	sharedFile = "ARENERO_TEST_SHARED_FILE"
	movedKey   = "canary-of-a-key-5e1f"
	movedLine  = "credential_process = us"
	sharedDoc  = "# of ana\n[ana]\naws_access_key_id = AKIAX\naws_secret_access_key = " + movedKey + "\nregion = r\n"
)

// init has a process that a test started take a key out of a file, and be killed
// while it does.
func init() {
	step := os.Getenv(breakOffAt)
	if step == "" {
		return
	}
	dirs, err := paths.Find()
	if err == nil {
		a := newAccounts(dirs, settings.Open(dirs.Config), "us", slog.New(slog.DiscardHandler))
		a.fail = func(at string) {
			if at == step {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // until it comes
			}
		}
		err = a.change(context.Background(), os.Getenv(sharedFile), func(doc []byte) ([]byte, error) {
			return awsauth.ReplaceKeys(doc, "ana", movedLine)
		})
	}
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// holding lists the files below a folder that hold the key.
func holding(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(movedKey)) {
			all = append(all, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// A process that is killed while it takes a key out of a file leaves the key
// nowhere but in that file once anybody looks at profiles, or an engine starts.
func TestKilledMoveLeavesNoKey(t *testing.T) {
	clear := map[string]func(t *testing.T){
		"by whoever looks at profiles": func(t *testing.T) {
			if _, err := OpenProfiles(); err != nil {
				t.Fatal(err)
			}
		},
		"by the next engine": func(t *testing.T) {
			a, err := New(t.Context(), Config{Version: "1", Program: "us"})
			if err != nil {
				t.Fatal(err)
			}
			a.close()
		},
	}
	for name, by := range clear {
		t.Run(name, func(t *testing.T) {
			left := 0
			for _, step := range hostfile.Steps {
				base, err := os.MkdirTemp("", "ar-") // short, for the socket in it
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(base) })
				home, file := filepath.Join(base, "h"), filepath.Join(base, "aws", "credentials")
				write(t, file, sharedDoc, 0o600)
				t.Setenv(paths.Home, home)
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), breakOffAt+"="+step, sharedFile+"="+file)
				out, err := cmd.CombinedOutput()
				killed := false
				if exit, ok := errors.AsType[*exec.ExitError](err); ok {
					killed = exit.Sys().(syscall.WaitStatus).Signaled()
				}
				if err != nil && !killed {
					t.Fatalf("%s: %v: %s", step, err, out)
				}
				if n := len(holding(t, home)); n > 0 {
					if left++; !killed {
						t.Errorf("%s: the key is in %d files, and nobody was killed", step, n)
					}
				}
				by(t)
				if all := holding(t, home); len(all) > 0 {
					t.Errorf("%s: the key is left in %v", step, all)
				}
				if _, err := os.Stat(filepath.Join(home, "state", "aws")); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: the records: %v", step, err)
				}
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if string(text) != sharedDoc && string(text) != strings.ReplaceAll("# of ana\n[ana]\n@\nregion = r\n", "@", movedLine) {
					t.Errorf("%s: the file holds %q", step, text)
				}
				beside, err := os.ReadDir(filepath.Dir(file))
				if err != nil || len(beside) != 1 {
					t.Errorf("%s: beside the file there are %v, %v", step, beside, err)
				}
			}
			if left < 3 {
				t.Errorf("the key was left behind at %d steps only: nothing was looked at", left)
			}
		})
	}
}

// A move that lives is left alone.
func TestSweepLeavesTheLiving(t *testing.T) {
	t.Setenv(paths.Home, filepath.Join(t.TempDir(), "h"))
	dirs, err := paths.Find()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "credentials")
	write(t, file, sharedDoc, 0o600)
	a := newAccounts(dirs, settings.Open(dirs.Config), "us", slog.New(slog.DiscardHandler))
	seen := 0
	a.fail = func(string) {
		if len(holding(t, dirs.State)) == 0 {
			return
		}
		if _, err := OpenProfiles(); err != nil {
			t.Error(err)
		}
		if seen++; len(holding(t, dirs.State)) == 0 {
			t.Error("the records of a change that goes on were removed")
		}
	}
	err = a.change(t.Context(), file, func(doc []byte) ([]byte, error) { return awsauth.ReplaceKeys(doc, "ana", movedLine) })
	if err != nil || seen == 0 {
		t.Errorf("change: %v; %d steps with a record", err, seen)
	}
	if all := append(holding(t, dirs.State), holding(t, filepath.Dir(file))...); len(all) > 0 {
		t.Errorf("the key is left in %v", all)
	}
}
