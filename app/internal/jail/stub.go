package jail

import (
	"context"
	"errors"
)

func start(ctx context.Context, spec Spec) (Jail, error) { return nil, errors.New("not built yet") }
func probe(ctx context.Context) Report                   { return Report{} }
