package price_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// failing are credentials that can't be had.
type failing struct{ err error }

func (f failing) Retrieve(context.Context) (aws.Credentials, error) { return aws.Credentials{}, f.err }

const mark = "Lambda-MicroVM-"

func TestBill(t *testing.T) {
	r := newRig(t)
	r.page = 3
	r.estimated = []string{"0.0996998400", "-0.0000005"} // the first of two pages, and the only one
	r.records = []record{
		{"2026-09-30", "Usage", mark + "vCPU-Second-ARM", "5", "1", "USD"}, // before
		{"2026-10-01", "Usage", mark + "vCPU-Second-ARM", "0.0996998400", "3600.0000000000", "USD"},
		{"2026-10-01", "Usage", "EU-" + mark + "Memory-GB-Second-ARM", "0.0264002400", "7200", "USD"},
		{"2026-10-01", "Usage", "BoxUsage:t3.micro", "12.5", "24", "USD"},
		{"2026-10-01", "Usage", mark + "Snapshot-Read-GB", "0.0000004999", "0.0003", "USD"}, // on this page, and on the next
		{"2026-10-01", "Usage", mark + "Snapshot-Read-GB", "1E-10", "1.5", "USD"},
		{"2026-10-01", "Credit", mark + "vCPU-Second-ARM", "-0.0996998400", "0", "USD"},
		{"2026-10-03", "Usage", mark + "Snapshot-Write-GB", "-0.0000005", "0", "USD"}, // set right later
		{"2026-10-03", "Usage", "Lambda-GB-Second", "3", "1", "EUR"},
		{"2026-10-04", "Usage", mark + "vCPU-Second-ARM", "7", "1", "USD"}, // after
	}
	got, err := price.Bill(t.Context(), r.config(), time.Date(2026, 10, 1, 23, 0, 0, 0, time.UTC), time.Date(2026, 10, 4, 1, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	want := []price.BilledDay{
		{Day: date(t, "2026-10-01"), Total: 126_101, Estimated: true, Lines: []price.BilledLine{ // 126100.58
			{Usage: "EU-Lambda-MicroVM-Memory-GB-Second-ARM", Quantity: "7200", Amount: 26_400},
			{Usage: "Lambda-MicroVM-Snapshot-Read-GB", Quantity: "1.5003", Amount: 1}, // 0.5
			{Usage: "Lambda-MicroVM-vCPU-Second-ARM", Quantity: "3600", Amount: 99_700},
		}},
		{Day: date(t, "2026-10-02")},
		{Day: date(t, "2026-10-03"), Total: -1, Estimated: true, Lines: []price.BilledLine{{Usage: "Lambda-MicroVM-Snapshot-Write-GB", Quantity: "0", Amount: -1}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("bill = %+v, want %+v", got, want)
	}
	asked := r.asked()
	if len(asked) != 3 {
		t.Errorf("%d requests, want 3", len(asked))
	}
	golden(t, "request/GetCostAndUsage.txt", strings.Join(asked[:2], "\n"))
}

func TestBillIsOdd(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*record)
	}{
		{"other money", func(r *record) { r.unit = "CNY" }},
		{"no money", func(r *record) { r.unit = "" }},
		{"no number", func(r *record) { r.amount = "NaN" }},
		{"a fraction", func(r *record) { r.amount = "1/3" }},
		{"a number in hex", func(r *record) { r.amount = "0x1p-2" }},
		{"nothing", func(r *record) { r.amount = "" }},
		{"a huge exponent", func(r *record) { r.amount = "1e999999999" }},
		{"more than an amount can be", func(r *record) { r.amount = "1e20" }},
		{"a quantity that is none", func(r *record) { r.quantity = "many" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			rec := record{"2026-10-01", "Usage", mark + "vCPU-Second-ARM", "1", "1", "USD"}
			tt.edit(&rec)
			r.records = []record{rec}
			got, err := price.Bill(t.Context(), r.config(), day, day.AddDate(0, 0, 1))
			if sandbox.CodeOf(err) != sandbox.CloudDown || got != nil {
				t.Errorf("Bill = %+v, %v", got, err)
			}
		})
	}
	t.Run("no end", func(t *testing.T) {
		r := newRig(t)
		r.endless = true
		if _, err := price.Bill(t.Context(), r.config(), day, day.AddDate(0, 0, 1)); sandbox.CodeOf(err) != sandbox.CloudDown {
			t.Errorf("error = %v", err)
		}
		if n := len(r.asked()); n != 50 {
			t.Errorf("%d requests, want 50", n)
		}
	})
}

// A request costs money: one that can't be answered is not made.
func TestBillOfNoDays(t *testing.T) {
	r := newRig(t)
	for _, until := range []time.Time{day, day.Add(23 * time.Hour), day.AddDate(0, 0, -1), day.AddDate(0, 0, 435)} {
		if got, err := price.Bill(t.Context(), r.config(), day, until); sandbox.CodeOf(err) != sandbox.Invalid || got != nil {
			t.Errorf("Bill until %v = %+v, %v", until, got, err)
		}
	}
	if n := len(r.asked()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
	if got, err := price.Bill(t.Context(), r.config(), day, day.AddDate(0, 0, 434)); err != nil || len(got) != 434 {
		t.Errorf("Bill of 434 days = %d days, %v", len(got), err)
	}
}
