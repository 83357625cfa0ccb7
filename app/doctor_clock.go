package app

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// Clocks that differ by more than this are worth a word, and no longer do.
const (
	clockWarn = 30 * time.Second
	clockFail = 5 * time.Minute // how long AWS takes a signature for
)

// clock compares the clock of this computer to that of the answers so far.
func (d *Doctor) clock(_ context.Context, x *exam) {
	if x.local {
		x.skip(text("doctor.clock.local"))
		return
	}
	offset, known := x.clock.read()
	if !known && x.auth != nil {
		offset = x.auth.Offset()
		known = offset != 0
	}
	if !known {
		x.skip(text("doctor.clock.unknown"))
		return
	}
	x.detail("offset_seconds", int(offset.Seconds()))
	ahead := text("doctor.clock.slow", "seconds", fmt.Sprint(int(offset.Seconds())))
	if offset < 0 {
		ahead = text("doctor.clock.fast", "seconds", fmt.Sprint(int(-offset.Seconds())))
	}
	switch {
	case offset.Abs() >= clockFail:
		x.fail(ahead, text("doctor.clock.remedy"))
	case offset.Abs() >= clockWarn:
		x.warn(ahead, text("doctor.clock.remedy"))
	}
	x.ok(text("doctor.clock.ok", "seconds", fmt.Sprint(int(offset.Abs().Seconds()))))
}

// A dateReader sends requests, and reads off the answers how far the clock of
// AWS is ahead of ours.
type dateReader struct {
	next interface {
		Do(*http.Request) (*http.Response, error)
	}
	offset atomic.Int64 // nanoseconds
	known  atomic.Bool
}

// Do sends a request.
func (r *dateReader) Do(req *http.Request) (*http.Response, error) {
	begun := time.Now()
	res, err := r.next.Do(req)
	if err != nil {
		return nil, err
	}
	took := time.Since(begun)
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil && took < clockWarn && res.Header.Get("X-Amzn-Requestid") != "" {
		// The header has whole seconds.
		r.offset.Store(int64(date.Add(time.Second / 2).Sub(begun.Add(took / 2))))
		r.known.Store(true)
	}
	return res, nil
}

func (r *dateReader) read() (time.Duration, bool) {
	return time.Duration(r.offset.Load()), r.known.Load()
}

// now is the time in AWS, where it differs enough to mind.
func (r *dateReader) now() time.Time {
	if offset, known := r.read(); known && offset.Abs() >= clockWarn {
		return time.Now().Add(offset)
	}
	return time.Now()
}
