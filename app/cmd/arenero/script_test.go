package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/assets"
)

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){"arenero": main, "images": images, "deafen": deafen})
}

// A tidy run of tests leaves no programs behind.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	texts = func() assets.Texts { return assets.Load(assets.English, parts...) } // whoever runs the tests
	defer os.RemoveAll(programsDir())
	// Programs that these tests send signals to must not find them ignored, as
	// nohup and shells in the background would have it.
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	return t.M.Run()
}

// programsDir is where the real programs are, once a test has asked for them:
// an engine and a cloud are started from beside the program that needs them.
var programsDir = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "arenero-programs")
	if err != nil {
		panic(err)
	}
	return dir
})

var update = flag.Bool("update", false, "write anew what the scripts compare with")

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("ARENERO_HOME", filepath.Join(e.WorkDir, "h"))
			e.Setenv("AWS_EC2_METADATA_DISABLED", "true")
			// No sandbox is started here, so any file will do for the agent.
			agent := filepath.Join(e.WorkDir, "agent")
			e.Setenv("AGENT", agent)
			return os.WriteFile(agent, nil, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"await": await,
			"mode":  mode,
		},
	})
}

// exits runs a program and checks its exit code: "exits 2 arenero nonsense".
// What it printed is there for stdout and stderr.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%v exits with %d, want %s", args[1:], got, args[0])
	}
}

// await runs a program again and again until it exits with 0, or with "!" until
// it does not.
func await(ts *testscript.TestScript, neg bool, args []string) {
	deadline := time.Now().Add(time.Minute)
	for {
		err := ts.Exec(args[0], args[1:]...)
		if (err == nil) != neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%v: still %v", args, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// mode checks the permissions of a file: "mode 0600 FILE".
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Lstat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("mode of %s = %s, want %s", args[1], got, args[0])
	}
}

// images lists images as any AWS client would: with the environment, and
// nothing else, to tell it where and how. With a socket it goes through that.
func images() {
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	client := microvm.NewFromConfig(cfg, func(o *microvm.Options) {
		socket := os.Getenv("ARENERO_CLOUD_SOCKET")
		if len(os.Args) < 2 || socket == "" {
			return
		}
		o.BaseEndpoint = new("http://cloud.localhost")
		o.HTTPClient = &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "unix", socket)
			},
		}}
	})
	out, err := client.ListMicrovmImages(ctx, &microvm.ListMicrovmImagesInput{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, i := range out.Items {
		fmt.Println(*i.Name)
	}
}

// deafen runs a program with a standard error that nobody reads.
func deafen() {
	r, w, err := os.Pipe()
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, w
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
