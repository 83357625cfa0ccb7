package cloud

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/arenero/arenero/app/internal/cloud/dataplane"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

func (s *Server) createAuthToken(_ context.Context, in *wire.CreateMicrovmAuthTokenInput) (*wire.CreateMicrovmAuthTokenOutput, error) {
	v, err := s.mintable(in.MicrovmIdentifier)
	if err != nil {
		return nil, err
	}
	var ports []dataplane.PortRange
	for _, p := range in.AllowedPorts {
		switch {
		case p.AllPorts != nil:
			ports = append(ports, dataplane.AllPorts)
		case p.Range != nil:
			ports = append(ports, dataplane.PortRange{First: int(*p.Range.StartPort), Last: int(*p.Range.EndPort)})
		default:
			ports = append(ports, dataplane.PortRange{First: int(*p.Port), Last: int(*p.Port)})
		}
	}
	token, err := s.mint(v, ports, false, *in.ExpirationInMinutes)
	if err != nil {
		return nil, err
	}
	return &wire.CreateMicrovmAuthTokenOutput{AuthToken: token}, nil
}

func (s *Server) createShellAuthToken(_ context.Context, in *wire.CreateMicrovmShellAuthTokenInput) (*wire.CreateMicrovmShellAuthTokenOutput, error) {
	v, err := s.mintable(in.MicrovmIdentifier)
	if err != nil {
		return nil, err
	}
	switch {
	case slices.Contains(v.Ingress, s.connectorArn("ALL_INGRESS")):
		return nil, invalid("ALL_INGRESS does not support shell tokens. Use HTTP_INGRESS and/or SHELL_INGRESS instead.")
	case !slices.Contains(v.Ingress, s.connectorArn("SHELL_INGRESS")):
		return nil, invalid("CreateMicrovmShellAuthToken requires SHELL_INGRESS on the MicroVM.")
	}
	token, err := s.mint(v, nil, true, *in.ExpirationInMinutes)
	if err != nil {
		return nil, err
	}
	return &wire.CreateMicrovmShellAuthTokenOutput{AuthToken: token}, nil
}

// mintable finds a VM that tokens are given out for: any but an ended one.
func (s *Server) mintable(id *string) (*microvm, error) {
	v, err := s.lookUp(id)
	if err != nil {
		return nil, err
	}
	switch state, _ := v.now(); state {
	case wire.MicrovmStateTerminating, wire.MicrovmStateTerminated:
		return nil, conflict(kindVM, v.MicrovmID, string(state))
	}
	return v, nil
}

func (s *Server) mint(v *microvm, ports []dataplane.PortRange, shell bool, minutes int32) (wire.Secrets, error) {
	token, err := s.keys.Mint(v.MicrovmID, ports, shell, s.cfg.Clock.Now().Add(time.Duration(minutes)*time.Minute))
	if errors.Is(err, dataplane.ErrTooManyPorts) {
		return nil, invalid("1 validation error detected: Value at 'allowedPorts' failed to satisfy constraint: %v", err)
	}
	if err != nil {
		return nil, err
	}
	return wire.Secrets{wire.AuthHeader: token}, nil
}
