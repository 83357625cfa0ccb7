package microvm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// maxAnswer bounds what is read of an answer. The largest honest one is a page
// of 50 versions with all their environment, about 10 MiB.
const maxAnswer = 32 << 20

// A call is what later steps need to know of the serializer's.
type call struct {
	region  string   // to sign for
	secrets []string // must not come back in an error
}

type callKey struct{}

func callOf(ctx context.Context) call {
	c, _ := middleware.GetStackValue(ctx, callKey{}).(call)
	return c
}

// A serializer writes an input into a request, once per call: all attempts
// send the same bytes.
type serializer struct {
	op wire.Operation
	o  *Options
}

func (*serializer) ID() string { return "OperationSerializer" }

func (s *serializer) HandleSerialize(ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler) (
	out middleware.SerializeOutput, md middleware.Metadata, err error,
) {
	endpoint, region, err := s.o.endpoint()
	if err != nil {
		return out, md, fmt.Errorf("resolve endpoint: %w", err)
	}
	req, hash, err := s.request(in, endpoint)
	if err != nil {
		return out, md, &smithy.SerializationError{Err: err}
	}
	in.Request = req
	ctx = v4.SetPayloadHash(ctx, hash)
	ctx = middleware.WithStackValue(ctx, callKey{}, call{region, secretsOf(in.Parameters)})
	return next.HandleSerialize(ctx, in)
}

func (s *serializer) request(in middleware.SerializeInput, endpoint *url.URL) (*smithyhttp.Request, string, error) {
	req, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return nil, "", fmt.Errorf("unexpected transport %T", in.Request)
	}
	input, ok := in.Parameters.(wire.Input)
	if !ok {
		return nil, "", fmt.Errorf("unexpected input %T", in.Parameters)
	}
	path, query, err := s.op.Target(input)
	if err != nil {
		return nil, "", err
	}
	raw := strings.TrimSuffix(endpoint.EscapedPath(), "/") + path
	plain, err := url.PathUnescape(raw)
	if err != nil {
		return nil, "", fmt.Errorf("unescape path: %w", err)
	}
	req.Method = s.op.Method
	req.URL = &url.URL{Scheme: endpoint.Scheme, Host: endpoint.Host, Path: plain, RawPath: raw, RawQuery: query}
	if !s.op.Body {
		return req, hashOf(nil), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // as the SDK writes it
	if err := enc.Encode(input); err != nil {
		return nil, "", err
	}
	body := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if len(body) > wire.MaxBody {
		return nil, "", fmt.Errorf("request body of %d bytes is over the limit of %d", len(body), wire.MaxBody)
	}
	req.Header.Set("Content-Type", "application/json")
	req, err = req.SetStream(bytes.NewReader(body))
	return req, hashOf(body), err
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// A deserializer reads an answer into an output or an error.
type deserializer struct{ newOut func() any }

func (*deserializer) ID() string { return "OperationDeserializer" }

func (d *deserializer) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, md, err := next.HandleDeserialize(ctx, in)
	if err != nil {
		return out, md, err
	}
	resp, ok := out.RawResponse.(*smithyhttp.Response)
	if !ok {
		return out, md, &smithy.DeserializationError{Err: fmt.Errorf("unexpected transport %T", out.RawResponse)}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	resp.Body.Close()
	switch {
	case err != nil && ctx.Err() != nil:
		return out, md, &smithy.CanceledError{Err: ctx.Err()}
	case resp.StatusCode < 200 || resp.StatusCode >= 300:
		return out, md, decodeError(resp.Response, body, callOf(ctx).secrets)
	case err != nil:
		return out, md, &cutError{err}
	case len(body) > maxAnswer:
		return out, md, &smithy.DeserializationError{Err: fmt.Errorf("answer is over %d bytes", maxAnswer)}
	}
	result := d.newOut()
	if len(bytes.TrimSpace(body)) > 0 { // calls without output answer nothing or {}
		if err := json.Unmarshal(body, result); err != nil {
			// No snapshot: the answer may hold a token.
			return out, md, &smithy.DeserializationError{Err: err}
		}
	}
	out.Result = result
	return out, md, nil
}

// A cutError is an answer that ended too early. What was asked may be done, so
// the call is worth another try just as if the connection had not come about.
type cutError struct{ err error }

func (e *cutError) Error() string         { return "read answer: " + e.err.Error() }
func (e *cutError) Unwrap() error         { return e.err }
func (e *cutError) ConnectionError() bool { return true }
