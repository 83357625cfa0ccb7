package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/arenero/arenero/app/internal/agent"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// BenchmarkGoals measures what design goals name, each beside its anchor in
// the same run, and prints one table. Goals are printed, never asserted.
func BenchmarkGoals(b *testing.B) {
	for b.Loop() {
		measure(b)
	}
}

func measure(b *testing.B) {
	r := newRigOf(b)
	var rows []figure
	add := func(f figure) { rows = append(rows, f) }

	// From nothing to the first answer, beside the bare isolation of others.
	firstCommand, firstCode := r.firsts(b, 10)
	add(within("create to the first command's end", firstCommand, 120*time.Millisecond))
	need(b, "bwrap")
	bwrap := p50(b, 15, func() {
		run(b, "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
			"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "sh", "-c", "true")
	})
	add(beside("create to the first command's end", firstCommand, "bwrap … sh -c true", bwrap, 0))
	kernelReady, kernelWarm := ipykernel(b)
	add(beside("create to the first cell's end", firstCode, "ipykernel, start to ready", kernelReady, 1./3))

	// Sleep.
	v, client := r.open(b)
	if _, err := client.WaitReady(b.Context()); err != nil {
		b.Fatal(err)
	}
	var suspends, resumes []time.Duration
	for range 15 {
		begin := time.Now()
		if _, err := r.api.SuspendMicrovm(b.Context(), &microvm.SuspendMicrovmInput{MicrovmIdentifier: &v.id}); err != nil {
			b.Fatal(err)
		}
		v.waitState(b, wire.MicrovmStateSuspended)
		suspends = append(suspends, time.Since(begin))
		begin = time.Now()
		if _, err := r.api.ResumeMicrovm(b.Context(), &microvm.ResumeMicrovmInput{MicrovmIdentifier: &v.id}); err != nil {
			b.Fatal(err)
		}
		v.waitState(b, wire.MicrovmStateRunning)
		resumes = append(resumes, time.Since(begin))
	}
	add(within("suspend", median(suspends), 20*time.Millisecond))
	add(within("resume", median(resumes), 20*time.Millisecond))

	// Warm calls.
	for _, argv := range [][]string{{"/bin/echo", "hi"}, {"/bin/bash", "-l", "-c", "true"}} {
		warm := p50(b, 200, func() {
			if exit, err := client.Start(b.Context(), agent.Command{Path: argv[0], Args: argv[1:]}, discard); err != nil || exit.Code != 0 {
				b.Fatal(exit, err)
			}
		})
		add(beside("warm "+strings.Join(argv, " "), warm, "fork+exec of it in the jail", forkExec(b, client, argv), 3))
	}
	cell := p50(b, 200, func() {
		if _, err := client.Execute(b.Context(), agent.Cell{Code: "1+1"}, func(agent.CellEvent) error { return nil }); err != nil {
			b.Fatal(err)
		}
	})
	add(within("warm cell 1+1", cell, 5*time.Millisecond))
	add(beside("warm cell 1+1", cell, "ipykernel, 1+1", kernelWarm, 0))

	// Bulk.
	bulk := make([]byte, 64<<20)
	rand.Read(bulk)
	in := p50(b, 7, func() {
		up := agent.Upload{Path: "/home/user/bulk", Content: bytes.NewReader(bulk)}
		if _, err := client.WriteFile(b.Context(), up); err != nil {
			b.Fatal(err)
		}
	})
	out := p50(b, 7, func() {
		if n, err := client.ReadFile(b.Context(), "/home/user/bulk", "", io.Discard); err != nil || n != int64(len(bulk)) {
			b.Fatal(n, err)
		}
	})
	catIn, catOut := cat(b, bulk)
	add(beside("64 MiB into a sandbox", in, "cat from a unix socket", catIn, 1/.3))
	add(beside("64 MiB out of a sandbox", out, "cat to a unix socket", catOut, 1/.3))

	printFigures(rows)
}

func discard(agent.ProcessEvent) error { return nil }

// p50 is the median time of n calls of f, after three that don't count.
func p50(b *testing.B, n int, f func()) time.Duration {
	b.Helper()
	for range min(3, n) {
		f()
	}
	took := make([]time.Duration, n)
	for i := range took {
		begin := time.Now()
		f()
		took[i] = time.Since(begin)
	}
	return median(took)
}

func run(b *testing.B, name string, args ...string) {
	b.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// newRigOf is a rig whose cloud is a process of its own, as in real use.
func newRigOf(b *testing.B) *rig {
	dir, err := shortDir()
	if err != nil {
		b.Fatal(err)
	}
	r := &rig{socket: filepath.Join(dir, "s")}
	c := startCloud(b, dir, "--socket", r.socket)
	b.Cleanup(func() { c.stop(); removeAll(b, dir) })
	r.api = microvm.New(microvm.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String("http://lambda.us-east-1.amazonaws.com"),
		Credentials:  credentials.NewStaticCredentialsProvider(c.info.AccessKeyID, c.info.SecretAccessKey, ""),
		HTTPClient:   &http.Client{Transport: &http.Transport{DialContext: r.dial}},
		NoRateLimit:  true,
	})
	return r
}

// open starts a VM without waiting for it, and a client of its agent.
func (r *rig) open(b *testing.B) (*vm, *agent.Client) {
	b.Helper()
	v := r.launch(b, nil)
	client, err := agent.NewClient(agent.ClientConfig{
		Host:        v.host,
		Plain:       true,
		Dial:        func(ctx context.Context) (net.Conn, error) { return r.dial(ctx, "", "") },
		AccessToken: v.secret,
		Tokens: func(ctx context.Context) (agent.Token, error) {
			out, err := r.api.CreateMicrovmAuthToken(ctx, &microvm.CreateMicrovmAuthTokenInput{
				MicrovmIdentifier: &v.id, ExpirationInMinutes: aws.Int32(60), AllowedPorts: []wire.PortSpecification{{Port: aws.Int32(8080)}},
			})
			if err != nil {
				return agent.Token{}, err
			}
			return agent.Token{JWE: out.AuthToken["X-aws-proxy-auth"], Expires: time.Now().Add(time.Hour)}, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { client.Close() })
	return v, client
}

// firsts is how long it takes from RunMicrovm to the end of the first command,
// and of the first cell.
func (r *rig) firsts(b *testing.B, n int) (command, cell time.Duration) {
	var commands, cells []time.Duration
	for range n {
		begin := time.Now()
		v, client := r.open(b)
		if exit, err := client.Start(b.Context(), agent.Command{Path: "/bin/bash", Args: []string{"-l", "-c", "true"}}, discard); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
		commands = append(commands, time.Since(begin))
		for {
			_, err := client.Execute(b.Context(), agent.Cell{Code: "1+1"}, func(agent.CellEvent) error { return nil })
			if err == nil {
				break
			}
			if agent.CodeOf(err) != agent.CodeStarting {
				b.Fatal(err)
			}
			time.Sleep(2 * time.Millisecond)
		}
		cells = append(cells, time.Since(begin))
		client.Close()
		if _, err := r.api.TerminateMicrovm(b.Context(), &microvm.TerminateMicrovmInput{MicrovmIdentifier: &v.id}); err != nil {
			b.Fatal(err)
		}
		v.waitState(b, wire.MicrovmStateTerminated)
	}
	return median(commands), median(cells)
}

// waitState asks for the VM's state again and again, without a pause.
func (v *vm) waitState(b *testing.B, want wire.MicrovmState) {
	b.Helper()
	for {
		if got, _ := v.state(b); got == want {
			return
		}
	}
}

// forkExec is the median time of starting argv and waiting for its end from
// within the jail, by a parent that does nothing else.
func forkExec(b *testing.B, client *agent.Client, argv []string) time.Duration {
	b.Helper()
	var out strings.Builder
	cmd := agent.Command{Path: "/usr/bin/python3", Args: append([]string{"-c", forkExecScript, "200"}, argv...)}
	if _, err := client.Start(b.Context(), cmd, func(e agent.ProcessEvent) error { out.Write(e.Data); return nil }); err != nil {
		b.Fatal(err)
	}
	return median(durations(b, out.String()))
}

// forkExecScript takes a number and a command, and prints for each start of the
// command how many nanoseconds passed until its end.
const forkExecScript = `
import os, sys, time
null = os.open("/dev/null", os.O_RDWR)
files = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
took = []
for i in range(3 + int(sys.argv[1])):
    begin = time.perf_counter_ns()
    os.waitpid(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=files), 0)
    took.append(time.perf_counter_ns() - begin)
print(*took[3:])`

// durations reads nanoseconds.
func durations(b *testing.B, text string) (took []time.Duration) {
	b.Helper()
	for _, word := range strings.Fields(text) {
		ns, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			b.Fatalf("%q: %v", text, err)
		}
		took = append(took, time.Duration(ns))
	}
	if len(took) == 0 {
		b.Fatal("nothing was measured")
	}
	return took
}

// ipykernel is how long the reference kernel takes to get ready, and to run a
// warm cell, through its own client.
func ipykernel(b *testing.B) (ready, warm time.Duration) {
	b.Helper()
	out, err := exec.Command("/usr/bin/python3", "../agent/kernel/testdata/ipykernel.py").CombinedOutput()
	if err != nil {
		b.Fatalf("ipykernel (`make setup` installs it): %v\n%s", err, out)
	}
	m := regexp.MustCompile(`ready ([0-9.]+) ms, 1\+1 p50 ([0-9.]+) ms`).FindSubmatch(out)
	if m == nil {
		b.Fatalf("ipykernel.py said %q", out)
	}
	parse := func(s []byte) time.Duration {
		f, _ := strconv.ParseFloat(string(s), 64)
		return time.Duration(f * float64(time.Millisecond))
	}
	return parse(m[1]), parse(m[2])
}

// cat is how long cat takes to read data from a unix socket, and to write it
// to one.
func cat(b *testing.B, data []byte) (in, out time.Duration) {
	b.Helper()
	dir, err := shortDir()
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "data")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	// pair gives cat one end of a connection and use the other.
	pair := func(use func(net.Conn), give func(*exec.Cmd, *os.File), args ...string) {
		theirs, err := net.Dial("unix", ln.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		ours, err := ln.Accept()
		if err != nil {
			b.Fatal(err)
		}
		f, err := theirs.(*net.UnixConn).File()
		if err != nil {
			b.Fatal(err)
		}
		theirs.Close()
		cmd := exec.Command("cat", args...)
		give(cmd, f)
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		f.Close()
		use(ours)
		ours.Close()
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	in = p50(b, 7, func() {
		pair(func(c net.Conn) { c.Write(data) }, func(cmd *exec.Cmd, f *os.File) { cmd.Stdin = f })
	})
	out = p50(b, 7, func() {
		pair(func(c net.Conn) { io.Copy(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}) }, func(cmd *exec.Cmd, f *os.File) { cmd.Stdout = f }, file)
	})
	return in, out
}
