// Package microvm is a client of the AWS Lambda MicroVMs API, on the core of
// the AWS SDK for Go and in the SDK's shape: should its own module
// service/lambdamicrovms be had, it can take the place of this package.
//
// Where it goes further than the SDK: inputs are checked against the limits
// of the service before they are sent, calls wait their turn at the published
// rates ([Options.NoRateLimit]), Retry-After is honoured ([RetryAfter]), the
// caller's input is never written to, and no error or log line holds a token,
// a run hook payload or an environment value.
package microvm

import (
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/time/rate"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// ServiceID is the name of the service in the SDK's configuration.
const ServiceID = "Lambda Microvms"

// ServiceAPIVersion is the date of the API.
const ServiceAPIVersion = wire.Version

// A Client makes calls. It is safe for concurrent use, and all calls share its
// rate limits and its retry quota.
type Client struct {
	options Options
	buckets map[string]*rate.Limiter // by operation; those without a published rate have none
	skew    atomic.Int64             // how far the service's clock is ahead, in nanoseconds
}

// New returns a client that knows of nothing but its options: it does not look
// at the environment.
func New(options Options, optFns ...func(*Options)) *Client {
	options = options.Copy()
	for _, fn := range optFns {
		fn(&options)
	}
	options.setDefaults()
	c := &Client{options: options, buckets: map[string]*rate.Limiter{}}
	for _, op := range wire.Operations {
		if op.Rate > 0 {
			c.buckets[op.Name] = rate.NewLimiter(rate.Limit(op.Rate), op.Rate)
		}
	}
	return c
}

// NewFromConfig returns a client for a loaded configuration. A base endpoint
// set by optFns wins over all; else the order is that of the SDK: the variable
// AWS_ENDPOINT_URL_LAMBDA_MICROVMS, AWS_ENDPOINT_URL, endpoint_url of the
// service in the shared configuration, cfg.BaseEndpoint, the rules. With
// AWS_IGNORE_CONFIGURED_ENDPOINT_URLS only the last two count.
func NewFromConfig(cfg aws.Config, optFns ...func(*Options)) *Client {
	return New(fromConfig(cfg), func(o *Options) {
		for _, fn := range cfg.ServiceOptions {
			fn(ServiceID, o)
		}
		for _, fn := range optFns {
			fn(o)
		}
	})
}

// Options returns a copy of the client's options.
func (c *Client) Options() Options { return c.options.Copy() }

// CloseIdleConnections closes connections that are kept for later calls, if
// the HTTP client can. No call needs it; it ends the goroutines behind them.
func (c *Client) CloseIdleConnections() {
	if h, ok := c.options.HTTPClient.(interface{ CloseIdleConnections() }); ok {
		h.CloseIdleConnections()
	}
}
