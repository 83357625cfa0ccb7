//go:build linux

package jail

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// containerSpec finds an engine and gives it an image with a shell in it, and
// nothing else.
func containerSpec(t *testing.T) Spec {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("the container test needs root here: rootless engines want more set up than a test can")
	}
	// This test may run where not all of root's rights are there.
	conf := filepath.Join(t.TempDir(), "containers.conf")
	text := "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n[engine]\ncgroup_manager = \"cgroupfs\"\n"
	if _, err := exec.LookPath("runc"); err == nil {
		text += "runtime = \"runc\"\n" // the other one refuses mixed control groups
	}
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONTAINERS_CONF", conf)
	ctx := context.Background()
	eng, err := findEngine(ctx, "")
	if err != nil {
		t.Fatalf("no container engine, run make setup: %v", err)
	}
	image := "localhost/arenero-test:" + fmt.Sprint(os.Getpid())
	root := filepath.Join(t.TempDir(), "root.tar")
	if err := os.WriteFile(root, shellRoot(t), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.command(ctx, "import", root, image); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.command(ctx, "rmi", "-f", image) })
	spec := newSpec(t)
	spec.ID = "container"
	spec.Kind = eng.kind
	spec.Image = image
	spec.MemoryMiB, spec.DiskMiB, spec.PIDs = 2048, 32, 64 // the race detector needs much
	return spec
}

// shellRoot packs the host's shell, and the libraries that it and this test
// need.
func shellRoot(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	done := map[string]bool{}
	add := func(name, from string) {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if done[name] {
			return
		}
		done[name] = true
		if err := w.WriteHeader(&tar.Header{Name: strings.TrimPrefix(name, "/"), Mode: 0o755, Size: int64(len(b))}); err != nil {
			t.Fatal(err)
		}
		w.Write(b)
	}
	for name, from := range map[string]string{"/bin/sh": "/bin/sh", "/bin/cat": "/bin/cat", "/bin/head": "/usr/bin/head", "/bin/sleep": "/bin/sleep", "": testProgram(t)} {
		if name != "" {
			add(name, from)
		}
		out, _ := exec.Command("ldd", from).Output() // a static program has none, and says so
		for _, lib := range regexp.MustCompile(`/\S+`).FindAllString(string(out), -1) {
			if lib != from && filepath.IsAbs(lib) && !strings.HasSuffix(lib, ":") {
				add(lib, lib)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestContainer(t *testing.T) {
	spec := containerSpec(t)
	spec.Env = []string{"SECRET=of-the-user", "PATH=/bin"}
	spec.Egress = func(c net.Conn) {
		defer c.Close()
		b := make([]byte, 5)
		io.ReadFull(c, b)
		io.WriteString(c, strings.ToUpper(string(b)))
	}
	ctx := context.Background()
	j, err := Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Kill()
	if j.Kind() != spec.Kind {
		t.Errorf("Kind = %q, want %q", j.Kind(), spec.Kind)
	}
	for _, tt := range []struct{ name, script, want string }{
		{"words", "echo hello $SECRET", "hello of-the-user"},
		{"home", "pwd; echo x >f && cat f", "/home/user\nx"},
		{"read-only", "(echo x >/x) 2>/dev/null || echo no", "no"},
		{"disk", "head -c 50000000 /dev/zero 2>/dev/null >f || echo full", "full"},
		{"capabilities", "while read k v; do case $k in CapEff:|CapBnd:|NoNewPrivs:) echo $v;; esac; done </proc/self/status", "0000000000000000\n0000000000000000\n1"},
		{"interfaces", "while read a b; do case $a in *:*) echo $a;; esac; done </proc/net/dev", "lo:"},
	} {
		if out, failed := sh(t, j, tt.script); out != tt.want {
			t.Errorf("%s: %q (%s), want %q", tt.name, out, failed, tt.want)
		}
	}
	if _, err := j.Dial(ctx, 1234); !errors.Is(err, ErrRefused) {
		t.Errorf("Dial of a port nobody listens on: %v, want ErrRefused", err)
	}
	c, err := j.Dial(ctx, hooksPort)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(c); string(b) != "host" {
		t.Errorf("a connection of the host is taken for %q", b)
	}
	c.Close()
	for range 2 {
		if err := j.Freeze(ctx); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		if _, err := j.Dial(short, hooksPort); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Dial into a frozen container: %v", err)
		}
		cancel()
		if err := j.Thaw(ctx); err != nil {
			t.Fatal(err)
		}
		if out, _ := sh(t, j, "echo again"); out != "again" {
			t.Errorf("after Thaw: %q", out)
		}
	}
	if err := j.Freeze(ctx); err != nil {
		t.Fatal(err)
	}
	if err := j.Kill(); err != nil {
		t.Fatal(err)
	}
	if got, want := j.Exit(), (Exit{Code: 137, Killed: true, Reason: "killed"}); got != want {
		t.Errorf("Exit = %+v, want %+v", got, want)
	}
	eng, _ := findEngine(ctx, spec.Kind)
	if out, err := eng.command(ctx, "ps", "-a", "--filter", "label=arenero", "--format", "{{.Names}}"); out != "" || err != nil {
		t.Errorf("containers left: %q, %v", out, err)
	}
}

func TestContainerArguments(t *testing.T) {
	t.Setenv("PATH", "/usr/bin")
	spec := Spec{
		ID: "x", Agent: "/opt/a", Args: []string{"--grpc-port", "8080"}, Env: []string{"PATH=/bin", "TOKEN=secret"},
		MemoryMiB: 100, DiskMiB: 50, PIDs: 10, CPUs: 1.5, Egress: func(net.Conn) {},
	}.withDefaults()
	args, env := engine{Docker, "docker"}.runArgs("arenero-1-x", spec)
	got := strings.Join(args, " ")
	want := "run -i --rm --name arenero-1-x --label arenero --network none --hostname sandbox --read-only" +
		" --tmpfs /home/user:rw,exec,nosuid,nodev,size=50m,mode=0755,uid=1000,gid=1000" +
		" --tmpfs /tmp:rw,exec,nosuid,nodev,size=50m,mode=1777,uid=1000,gid=1000" +
		" --tmpfs /run:rw,exec,nosuid,nodev,size=50m,mode=0755,uid=1000,gid=1000" +
		" --cap-drop ALL --security-opt no-new-privileges --pids-limit 74 --memory 150m --memory-swap 150m" +
		" --user 1000:1000 --workdir /home/user --volume /opt/a:/opt/arenero/arenero-agent:ro --cpus 1.5 --env "
	if !strings.HasPrefix(got, want) {
		t.Errorf("arguments\n%s\nwant to begin with\n%s", got, want)
	}
	wantEnd := " --entrypoint /opt/arenero/arenero-agent docker.io/library/python:3.12-slim --grpc-port 8080 --link stdio,egress"
	if !strings.HasSuffix(got, wantEnd) {
		t.Errorf("arguments\n%s\nwant to end with\n%s", got, wantEnd)
	}
	if strings.Contains(got, "secret") || !strings.Contains(got, "--env TOKEN ") {
		t.Errorf("the value of a variable is in the arguments: %s", got)
	}
	if !strings.Contains(got, "--env PATH=/bin ") || !strings.Contains(strings.Join(env, "\n"), "PATH=/usr/bin") {
		t.Errorf("PATH of the command and of the agent are mixed up: %s", got)
	}
}
