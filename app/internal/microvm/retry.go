package microvm

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// maxRetryAfter is the longest wait the service may order. On a longer one the
// call fails, and the caller can plan with [RetryAfter].
const maxRetryAfter = time.Minute

func newRetryer(mode aws.RetryMode, attempts int) aws.Retryer {
	set := func(o *retry.StandardOptions) {
		if attempts > 0 {
			o.MaxAttempts = attempts
		}
	}
	if mode == aws.RetryModeAdaptive {
		return retry.NewAdaptiveMode(func(o *retry.AdaptiveModeOptions) {
			o.StandardOptions = append(o.StandardOptions, set)
		})
	}
	return retry.NewStandard(set)
}

// A patient retryer never comes back sooner than the service asked it to.
type patient struct{ aws.Retryer }

func (p patient) IsErrorRetryable(err error) bool {
	if after, ok := RetryAfter(err); ok && after > maxRetryAfter {
		return false
	}
	return p.Retryer.IsErrorRetryable(err)
}

func (p patient) RetryDelay(attempt int, err error) (time.Duration, error) {
	d, delayErr := p.Retryer.RetryDelay(attempt, err)
	if after, ok := RetryAfter(err); ok && after > d {
		d = after
	}
	return d, delayErr
}

// GetAttemptToken keeps patient an [aws.RetryerV2].
func (p patient) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	if r, ok := p.Retryer.(aws.RetryerV2); ok {
		return r.GetAttemptToken(ctx)
	}
	return p.GetInitialToken(), nil
}

// RetryAfter returns how long the service asked to wait before the next try.
func RetryAfter(err error) (time.Duration, bool) {
	if e, ok := errors.AsType[interface {
		error
		retryAfter() *int32
	}](err); ok {
		if s := e.retryAfter(); s != nil && *s >= 0 {
			return time.Duration(*s) * time.Second, true
		}
	}
	if e, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && e.Response != nil && e.Response.Response != nil {
		if s := seconds(e.Response.Header.Get(wire.HeaderRetryAfter)); s != nil {
			return time.Duration(*s) * time.Second, true
		}
	}
	return 0, false
}

// seconds reads a Retry-After header; nil if it has none of the form that the
// service sends.
func seconds(header string) *int32 {
	n, err := strconv.ParseInt(header, 10, 32)
	if err != nil || n < 0 {
		return nil
	}
	return new(int32(n))
}
