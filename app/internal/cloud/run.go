package cloud

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/internal/cloud/dataplane"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// A vmRecord is what is kept of a VM on disk. The payload of its run hook is
// not: it may hold secrets, and nobody needs it twice.
type vmRecord struct {
	MicrovmID       string            `json:"microvmId"`
	Label           string            `json:"label"` // first part of the endpoint
	ImageArn        string            `json:"imageArn"`
	ImageVersion    string            `json:"imageVersion"`
	Role            *string           `json:"executionRoleArn,omitempty"`
	IdlePolicy      *wire.IdlePolicy  `json:"idlePolicy,omitempty"`
	MaximumDuration int32             `json:"maximumDurationInSeconds"`
	StartedAt       time.Time         `json:"startedAt"`
	Ingress         []string          `json:"ingressNetworkConnectors,omitempty"`
	Egress          []string          `json:"egressNetworkConnectors,omitempty"`
	MemoryMiB       int               `json:"memoryMiB"`
	State           wire.MicrovmState `json:"state"` // PENDING for all that are not TERMINATED
	StateReason     string            `json:"stateReason,omitempty"`
	TerminatedAt    *time.Time        `json:"terminatedAt,omitempty"`
}

// runMicrovm starts a VM. The same client token starts none a second time and
// gets the first answer again.
func (s *Server) runMicrovm(ctx context.Context, in *wire.RunMicrovmInput) (*wire.RunMicrovmOutput, error) {
	plain := *in
	plain.ClientToken = nil
	var out wire.RunMicrovmOutput
	var v *microvm
	err := s.once.do("RunMicrovm", in.ClientToken, plain, &out, func() (err error) {
		if v, err = s.newVM(in); err != nil {
			return err
		}
		out = v.describe(v.past[0], time.Time{})
		return s.admit(v)
	})
	if err != nil {
		if v != nil && v.stop != nil { // the caller never learns of it
			v.doom(ending{reason: reasonInternal})
		}
		return nil, err
	}
	out.Endpoint = new(s.endpoint(ctx, *out.Endpoint))
	return &out, nil
}

// newVM resolves and checks what in asks for. Nothing is kept yet.
func (s *Server) newVM(in *wire.RunMicrovmInput) (*microvm, error) {
	arn, err := s.parseImageArn(*in.ImageIdentifier, "Malformed ARN")
	if err != nil {
		return nil, err
	}
	if in.ExecutionRoleArn != nil {
		if err := checkRole("executionRoleArn", *in.ExecutionRoleArn); err != nil {
			return nil, err
		}
	}
	if err := s.checkConnectors("ingress", in.IngressNetworkConnectors); err != nil {
		return nil, err
	}
	if err := s.checkConnectors("egress", in.EgressNetworkConnectors); err != nil {
		return nil, err
	}
	ver, err := s.launchable(arn, in.ImageVersion)
	if err != nil {
		return nil, err
	}
	hooks := ver.hooks()
	if in.RunHookPayload != nil && (hooks.MicrovmHooks == nil || hooks.MicrovmHooks.Run != wire.HookStateEnabled) {
		return nil, invalid("The run hook must be enabled on the image to use runHookPayload.")
	}
	rec := vmRecord{
		MicrovmID:       "microvm-" + uuid.NewString(),
		Label:           uuid.NewString(),
		ImageArn:        s.ImageARN(arn.name),
		ImageVersion:    ver.Number,
		Role:            in.ExecutionRoleArn,
		IdlePolicy:      in.IdlePolicy,
		MaximumDuration: wire.MaxDurationSeconds,
		StartedAt:       s.cfg.Clock.Now().UTC().Truncate(time.Millisecond),
		Ingress:         in.IngressNetworkConnectors,
		Egress:          in.EgressNetworkConnectors,
		MemoryMiB:       ver.memory(),
		State:           wire.MicrovmStatePending,
	}
	if in.MaximumDurationInSeconds != nil {
		rec.MaximumDuration = *in.MaximumDurationInSeconds
	}
	if len(rec.Ingress) == 0 {
		rec.Ingress = []string{s.connectorArn("HTTP_INGRESS")}
	}
	if len(rec.Egress) == 0 {
		rec.Egress = ver.Config.EgressNetworkConnectors
	}
	if len(rec.Egress) == 0 {
		rec.Egress = []string{s.connectorArn("INTERNET_EGRESS")}
	}
	v := s.vmOf(rec)
	v.hooks = hooks
	v.input = hookInput{MicrovmID: rec.MicrovmID, RunHookPayload: in.RunHookPayload}
	v.spec = Spec{
		ID:        rec.MicrovmID,
		Template:  ver.template(),
		Env:       s.guestEnv(arn.name, ver),
		MemoryMiB: rec.MemoryMiB,
		CPUs:      capsOf(rec.MemoryMiB).cpus,
		Network:   slices.Contains(rec.Egress, s.connectorArn("INTERNET_EGRESS")),
	}
	return v, nil
}

