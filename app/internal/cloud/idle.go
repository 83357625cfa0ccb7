package cloud

import (
	"context"
	"sync"
	"time"
)

// An idleness knows when somebody last called.
type idleness struct {
	mu   sync.Mutex
	open int       // guarded by mu: requests being served
	last time.Time // guarded by mu: when the last one ended
}

func (i *idleness) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.open++
}

func (i *idleness) end(now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.open--
	i.last = now
}

// IdleFor is how long nobody has called and no VM has been alive; zero while
// either is the case.
func (s *Server) IdleFor() time.Duration {
	since := time.Time{}
	s.mu.Lock()
	for _, v := range s.byID {
		ended, alive := v.endedAt()
		if alive {
			s.mu.Unlock()
			return 0
		}
		if ended.After(since) {
			since = ended
		}
	}
	s.mu.Unlock()
	s.idle.mu.Lock()
	defer s.idle.mu.Unlock()
	if s.idle.open > 0 {
		return 0
	}
	if s.idle.last.After(since) {
		since = s.idle.last
	}
	return max(0, s.cfg.Clock.Since(since))
}

// WaitIdle returns nil once nobody has called and no VM has been alive for d.
func (s *Server) WaitIdle(ctx context.Context, d time.Duration) error {
	// While a VM lives there is no telling when it ends, so look again often
	// enough to be late by a tenth at most.
	for {
		left := d - s.IdleFor()
		if left <= 0 {
			return nil
		}
		if left == d {
			left = max(d/10, time.Millisecond)
		}
		if err := wait(ctx, s.cfg.Clock, left); err != nil {
			return err
		}
	}
}
