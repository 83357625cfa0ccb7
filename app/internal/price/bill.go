package price

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/costexplorer"
	"github.com/aws/aws-sdk-go-v2/service/costexplorer/types"

	"github.com/arenero/arenero/app/sandbox"
)

// A BilledDay is what AWS says that sandboxes cost on one day of UTC, before
// credits and taxes.
type BilledDay struct {
	Day       time.Time     `json:"day"`
	Total     sandbox.Micro `json:"total_micro"`         // rounded once
	Estimated bool          `json:"estimated,omitempty"` // AWS may still change it
	Lines     []BilledLine  `json:"lines,omitempty"`     // in the order of their usage
}

// A BilledLine is one kind of use.
type BilledLine struct {
	Usage    string        `json:"usage"` // type, with the mark of its region
	Quantity string        `json:"quantity,omitempty"`
	Amount   sandbox.Micro `json:"amount_micro"`
}

// maxBilledDays is how far Cost Explorer looks back by the day: 14 months.
const maxBilledDays = 14 * 31

const (
	metricCost  = "UnblendedCost"
	metricUsage = "UsageQuantity"
)

// Bill asks Cost Explorer what AWS billed from the day of since until before
// that of until, for the account of cfg and whatever else it pays for. AWS takes
// one cent for each request, of which there are as many as the answer has pages.
// It needs the right to ce:GetCostAndUsage.
func Bill(ctx context.Context, cfg aws.Config, since, until time.Time) ([]BilledDay, error) {
	since, until = since.UTC().Truncate(24*time.Hour), until.UTC().Truncate(24*time.Hour)
	if !since.Before(until) || until.Sub(since) > maxBilledDays*24*time.Hour {
		return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "a bill is of one day at least, and of 14 months at most", Hint: "give another first day"}
	}
	client := costexplorer.NewFromConfig(itself(cfg, "COST_EXPLORER"), func(o *costexplorer.Options) { o.Region = globalRegion })
	in := &costexplorer.GetCostAndUsageInput{
		Granularity: types.GranularityDaily,
		Metrics:     []string{metricCost, metricUsage},
		TimePeriod:  &types.DateInterval{Start: new(since.Format(time.DateOnly)), End: new(until.Format(time.DateOnly))},
		GroupBy:     []types.GroupDefinition{{Type: types.GroupDefinitionTypeDimension, Key: new("USAGE_TYPE")}},
		// Credits would hide what was used. A service is not asked for: which one
		// sandboxes are billed under is not written down anywhere.
		Filter: &types.Expression{Dimensions: &types.DimensionValues{Key: types.DimensionRecordType, Values: []string{"Usage"}}},
	}
	days := map[string]*sums{}
	for n := 0; ; n++ {
		if n == maxPages {
			return nil, oddBill(errors.New("it does not end"))
		}
		out, err := client.GetCostAndUsage(ctx, in)
		if err != nil {
			return nil, refused(err, "Cost Explorer", "ce:GetCostAndUsage")
		}
		for _, r := range out.ResultsByTime {
			if err := take(days, r); err != nil {
				return nil, oddBill(err)
			}
		}
		if aws.ToString(out.NextPageToken) == "" {
			break
		}
		in.NextPageToken = out.NextPageToken
	}
	var all []BilledDay
	for day := since; day.Before(until); day = day.AddDate(0, 0, 1) {
		b, err := days[day.Format(time.DateOnly)].billed(day)
		if err != nil {
			return nil, oddBill(err)
		}
		all = append(all, b)
	}
	return all, nil
}

func oddBill(err error) error {
	return &sandbox.Error{Code: sandbox.CloudDown, Msg: "Cost Explorer answered with something that is no bill", Hint: "ask again later; our own figures do not need it", Err: err}
}

// sums are those of one day, in dollars. Pages may divide a day.
type sums struct {
	estimated bool
	usage     map[string]*line
}

type line struct{ cost, quantity *big.Rat }

func take(days map[string]*sums, r types.ResultByTime) error {
	if r.TimePeriod == nil {
		return errors.New("a result has no day")
	}
	day := days[aws.ToString(r.TimePeriod.Start)]
	if day == nil {
		day = &sums{usage: map[string]*line{}}
		days[aws.ToString(r.TimePeriod.Start)] = day
	}
	day.estimated = day.estimated || r.Estimated
	for _, g := range r.Groups {
		if len(g.Keys) != 1 || !strings.Contains(g.Keys[0], usageMark) {
			continue
		}
		cost := g.Metrics[metricCost]
		if unit := aws.ToString(cost.Unit); unit != "USD" {
			return fmt.Errorf("%s is in %q, not USD", g.Keys[0], unit)
		}
		amount, err := rational(aws.ToString(cost.Amount))
		if err != nil {
			return fmt.Errorf("%s: %w", g.Keys[0], err)
		}
		quantity, err := rational(aws.ToString(g.Metrics[metricUsage].Amount))
		if err != nil {
			return fmt.Errorf("quantity of %s: %w", g.Keys[0], err)
		}
		if had := day.usage[g.Keys[0]]; had != nil {
			amount.Add(amount, had.cost)
			quantity.Add(quantity, had.quantity)
		}
		day.usage[g.Keys[0]] = &line{amount, quantity}
	}
	return nil
}

func (s *sums) billed(day time.Time) (BilledDay, error) {
	b := BilledDay{Day: day}
	if s == nil { // AWS leaves out what it knows nothing of
		return b, nil
	}
	b.Estimated = s.estimated
	total := new(big.Rat)
	for usage, l := range s.usage {
		amount, ok := nearest(l.cost)
		if !ok {
			return BilledDay{}, ErrTooMuch
		}
		total.Add(total, l.cost)
		b.Lines = append(b.Lines, BilledLine{usage, plain(l.quantity), amount})
	}
	var ok bool
	if b.Total, ok = nearest(total); !ok {
		return BilledDay{}, ErrTooMuch
	}
	slices.SortFunc(b.Lines, func(x, y BilledLine) int { return strings.Compare(x.Usage, y.Usage) })
	return b, nil
}

// nearest rounds dollars to millionths, halves away from zero.
func nearest(usd *big.Rat) (sandbox.Micro, bool) {
	text := new(big.Rat).Mul(usd, new(big.Rat).SetInt64(1_000_000)).FloatString(0) // its digits, exactly
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || !n.IsInt64() {
		return 0, false
	}
	return sandbox.Micro(n.Int64()), true
}

// plain is a number with as many decimals as Cost Explorer gives, at most.
func plain(q *big.Rat) string {
	s := q.FloatString(10)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
