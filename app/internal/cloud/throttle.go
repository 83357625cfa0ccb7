package cloud

import (
	"sync"

	"github.com/jonboulle/clockwork"
	"golang.org/x/time/rate"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// rateQuotas are the codes of the published rates.
var rateQuotas = map[string]string{
	"RunMicrovm":             "L-535CA9B6",
	"ResumeMicrovm":          "L-118C44B3",
	"SuspendMicrovm":         "L-90045317",
	"TerminateMicrovm":       "L-74787B8A",
	"CreateMicrovmAuthToken": "L-7712260B",
}

// brakes hold calls to the published rates, if they are on.
type brakes struct {
	on    bool
	clock clockwork.Clock

	mu       sync.Mutex
	limiters map[string]*rate.Limiter // guarded by mu
}

func newBrakes(on bool, clock clockwork.Clock) *brakes {
	return &brakes{on: on, clock: clock, limiters: map[string]*rate.Limiter{}}
}

// take returns an error if op has been called too often. force holds it to its
// rate even if the brakes are off.
func (b *brakes) take(op wire.Operation, force bool) error {
	if !b.on && !force || op.Rate == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.limiters[op.Name]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(op.Rate), op.Rate)
		b.limiters[op.Name] = l
	}
	if l.AllowN(b.clock.Now(), 1) {
		return nil
	}
	return &apiError{class: wire.Throttling, message: "Rate exceeded", quotaCode: rateQuotas[op.Name], retryAfter: 1}
}
