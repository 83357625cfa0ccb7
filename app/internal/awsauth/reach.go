package awsauth

import (
	"context"
	"crypto/tls"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// An Obstacle is what keeps us from a service.
type Obstacle string

// The obstacles.
const (
	Offline   Obstacle = "offline"   // the host has no address, or nobody answers there
	Untrusted Obstacle = "untrusted" // whoever answers there has no certificate that is trusted here
	Stranger  Obstacle = "stranger"  // somebody else answers there, such as a network that wants a login first
	Busy      Obstacle = "busy"      // the service answers that it can't serve now
)

// An ErrUnreachable means that a service could not be asked. Nothing is known to be
// wrong with the profile, and the same call may work later.
type ErrUnreachable struct {
	Profile string // "" where none is known
	Action  string
	Host    string // "" where none is known
	Why     Obstacle
	Err     error
}

var obstacles = map[Obstacle]string{
	Offline:   "AWS can't be reached",
	Untrusted: "the certificate of AWS is not trusted here",
	Stranger:  "it is not AWS that answers",
	Busy:      "AWS can't serve now",
}

// Error says who, what for and why.
func (e *ErrUnreachable) Error() string {
	text := obstacles[e.Why]
	if e.Action != "" {
		text = e.Action + ": " + text
	}
	if e.Profile != "" {
		text = "AWS profile " + e.Profile + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns what the network said.
func (e *ErrUnreachable) Unwrap() error { return e.Err }

// RetryableError tells the SDK that it is no use to ask a stranger again at once.
func (e *ErrUnreachable) RetryableError() bool { return e.Why != Stranger }

// Unreachable returns what kept a call from its service, nil if that is not why it
// failed.
func Unreachable(err error) *ErrUnreachable {
	if e, ok := errors.AsType[*ErrUnreachable](err); ok {
		return e
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	e := &ErrUnreachable{Why: Offline, Err: err}
	sent, isSent := errors.AsType[*url.Error](err)
	if isSent {
		e.Err = sent.Err // the address has what was asked for in it
		if at, err := url.Parse(sent.URL); err == nil {
			e.Host = at.Hostname()
		}
	}
	status := 0
	if answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		status = answer.HTTPStatusCode()
	}
	api, isAPI := errors.AsType[apiError](err)
	switch {
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests, isAPI && strings.HasPrefix(api.ErrorCode(), "Throttl"):
		e.Why = Busy
	case isAPI:
		return nil
	case is[*tls.CertificateVerificationError](err):
		e.Why = Untrusted
	case !isSent && !is[net.Error](err):
		return nil
	}
	return e
}

// honest refuses what no service of AWS answers: pages, and ways to elsewhere. The
// SDK takes those for answers that it can't read.
type honest struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (h honest) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := h.next.RoundTrip(r)
	if err != nil || resp.Header.Get("X-Amzn-Requestid") != "" || resp.StatusCode >= http.StatusInternalServerError {
		return resp, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	e := &ErrUnreachable{Host: r.URL.Hostname(), Why: Stranger}
	switch to, err := resp.Location(); {
	case resp.StatusCode/100 == 3 && err == nil:
		e.Err = errors.New("the answer leads to " + to.Hostname())
	case kind == "text/html":
		e.Err = errors.New("the answer is a page for people")
	default:
		return resp, nil
	}
	resp.Body.Close()
	return nil, e
}

// CloseIdleConnections closes connections that are kept for later requests.
func (h honest) CloseIdleConnections() { (&http.Client{Transport: h.next}).CloseIdleConnections() }

// plainly returns c without [honest]: metadata services of machines answer with
// pages too.
func plainly(c *http.Client) *http.Client {
	if h, ok := c.Transport.(honest); ok {
		other := *c
		other.Transport = h.next
		return &other
	}
	return c
}
