package cloud

import (
	"testing"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

func TestLife(t *testing.T) {
	r := newRig(t, nil)
	var out wire.RunMicrovmOutput
	r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage)), RunHookPayload: new(`{"a":1}`)}, &out)
	id := *out.MicrovmId
	if out.State != wire.MicrovmStatePending {
		t.Errorf("state = %s, want PENDING", out.State)
	}
	if *out.MaximumDurationInSeconds != 28800 || !out.StartedAt.Equal(testStart) {
		t.Errorf("duration = %d, startedAt = %v", *out.MaximumDurationInSeconds, out.StartedAt)
	}
	if got := out.IngressNetworkConnectors; len(got) != 1 || connectorName(got[0]) != "HTTP_INGRESS" {
		t.Errorf("ingress = %v", got)
	}
	if got := out.EgressNetworkConnectors; len(got) != 1 || connectorName(got[0]) != "INTERNET_EGRESS" {
		t.Errorf("egress = %v", got)
	}
	r.reach(id, wire.MicrovmStateRunning)
	g := r.guests.of(id)
	if in := g.runInput(); in.MicrovmID != id || in.RunHookPayload == nil || *in.RunHookPayload != `{"a":1}` {
		t.Errorf("run hook got %+v", in)
	}

	var token wire.CreateMicrovmAuthTokenOutput
	r.must("CreateMicrovmAuthToken", &wire.CreateMicrovmAuthTokenInput{
		MicrovmIdentifier: &id, ExpirationInMinutes: new(int32(5)), AllowedPorts: []wire.PortSpecification{{Port: new(int32(8080))}},
	}, &token)
	if len(token.AuthToken) != 1 || token.AuthToken["X-aws-proxy-auth"] == "" {
		t.Errorf("token = %d entries", len(token.AuthToken))
	}

	r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.reach(id, wire.MicrovmStateSuspended)
	r.must("ResumeMicrovm", &wire.ResumeMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.reach(id, wire.MicrovmStateRunning)
	r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.reach(id, wire.MicrovmStateTerminated)
	end := r.get(id)
	if *end.StateReason != "Success." || end.TerminatedAt == nil || !end.StartedAt.Equal(testStart) {
		t.Errorf("end = %+v", end)
	}
	want := []string{"run", "suspend", "resume", "terminate"}
	if got := g.called(); len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("hooks = %v, want %v", got, want)
	}
}
