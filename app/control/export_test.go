package control

import (
	"bytes"
	"context"
)

// ReadAnswer reads body as the answer to a call.
func ReadAnswer(ctx context.Context, body []byte) {
	frames(ctx, bytes.NewReader(body), func(frame) error { return nil })
}
