package scene

import (
	"context"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// Bill is what the cloud would have billed: a little more than our own figure.
func (s *Scene) Bill(ctx context.Context, q control.BillQuery) ([]sandbox.BillDay, error) {
	s.mu.Lock()
	away := s.away[q.Profile]
	s.mu.Unlock()
	if away {
		return nil, unsigned(q.Profile)
	}
	until := q.Until
	if until.IsZero() {
		until = s.clock.Now().UTC()
	}
	out := []sandbox.BillDay{}
	for day := q.Since.UTC().Truncate(24 * time.Hour); day.Before(until); day = day.AddDate(0, 0, 1) {
		b := sandbox.BillDay{Day: day.Format(time.DateOnly)}
		rows, err := s.Spend(ctx, sandbox.SpendQuery{By: sandbox.SpendByProfile, Since: day, Until: day.AddDate(0, 0, 1)})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r.Key == q.Profile {
				b.Ours = r.Cost.Total
			}
		}
		b.Billed = b.Ours + b.Ours/50
		out = append(out, b)
	}
	return out, nil
}

// RefreshPrices tells which prices are used; the built-in ones are as new as any.
func (s *Scene) RefreshPrices(_ context.Context, profile string) (control.PriceTable, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away[profile] {
		return control.PriceTable{}, unsigned(profile)
	}
	t := control.PriceTable{Version: s.table.Version(), Regions: s.table.Regions(s.began), Stale: s.kind == Error}
	if r, ok := s.table.Rates(region, 2048, s.began); ok {
		t.Sourced = r.Sourced.UTC().Format(time.DateOnly)
	}
	for _, at := range t.Regions {
		for _, size := range s.table.Sizes() {
			if r, ok := s.table.Rates(at, size, s.began); ok {
				hour := func(b sandbox.Burst) sandbox.Micro { return price.PerHour(r, price.Plan{SizeMiB: size, Burst: b}) }
				t.Sizes = append(t.Sizes, control.SizePrice{
					Region: at, SizeMiB: size, MilliVCPU: price.MilliVCPU(size), Base: hour(sandbox.BurstBaseline), Peak: hour(sandbox.BurstStrict),
				})
			}
		}
	}
	return t, nil
}
