package app

import (
	"cmp"
	"context"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// Bill asks AWS what it billed, for a profile of the owner, and puts our own
// figures beside that.
func (g *gate) Bill(ctx context.Context, q control.BillQuery) ([]sandbox.BillDay, error) {
	if err := g.steward(ctx); err != nil {
		return nil, err
	}
	own, err := g.app.accounts.find(q.Profile)
	if err != nil {
		return nil, err
	}
	cfg, err := g.app.accounts.auth.Config(ctx, own.Profile)
	if err != nil {
		return nil, authError(err)
	}
	if q.Until.IsZero() {
		q.Until = g.books.clock.Now()
	}
	billed, err := price.Bill(ctx, cfg, q.Since, q.Until)
	if err != nil {
		return nil, cmp.Or(accountError(err), err)
	}
	ours, err := g.books.byDay(ctx, q.Profile, q.Since)
	if err != nil {
		return nil, err
	}
	out := []sandbox.BillDay{}
	for _, d := range billed {
		day := d.Day.UTC().Format(time.DateOnly)
		out = append(out, sandbox.BillDay{Day: day, Billed: d.Total, Ours: ours[day]})
	}
	return out, nil
}

// byDay is what was spent with a profile on each day of UTC, on which it settled.
func (a *books) byDay(ctx context.Context, profile string, since time.Time) (map[string]sandbox.Micro, error) {
	out := map[string]sandbox.Micro{}
	for cursor := ""; ; {
		page, err := a.ledger.Orders(ctx, sandbox.OrderQuery{Profile: profile, State: sandbox.OrderSettled, Since: since.Add(-sandbox.MaxTimeout), Limit: 1000, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, o := range page.Orders {
			day := o.EndedAt.UTC().Format(time.DateOnly)
			out[day] = out[day].Plus(*o.Settled)
		}
		if cursor = page.Next; cursor == "" {
			return out, nil
		}
	}
}

// RefreshPrices asks AWS for its prices, as a profile of the owner may. Without
// one it tells which prices are used.
func (g *gate) RefreshPrices(ctx context.Context, profile string) (control.PriceTable, error) {
	if err := g.steward(ctx); err != nil {
		return control.PriceTable{}, err
	}
	if profile == "" {
		return g.books.priceTable(g.books.clock.Now()), nil
	}
	own, err := g.app.accounts.find(profile)
	if err != nil {
		return control.PriceTable{}, err
	}
	cfg, err := g.app.accounts.auth.Config(ctx, own.Profile)
	if err != nil {
		return control.PriceTable{}, authError(err)
	}
	a := g.books
	now := a.clock.Now()
	sheet, partial, err := price.Fetch(ctx, cfg, now)
	if err != nil {
		return control.PriceTable{}, cmp.Or(accountError(err), err)
	}
	text, err := sheet.MarshalJSON()
	if err != nil {
		return control.PriceTable{}, err
	}
	if err := a.ledger.Put(kindPrices, "aws", text, true); err != nil {
		return control.PriceTable{}, err
	}
	a.log.Info("prices of AWS taken over", "version", sheet.Version, "partial", partial)
	a.loadPrices()
	return a.priceTable(now), nil
}

// priceTable tells which prices are used.
func (a *books) priceTable(now time.Time) control.PriceTable {
	t := a.table()
	out := control.PriceTable{Version: t.Version(), Regions: t.Regions(now), Stale: len(t.Stale(now)) > 0}
	for _, region := range out.Regions {
		if row, ok := t.Row(region, now); ok {
			out.Sourced = max(out.Sourced, row.Sourced.UTC().Format(time.DateOnly))
		}
		for _, size := range t.Sizes() {
			if p, ok := sizePrice(t, region, size, now); ok {
				out.Sizes = append(out.Sizes, p)
			}
		}
	}
	return out
}

// sizePrice is what an hour of a size costs, and whether that is known.
func sizePrice(t *price.Table, region string, sizeMiB int, now time.Time) (control.SizePrice, bool) {
	rates, ok := t.Rates(region, sizeMiB, now)
	hour := func(b sandbox.Burst) sandbox.Micro {
		return price.PerHour(rates, price.Plan{SizeMiB: sizeMiB, Burst: b})
	}
	return control.SizePrice{
		Region: region, SizeMiB: sizeMiB, MilliVCPU: price.MilliVCPU(sizeMiB), Base: hour(sandbox.BurstBaseline), Peak: hour(sandbox.BurstStrict),
	}, ok
}
