package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // the driver of the ledger
)

// programs builds them, once.
var programs = sync.OnceValues(func() (string, error) {
	build := exec.Command("go", "build", "-trimpath", "-o", programsDir(), "github.com/arenero/arenero/app/cmd/arenero", "github.com/arenero/arenero/app/cmd/arenero-agent",
		"github.com/arenero/arenero/bridge/cmd/arenero-bridge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build programs: %w\n%s", err, out)
	}
	return programsDir(), nil
})

// TestVerbs runs scripts with a real engine, a real local cloud and real jails,
// in a home of each one's own.
func TestVerbs(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script/verbs",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			home, env, err := newHome(dir)
			if err != nil {
				return err
			}
			for _, v := range env {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Defer(func() { leave(e.T().(interface{ Logf(string, ...any) }), dir, home) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"await": await,
			"mode":  mode,
			"keep":  keep,
			"spoil": spoil,
			"keys":  keys,
		},
	})
}

// spoil does something to the account that no engine does, while none runs:
// "spoil STATEMENT".
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("ARENERO_HOME"), "state", "ledger.db")+"?_pragma=busy_timeout(60000)") // an engine that was told to end may still have it
	ts.Check(err)
	defer db.Close()
	done, err := db.Exec(args[0])
	ts.Check(err)
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		ts.Fatalf("nothing was spoilt: %v", err)
	}
}

// keep keeps what the last program printed as a variable: "keep NAME".
func keep(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// keys checks that the last program printed an object, or an array of one at
// least, that has these keys first and in this order.
func keys(ts *testscript.TestScript, _ bool, args []string) {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	var got []string
	depth := 0
	for len(got) < len(args) {
		token, err := dec.Token()
		ts.Check(err)
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
			continue
		case json.Delim(']'), json.Delim('}'):
			ts.Fatalf("keys are %v, want %v", got, args)
		}
		got = append(got, token.(string))
		var value json.RawMessage
		ts.Check(dec.Decode(&value))
	}
	if fmt.Sprint(got) != fmt.Sprint(args) {
		ts.Fatalf("keys are %v, want %v", got, args)
	}
}

// newHome makes a home with a path that is short enough for sockets, and the
// environment of programs in it.
func newHome(programs string) (home string, env []string, err error) {
	if home, err = os.MkdirTemp("/tmp", "ar"); err != nil {
		return "", nil, err
	}
	return home, []string{
		"ARENERO_HOME=" + home, "ARENERO_PROFILE=", "AWS_EC2_METADATA_DISABLED=true",
		"DBUS_SESSION_BUS_ADDRESS=autolaunch:", // which leads to no keychain of anybody's
		"PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH"),
	}, nil
}

// leave ends the engine and the cloud of a home, and all in them.
func leave(t interface{ Logf(string, ...any) }, programs, home string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stop := exec.CommandContext(ctx, filepath.Join(programs, "arenero"), "engine", "--stop")
	stop.Env = append(os.Environ(), "ARENERO_HOME="+home)
	stop.Run() // which fails if none runs
	note := filepath.Join(home, "state", "cloud", "running.json")
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(note)
		if err != nil {
			break
		}
		var cloud struct{ PID int }
		if json.Unmarshal(bytes.TrimSpace(text), &cloud) == nil && cloud.PID > 0 {
			if p, err := os.FindProcess(cloud.PID); err == nil && p.Signal(syscall.SIGINT) != nil {
				break
			}
		}
	}
	if err := os.RemoveAll(home); err != nil {
		t.Logf("left behind: %v", err)
	}
}
