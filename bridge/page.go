package bridge

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A Page is a text that a host can read by its address, without a tool.
type Page struct {
	URI         string // "docs://agents"
	Name        string
	Title       string // for people
	Description string
	MIMEType    string
	Text        string
}

// AddPage puts a page on a server. It is there for every caller.
func (s *Server) AddPage(p Page) error {
	if p.URI == "" || p.Name == "" || p.MIMEType == "" || p.Text == "" {
		return fmt.Errorf("page %q: address, name, type and text are needed", p.URI)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.core.ListResources()[p.URI] != nil {
		return fmt.Errorf("page %s: there is one already", p.URI)
	}
	// By itself the library would promise to tell of changes, of which there are none.
	server.WithResourceCapabilities(false, false)(s.core)
	def := mcp.NewResource(p.URI, p.Name,
		mcp.WithResourceTitle(p.Title), mcp.WithResourceDescription(p.Description), mcp.WithMIMEType(p.MIMEType), mcp.WithResourceSize(int64(len(p.Text))))
	s.core.AddResource(def, func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: p.URI, MIMEType: p.MIMEType, Text: p.Text}}, nil
	})
	return nil
}
