// Hello is the smallest MCP server on the library that arenero-bridge stands
// on, with one tool. "make bench" measures the bridge beside it. It is a module
// of its own, so that it has all of the library: the program under test has a
// stand-in for the part that validates schemas.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	s := server.NewMCPServer("hello", "1")
	hello := mcp.NewTool("hello", mcp.WithString("name", mcp.Required()))
	s.AddTool(hello, func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		name, err := req.RequireString("name")
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText("hello, " + name), nil
	})
	if err := server.ServeStdio(s); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}
