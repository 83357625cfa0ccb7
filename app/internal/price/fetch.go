package price

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/pricing/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/arenero/arenero/app/sandbox"
)

// usageMark is in the usage type of all that sandboxes are billed for. In most
// regions there is a mark of the region before it.
const usageMark = "Lambda-MicroVM-"

// The ends of the usage types, and what each is the price of.
const (
	usageVCPU    = usageMark + "vCPU-Second-ARM"
	usageGB      = usageMark + "Memory-GB-Second-ARM"
	usageWrite   = usageMark + "Snapshot-Write-GB"
	usageRead    = usageMark + "Snapshot-Read-GB"
	usageStorage = usageMark + "Snapshot-Storage-GB-Hour"
)

func usages() []string { return []string{usageVCPU, usageGB, usageWrite, usageRead, usageStorage} }

// globalRegion has the services that say what AWS costs, for all regions.
const globalRegion = "us-east-1"

// maxPages bounds what is asked of a list that does not end.
const maxPages = 50

// Fetch asks the AWS Price List for the prices of today in all regions. Partial
// are regions that it knows only some of: they are not in the sheet. To ask
// costs nothing, and needs the right to pricing:GetProducts.
func Fetch(ctx context.Context, cfg aws.Config, now time.Time) (s Sheet, partial []string, err error) {
	client := pricing.NewFromConfig(itself(cfg, "PRICING"), func(o *pricing.Options) { o.Region = globalRegion })
	pages := pricing.NewGetProductsPaginator(client, &pricing.GetProductsInput{
		ServiceCode:   new("AWSLambda"),
		FormatVersion: new("aws_v1"),
		Filters:       []types.Filter{{Field: new("usagetype"), Type: types.FilterTypeContains, Value: new(usageMark)}},
	}, func(o *pricing.GetProductsPaginatorOptions) { o.StopOnDuplicateToken = true })
	l := list{now: now, regions: map[string]map[string]listed{}}
	for n := 0; pages.HasMorePages(); n++ {
		if n == maxPages {
			return Sheet{}, nil, oddList(errors.New("it does not end"))
		}
		page, err := pages.NextPage(ctx)
		if err != nil {
			return Sheet{}, nil, refused(err, "the AWS Price List", "pricing:GetProducts")
		}
		for _, product := range page.PriceList {
			if err := l.add(product); err != nil {
				return Sheet{}, nil, oddList(err)
			}
		}
	}
	s, partial = l.sheet()
	if len(s.Rows) == 0 {
		return Sheet{}, partial, oddList(errors.New("no region has all prices"))
	}
	return s, partial, nil
}

// itself is cfg for what AWS alone can say: a profile may have a cloud of its own
// for its sandboxes, which knows nothing of prices. Only the variable of the
// service itself says that it is elsewhere.
func itself(cfg aws.Config, service string) aws.Config {
	cfg.BaseEndpoint = nil
	if at := os.Getenv("AWS_ENDPOINT_URL_" + service); at != "" {
		cfg.BaseEndpoint = &at
	}
	return cfg
}

func oddList(err error) error {
	return &sandbox.Error{
		Code: sandbox.CloudDown, Msg: "the AWS Price List did not answer with prices of sandboxes",
		Hint: "the prices that are known stay; look at the page of prices, and put others in the file of your own prices", Err: err,
	}
}

// An offer is one product of the list, as far as it matters.
type offer struct {
	Product struct {
		Attributes struct {
			Region string `json:"regionCode"`
			Usage  string `json:"usagetype"`
		} `json:"attributes"`
	} `json:"product"`
	Terms struct {
		OnDemand map[string]struct {
			Effective  time.Time `json:"effectiveDate"`
			Dimensions map[string]struct {
				PerUnit map[string]string `json:"pricePerUnit"`
			} `json:"priceDimensions"`
		} `json:"OnDemand"`
	} `json:"terms"`
	Version string `json:"version"`
}

// A listed price is valid from a time on.
type listed struct {
	from time.Time
	p    int64
}

// A list collects the prices of regions by usage.
type list struct {
	now     time.Time
	version string
	regions map[string]map[string]listed
}

