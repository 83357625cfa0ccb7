package ledger

import "context"

// OpenWith opens a ledger as a program would that has more migrations.
func OpenWith(ctx context.Context, cfg Config, more ...string) (*Ledger, error) {
	steps := migrations()
	for _, text := range more {
		steps = append(steps, migration{len(steps) + 1, text})
	}
	return open(ctx, cfg, steps)
}

// Versions is how many versions of the file there have been.
func Versions() int { return len(migrations()) }
