// Package e2e tests whole programs: the real binaries, over real sockets,
// driven by clients that were not written for them. It holds no code but tests.
package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// programs is the folder that holds the binaries under test.
var programs string

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "arenero-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Ordinary users start these programs too, so the way to them is open.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// What these programs leave among temporary files is found here.
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("TMPDIR", tmp)
	build := exec.Command("go", "build", "-trimpath", "-o", dir, "github.com/arenero/arenero/app/cmd/arenero", "github.com/arenero/arenero/app/cmd/arenero-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the programs: %v\n%s", err, out)
		return 1
	}
	programs = dir
	return m.Run()
}

// localImage is the image that every cloud has.
const localImage = "arn:aws:lambda:us-east-1:000000000000:microvm-image:arenero-local"

// A cloudProcess is a running `arenero cloud`.
type cloudProcess struct {
	cmd    *exec.Cmd
	dir    string
	faults string
	info   cloudInfo
	stderr *logBuffer
}

// cloudInfo is what `arenero cloud --json` says of itself once it listens.
type cloudInfo struct {
	Endpoint        string `json:"endpoint"`
	AccessKeyID     string `json:"accessKeyId"`
	SecretAccessKey string `json:"secretAccessKey"`
	Region          string `json:"region"`
}

// startCloud starts a cloud on a free loopback port. Its data is in dir, so a
// second start on the same dir finds the records of the first.
func startCloud(t testing.TB, dir string, args ...string) *cloudProcess {
	t.Helper()
	faults := filepath.Join(dir, "faults.json")
	if _, err := os.Stat(faults); err != nil {
		if err := os.WriteFile(faults, []byte(`{"rules":[]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &cloudProcess{dir: dir, faults: faults, stderr: &logBuffer{}}
	c.cmd = exec.Command(filepath.Join(programs, "arenero"), append([]string{
		"cloud", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--faults", faults, "--json",
	}, args...)...)
	c.cmd.Stderr = c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.stop()
		if t.Failed() {
			t.Logf("the cloud's log:\n%s", c.stderr)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the cloud said nothing: %v\n%s", err, c.stderr)
	}
	if err := json.Unmarshal(line, &c.info); err != nil {
		t.Fatalf("the cloud said %q: %v", line, err)
	}
	go io.Copy(io.Discard, out)
	return c
}

// env is what makes any AWS SDK talk to this cloud.
func (c *cloudProcess) env() []string {
	return []string{
		"AWS_ENDPOINT_URL_LAMBDA_MICROVMS=" + c.info.Endpoint,
		"AWS_ACCESS_KEY_ID=" + c.info.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY=" + c.info.SecretAccessKey,
		"AWS_REGION=" + c.info.Region,
	}
}

// stop ends the cloud as a service manager would, and waits for it.
func (c *cloudProcess) stop() {
	if c.cmd.ProcessState != nil {
		return
	}
	c.cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() { c.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		c.cmd.Process.Kill()
		<-done
	}
}

// need fails the test if a program it leans on is missing.
func need(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is missing; run `make setup`", program)
	}
	return path
}

// eventually polls until cond holds. The deadline is only there to end a test
// that would never pass.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); pause() {
		if cond() {
			return
		}
	}
	t.Fatalf("never came about: %s", what)
}

// lines splits s into its non-empty lines.
func lines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
}

// pause lets others work between two looks at the same thing.
func pause() { time.Sleep(20 * time.Millisecond) }