// guestEnv is the environment of a VM's main process.
func (s *Server) guestEnv(name string, ver *version) map[string]string {
	env := map[string]string{}
	maps.Copy(env, ver.Config.EnvironmentVariables)
	env["AWS_LAMBDA_MICROVM_IMAGE_NAME"] = name
	env["AWS_LAMBDA_MICROVM_IMAGE_ARN"] = s.ImageARN(name)
	env["AWS_LAMBDA_MICROVM_IMAGE_VERSION"] = ver.Number
	env["AWS_REGION"] = s.cfg.Region
	return env
}

// lags are those in force now; a VM keeps the ones it was made under.
func (s *Server) lags() Lags {
	if s.saboteur.switches().Realistic {
		return RealisticLags()
	}
	return s.cfg.Lags
}

// vmOf makes a VM of its record, in the state of the record.
func (s *Server) vmOf(rec vmRecord) *microvm {
	v := &microvm{
		vmRecord: rec,
		clock:    s.cfg.Clock,
		policy:   s.cfg.Policy,
		throttle: func() bool { return s.cfg.Policy.Throttle || s.saboteur.switches().Throttle },
		lags:     s.lags(),
		state:    rec.State,
		reason:   rec.StateReason,
		since:    rec.StartedAt,
		past:     []transition{{rec.State, rec.StateReason, rec.StartedAt}},
		changed:  make(chan struct{}),
		cut:      make(chan struct{}),
	}
	close(v.cut)
	if rec.TerminatedAt != nil {
		v.ended = *rec.TerminatedAt
	}
	return v
}

// admit writes a new VM down and starts its life.
func (s *Server) admit(v *microvm) error {
	life, stop := context.WithCancelCause(context.Background()) // it outlives the call that asked for it
	v.stop = stop
	if err := s.enter(v); err != nil {
		stop(err)
		return err
	}
	if err := s.store.put(dirVMs, v.MicrovmID, v.vmRecord); err != nil {
		s.forget(v)
		s.vms.Done()
		stop(err)
		return err
	}
	go func() {
		defer s.vms.Done()
		defer stop(nil)
		s.carry(life, v)
	}()
	return nil
}

// enter counts a new VM in, if the account may have one more.
func (s *Server) enter(v *microvm) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return newError(wire.InternalServer, "The cloud is shutting down.")
	}
	s.purgeLocked()
	used := v.MemoryMiB
	for _, other := range s.byID {
		if _, alive := other.endedAt(); alive {
			used += other.MemoryMiB
		}
	}
	if used > s.cfg.Policy.Quotas.MemoryMiB {
		return overQuota("L-CD1C0CC4", "The memory of running and suspended MicroVMs would exceed the account's quota.")
	}
	s.byID[v.MicrovmID], s.byHost[v.Label] = v, v
	s.vms.Add(1)
	return nil
}

func (s *Server) forget(v *microvm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, v.MicrovmID)
	delete(s.byHost, v.Label)
}

// carry takes a VM through its life and writes its end down.
func (s *Server) carry(ctx context.Context, v *microvm) {
	log := s.cfg.Log.With("sandbox", v.MicrovmID)
	err := v.live(ctx, s.cfg.Launcher)
	if _, meant := errors.AsType[ending](err); err != nil && !meant && ctx.Err() == nil {
		log.Error("machine failed", "err", err)
	}
	if err := v.finish(ctx, err); err != nil {
		log.Error("machine not killed", "err", err)
	}
	// On disk first: what has been seen to be over stays so after a crash.
	rec, now := v.vmRecord, s.cfg.Clock.Now()
	rec.State, rec.StateReason, rec.TerminatedAt = wire.MicrovmStateTerminated, v.why(), new(now.UTC())
	if err := s.store.put(dirVMs, v.MicrovmID, rec); err != nil {
		log.Error("end not written down", "err", err)
	}
	v.conclude(now)
	log.Info("sandbox ended", "reason", rec.StateReason)
}

// why is the VM's stateReason.
func (v *microvm) why() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.reason
}

// endedAt is when the VM was terminated, or whether it is alive.
func (v *microvm) endedAt() (at time.Time, alive bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ended, v.state != wire.MicrovmStateTerminated
}

// A size is what comes with an amount of memory.
type size struct {
	cpus int // at the peak
	dataplane.Caps
}

// capsOf follows the published table: everything grows with the memory.
func capsOf(memoryMiB int) size {
	units := max(1, memoryMiB/512)
	return size{cpus: units, Caps: dataplane.Caps{Connections: 8 * units, RequestsPerSecond: 10 * units}}
}
