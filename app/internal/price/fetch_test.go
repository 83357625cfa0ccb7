package price_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// product is one as the AWS Price List writes it. Prices are pairs of the day
// since which it is valid and dollars.
func product(region, usage string, prices ...string) string {
	terms := map[string]any{}
	for i := 0; i < len(prices); i += 2 {
		code := fmt.Sprintf("SKU.T%d", i)
		terms[code] = map[string]any{
			"sku": "SKU", "offerTermCode": "T", "effectiveDate": prices[i] + "T00:00:00Z", "termAttributes": map[string]string{},
			"priceDimensions": map[string]any{code + ".D": map[string]any{
				"unit": "GB-Hour", "beginRange": "0", "endRange": "Inf", "description": usage, "rateCode": code + ".D", "appliesTo": []string{},
				"pricePerUnit": map[string]string{"USD": prices[i+1]},
			}},
		}
	}
	raw, err := json.Marshal(map[string]any{
		"product": map[string]any{"productFamily": "Serverless", "sku": "SKU", "attributes": map[string]string{
			"servicecode": "AWSLambda", "regionCode": region, "usagetype": usage,
		}},
		"serviceCode": "AWSLambda", "terms": map[string]any{"OnDemand": terms}, "version": "20261120101112", "publicationDate": "2026-11-20T10:11:12Z",
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// region is all products of one, with the prices of one day.
func region(name, mark, from string, factor int) []string {
	var all []string
	for usage, p := range map[string]int{"vCPU-Second-ARM": 276_944, "Memory-GB-Second-ARM": 36_667, "Snapshot-Write-GB": 37_977_138, "Snapshot-Read-GB": 15_467_699, "Snapshot-Storage-GB-Hour": 1_111_111} {
		all = append(all, product(name, mark+"Lambda-MicroVM-"+usage, from, fmt.Sprintf("0.%010d", p*factor)))
	}
	return all
}

func TestFetch(t *testing.T) {
	r := newRig(t)
	r.page = 3
	r.products = slices.Concat(
		region("us-east-1", "", "2026-10-01", 1),
		region("eu-west-1", "EU-", "2026-11-01", 2),
		region("ap-northeast-1", "APN1-", "2026-11-01", 3)[:4], // one is missing
		[]string{
			product("us-east-1", "Lambda-GB-Second-ARM", "2026-10-01", "9"),
			product("us-east-1", "Lambda-MicroVM-Warp-Second", "2026-10-01", "9"), // newer than we are
			product("", "Lambda-MicroVM-vCPU-Second-ARM", "2026-10-01", "9"),
			// Dearer by use, dearer before, and dearer from tomorrow on.
			product("eu-west-1", "EU-Lambda-MicroVM-Snapshot-Read-GB", "2026-11-01", "0.0000000001", "2026-11-01", "0.0099", "2026-09-01", "0.5", "2026-12-01", "0.7"),
		})
	now := time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC)
	got, partial, err := price.Fetch(t.Context(), r.config(), now)
	if err != nil {
		t.Fatal(err)
	}
	rates := func(region string, factor int64, read int64, storage int64) price.Rates {
		return price.Rates{
			Version: "aws-20261120101112", Region: region, Sourced: date(t, "2026-11-30"),
			VCPU: 27_694_400 * factor, GB: 3_666_700 * factor, Write: 3_797_713_800 * factor, Read: read, Storage: storage,
		}
	}
	want := price.Sheet{Version: "aws-20261120101112", Rows: []price.Row{
		{Rates: rates("eu-west-1", 2, 9_900_000_000, 61_729), ValidFrom: date(t, "2026-11-01"), Source: "AWS Price List"},
		{Rates: rates("us-east-1", 1, 1_546_769_900, 30_865), ValidFrom: date(t, "2026-10-01"), Source: "AWS Price List"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sheet = %+v, want %+v", got, want)
	}
	if !slices.Equal(partial, []string{"ap-northeast-1"}) {
		t.Errorf("partial = %v", partial)
	}
	asked := r.asked()
	if len(asked) != 6 { // 17 of the products are sandboxes', three to a page
		t.Errorf("%d requests, want 6", len(asked))
	}
	golden(t, "request/GetProducts.txt", strings.Join(asked[:2], "\n"))
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	back, err := price.ParseSheet("cache", raw)
	if err != nil || !reflect.DeepEqual(back, got) {
		t.Errorf("from a cache: %+v, %v, want %+v", back, err, got)
	}
	if rates, ok := price.Embedded().With(back).Rates("eu-west-1", 2048, now); !ok || rates.Read != 9_900_000_000 || rates.Stale(now) {
		t.Errorf("rates = %+v, %t", rates, ok)
	}
}

func TestFetchIsOdd(t *testing.T) {
	now := date(t, "2026-11-30")
	for _, tt := range []struct {
		name string
		edit func(*rig)
	}{
		{"nothing", func(*rig) {}},
		{"no region is whole", func(r *rig) { r.products = region("us-east-1", "", "2026-10-01", 1)[1:] }},
		{"nothing is valid yet", func(r *rig) { r.products = region("us-east-1", "", "2026-12-01", 1) }},
		{"no JSON", func(r *rig) { r.products = []string{"<html>"} }},
		{"a price that is none", func(r *rig) {
			r.products = append(region("us-east-1", "", "2026-10-01", 1), product("us-east-1", "Lambda-MicroVM-Snapshot-Read-GB", "2026-10-01", "free"))
		}},
		{"a price below nothing", func(r *rig) {
			r.products = append(region("us-east-1", "", "2026-10-01", 1), product("us-east-1", "Lambda-MicroVM-Snapshot-Read-GB", "2026-10-01", "-1"))
		}},
		{"a vCPU for free", func(r *rig) { r.products = region("us-east-1", "", "2026-10-01", 0) }},
		{"no end", func(r *rig) { r.products, r.endless = region("us-east-1", "", "2026-10-01", 1), true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			tt.edit(r)
			got, _, err := price.Fetch(t.Context(), r.config(), now)
			if sandbox.CodeOf(err) != sandbox.CloudDown || len(got.Rows) > 0 {
				t.Errorf("Fetch = %+v, %v", got, err)
			}
			if n := len(r.asked()); n > 50 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// What a service says no with, and what is said of it.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		fail failure
		want sandbox.Code
		hint string
	}{
		{failure{400, "AccessDeniedException"}, sandbox.Access, "pricing:GetProducts"},
		{failure{400, "ThrottlingException"}, sandbox.RateLimited, "wait"},
		{failure{400, "LimitExceededException"}, sandbox.RateLimited, "wait"},
		{failure{400, "DataUnavailableException"}, sandbox.NotFound, "turn Cost Explorer on"},
		{failure{500, "InternalErrorException"}, sandbox.CloudDown, "later"},
		{failure{400, "ExpiredTokenException"}, sandbox.Access, "profiles test"},
		{failure{403, "InvalidSignatureException"}, sandbox.Access, "profiles test"},
		{failure{400, "ValidationException"}, sandbox.CloudDown, "ValidationException"},
	} {
		t.Run(tt.fail.code, func(t *testing.T) {
			r := newRig(t)
			r.set(tt.fail)
			_, _, err := price.Fetch(t.Context(), r.config(), day)
			if sandbox.CodeOf(err) != tt.want || !strings.Contains(sandbox.Message(err), tt.hint) || strings.Contains(err.Error(), "canary") {
				t.Errorf("Fetch: %v (%s), want %s", err, sandbox.Message(err), tt.want)
			}
			_, err = price.Bill(t.Context(), r.config(), day, day.AddDate(0, 0, 1))
			hint := strings.ReplaceAll(tt.hint, "pricing:GetProducts", "ce:GetCostAndUsage")
			if sandbox.CodeOf(err) != tt.want || !strings.Contains(sandbox.Message(err), hint) || strings.Contains(err.Error(), "canary") {
				t.Errorf("Bill: %v (%s), want %s", err, sandbox.Message(err), tt.want)
			}
		})
	}
	r := newRig(t)
	cfg := r.config()
	cause := errors.New("no credentials")
	cfg.Credentials = failing{cause}
	if _, _, err := price.Fetch(t.Context(), cfg, day); !errors.Is(err, cause) {
		t.Errorf("with no credentials: %v", err)
	}
}

// AWS alone knows what it asks and billed, wherever the sandboxes of a profile
// are.
func TestAsksAWS(t *testing.T) {
	r := newRig(t)
	r.products = region("us-east-1", "", "2026-10-01", 1)
	if _, _, err := price.Fetch(t.Context(), r.config(), day); err != nil {
		t.Error(err)
	}
	if _, err := price.Bill(t.Context(), r.config(), day, day.AddDate(0, 0, 1)); err != nil {
		t.Error(err)
	}
	if want := []string{"https://api.pricing.us-east-1.amazonaws.com", "https://ce.us-east-1.amazonaws.com"}; !slices.Equal(r.hosts, want) {
		t.Errorf("asked %v, want %v", r.hosts, want)
	}
}
