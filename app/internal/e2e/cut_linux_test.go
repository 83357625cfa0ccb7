package e2e

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// TestCut has a client lose its connection while a cell runs: the cell goes on
// until the client is back. One that the client cancels does not.
func TestCut(t *testing.T) {
	r := newRig(t)
	v := r.run(t, nil)
	const code = "import time, os\nprint('on\\n', end='')\nwhile not os.path.exists('/tmp/go'): time.sleep(.01)\n6*7"
	conn := v.grpc(t)
	id, _ := v.begin(t, conn, code)
	conn.Close()
	conn = v.grpc(t)
	eventually(t, "the agent sees the end of the old connection", func() bool {
		out, _ := v.command(t, conn, `awk '$2 ~ /:1F90$/ && $4 == "01"' /proc/net/tcp | wc -l`)
		return strings.TrimSpace(string(out)) == "1"
	})
	v.command(t, conn, "touch /tmp/go")
	if got, want := v.reattach(t, conn, id), "on\n42"; got != want {
		t.Errorf("the cell of the lost connection gave %q, want %q", got, want)
	}
	v.command(t, conn, "rm /tmp/go")
	id, cancel := v.begin(t, conn, code)
	cancel()
	if got, want := v.reattach(t, conn, id), "on\nKeyboardInterrupt"; got != want {
		t.Errorf("the cancelled cell gave %q, want %q", got, want)
	}
}

// begin runs a cell until it has printed something.
func (v *vm) begin(t testing.TB, conn *grpc.ClientConn, code string) (id string, cancel context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(v.context(t))
	stream, err := agentpb.NewCodeServiceClient(conn).Execute(ctx, &agentpb.ExecuteRequest{Code: code})
	for err == nil {
		var event *agentpb.ExecuteEvent
		if event, err = stream.Recv(); event.GetStarted() != nil {
			id = event.GetStarted().ExecutionId
		}
		if event.GetStdout() != nil {
			return id, cancel
		}
	}
	cancel()
	t.Fatal(err)
	return "", nil
}

// reattach returns all that a cell has printed, its value and its error.
func (v *vm) reattach(t testing.TB, conn *grpc.ClientConn, id string) (all string) {
	t.Helper()
	stream, err := agentpb.NewCodeServiceClient(conn).Reattach(v.context(t), &agentpb.ReattachRequest{ContextId: "default", ExecutionId: id, FromSeq: 1})
	for err == nil {
		var event *agentpb.ExecuteEvent
		event, err = stream.Recv()
		all += event.GetStdout().GetText() + event.GetResult().GetText() + event.GetError().GetName()
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return all
}
