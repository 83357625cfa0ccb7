package app

import (
	"context"

	"github.com/arenero/arenero/app/control"
)

// FollowCalls emits what ran in a sandbox lately, and then what does.
func (g *gate) FollowCalls(ctx context.Context, id string, emit func(control.CallNews) error) error {
	_, err := owned(ctx, g, nothingAt(func() error { return g.Fleet.FollowCalls(ctx, id, emit) }))
	return err
}

// Ports are those that something in a sandbox listens at.
func (g *gate) Ports(ctx context.Context, id string) ([]control.Port, error) {
	return owned(ctx, g, func() ([]control.Port, error) {
		found, err := g.Fleet.Ports(ctx, id)
		out := []control.Port{}
		for _, at := range found {
			out = append(out, control.Port{Number: int(at.Port()), Address: at.Addr().String()})
		}
		return out, err
	})
}
