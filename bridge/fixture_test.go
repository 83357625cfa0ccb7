package bridge

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The fixture is the server that the conformance suite expects: its names and
// texts are the suite's. It uses parts of the protocol that this package does
// not offer (prompts, resources, questions to the host), to show that our
// transports carry them.

const (
	onePixelPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silentWAV   = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAD//w=="
)

// fixture makes the server.
func fixture(cfg Config) *Server {
	cfg.Name, cfg.Title, cfg.Version = "conformance", "Conformance", "1"
	s := New(cfg)
	for _, option := range []server.ServerOption{
		server.WithToolCapabilities(true), server.WithPromptCapabilities(true),
		server.WithResourceCapabilities(true, true), server.WithLogging(), server.WithCompletions(),
		server.WithElicitation(), server.WithPromptCompletionProvider(completer{}),
	} {
		option(s.core)
	}
	addPlainTools(s)
	addAskingTools(s)
	addRoundTripTools(s)
	addResources(s)
	addPrompts(s)
	return s
}

type completer struct{}

func (completer) CompletePromptArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{"paris", "park", "party"}, Total: 3}, nil
}

// raw adds a tool the library's way, for results that our tools don't have.
func raw(s *Server, name string, f func(context.Context, mcp.CallToolRequest) *mcp.CallToolResult, opts ...mcp.ToolOption) {
	opts = append([]mcp.ToolOption{mcp.WithDescription("Tests " + name + ".")}, opts...)
	s.core.AddTool(mcp.NewTool(name, opts...), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := callOf(ctx)
		c.start(s.log)
		defer c.finish()
		return f(ctx, req), nil
	})
}

func said(content ...mcp.Content) *mcp.CallToolResult { return &mcp.CallToolResult{Content: content} }

func saidText(format string, args ...any) *mcp.CallToolResult {
	return said(mcp.NewTextContent(fmt.Sprintf(format, args...)))
}