func (l *list) add(text string) error {
	var p offer
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return fmt.Errorf("read a product: %w", err)
	}
	region, usage := p.Product.Attributes.Region, p.Product.Attributes.Usage
	i := slices.IndexFunc(usages(), func(end string) bool { return strings.HasSuffix(usage, end) })
	if i < 0 || !regionName.MatchString(region) {
		return nil // something newer than we are
	}
	usage = usages()[i]
	l.version = max(l.version, p.Version)
	for _, term := range p.Terms.OnDemand {
		for _, d := range term.Dimensions {
			text, ok := d.PerUnit["USD"]
			if !ok || term.Effective.After(l.now) {
				continue
			}
			n, err := pico(text)
			if err != nil {
				return fmt.Errorf("%s in %s: %w", usage, region, err)
			}
			had, known := l.regions[region][usage]
			// Of steps by use the dearest goes: it is not known on which one is.
			if known && (term.Effective.Before(had.from) || term.Effective.Equal(had.from) && n <= had.p) {
				continue
			}
			if l.regions[region] == nil {
				l.regions[region] = map[string]listed{}
			}
			l.regions[region][usage] = listed{term.Effective, n}
		}
	}
	return nil
}

func (l *list) sheet() (s Sheet, partial []string) {
	today := l.now.UTC().Truncate(24 * time.Hour)
	s.Version = "aws-" + l.version
	if l.version == "" {
		s.Version += today.Format(time.DateOnly)
	}
	for region, prices := range l.regions {
		row := Row{
			Rates: Rates{
				Version: s.Version, Region: region, Sourced: today,
				VCPU: prices[usageVCPU].p, GB: prices[usageGB].p, Write: prices[usageWrite].p, Read: prices[usageRead].p,
				Storage: perSecond(prices[usageStorage].p, 3600),
			},
			Source: "AWS Price List",
		}
		for _, p := range prices {
			if day := p.from.UTC().Truncate(24 * time.Hour); day.After(row.ValidFrom) {
				row.ValidFrom = day
			}
		}
		if len(prices) < len(usages()) || !row.Known() {
			partial = append(partial, region)
			continue
		}
		s.Rows = append(s.Rows, row)
	}
	slices.SortFunc(s.Rows, func(a, b Row) int { return strings.Compare(a.Region, b.Region) })
	slices.Sort(partial)
	return s, partial
}

// refused says what a service's no means. What is no answer of a service goes
// on as it is: whoever made the configuration knows its errors.
func refused(err error, service, right string) error {
	e, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return fmt.Errorf("ask %s: %w", service, err)
	}
	code, status := e.ErrorCode(), 0
	if res, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		status = res.HTTPStatusCode()
	}
	switch {
	case strings.Contains(code, "AccessDenied"), strings.Contains(code, "UnauthorizedOperation"):
		return &sandbox.Error{Code: sandbox.Access, Msg: "this AWS profile may not ask " + service, Hint: "give it the right to " + right, Err: err}
	case strings.Contains(code, "Throttl"), strings.Contains(code, "TooManyRequests"), code == "LimitExceededException":
		return &sandbox.Error{Code: sandbox.RateLimited, Msg: service + " was asked too often", Hint: "wait a minute, then ask again", Retryable: true, RetryAfter: time.Minute, Err: err}
	case code == "DataUnavailableException":
		return &sandbox.Error{Code: sandbox.NotFound, Msg: service + " has no figures of this account yet", Hint: "turn Cost Explorer on in the AWS console; the first figures take a day", Err: err}
	case status >= http.StatusInternalServerError:
		return &sandbox.Error{Code: sandbox.CloudDown, Msg: service + " is not well", Hint: "ask again later", Retryable: true, Err: err}
	case slices.Contains(badKeys, code):
		return &sandbox.Error{
			Code: sandbox.Access, Msg: service + " refuses the keys of this AWS profile", Hint: "give a profile whose keys are of AWS and still valid; \"arenero profiles test\" tells which are",
			Details: map[string]any{"code": code}, Err: err,
		}
	}
	return &sandbox.Error{Code: sandbox.CloudDown, Msg: service + " refuses the request: " + code, Hint: "the prices and figures that are known stay; \"arenero logs\" tells more", Details: map[string]any{"code": code}, Err: err}
}

// badKeys are what AWS says of keys that are not its own, or are not valid any
// more.
var badKeys = []string{
	"InvalidSignatureException", "SignatureDoesNotMatch", "UnrecognizedClientException", "InvalidClientTokenId", "IncompleteSignature",
	"MissingAuthenticationTokenException", "ExpiredTokenException", "ExpiredToken", "OptInRequired",
}
