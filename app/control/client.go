package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/sandbox"
)

// A Client talks to the engine. It may be used by many at once. All its errors
// but those of the caller's own functions are [sandbox.Error]s.
type Client struct {
	// Path is where the engine listens; see [Path].
	Path string
	// Launch starts an engine when there is none. It returns when it has tried.
	// Nil never starts one.
	Launch func(ctx context.Context) error
	// Patience is how long an engine may be away, or take to start. Zero is
	// half a minute; a client that doesn't launch gives up at once unless it is
	// in the middle of something.
	Patience time.Duration
	// Clock is nil for the system's.
	Clock clockwork.Clock

	once sync.Once
	http *http.Client

	launching sync.Mutex // held while an engine is started
}

const (
	defaultPatience = 30 * time.Second
	firstDelay      = 10 * time.Millisecond // between two tries to find an engine
	lastDelay       = 250 * time.Millisecond
	launchEvery     = 3 * time.Second // between two starts of an engine: the last one may still be ending
	releaseWithin   = 5 * time.Second
)

// NewClient returns a client of the engine at path.
func NewClient(path string) *Client { return &Client{Path: path} }

func (c *Client) setup() {
	c.once.Do(func() {
		if c.Clock == nil {
			c.Clock = clockwork.NewRealClock()
		}
		if c.Patience == 0 {
			c.Patience = defaultPatience
		}
		c.http = &http.Client{
			Transport: &http.Transport{
				DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, c.Path) },
				MaxIdleConnsPerHost:    8,
				IdleConnTimeout:        time.Minute,
				MaxResponseHeaderBytes: maxHeaders,
				DisableCompression:     true,
				WriteBufferSize:        64 << 10,
				ReadBufferSize:         64 << 10,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	})
}

// Close lets go of idle connections.
func (c *Client) Close() {
	c.setup()
	c.http.CloseIdleConnections()
}

// A lostError is the loss of the engine before an answer was whole. sent tells
// that the request may have reached it.
type lostError struct {
	err  error
	sent bool
}

func (e *lostError) Error() string { return "engine: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// once1 sends a request and passes each frame of the answer on, until the last.
// content is the file that goes with it, or nil.
func (c *Client) once1(ctx context.Context, call string, q *request, content io.Reader, each func(frame) error) (*answer, error) {
	c.setup()
	made := sandbox.CallOf(ctx)
	if made != nil {
		named := *q
		named.Caller = new(made.Next())
		q = &named
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	body := io.Reader(bytes.NewReader(text))
	if content != nil {
		body = io.NopCloser(content)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+hostName+pathPrefix+call, body)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	req.Header.Set(headerProtocol, strconv.Itoa(Protocol))
	req.Header.Set("Content-Type", "application/json")
	if content != nil {
		req.Header.Set("Content-Type", typeFile)
		req.Header.Set(headerRequest, string(text))
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if e, ok := errors.AsType[*sandbox.Error](err); ok { // it was no engine of ours to send it to
			return nil, e
		}
		op, ok := errors.AsType[*net.OpError](err)
		return nil, &lostError{err, !ok || op.Op != "dial"}
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") != typeFrames {
		return nil, &sandbox.Error{Code: sandbox.OtherVersion, Msg: "what listens at " + c.Path + " is no engine of ours", Details: map[string]any{"status": res.StatusCode}}
	}
	return frames(ctx, res.Body, each)
}

// frames reads an answer to its end.
func frames(ctx context.Context, body io.Reader, each func(frame) error) (*answer, error) {
	r := bufio.NewReaderSize(body, 64<<10)
	for {
		f, err := readFrame(r)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &lostError{err, true}
		}
		if made := sandbox.CallOf(ctx); made != nil && (f.Error != nil || f.Done != nil) {
			made.Answered(f.Alerts)
		}
		switch {
		case f.Error != nil && f.Error.Code == sandbox.Unreachable: // it is ending
			return nil, &lostError{f.Error, true}
		case f.Error != nil:
			return nil, f.Error
		case f.Done != nil:
			return f.Done, nil
		}
		if each == nil {
			continue
		}
		if err := each(f); err != nil {
			return nil, &callbackError{err}
		}
	}
}

// A callbackError is what a function of the caller failed with.
type callbackError struct{ err error }

func (e *callbackError) Error() string { return e.err.Error() }

// readFrame reads a line, and the data after it.
func readFrame(r *bufio.Reader) (frame, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxFrame {
			return frame{}, errors.New("a line without end")
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return frame{}, noEOF(err)
		}
	}
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		return frame{}, errors.New("a line that is no frame")
	}
	if f.Raw < 0 || f.Raw > maxFrame || f.Raw > 0 && f.Out == nil {
		return frame{}, errors.New("data of no output")
	}
	if f.Raw > 0 {
		f.Out.Data = make([]byte, f.Raw)
		if _, err := io.ReadFull(r, f.Out.Data); err != nil {
			return frame{}, noEOF(err)
		}
	}
	return f, nil
}

// noEOF is err, but for an end of the connection, which is none of the answer.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A policy is what to do about the loss of the engine in the middle of a call.
type policy int

const (
	ifUnsent policy = iota // send it again only if it can't have arrived
	always                 // it may be sent twice
)

// call makes a call, and finds or starts the engine where it has gone. again
// is called before the request is sent once more.
func (c *Client) call(ctx context.Context, call string, q *request, p policy, each func(frame) error, again func()) (*answer, error) {
	begun := false
	l := c.losses()
	for {
		a, err := l.once(ctx, call, q, nil, each)
		if e, ok := errors.AsType[*callbackError](err); ok {
			return nil, e.err
		}
		lost, ok := errors.AsType[*lostError](err)
		if !ok {
			return a, ours(err)
		}
		begun = begun || lost.sent
		if lost.sent && p == ifUnsent {
			return nil, &sandbox.Error{Code: sandbox.ExecInDoubt, Msg: "the engine ended before it answered: it may be done or not", Err: lost}
		}
		if err := l.find(ctx, begun, lost); err != nil {
			return nil, ours(err)
		}
		if lost.sent && again != nil {
			again()
		}
	}
}

func ours(err error) error {
	if err == nil {
		return nil
	}
	return sandbox.ToError(err)
}

// find waits until an engine answers, and starts one if it may.
func (c *Client) find(ctx context.Context, begun bool, cause error) error {
	limit := c.Clock.Now().Add(c.Patience)
	launched := time.Time{}
	for delay := firstDelay; ; delay = min(2*delay, lastDelay) {
		conn, err := dial(ctx, c.Path)
		if err == nil {
			conn.Close()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e, ok := errors.AsType[*sandbox.Error](err); ok { // a stranger's, which starting ours does not change
			return e
		}
		if c.Launch != nil && c.Clock.Since(launched) > launchEvery {
			launched = c.Clock.Now()
			if err := c.launch(ctx); err != nil {
				return err
			}
		}
		if c.Launch == nil && !begun || !c.Clock.Now().Before(limit) {
			return unreachable(cause)
		}
		if err := c.pause(ctx, delay); err != nil {
			return err
		}
	}
}

// launch starts an engine, unless somebody has meanwhile.
func (c *Client) launch(ctx context.Context) error {
	c.launching.Lock()
	defer c.launching.Unlock()
	if conn, err := dial(ctx, c.Path); err == nil {
		conn.Close()
		return nil
	}
	return c.Launch(ctx)
}

func unreachable(err error) error {
	return &sandbox.Error{Code: sandbox.Unreachable, Msg: "Arenero is not running", Hint: "start it, or run \"arenero engine\"", Retryable: true, Err: err}
}
