package e2e

import (
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// client is our own client of a listening cloud.
func (c *cloudProcess) client(t testing.TB) *microvm.Client {
	t.Helper()
	api := microvm.New(microvm.Options{
		Region:       c.info.Region,
		BaseEndpoint: &c.info.Endpoint,
		Credentials:  credentials.NewStaticCredentialsProvider(c.info.AccessKeyID, c.info.SecretAccessKey, ""),
		NoRateLimit:  true,
	})
	t.Cleanup(api.CloseIdleConnections)
	return api
}

// TestCloudKilled ends a cloud with SIGKILL while five sandboxes run, one of
// them asleep: nothing of theirs survives, and the next cloud on the same
// folder knows it.
func TestCloudKilled(t *testing.T) {
	dir := t.TempDir()
	c := startCloud(t, dir)
	api := c.client(t)
	var ids []string
	for range 5 {
		out, err := api.RunMicrovm(t.Context(), &microvm.RunMicrovmInput{ImageIdentifier: aws.String(localImage)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, *out.MicrovmId)
	}
	reach := func(id string, want wire.MicrovmState) {
		eventually(t, id+" is "+string(want), func() bool {
			out, err := api.GetMicrovm(t.Context(), &microvm.GetMicrovmInput{MicrovmIdentifier: &id})
			return err == nil && out.State == want
		})
	}
	for _, id := range ids {
		reach(id, wire.MicrovmStateRunning)
	}
	if _, err := api.SuspendMicrovm(t.Context(), &microvm.SuspendMicrovmInput{MicrovmIdentifier: &ids[0]}); err != nil {
		t.Fatal(err)
	}
	reach(ids[0], wire.MicrovmStateSuspended)

	tree := below(t, c.cmd.Process.Pid)
	if len(tree) < 5 {
		t.Fatalf("five sandboxes are %d processes", len(tree))
	}
	if err := c.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.cmd.Wait()
	eventually(t, "all processes of the sandboxes are gone", func() bool { return alive(t, tree) == 0 })

	api = startCloud(t, dir).client(t)
	for _, id := range ids {
		out, err := api.GetMicrovm(t.Context(), &microvm.GetMicrovmInput{MicrovmIdentifier: &id})
		if err != nil {
			t.Fatal(err)
		}
		if out.State != wire.MicrovmStateTerminated || aws.ToString(out.StateReason) == "" || out.TerminatedAt == nil {
			t.Errorf("after the crash: %s, reason %q, terminated at %v", out.State, aws.ToString(out.StateReason), out.TerminatedAt)
		}
	}
	left, err := filepath.Glob("/sys/fs/cgroup/*/*arenero*/*" + ids[1] + "*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestHundredSandboxes makes, uses and ends a hundred sandboxes, and finds the
// computer as it was.
func TestHundredSandboxes(t *testing.T) {
	r := newRig(t)
	once := func(t *testing.T) {
		v := r.run(t, nil)
		conn := v.grpc(t)
		if _, got := v.cell(t, conn, "1+1"); got != "2" {
			t.Errorf("1+1 is %q", got)
		}
		if out, _ := v.command(t, conn, "echo $$ > /tmp/f && cat /tmp/f"); len(out) == 0 {
			t.Error("no output")
		}
		if _, err := r.api.TerminateMicrovm(t.Context(), &microvm.TerminateMicrovmInput{MicrovmIdentifier: &v.id}); err != nil {
			t.Error(err)
		}
		v.reaches(t, wire.MicrovmStateTerminated)
	}
	t.Run("first", once) // what is made once and kept does not count
	r.api.CloseIdleConnections()
	before := footprint(t, r)

	t.Run("hundred", func(t *testing.T) {
		for i := range 100 {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				once(t)
			})
		}
	})
	r.api.CloseIdleConnections()
	for what, want := range before {
		var got int
		for range 250 {
			if got = footprint(t, r)[what]; got <= want {
				break
			}
			pause()
		}
		if got > want {
			t.Errorf("%s: %d, %d before", what, got, want)
			if what == "goroutines" {
				pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			}
		}
	}
}
