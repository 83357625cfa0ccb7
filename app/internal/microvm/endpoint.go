package microvm

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// A partition is a part of AWS with domains of its own.
type partition struct {
	prefixes          []string // of its regions
	suffix, dualStack string   // domains
}

// The first match counts; the last matches all.
var partitions = []partition{
	{[]string{"cn-", "aws-cn-"}, "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
	{[]string{"eusc-"}, "amazonaws.eu", "api.amazonwebservices.eu"},
	{[]string{"us-iso-", "aws-iso-global"}, "c2s.ic.gov", "api.aws.ic.gov"},
	{[]string{"us-isob-", "aws-iso-b-"}, "sc2s.sgov.gov", "api.aws.scloud"},
	{[]string{"eu-isoe-", "aws-iso-e-"}, "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
	{[]string{"us-isof-", "aws-iso-f-"}, "csp.hci.ic.gov", "api.aws.hci.ic.gov"},
	{[]string{""}, "amazonaws.com", "api.aws"}, // aws and aws-us-gov
}

var regionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`) })

// endpoint applies the endpoint rules. The region comes back too: the old
// names fips-REGION and REGION-fips mean a region and FIPS.
func (o *Options) endpoint() (*url.URL, string, error) {
	region := o.Region
	fips := o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled
	dualStack := o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled
	if r, ok := strings.CutPrefix(region, "fips-"); ok {
		region, fips = r, true
	}
	if r, ok := strings.CutSuffix(region, "-fips"); ok {
		region, fips = r, true
	}
	switch {
	case region == "":
		return nil, "", &aws.MissingRegionError{}
	case !regionForm().MatchString(region): // it becomes a part of the host name
		return nil, "", errors.New("invalid configuration: the region is not a host label")
	case o.BaseEndpoint != nil && fips:
		return nil, "", errors.New("invalid configuration: FIPS and custom endpoint are not supported together")
	case o.BaseEndpoint != nil && dualStack:
		return nil, "", errors.New("invalid configuration: dual-stack and custom endpoint are not supported together")
	case o.BaseEndpoint != nil:
		u, err := custom(*o.BaseEndpoint)
		return u, region, err
	}
	host := "lambda"
	if fips {
		host = "lambda-fips"
	}
	p := partitionOf(region)
	domain := p.suffix
	if dualStack {
		domain = p.dualStack
	}
	return &url.URL{Scheme: "https", Host: fmt.Sprintf("%s.%s.%s", host, region, domain)}, region, nil
}

// custom reads an endpoint given by the user. It may hold a password, so no
// error repeats it.
func custom(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return nil, errors.New("invalid configuration: the custom endpoint is not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("invalid configuration: the custom endpoint needs http:// or https:// and a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("invalid configuration: the custom endpoint may have a path, but no user, query or fragment")
	}
	return u, nil
}

func partitionOf(region string) partition {
	for _, p := range partitions {
		for _, prefix := range p.prefixes {
			if strings.HasPrefix(region, prefix) {
				return p
			}
		}
	}
	return partition{}
}
