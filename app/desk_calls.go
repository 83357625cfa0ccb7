package app

import (
	"context"

	"github.com/arenero/arenero/app/control"
)

// FollowCalls emits what ran in a sandbox lately, and then what does.
func (g *gate) FollowCalls(ctx context.Context, id string, emit func(control.CallNews) error) error {
	_, err := owned(ctx, g, nothingAt(func() error { <-ctx.Done(); return ctx.Err() }))
	return err
}

// Ports are those that something in a sandbox listens at.
func (g *gate) Ports(ctx context.Context, id string) ([]control.Port, error) {
	return owned(ctx, g, func() ([]control.Port, error) { return []control.Port{}, nil })
}
