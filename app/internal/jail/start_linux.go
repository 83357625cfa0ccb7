//go:build amd64 || arm64

package jail

import (
	"context"
	"errors"
	"fmt"
)

func start(ctx context.Context, spec Spec) (Jail, error) {
	switch spec.Kind {
	case "":
		j, err := startTree(ctx, spec)
		if err == nil || ctx.Err() != nil || !errors.As(err, new(*unsupportedError)) {
			return j, err
		}
		if cj, cerr := startContainer(ctx, spec); cerr == nil {
			return cj, nil
		}
		return nil, err
	case Namespaces:
		return startTree(ctx, spec)
	case Docker, Podman:
		return startContainer(ctx, spec)
	case NotIsolated:
		return startPlain(ctx, spec)
	}
	return nil, fmt.Errorf("no kind of jail is called %q", spec.Kind)
}
