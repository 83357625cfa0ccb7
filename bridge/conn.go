package bridge

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Conn is one connection of one host: a process over stdio, a session over
// HTTP. HTTP requests of revision 2026-07-28 have no session, and all belong to
// one Conn with an empty ID.
type Conn struct {
	ID        string
	Transport Transport

	// Value is for whoever serves: set it in Setup, read it in calls.
	Value any

	mu     sync.Mutex
	client Client

	srv     *Server
	calls   chan struct{} // a place for each running tool call
	setUp   chan struct{} // closed when Setup is done
	err     error         // what Setup said; read after setUp is closed
	unused  bool          // Setup never began, so there is nothing to clean up; as err
	opened  sync.Once
	cleaned sync.Once
	gone    chan struct{} // closed when Cleanup is done
}

// Transport is the way a connection came in.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http"
)

// Client is what a host says about itself. Believe none of it.
type Client struct {
	Name, Title, Version string
}

// Client returns what the host has said about itself so far.
func (c *Conn) Client() Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client
}

func (c *Conn) setClient(info mcp.Implementation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.client = Client{info.Name, info.Title, info.Version}
}

func (s *Server) newConn(t Transport, id string) *Conn {
	return &Conn{
		ID: id, Transport: t, srv: s,
		calls: make(chan struct{}, orDefault(s.cfg.MaxCalls, maxCalls)),
		setUp: make(chan struct{}),
		gone:  make(chan struct{}),
	}
}

// open starts Setup, once.
func (c *Conn) open(ctx context.Context) {
	c.opened.Do(func() {
		if c.srv.cfg.Setup == nil {
			close(c.setUp)
			return
		}
		go func() {
			defer close(c.setUp)
			_, c.err = protect(func() (struct{}, error) { return struct{}{}, c.srv.cfg.Setup(ctx, c) })
			if c.err != nil {
				c.srv.log.Warn("set up connection", "conn", c.ID, "err", c.err)
			}
		}()
	})
}

// ready waits for Setup and says how it went.
func (c *Conn) ready(ctx context.Context) error {
	select {
	case <-c.setUp:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.err
}

// close runs Cleanup, once, and waits for it no longer than ctx lasts. Setup
// has been told to stop by then, and gets that time too.
func (c *Conn) close(ctx context.Context) {
	c.opened.Do(func() {
		c.unused = true
		close(c.setUp)
	})
	c.cleaned.Do(func() { go c.cleanUp(ctx) })
	select {
	case <-c.gone:
	case <-ctx.Done():
	}
}

func (c *Conn) cleanUp(ctx context.Context) {
	defer close(c.gone)
	if c.srv.cfg.Cleanup == nil {
		return
	}
	select {
	case <-c.setUp:
		if c.unused {
			return
		}
	case <-ctx.Done():
	}
	_, err := protect(func() (struct{}, error) { c.srv.cfg.Cleanup(ctx, c); return struct{}{}, nil })
	if err != nil {
		c.srv.log.Error("clean up connection", "conn", c.ID, "err", err)
	}
}

// settle waits until no tool call is running, or ctx is done.
func (c *Conn) settle(ctx context.Context) {
	for range cap(c.calls) {
		select {
		case c.calls <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// ConnOf returns the connection that a call belongs to.
func ConnOf(ctx context.Context) *Conn { return callOf(ctx).conn }

// A call is one request being served. The transports put it in the ctx.
type call struct {
	conn   *Conn
	tool   string // that is called; "" is a request of another kind
	log    *slog.Logger
	send   func(method string, params any) // a notification that belongs to the call
	header http.Header                     // that it came with; nil over stdio

	args json.RawMessage // what the library did not get to see; nil: it did

	token json.RawMessage // as the host wrote it: numbers keep their digits; nil: no progress is wanted

	mu      sync.Mutex
	over    bool
	counted float64 // last progress sent
	notes   []Note
	tail    *Tail

	refused *rpcError // answer this in place of the result
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the call of ctx. Without one, as in a test of a tool by
// itself, it returns one that goes nowhere.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	c := &Conn{setUp: make(chan struct{})}
	close(c.setUp)
	return &call{conn: c, log: slog.New(slog.DiscardHandler)}
}

// start notes whose log the call has.
func (c *call) start(log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = log.With("conn", c.conn.ID)
}

// finish makes sure that what a tool leaves running sends nothing after the
// result.
func (c *call) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}

// A Note is something the next answer should say besides its result.
type Note struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// AddNote puts a note on the call of ctx. It becomes the last block of the
// answer, whether the call works or fails, and stands in its _meta.
func AddNote(ctx context.Context, n Note) {
	c := callOf(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, n)
}

func (c *call) takeNotes() []Note {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notes
}

// A Tail is how an answer ends, whatever it says: a text after all other blocks,
// and the same for programs in its _meta.
type Tail struct {
	Text  string // "" is no block
	Name  string // in _meta, after the server's own
	Value any
}

// SetTail gives the answer of the call of ctx its end, whether the call works or
// fails.
func SetTail(ctx context.Context, t Tail) {
	c := callOf(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tail = &t
}

func (c *call) takeTail() *Tail {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tail
}

// Header returns a header of the request that the call of ctx came with. Over
// stdio there are none.
func Header(ctx context.Context, name string) string { return callOf(ctx).header.Get(name) }

// Progress tells the host how far the call of ctx has come. It sends nothing
// if the host has not asked, and blocks while the host does not read, so no
// message is lost. All of them arrive before the result. Total is 0 if unknown.
// Progress must grow; what does not is counted on from the last one.
func Progress(ctx context.Context, done, total float64, message string) {
	c := callOf(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == nil || c.over || c.send == nil || ctx.Err() != nil {
		return
	}
	if done <= c.counted && c.counted > 0 {
		done = c.counted + 1
	}
	c.counted = done
	c.send("notifications/progress", progress{c.token, done, total, message})
}

// WantsProgress says whether the host has asked for progress of the call of
// ctx. Without it Progress does nothing.
func WantsProgress(ctx context.Context) bool {
	c := callOf(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token != nil && c.send != nil
}

type progress struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Total    float64         `json:"total,omitempty"`
	Message  string          `json:"message,omitempty"`
}
