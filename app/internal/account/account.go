// Package account asks what an AWS account allows: which quotas are applied to
// it, what a principal may do, and who may assume a role. Its requests are
// signed by hand, since whole clients of two more services would outweigh the
// program that makes three calls.
package account

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// A Client makes calls for one principal.
type Client struct {
	cfg       aws.Config
	endpoints map[string]string
	now       func() time.Time
}

// The services, by the names that they have in AWS_ENDPOINT_URL_.
const (
	ServiceQuotas = "SERVICE_QUOTAS"
	IAM           = "IAM"
)

// New returns a client. Endpoints are where services are if not where AWS has
// them. Now is the time in AWS; nil is that of this computer.
func New(cfg aws.Config, endpoints map[string]string, now func() time.Time) *Client {
	if now == nil {
		now = time.Now
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = http.DefaultClient
	}
	return &Client{cfg, endpoints, now}
}

// An Error is what a service says no with.
type Error struct {
	Code    string
	Message string
	Status  int
}

func (e *Error) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("%s: %s", e.Code, e.Message), ": ")
}

// Denied reports whether err says that the principal may not ask.
func Denied(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Status == http.StatusForbidden || strings.HasPrefix(e.Code, "AccessDenied"))
}

// Missing reports whether err says that there is no such thing.
func Missing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Code == "NoSuchEntity" || e.Code == "NoSuchResourceException")
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 8 << 20

// send signs a request and returns the body of a good answer.
func (c *Client) send(ctx context.Context, req *http.Request, body []byte, service, region string) ([]byte, error) {
	if c.cfg.Credentials == nil {
		return nil, errors.New("no credentials")
	}
	creds, err := c.cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, creds, req, hex.EncodeToString(sum[:]), service, region, c.now()); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	res, err := c.cfg.HTTPClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, failure(res, text)
	}
	return text, nil
}

// failure reads an error of either protocol.
func failure(res *http.Response, text []byte) error {
	e := &Error{Code: res.Status, Status: res.StatusCode}
	var asJSON struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
		Other   string `json:"Message"`
	}
	var asXML struct {
		Code    string `xml:"Error>Code"`
		Message string `xml:"Error>Message"`
	}
	switch {
	case json.Unmarshal(text, &asJSON) == nil && asJSON.Type != "":
		e.Code, e.Message = asJSON.Type[strings.LastIndexByte(asJSON.Type, '#')+1:], asJSON.Message+asJSON.Other
	case xml.Unmarshal(text, &asXML) == nil && asXML.Code != "":
		e.Code, e.Message = asXML.Code, asXML.Message
	}
	return e
}

// json makes a call of a service that speaks JSON.
func (c *Client) json(ctx context.Context, at, service, target string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", target)
	text, err := c.send(ctx, req, body, service, c.cfg.Region)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("read answer of %s: %w", service, err)
	}
	return nil
}

// query makes a call of IAM, which speaks forms and XML.
func (c *Client) query(ctx context.Context, in url.Values, out any) error {
	in.Set("Version", "2010-05-08")
	body := []byte(in.Encode())
	at, region := iamOf(c.cfg.Region)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.at(IAM, at), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	text, err := c.send(ctx, req, body, "iam", region)
	if err != nil {
		return err
	}
	if err := xml.Unmarshal(text, out); err != nil {
		return fmt.Errorf("read answer of iam: %w", err)
	}
	return nil
}

func (c *Client) at(service, usual string) string {
	if at := c.endpoints[service]; at != "" {
		return at
	}
	return usual
}

// iamOf is where IAM is for those who work in a region, and the region that its
// signatures name: there is one IAM for all of them.
func iamOf(region string) (at, signed string) {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "https://iam.cn-north-1.amazonaws.com.cn/", "cn-north-1"
	case strings.HasPrefix(region, "us-gov-"):
		return "https://iam.us-gov.amazonaws.com/", "us-gov-west-1"
	}
	return "https://iam.amazonaws.com/", "us-east-1"
}

// domain is that of the services of a region.
func domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}
