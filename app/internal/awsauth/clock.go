package awsauth

import (
	"net/http"
	"sync/atomic"
	"time"
)

// minOffset is the difference of clocks that is worth minding: a Date header has
// whole seconds, and answers take time.
const minOffset = 30 * time.Second

// A clock sends requests to AWS and learns from the answers how far its clock is
// ahead of ours. Signatures of the SDK's clients need no help, since each
// corrects itself. Expiry does: it is told in the time of AWS.
type clock struct {
	next   http.RoundTripper
	offset *atomic.Int64 // nanoseconds
}

// RoundTrip implements [http.RoundTripper].
func (c clock) RoundTrip(r *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	// Only AWS numbers its answers: what a proxy or a hotel answers is no clock,
	// nor what stands for AWS on this computer.
	if r.URL.Scheme != "https" || resp.Header.Get("X-Amzn-Requestid") == "" || took > time.Minute {
		return resp, nil
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		offset := date.Add(time.Second / 2).Sub(start.Add(took / 2))
		if offset.Abs() < minOffset {
			offset = 0
		}
		c.offset.Store(int64(offset))
	}
	return resp, nil
}

// CloseIdleConnections closes connections that are kept for later requests.
func (c clock) CloseIdleConnections() {
	if next, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}
