package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// TestEngine takes one command and one cell through all hops: client, engine,
// local cloud, agent and process.
func TestEngine(t *testing.T) {
	r := newEngineRig(t)
	lease, release := r.hold(t, nil)
	if list, err := r.client.List(t.Context(), sandbox.ListRequest{Lease: lease}); err != nil || len(list) != 0 {
		t.Fatalf("before any call: %v, %v", list, err)
	}
	s, exit := r.run(t, lease, "echo hello; echo bad >&2; exit 3")
	if got, want := s.stdout.String(), "hello\n"; got != want || exit.Code != 3 || s.stderr.String() != "bad\n" {
		t.Errorf("stdout %q, stderr %q, exit %+v", got, s.stderr.String(), exit)
	}
	if want := []sandbox.Notice{sandbox.NoticeCreating, sandbox.NoticeStarted}; !slices.Equal(s.notices, want) {
		t.Errorf("notices %v, want %v", s.notices, want)
	}
	c := &said{}
	_, err := r.client.RunCode(t.Context(), sandbox.Cell{ID: uuid.NewString(), Target: sandbox.Target{Lease: lease}, Code: "6*7", Timeout: time.Minute}, c.emit)
	if err != nil || len(c.results) != 1 || c.results[0].Data["text/plain"] != "42" {
		t.Errorf("6*7 is %+v, %v; notices %v, exception %+v", c.results, err, c.notices, c.exception)
	}
	list, err := r.client.List(t.Context(), sandbox.ListRequest{Lease: lease})
	if err != nil || len(list) != 1 || !list[0].Current || list[0].ID != exit.Sandbox || list[0].State != sandbox.Running {
		t.Errorf("list %+v, %v", list, err)
	}
	release()
	eventually(t, "the sandbox ends with its lease", func() bool {
		list, err := r.client.List(t.Context(), sandbox.ListRequest{Ended: true})
		return err == nil && len(list) == 1 && list[0].State == sandbox.Terminated && list[0].EndReason == sandbox.EndClosed
	})
}
