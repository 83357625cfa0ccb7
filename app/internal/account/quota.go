package account

import (
	"context"
	"fmt"
	"slices"
)

// A Quota is one that is applied to the account, in the region.
type Quota struct {
	Code  string  `json:"QuotaCode"`
	Name  string  `json:"QuotaName"`
	Value float64 `json:"Value"`
}

// Quotas lists those of Lambda, MicroVMs among them.
func (c *Client) Quotas(ctx context.Context) ([]Quota, error) {
	at := c.at(ServiceQuotas, fmt.Sprintf("https://servicequotas.%s.%s/", c.cfg.Region, domain(c.cfg.Region)))
	var all []Quota
	next := ""
	for range 50 { // pages; AWS has a few
		in := map[string]any{"ServiceCode": "lambda", "MaxResults": 100}
		if next != "" {
			in["NextToken"] = next
		}
		var out struct {
			Quotas    []Quota
			NextToken string
		}
		if err := c.json(ctx, at, "servicequotas", "ServiceQuotasV20190624.ListServiceQuotas", in, &out); err != nil {
			return nil, err
		}
		all = append(all, out.Quotas...)
		if next = out.NextToken; next == "" {
			break
		}
	}
	return all, nil
}

// A Default is what AWS publishes for a quota of MicroVMs.
type Default struct {
	Code  string
	What  string // in the words of the AWS API, for every language
	Value float64
}

// large are the regions where a new account may have more.
var large = []string{"us-east-1", "us-east-2", "us-west-2", "ap-northeast-1"}

// Defaults are the published quotas of MicroVMs in a region that can be seen and
// that limit what we do.
func Defaults(region string) []Default {
	memory, builds := 400.0, 5.0
	if slices.Contains(large, region) {
		memory, builds = 1024, 10
	}
	return []Default{
		{"L-CD1C0CC4", "memory of MicroVMs (GB)", memory},
		{"L-B430C318", "lifetime of a MicroVM (hours)", 8},
		{"L-942E56BE", "MicroVM images", 100},
		{"L-F8BECE9C", "versions per image", 50},
		{"L-72E0D058", "concurrent builds", builds},
		{"L-535CA9B6", "RunMicrovm per second", 5},
		{"L-91B95582", "RunMicrovm burst", 5},
		{"L-118C44B3", "ResumeMicrovm per second", 5},
		{"L-25EEC0A4", "ResumeMicrovm burst", 5},
		{"L-90045317", "SuspendMicrovm per second", 2},
		{"L-139F9A48", "SuspendMicrovm burst", 2},
		{"L-74787B8A", "TerminateMicrovm per second", 10},
		{"L-2CCA0501", "TerminateMicrovm burst", 10},
		{"L-7712260B", "CreateMicrovmAuthToken per second", 50},
		{"L-D65D9F16", "CreateMicrovmAuthToken burst", 50},
	}
}

// Regions are those that have MicroVMs, as far as is known.
var Regions = []string{
	"us-east-1", "us-east-2", "us-west-2", "eu-west-1", "ap-northeast-1",
	"ap-south-1", "ap-southeast-1", "ap-southeast-2", "eu-central-1", "eu-north-1",
}
