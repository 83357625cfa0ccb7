// Package bridge is a library to write MCP servers with: typed tools whose
// schemas come from Go structs, errors a model can act on, and two ways in,
// stdio and streamable HTTP. Both revisions of the protocol are spoken: the one
// with a handshake (2025-11-25 and before) and the one without (2026-07-28).
//
//	srv := bridge.New(bridge.Config{Name: "clock", Version: "1.0"})
//	err := bridge.Add(srv, bridge.Tool[NowIn, NowOut]{
//		Name:        "now",
//		Title:       "Time",
//		Description: "Tells the time in a zone.",
//		Hints:       bridge.Hints{ReadOnly: true, Idempotent: true},
//		Call:        now,
//	})
//	...
//	err = srv.ServeStdio(ctx, os.Stdin, stdout)
//
// The protocol itself is mark3labs/mcp-go's; the transports are ours, because
// that library's lose cancellations and progress.
package bridge

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A Config says what a server is. The zero value of all but Name and Version
// will do.
type Config struct {
	Name         string // in serverInfo: short, without spaces
	Title        string // for people
	Version      string
	Instructions string // told to the model once

	// Language is that of the texts this package writes: "en" or "es". The zero
	// value is English.
	Language string

	// Log gets what goes wrong. It must never write to standard output. The zero
	// value drops everything.
	Log *slog.Logger

	// Setup runs once for each connection, beside the handshake and without
	// delaying it. Tool calls of the connection wait for it, and fail as it fails.
	Setup func(context.Context, *Conn) error

	// Cleanup runs when a connection has ended and its calls with it, also if
	// Setup has failed. Its ctx leaves it little time: over stdio the process must
	// be gone a second after its input ends.
	Cleanup func(context.Context, *Conn)

	// Shows says which tools the caller of ctx gets listed. Nil shows all. It must
	// not wait. A tool that is hidden can be called all the same, and has to say
	// itself why it may not be: a model that knows its name learns more from that
	// than from hearing that there is none. See [Server.ToolsChanged].
	Shows func(ctx context.Context, tool string) bool

	// Refused is called before a call is refused for its arguments. An error of it
	// is answered in place of that. Nil does nothing.
	Refused func(ctx context.Context, tool string) error

	// BadArguments says how to refuse arguments that break a tool's schema.
	BadArguments BadArguments

	// MaxCalls is how many tool calls of one connection run at once; later ones
	// wait. Zero means 256.
	MaxCalls int

	// MaxMessage is the longest message in bytes. Zero means 16 MiB over stdio
	// and 4 MiB over HTTP.
	MaxMessage int

	// Grace is how long calls in flight may go on once the input has ended,
	// before they are cancelled. Zero means 400 ms.
	Grace time.Duration
}

// BadArguments is a way to refuse arguments.
type BadArguments string

// The two ways: as a tool's result, which a model sees and can act on, or as
// the protocol error -32602.
const (
	BadArgumentsResult   BadArguments = ""
	BadArgumentsProtocol BadArguments = "protocol"
)

const (
	maxCalls      = 256
	maxWaiting    = 4096
	maxLine       = 16 << 20
	maxBody       = 4 << 20
	grace         = 400 * time.Millisecond
	graceCancel   = 250 * time.Millisecond // for calls to notice that they are cancelled
	graceCleanup  = 250 * time.Millisecond
	cacheListings = 0 // ms; a listing may change with the caller's grant
)

// A Server is a set of tools. It may serve many connections.
type Server struct {
	cfg   Config
	log   *slog.Logger
	texts *texts
	core  *server.MCPServer

	mu    sync.RWMutex
	tools []string // names in the order they were added
}

// New makes a server without tools.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg, log: cfg.Log, texts: textsIn(cfg.Language)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.core = server.NewMCPServer(cfg.Name, cfg.Version,
		server.WithTitle(cfg.Title),
		server.WithInstructions(cfg.Instructions),
		server.WithToolCapabilities(cfg.Shows != nil),
		server.WithCacheHints(cacheListings, mcp.CacheScopePrivate),
		server.WithToolFilter(s.filter),
	)
	return s
}

// filter keeps what the caller gets listed, in the order the tools were added.
// The library asks it about each call too, which it lets pass.
func (s *Server) filter(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	kept := slices.DeleteFunc(slices.Clone(tools), func(t mcp.Tool) bool {
		return s.cfg.Shows != nil && callOf(ctx).tool == "" && !s.cfg.Shows(ctx, t.Name)
	})
	if len(kept) < 2 {
		return kept
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	place := make(map[string]int, len(s.tools))
	for i, name := range s.tools {
		place[name] = i
	}
	slices.SortStableFunc(kept, func(a, b mcp.Tool) int { return place[a.Name] - place[b.Name] })
	return kept
}

// ToolsChanged tells the hosts that listen for it that what Shows says is not
// what it was.
func (s *Server) ToolsChanged() {
	s.core.SendNotificationToAllClients(mcp.MethodNotificationToolsListChanged, nil)
}

// Tools returns the names of all tools in the order they were added.
func (s *Server) Tools() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.tools)
}

// trim keeps large arguments for a tool of ours in c, and returns the message
// for the library.
func (s *Server) trim(c *call, m *message, line []byte) []byte {
	if len(m.args) < manyArguments {
		return line
	}
	s.mu.RLock()
	ours := slices.Contains(s.tools, m.tool)
	s.mu.RUnlock()
	if !ours {
		return line
	}
	c.args = m.args
	return m.short(line)
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
