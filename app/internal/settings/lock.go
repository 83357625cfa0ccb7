package settings

import (
	"context"
	"os"
	"time"
)

// lockPoll is how often a taken lock is tried again. Whoever has it lets go
// within milliseconds.
const lockPoll = 5 * time.Millisecond

// lock waits until this process alone has the file at path, or ctx is done. The
// lock goes with the process, however that ends.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		taken, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, err
		}
		if !taken {
			return func() { f.Close() }, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		}
	}
}