// A block is what a tool of ours shows instead of its JSON. The suite looks at
// the first block, so these tools are raw ones.
func addPlainTools(s *Server) {
	show := func(name string, blocks ...Block) {
		raw(s, name, func(context.Context, mcp.CallToolRequest) *mcp.CallToolResult {
			res := said()
			for _, b := range blocks {
				res.Content = append(res.Content, b.content())
			}
			return res
		})
	}
	image := Image("image/png", onePixelPNG)
	show("test_simple_text", Text("This is a simple text response for testing."))
	show("test_image_content", image)
	show("test_embedded_resource", File("test://embedded-resource", "text/plain", "This is an embedded resource content."))
	show("test_multiple_content_types", Text("Multiple content types test:"), image,
		File("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`))
	raw(s, "test_audio_content", func(context.Context, mcp.CallToolRequest) *mcp.CallToolResult {
		return said(mcp.NewAudioContent(silentWAV, "audio/wav"))
	})
	raw(s, "test_error_handling", func(ctx context.Context, _ mcp.CallToolRequest) *mcp.CallToolResult {
		return s.failed(callOf(ctx), &Error{Code: "intended", Text: "This tool intentionally returns an error for testing"})
	})
	raw(s, "test_tool_with_progress", func(ctx context.Context, _ mcp.CallToolRequest) *mcp.CallToolResult {
		for done := 0.0; done <= 100; done += 50 {
			Progress(ctx, done, 100, fmt.Sprintf("Completed step %v of 100", done))
		}
		return saidText("done")
	})
	logs := func(ctx context.Context, _ mcp.CallToolRequest) *mcp.CallToolResult {
		for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if i > 0 {
				time.Sleep(50 * time.Millisecond) // the suite asks for it
			}
			logToHost(ctx, text)
		}
		return saidText("logged")
	}
	raw(s, "test_tool_with_logging", logs)
	raw(s, "test_logging_tool", logs)
	raw(s, "test_trigger_tool_change", func(context.Context, mcp.CallToolRequest) *mcp.CallToolResult {
		raw(s, "test_added", func(context.Context, mcp.CallToolRequest) *mcp.CallToolResult { return saidText("new") })
		s.core.DeleteTools("test_added")
		return saidText("changed")
	})
	raw(s, "test_trigger_prompt_change", func(context.Context, mcp.CallToolRequest) *mcp.CallToolResult {
		s.core.AddPrompt(mcp.NewPrompt("test_added", mcp.WithPromptDescription("Is new.")), promptOf("new"))
		s.core.DeletePrompts("test_added")
		return saidText("changed")
	})
	s.core.AddTool(mcp.NewToolWithRawSchema("test_header", "Has an argument that goes in a header too", json.RawMessage(`{
		"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}, "required": ["region"]
	}`)), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return saidText("%s", req.GetString("region", "")), nil
	})
	s.core.AddTool(mcp.NewToolWithRawSchema("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {
			"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}
		},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]}, "else": {"required": ["email"]},
		"additionalProperties": false
	}`)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return saidText("ok"), nil })
}

// logToHost sends a log message the way progress goes: in order, and not by the
// library's channel.
func logToHost(ctx context.Context, text string) {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern && info.LogLevel == "" {
		return // revision 2026-07-28: only if the request asks for it
	}
	callOf(ctx).send("notifications/message", map[string]any{"level": "info", "logger": "fixture", "data": text})
}

// addAskingTools adds the tools that ask the host while they run, as revisions
// before 2026-07-28 do.
func addAskingTools(s *Server) {
	raw(s, "test_sampling", func(ctx context.Context, req mcp.CallToolRequest) *mcp.CallToolResult {
		//lint:ignore SA1019 the suite asks for it in earlier revisions
		res, err := s.core.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: sampling(req.GetString("prompt", ""), 100)})
		if err != nil {
			return saidText("no answer: %v", err)
		}
		return saidText("LLM response: %s", mcp.GetTextFromContent(res.Content))
	}, mcp.WithString("prompt", mcp.Required()))

	ask := func(name, message string, properties string, required ...string) {
		raw(s, name, func(ctx context.Context, req mcp.CallToolRequest) *mcp.CallToolResult {
			res, err := s.core.RequestElicitation(ctx, mcp.ElicitationRequest{Params: form(req.GetString("message", message), properties, required...)})
			if err != nil {
				return saidText("no answer: %v", err)
			}
			content, err := marshal(res.Content)
			if err != nil {
				return saidText("%v", err)
			}
			return saidText("User response: action=%s, content=%s", res.Action, content)
		}, mcp.WithString("message"))
	}
	ask("test_elicitation", "Who are you?", `{"username": {"type": "string"}, "email": {"type": "string"}}`, "username", "email")
	ask("test_elicitation_sep1034_defaults", "Please review", `{
		"name": {"type": "string", "default": "John Doe"},
		"age": {"type": "integer", "default": 30},
		"score": {"type": "number", "default": 95.5},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
		"verified": {"type": "boolean", "default": true}
	}`)
	ask("test_elicitation_sep1330_enums", "Please choose", `{
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
		"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First Choice"}, {"const": "value2", "title": "Second Choice"}]}}
	}`)
}

func sampling(prompt string, most int) mcp.CreateMessageParams {
	return mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(prompt)}},
		MaxTokens: most,
	}
}

func form(message, properties string, required ...string) mcp.ElicitationParams {
	if required == nil {
		required = []string{}
	}
	return mcp.ElicitationParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": json.RawMessage(properties), "required": required,
	}}
}

// addRoundTripTools adds the tools that ask by ending early, as revision
// 2026-07-28 does.
func addRoundTripTools(s *Server) {
	name := form("What is your name?", `{"name": {"type": "string"}}`, "name")
	asking := func(tool string, build func() *server.InputRequestBuilder, answered func(mcp.InputResponses) bool) {
		raw(s, tool, func(_ context.Context, req mcp.CallToolRequest) *mcp.CallToolResult {
			if answered(req.Params.InputResponses) {
				return saidText("thank you")
			}
			return build().ToolResult()
		})
	}
	asking("test_input_required_result_elicitation",
		func() *server.InputRequestBuilder { return server.NewInputRequestBuilder("").Elicit("user_name", name) },
		func(r mcp.InputResponses) bool { return hasContent(r, "user_name") })
	asking("test_input_required_result_sampling",
		func() *server.InputRequestBuilder {
			return server.NewInputRequestBuilder("").Sample("capital_question", sampling("What is the capital of France?", 100))
		},
		func(r mcp.InputResponses) bool { return server.SamplingResponse(r, "capital_question") != nil })
	asking("test_input_required_result_list_roots",
		func() *server.InputRequestBuilder { return server.NewInputRequestBuilder("").Roots("client_roots") },
		func(r mcp.InputResponses) bool { return server.RootsResponse(r, "client_roots") != nil })
	asking("test_input_required_result_multiple_inputs",
		func() *server.InputRequestBuilder {
			return server.NewInputRequestBuilder(sign("several")).Elicit("user_name", name).
				Sample("greeting", sampling("Generate a greeting", 50)).Roots("client_roots")
		},
		func(r mcp.InputResponses) bool { return len(r) == 3 })
	asking("test_streaming_elicitation",
		func() *server.InputRequestBuilder { return server.NewInputRequestBuilder("").Elicit("user_name", name) },
		func(r mcp.InputResponses) bool { return hasContent(r, "user_name") })

	confirm := form("Please confirm", `{"ok": {"type": "boolean"}}`, "ok")
	for _, tool := range []string{"test_input_required_result_request_state", "test_input_required_result_tampered_state"} {
		raw(s, tool, func(ctx context.Context, req mcp.CallToolRequest) *mcp.CallToolResult {
			switch state := req.Params.RequestState; {
			case state == "":
				return server.NewInputRequestBuilder(sign("confirm")).Elicit("confirm", confirm).ToolResult()
			case state != sign("confirm"):
				callOf(ctx).refused = &rpcError{Code: mcp.INVALID_PARAMS, Message: "requestState has been changed"}
				return saidText("refused")
			}
			return saidText("state-ok")
		})
	}
	raw(s, "test_input_required_result_multi_round", func(_ context.Context, req mcp.CallToolRequest) *mcp.CallToolResult {
		switch req.Params.RequestState {
		case sign("1"):
			return server.NewInputRequestBuilder(sign("2")).
				Elicit("step2", form("Step 2: What is your favorite color?", `{"color": {"type": "string"}}`, "color")).ToolResult()
		case sign("2"):
			return saidText("done")
		}
		return server.NewInputRequestBuilder(sign("1")).
			Elicit("step1", form("Step 1: What is your name?", `{"name": {"type": "string"}}`, "name")).ToolResult()
	})
	raw(s, "test_input_required_result_capabilities", func(ctx context.Context, _ mcp.CallToolRequest) *mcp.CallToolResult {
		can, b := capabilities(ctx), server.NewInputRequestBuilder("")
		if can.Elicitation != nil {
			b.Elicit("user_name", name)
		}
		if can.Sampling != nil {
			b.Sample("greeting", sampling("Generate a greeting", 50))
		}
		return b.ToolResult()
	})
	raw(s, "test_missing_capability", func(ctx context.Context, _ mcp.CallToolRequest) *mcp.CallToolResult {
		if capabilities(ctx).Sampling == nil {
			callOf(ctx).refused = &rpcError{
				Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Message: "the tool needs sampling",
				Data: map[string]any{"requiredCapabilities": map[string]any{"sampling": struct{}{}}},
			}
		}
		return saidText("all there")
	})
}

func capabilities(ctx context.Context) mcp.ClientCapabilities {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
		return *info.ClientCapabilities
	}
	return mcp.ClientCapabilities{}
}

func hasContent(r mcp.InputResponses, id string) bool {
	res := server.ElicitationResponse(r, id)
	return res != nil && res.Action == mcp.ElicitationResponseActionAccept && res.Content != nil
}

// sign makes a state that a host can't make up.
func sign(state string) string {
	mac := hmac.New(sha256.New, []byte("a key of this test"))
	mac.Write([]byte(state))
	return state + "." + hex.EncodeToString(mac.Sum(nil))
}

func addResources(s *Server) {
	text := func(uri, mime, text string) server.ResourceHandlerFunc {
		return func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: mime, Text: text}}, nil
		}
	}
	s.core.AddResource(mcp.NewResource("test://static-text", "Static text", mcp.WithMIMEType("text/plain"), mcp.WithResourceDescription("A text.")),
		text("test://static-text", "text/plain", "This is the content of the static text resource."))
	s.core.AddResource(mcp.NewResource("test://watched-resource", "Watched", mcp.WithMIMEType("text/plain"), mcp.WithResourceDescription("May change.")),
		text("test://watched-resource", "text/plain", "Watched resource content"))
	s.core.AddResource(mcp.NewResource("test://static-binary", "Static binary", mcp.WithMIMEType("image/png"), mcp.WithResourceDescription("An image.")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: onePixelPNG}}, nil
		})
	s.core.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "Template", mcp.WithTemplateMIMEType("application/json"), mcp.WithTemplateDescription("By id.")),
		func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			b, err := marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			if err != nil {
				return nil, err
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "application/json", Text: string(b)}}, nil
		})
}

func promptOf(text string) server.PromptHandlerFunc {
	return func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return asked(mcp.NewTextContent(text)), nil
	}
}

func asked(content ...mcp.Content) *mcp.GetPromptResult {
	res := &mcp.GetPromptResult{}
	for _, c := range content {
		res.Messages = append(res.Messages, mcp.NewPromptMessage(mcp.RoleUser, c))
	}
	return res
}

func addPrompts(s *Server) {
	s.core.AddPrompt(mcp.NewPrompt("test_simple_prompt", mcp.WithPromptDescription("A simple prompt.")), promptOf("This is a simple prompt for testing."))
	s.core.AddPrompt(mcp.NewPrompt("test_prompt_with_arguments", mcp.WithPromptDescription("Has arguments."),
		mcp.WithArgument("arg1", mcp.RequiredArgument(), mcp.ArgumentDescription("First.")),
		mcp.WithArgument("arg2", mcp.RequiredArgument(), mcp.ArgumentDescription("Second."))),
		func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			a := req.Params.Arguments
			return asked(mcp.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))), nil
		})
	s.core.AddPrompt(mcp.NewPrompt("test_prompt_with_embedded_resource", mcp.WithPromptDescription("Has a resource."),
		mcp.WithArgument("resourceUri", mcp.RequiredArgument(), mcp.ArgumentDescription("Which."))),
		func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return asked(
				mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}),
				mcp.NewTextContent("Please process the embedded resource above."),
			), nil
		})
	s.core.AddPrompt(mcp.NewPrompt("test_prompt_with_image", mcp.WithPromptDescription("Has an image.")),
		func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return asked(mcp.NewImageContent(onePixelPNG, "image/png"), mcp.NewTextContent("Please analyze the image above.")), nil
		})
	s.core.AddPrompt(mcp.NewPrompt("test_input_required_result_prompt", mcp.WithPromptDescription("Asks first.")),
		func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if hasContent(req.Params.InputResponses, "user_context") {
				return asked(mcp.NewTextContent("With your context.")), nil
			}
			return server.NewInputRequestBuilder("").Elicit("user_context",
				form("What context should the prompt use?", `{"context": {"type": "string"}}`, "context")).PromptResult(), nil
		})
}
