package microvm

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// pointer is *In with the methods of an input.
type pointer[In any] interface {
	*In
	wire.Input
}

// invoke makes one call. It works on a copy of in, so that a token filled in
// for this call does not turn the caller's next one into a replay.
func invoke[Out, In any, P pointer[In]](ctx context.Context, c *Client, name string, in *In, optFns []func(*Options)) (*Out, error) {
	input := P(new(In))
	if in != nil {
		*input = *in
	}
	out, err := c.do(ctx, name, input, func() any { return new(Out) }, optFns)
	if err != nil {
		return nil, &smithy.OperationError{ServiceID: ServiceID, OperationName: name, Err: err}
	}
	return out.(*Out), nil
}

func (c *Client) do(ctx context.Context, name string, in wire.Input, newOut func() any, optFns []func(*Options)) (any, error) {
	op, ok := wire.OperationOf(name)
	if !ok {
		return nil, fmt.Errorf("no operation %s", name)
	}
	o := c.options.Copy()
	for _, fn := range optFns {
		fn(&o)
	}
	if o.RetryMaxAttempts > 0 && o.RetryMaxAttempts != c.options.RetryMaxAttempts {
		o.Retryer = retry.AddWithMaxAttempts(o.Retryer, o.RetryMaxAttempts)
	}
	if err := fillToken(in, o.IdempotencyTokenProvider); err != nil {
		return nil, err
	}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	ctx = middleware.ClearStackValues(ctx)
	ctx = middleware.WithServiceID(ctx, ServiceID)
	ctx = middleware.WithOperationName(ctx, name)
	stack, err := c.stack(op, &o, newOut)
	if err != nil {
		return nil, err
	}
	handler := middleware.DecorateHandler(smithyhttp.NewClientHandlerWithOptions(o.HTTPClient), stack)
	out, metadata, err := handler.Handle(ctx, in)
	if at, ok := awsmiddleware.GetServerTime(metadata); ok && o.Dated != nil {
		o.Dated(at)
	}
	return out, err
}

// stack builds what a call passes through, outermost first within each step.
func (c *Client) stack(op wire.Operation, o *Options, newOut func() any) (*middleware.Stack, error) {
	s := middleware.NewStack(op.Name, smithyhttp.NewStackRequest)
	attempt := retry.NewAttemptMiddleware(patient{o.Retryer}, smithyhttp.RequestCloner, func(a *retry.Attempt) {
		a.LogAttempts = o.ClientLogMode.IsRetries()
		a.ClientSkew = &c.skew
	})
	steps := []error{
		middleware.AddSetLoggerMiddleware(s, o.Logger),
		s.Serialize.Add(&serializer{op, o}, middleware.After),
		awsmiddleware.AddClientRequestIDMiddleware(s),
		awsmiddleware.AddSDKAgentKeyValue(awsmiddleware.APIMetadata, "lambdamicrovms", "arenero")(s),
		s.Finalize.Add(attempt, middleware.After),
		s.Finalize.Add(&turnstile{op.Name, c.buckets[op.Name], o}, middleware.After),
		s.Finalize.Add(newSigner(c, o), middleware.After),
		s.Deserialize.Add(&deserializer{newOut}, middleware.After),
		awsmiddleware.AddRequestIDRetrieverMiddleware(s),
		awshttp.AddResponseErrorMiddleware(s),
		awsmiddleware.AddRecordResponseTiming(s),
	}
	if o.AppID != "" {
		steps = append(steps, awsmiddleware.AddSDKAgentKey(awsmiddleware.ApplicationIdentifier, o.AppID)(s))
	}
	for _, fn := range o.APIOptions {
		steps = append(steps, fn(s))
	}
	for _, err := range steps {
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// fillToken gives inputs that may be sent twice a token, by which the service
// knows the second for a copy of the first.
func fillToken(in wire.Input, p IdempotencyTokenProvider) error {
	var token **string
	switch in := in.(type) {
	case *wire.RunMicrovmInput:
		token = &in.ClientToken
	case *wire.CreateMicrovmImageInput:
		token = &in.ClientToken
	case *wire.UpdateMicrovmImageInput:
		token = &in.ClientToken
	default:
		return nil
	}
	if *token != nil {
		return nil
	}
	s, err := p.GetIdempotencyToken()
	if err != nil {
		return fmt.Errorf("make client token: %w", err)
	}
	*token = aws.String(s)
	return nil
}
