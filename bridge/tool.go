package bridge

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A Tool is something a model may call. In is a struct of arguments and Out a
// struct of results; their json tags name the fields, and more tags say more
// (see [Add]).
type Tool[In, Out any] struct {
	Name        string // a-z, 0-9 and _; stable
	Title       string // for people
	Description string // for the model

	Hints Hints

	// Fields describes fields by name, for texts that a tag can't hold because
	// they come in several languages. Fields further in have dots: "entries.name".
	Fields map[string]string

	// Plain leaves out the output schema and structuredContent: the result is
	// content alone.
	Plain bool

	// Call does the work. It obeys ctx, which ends when the host cancels or is
	// gone. A returned [*Error] reaches the model as it is; any other error is a
	// bug or an outage, logged and shown as one bland line.
	Call func(ctx context.Context, in In) (Out, error)
}

// Hints tell a host what a tool may do. All four are always sent, since hosts
// take a missing one for the worst.
type Hints struct {
	ReadOnly    bool // changes nothing
	Destructive bool // may overwrite or remove
	Idempotent  bool // the same call again changes nothing more
	OpenWorld   bool // reaches beyond the machine
}

// validName says whether a name passes in every host: some join it with the
// server's name and stop at 60 characters.
func validName(name string) bool {
	const most = 48
	for i, c := range name {
		letter, more := c >= 'a' && c <= 'z', c >= '0' && c <= '9' || c == '_'
		if !letter && (!more || i == 0) {
			return false
		}
	}
	return name != "" && len(name) <= most
}

// Add puts a tool on a server. The schemas are made of In and Out, whose fields
// may carry these tags:
//
//	json:"name,omitempty"  the name; an argument with omitempty may be left out
//	doc:"text"             the description; Tool.Fields has precedence
//	default:"60"           what an argument that is left out counts as
//	min:"1" max:"3600"     range of a number, or length of a string or list
//	enum:"file,dir"        the values a string may have
//
// A pointer is a value or null, and as an argument may be left out.
func Add[In, Out any](s *Server, t Tool[In, Out]) error {
	if !validName(t.Name) {
		return fmt.Errorf("tool %q: a name is a letter, then up to 47 of a-z, 0-9 and _", t.Name)
	}
	if t.Description == "" || t.Title == "" || t.Call == nil {
		return fmt.Errorf("tool %s: title, description and function are needed", t.Name)
	}
	used := map[string]bool{}
	in, err := schemaOf[In](input, t.Fields, used)
	if err != nil {
		return fmt.Errorf("tool %s: arguments: %w", t.Name, err)
	}
	var out *schema
	if !t.Plain {
		if out, err = schemaOf[Out](output, t.Fields, used); err != nil {
			return fmt.Errorf("tool %s: results: %w", t.Name, err)
		}
	}
	for name := range t.Fields {
		if !used[name] {
			return fmt.Errorf("tool %s: there is no field %s to describe", t.Name, name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.tools, t.Name) {
		return fmt.Errorf("tool %s: there is one already", t.Name)
	}
	s.tools = append(s.tools, t.Name)
	s.core.AddTool(definition(t.Name, t.Title, t.Description, t.Hints, in, out), handler(s, t, in, out))
	return nil
}

func definition(name, title, description string, h Hints, in, out *schema) mcp.Tool {
	def := mcp.Tool{
		Name:           name,
		Title:          title,
		Description:    description,
		RawInputSchema: in.json(),
		Annotations: mcp.ToolAnnotation{
			Title:           title,
			ReadOnlyHint:    &h.ReadOnly,
			DestructiveHint: &h.Destructive,
			IdempotentHint:  &h.Idempotent,
			OpenWorldHint:   &h.OpenWorld,
		},
	}
	if out != nil {
		def.RawOutputSchema = out.json()
	}
	return def
}

// handler is the library's view of a tool. It never returns a Go error: the
// library would make a protocol error of it, which models don't see.
func handler[In, Out any](s *Server, t Tool[In, Out], in, outSchema *schema) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := callOf(ctx)
		c.start(s.log.With("tool", t.Name))
		defer c.finish()
		raw := c.args
		if raw == nil {
			raw = req.Params.RawArguments
		}
		var args In
		if problems := in.decode(raw, &args, s.texts); len(problems) > 0 {
			if s.cfg.Refused != nil {
				if _, err := protect(func() (struct{}, error) { return struct{}{}, s.cfg.Refused(ctx, t.Name) }); err != nil {
					return s.failed(c, err), nil
				}
			}
			return s.refuse(c, t.Name, problems), nil
		}
		if err := c.conn.ready(ctx); err != nil {
			return s.failed(c, err), nil
		}
		out, err := protect(func() (Out, error) { return t.Call(ctx, args) })
		if why, ok := errors.AsType[*Error](context.Cause(ctx)); ok && errors.Is(err, context.Canceled) {
			err = why // it was cut off, and not by its host
		}
		if err != nil {
			return s.failed(c, err), nil
		}
		if outSchema != nil {
			outSchema.fill(reflect.ValueOf(&out).Elem())
		}
		return s.succeeded(c, out, t.Plain), nil
	}
}
