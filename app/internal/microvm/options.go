package microvm

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	smithyrand "github.com/aws/smithy-go/rand"
)

// An HTTPClient sends requests.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// An IdempotencyTokenProvider makes the ClientToken of inputs that have none.
type IdempotencyTokenProvider interface {
	GetIdempotencyToken() (string, error)
}

// Options is how a client, or one call, goes about its work.
type Options struct {
	Region          string // required, also with a custom endpoint: it is signed
	Credentials     aws.CredentialsProvider
	BaseEndpoint    *string // in place of the endpoint rules; may have a path
	EndpointOptions EndpointResolverOptions

	HTTPClient HTTPClient // nil: the SDK's

	Retryer          aws.Retryer // nil: the SDK's for RetryMode and RetryMaxAttempts
	RetryMode        aws.RetryMode
	RetryMaxAttempts int // per call, the first included; 0: 3

	// NoRateLimit lets calls go at once. It is for endpoints that are not
	// AWS, where the published rates mean nothing.
	NoRateLimit bool

	IdempotencyTokenProvider IdempotencyTokenProvider // nil: random UUIDs
	AppID                    string                   // goes into the user agent
	APIOptions               []func(*middleware.Stack) error

	// Logger gets lines about retries if ClientLogMode asks for them. The
	// modes that show requests and answers are not obeyed: those hold secrets.
	Logger        logging.Logger
	ClientLogMode aws.ClientLogMode

	// Dated is told the time that the service gives with each answer; it may be
	// nil.
	Dated func(time.Time)

	// Now dates the signatures; nil: time.Now.
	Now func() time.Time
}

// EndpointResolverOptions picks among the endpoints of a region.
type EndpointResolverOptions struct {
	UseDualStackEndpoint aws.DualStackEndpointState
	UseFIPSEndpoint      aws.FIPSEndpointState
}

// Copy returns options that share no list with o.
func (o Options) Copy() Options {
	o.APIOptions = slices.Clone(o.APIOptions)
	return o
}

// WithAPIOptions adds middleware.
func WithAPIOptions(optFns ...func(*middleware.Stack) error) func(*Options) {
	return func(o *Options) { o.APIOptions = append(o.APIOptions, optFns...) }
}

// WithDialer sends all calls over connections made by dial, such as ones to a
// Unix socket, and uses no HTTP proxy.
func WithDialer(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(*Options) {
	return func(o *Options) {
		o.HTTPClient = &http.Client{
			Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // a signature holds for one address only
			},
		}
	}
}

func (o *Options) setDefaults() {
	if o.HTTPClient == nil {
		o.HTTPClient = awshttp.NewBuildableClient()
	}
	if o.Retryer == nil {
		o.Retryer = newRetryer(o.RetryMode, o.RetryMaxAttempts)
	} else if o.RetryMaxAttempts > 0 {
		o.Retryer = retry.AddWithMaxAttempts(o.Retryer, o.RetryMaxAttempts)
	}
	if o.IdempotencyTokenProvider == nil {
		o.IdempotencyTokenProvider = smithyrand.NewUUIDIdempotencyToken(rand.Reader)
	}
	if o.Logger == nil {
		o.Logger = logging.Nop{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}
