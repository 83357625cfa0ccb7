//go:build !linux || !(amd64 || arm64)

package jail

import (
	"context"
	"fmt"
	"runtime"
)

func start(ctx context.Context, spec Spec) (Jail, error) {
	switch spec.Kind {
	case "", Docker, Podman:
		return startContainer(ctx, spec)
	}
	return nil, fmt.Errorf("no jail of kind %q on %s", spec.Kind, runtime.GOOS)
}

func probe(ctx context.Context) Report { return newReport(probeContainers(ctx)) }
