package microvm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/time/rate"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// minSkew is the difference of clocks that is worth correcting: signatures
// hold for five minutes either way, and the Date header has whole seconds.
const minSkew = 4 * time.Minute

// A signer signs each attempt of one call anew.
type signer struct {
	o      *Options
	signer *v4.Signer
	skew   time.Duration // as seen in the last answer
}

func newSigner(c *Client, o *Options) *signer {
	return &signer{o: o, signer: v4.NewSigner(), skew: time.Duration(c.skew.Load())}
}

func (*signer) ID() string { return "Signing" }

func (s *signer) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	if err := s.sign(ctx, in.Request); err != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, &v4.SigningError{Err: err}
	}
	out, md, err := next.HandleFinalize(ctx, in)
	if skew, ok := awsmiddleware.GetAttemptSkew(md); ok {
		s.skew = skew
	}
	return out, md, err
}

func (s *signer) sign(ctx context.Context, request any) error {
	req, ok := request.(*smithyhttp.Request)
	if !ok {
		return fmt.Errorf("unexpected transport %T", request)
	}
	if s.o.Credentials == nil {
		return errors.New("no credentials")
	}
	if aws.IsCredentialsProvider(s.o.Credentials, aws.AnonymousCredentials{}) {
		return nil
	}
	creds, err := s.o.Credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("get credentials: %w", err)
	}
	now := s.o.Now()
	if s.skew.Abs() >= minSkew {
		now = now.Add(s.skew)
	}
	return s.signer.SignHTTP(ctx, creds, req.Request, v4.GetPayloadHash(ctx), wire.SigningName, callOf(ctx).region, now)
}

// A turnstile lets attempts of one operation through at the rate that AWS
// takes them.
type turnstile struct {
	op     string
	bucket *rate.Limiter // nil: no limit
	o      *Options
}

func (*turnstile) ID() string { return "RateLimit" }

func (t *turnstile) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	if t.bucket != nil && !t.o.NoRateLimit {
		if err := t.bucket.Wait(ctx); err != nil {
			if ctx.Err() == nil { // the wait would outlast the deadline
				err = fmt.Errorf("wait for the rate of %s: %w", t.op, context.DeadlineExceeded)
			}
			return middleware.FinalizeOutput{}, middleware.Metadata{}, &smithy.CanceledError{Err: err}
		}
	}
	return next.HandleFinalize(ctx, in)
}
