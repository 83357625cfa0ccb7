package cloud

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

const kindVM = "MicroVM"

// describe is the VM as a read sees it. The endpoint is its first part only.
func (v *microvm) describe(seen transition, ended time.Time) wire.RunMicrovmOutput {
	out := wire.RunMicrovmOutput{
		MicrovmId:                new(v.MicrovmID),
		State:                    seen.state,
		Endpoint:                 new(v.Label),
		ImageArn:                 new(v.ImageArn),
		ImageVersion:             new(v.ImageVersion),
		ExecutionRoleArn:         v.Role,
		IdlePolicy:               v.IdlePolicy,
		MaximumDurationInSeconds: new(v.MaximumDuration),
		StartedAt:                new(v.StartedAt),
		IngressNetworkConnectors: v.Ingress,
		EgressNetworkConnectors:  v.Egress,
	}
	if seen.reason != "" {
		out.StateReason = new(seen.reason)
	}
	if !ended.IsZero() {
		out.TerminatedAt = new(ended)
	}
	return out
}

// lookUp finds a VM that is alive or ended not long ago.
func (s *Server) lookUp(id *string) (*microvm, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purgeLocked()
	v, ok := s.byID[*id]
	if !ok {
		return nil, notFound(kindVM, printable(*id))
	}
	return v, nil
}

// purgeLocked forgets VMs that ended long ago.
func (s *Server) purgeLocked() {
	now := s.cfg.Clock.Now()
	for id, v := range s.byID {
		ended, alive := v.endedAt()
		if alive || now.Sub(ended) < s.cfg.Policy.Retention {
			continue
		}
		delete(s.byID, id)
		delete(s.byHost, v.Label)
		if err := s.store.remove(dirVMs, id); err != nil {
			s.cfg.Log.Error("old record stays behind", "sandbox", id, "err", err)
		}
	}
}

func (s *Server) getMicrovm(ctx context.Context, in *wire.GetMicrovmInput) (*wire.GetMicrovmOutput, error) {
	v, err := s.lookUp(in.MicrovmIdentifier)
	if err != nil {
		return nil, err
	}
	m := mischiefOf(ctx)
	out := wire.GetMicrovmOutput(v.describe(v.view(m.late, m.stale)))
	out.Endpoint = new(s.endpoint(ctx, v.Label))
	return &out, nil
}

func (s *Server) listMicrovms(ctx context.Context, in *wire.ListMicrovmsInput) (*wire.ListMicrovmsOutput, error) {
	if in.ImageIdentifier != nil {
		if _, err := s.parseImageArn(*in.ImageIdentifier, "Invalid ARN format"); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.purgeLocked()
	var all []*microvm
	for _, v := range s.byID {
		image := in.ImageIdentifier == nil || v.ImageArn == *in.ImageIdentifier
		if image && (in.ImageVersion == nil || sameVersion(v.ImageVersion, *in.ImageVersion)) {
			all = append(all, v)
		}
	}
	if len(all) == 0 && in.ImageIdentifier != nil {
		if _, err := s.imageLocked(*in.ImageIdentifier); err != nil {
			s.mu.Unlock()
			return nil, err
		}
	}
	s.mu.Unlock()
	// By identifier, which is random: no order that means anything, but one
	// that a cursor can go on from.
	slices.SortFunc(all, func(a, b *microvm) int { return strings.Compare(a.MicrovmID, b.MicrovmID) })
	scope := scopeOf("ListMicrovms", in.ImageIdentifier, in.ImageVersion)
	page, next, err := paginate(s.cursors, scope, in.MaxResults, in.NextToken, all, func(v *microvm) string { return v.MicrovmID })
	if err != nil {
		return nil, err
	}
	m := mischiefOf(ctx)
	out := &wire.ListMicrovmsOutput{Items: []wire.MicrovmItem{}, NextToken: next}
	for _, v := range page {
		seen, _ := v.view(m.late, m.stale)
		out.Items = append(out.Items, wire.MicrovmItem{
			MicrovmId: new(v.MicrovmID), State: seen.state, ImageArn: new(v.ImageArn), ImageVersion: new(v.ImageVersion), StartedAt: new(v.StartedAt),
		})
	}
	return out, nil
}

func (s *Server) suspendMicrovm(_ context.Context, in *wire.SuspendMicrovmInput) (nothing, error) {
	v, err := s.lookUp(in.MicrovmIdentifier)
	if err != nil {
		return nothing{}, err
	}
	return nothing{}, v.suspend(true)
}

func (s *Server) resumeMicrovm(_ context.Context, in *wire.ResumeMicrovmInput) (nothing, error) {
	v, err := s.lookUp(in.MicrovmIdentifier)
	if err != nil {
		return nothing{}, err
	}
	return nothing{}, v.resume()
}

// terminateMicrovm ends a VM from any state; an ended one stays as it is.
func (s *Server) terminateMicrovm(_ context.Context, in *wire.TerminateMicrovmInput) (nothing, error) {
	v, err := s.lookUp(in.MicrovmIdentifier)
	if err != nil {
		return nothing{}, err
	}
	v.doom(ending{reason: reasonTerminated, notify: true})
	return nothing{}, nil
}

// suspend puts a RUNNING VM on its way to SUSPENDED, because a call asked for
// it or because it is idle.
func (v *microvm) suspend(asked bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch v.state {
	case wire.MicrovmStateRunning:
		if !asked && v.idleLeft() > 0 {
			return nil // a request came just in time
		}
		v.asked = asked
		v.setLocked(wire.MicrovmStateSuspending, v.lags.Read)
		return nil
	case wire.MicrovmStateSuspending, wire.MicrovmStateSuspended:
		if v.policy.RepeatConflicts {
			return conflict(kindVM, v.MicrovmID, string(v.state))
		}
		return nil
	case wire.MicrovmStateTerminating, wire.MicrovmStateTerminated:
		return invalid("MicroVM %s cannot be suspended in state: %s", v.MicrovmID, v.state)
	default:
		return conflict(kindVM, v.MicrovmID, string(v.state))
	}
}

// resume puts a SUSPENDED VM on its way to RUNNING.
func (v *microvm) resume() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch v.state {
	case wire.MicrovmStateSuspended:
		v.setLocked(wire.MicrovmStatePending, v.lags.Read)
		return nil
	case wire.MicrovmStateRunning, wire.MicrovmStatePending:
		if v.policy.RepeatConflicts {
			return conflict(kindVM, v.MicrovmID, string(v.state))
		}
		return nil
	case wire.MicrovmStateTerminating, wire.MicrovmStateTerminated:
		return invalid("MicroVM %s cannot be resumed in state: %s", v.MicrovmID, v.state)
	default:
		return conflict(kindVM, v.MicrovmID, string(v.state))
	}
}
