package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// An engineRig is a home of its own for one engine, and a client of it that
// starts the engine as a bridge would.
type engineRig struct {
	home   string
	client *control.Client
}

func newEngineRig(t testing.TB) *engineRig {
	t.Helper()
	home, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	r := &engineRig{home: home, client: newClientAt(home)}
	r.client.Launch = func(context.Context) error { return r.launch() }
	t.Cleanup(func() {
		r.close(t)
		removeAll(t, home)
	})
	return r
}

// launch starts an engine in the background.
func (r *engineRig) launch() error {
	cmd := r.command("engine", "--started")
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}

// close ends all sandboxes, the engine and the cloud.
func (r *engineRig) close(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r.client.Launch = nil
	r.client.Stop(ctx)
	r.client.Close()
	if t.Failed() {
		for _, name := range []string{"engine.log", "cloud.log"} {
			text, _ := os.ReadFile(filepath.Join(r.home, "state", "log", name))
			t.Logf("%s:\n%s", name, text)
		}
	}
	if pid := r.cloudPID(); pid > 0 {
		interrupt(pid)
		eventually(t, "the cloud ends", func() bool { return r.cloudPID() == 0 })
	}
}

// hold keeps a lease until the test ends, or release is called.
func (r *engineRig) hold(t testing.TB, edit func(*sandbox.Lease)) (lease string, release func()) {
	t.Helper()
	l := sandbox.Lease{ID: uuid.NewString(), Host: "test", Spec: sandbox.Spec{Timeout: 10 * time.Minute, Idle: 5 * time.Minute}}
	if edit != nil {
		edit(&l)
	}
	ctx, cancel := context.WithCancel(context.Background())
	held, done := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(done)
		if err := r.client.Hold(ctx, l, func() { held <- struct{}{} }); err != nil && ctx.Err() == nil {
			t.Errorf("hold: %v", err)
		}
	}()
	select {
	case <-held:
	case <-done:
		t.FailNow()
	}
	release = func() {
		cancel()
		<-done
	}
	t.Cleanup(release)
	return l.ID, release
}

// newClientAt returns a client that starts no engine.
func newClientAt(home string) *control.Client {
	return control.NewClient(filepath.Join(home, "run", "control.sock"))
}

// holdRaw keeps a lease until cut ends the connection with no word more, as the
// end of a killed process does.
func (r *engineRig) holdRaw(t testing.TB) (lease string, cut func()) {
	t.Helper()
	id := uuid.NewString()
	var conn net.Conn
	eventually(t, "the engine listens", func() bool {
		var err error
		conn, err = net.Dial("unix", filepath.Join(r.home, "run", "control.sock"))
		return err == nil
	})
	body := `{"lease":{"id":"` + id + `","spec":{"timeout":600000000000}}}`
	fmt.Fprintf(conn, "POST /v1/hold HTTP/1.1\r\nHost: arenero\r\nArenero-Protocol: %d\r\nContent-Length: %d\r\n\r\n%s", control.Protocol, len(body), body)
	answer := bufio.NewReader(conn)
	for {
		line, err := answer.ReadString('\n')
		if err != nil {
			t.Fatalf("no lease: %v", err)
		}
		if strings.Contains(line, `"held":true`) {
			break
		}
	}
	t.Cleanup(func() { conn.Close() })
	return id, func() { conn.Close() }
}

// shell makes an Exec of a shell command.
func shell(lease, script string) sandbox.Exec {
	return sandbox.Exec{ID: uuid.NewString(), Target: sandbox.Target{Lease: lease}, Args: []string{"/bin/sh", "-c", script}, Timeout: time.Minute}
}

// said is all that a call said.
type said struct {
	stdout, stderr strings.Builder
	notices        []sandbox.Notice
	results        []sandbox.Result
	exception      *sandbox.Exception
}

func (s *said) emit(o sandbox.Output) error {
	switch {
	case o.Notice != "":
		s.notices = append(s.notices, o.Notice)
	case o.Result != nil:
		s.results = append(s.results, *o.Result)
	case o.Exception != nil:
		s.exception = o.Exception
	case o.Stream == sandbox.Stderr:
		s.stderr.Write(o.Data)
	default:
		s.stdout.Write(o.Data)
	}
	return nil
}

// run runs a shell command that must not fail to run.
func (r *engineRig) run(t testing.TB, lease, script string) (*said, sandbox.Exit) {
	t.Helper()
	s := &said{}
	exit, err := r.client.Exec(t.Context(), shell(lease, script), s.emit)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return s, exit
}
