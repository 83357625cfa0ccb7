package bridge

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// session is what the library knows of a connection over stdio.
type session struct {
	conn    *Conn
	out     *lineWriter
	id      string
	pending chan mcp.JSONRPCNotification
	started atomic.Bool
	level   atomic.Value // mcp.LoggingLevel

	handed atomic.Bool     // the host has used the handshake of earlier revisions
	sub    json.RawMessage // the ID of the request that opened this; nil: the connection itself
	filter atomic.Pointer[mcp.SubscriptionFilter]
}

// What the library asks sessions for, by assertion.
var (
	_ server.SessionWithLogging            = (*session)(nil)
	_ server.SessionWithClientInfo         = (*session)(nil)
	_ server.SessionWithSubscriptionFilter = (*subscription)(nil)
)

// pendingNotifications is how many the library may have ahead of the host. They
// tell of changed lists; progress does not come this way.
const pendingNotifications = 256

func newSession(conn *Conn, out *lineWriter) *session {
	s := &session{conn: conn, out: out, id: uuid.NewString(), pending: make(chan mcp.JSONRPCNotification, pendingNotifications)}
	s.level.Store(mcp.LoggingLevelError)
	return s
}

func (s *session) SessionID() string                                    { return s.id }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification  { return s.pending }
func (s *session) Initialize()                                          { s.started.Store(true) }
func (s *session) Initialized() bool                                    { return s.started.Load() }
func (s *session) SetLogLevel(level mcp.LoggingLevel)                   { s.level.Store(level) }
func (s *session) GetLogLevel() mcp.LoggingLevel                        { return s.level.Load().(mcp.LoggingLevel) }
func (s *session) SetClientInfo(info mcp.Implementation)                { s.conn.setClient(info) }
func (s *session) SetClientCapabilities(mcp.ClientCapabilities)         {}
func (s *session) GetClientCapabilities() (none mcp.ClientCapabilities) { return none }

func (s *session) GetClientInfo() mcp.Implementation {
	c := s.conn.Client()
	return mcp.Implementation{Name: c.Name, Title: c.Title, Version: c.Version}
}

// forward writes notifications until ctx is done.
func (s *session) forward(ctx context.Context) {
	for {
		select {
		case n := <-s.pending:
			s.write(n)
		case <-ctx.Done():
			return
		}
	}
}

// flush writes what is pending, ahead of an answer.
func (s *session) flush() {
	for {
		select {
		case n := <-s.pending:
			s.write(n)
		default:
			return
		}
	}
}

func (s *session) write(n mcp.JSONRPCNotification) {
	switch {
	case s.sub != nil:
		// Revision 2026-07-28: whatever a subscription brings carries its ID.
		n.Params.Meta = maps.Clone(n.Params.Meta)
		if n.Params.Meta == nil {
			n.Params.Meta = map[string]any{}
		}
		n.Params.Meta[mcp.MetaKeySubscriptionID] = s.sub
	case !s.handed.Load() && strings.HasSuffix(n.Method, "/list_changed"):
		return // and nobody gets what they have not subscribed to
	}
	s.out.write(n)
}

// subscription is a stream of notifications that a host of revision 2026-07-28
// has asked for. To the library it is a session of its own, so that two of them
// on one connection don't share a filter.
type subscription struct{ session }

func newSubscription(main *session, id json.RawMessage) *subscription {
	s := &subscription{}
	s.conn, s.out, s.id, s.sub = main.conn, main.out, uuid.NewString(), id
	s.pending = make(chan mcp.JSONRPCNotification, pendingNotifications)
	s.level.Store(mcp.LoggingLevelError)
	s.filter.Store(&mcp.SubscriptionFilter{})
	return s
}

func (s *subscription) SetSubscriptionFilter(f mcp.SubscriptionFilter) { s.filter.Store(&f) }

// SubscriptionFilter is always on: before the host's filter is known, nothing
// passes.
func (s *subscription) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	return *s.filter.Load(), true
}
