package bridge

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A message is one JSON-RPC message with what routing it needs. IDs stay as
// they were written: 7 and "7" are two, and none loses digits.
type message struct {
	JSONRPC json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  json.RawMessage `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`

	method string          // Method, decoded
	tool   string          // what a tools/call calls
	args   json.RawMessage // and its arguments
	token  json.RawMessage // what its progress goes by, as it was written; nil: none is wanted
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

var nullID = json.RawMessage("null")

// readMessage reads one message. When it returns an error, that is the answer,
// to the ID of the message if it has one.
func readMessage(raw []byte) (*message, *rpcError) {
	m := &message{}
	if !utf8.Valid(raw) {
		return &message{ID: idBeside(raw)}, &rpcError{Code: mcp.PARSE_ERROR, Message: "the message is not UTF-8"}
	}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '[' {
		if !json.Valid(raw) {
			return m, &rpcError{Code: mcp.PARSE_ERROR, Message: "the message is not JSON"}
		}
		return m, &rpcError{Code: mcp.INVALID_REQUEST, Message: "batches are not supported: send one message at a time"}
	}
	if err := json.Unmarshal(raw, m); err != nil {
		if json.Valid(raw) { // a bare number or word
			return m, &rpcError{Code: mcp.INVALID_REQUEST, Message: "the message is not an object"}
		}
		return m, &rpcError{Code: mcp.PARSE_ERROR, Message: "the message is not JSON, all of it on one line"}
	}
	return m, m.check()
}

// idBeside returns the ID of a message that is JSON but for bytes which are no
// UTF-8, so that who waits for its answer gets one. It is nil if the ID is not
// beyond doubt.
func idBeside(raw []byte) json.RawMessage {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.Method == nil || len(m.ID) == 0 || !utf8.Valid(m.ID) || !isID(m.ID) {
		return nil
	}
	return m.ID
}

// check finds what is wrong with a message before its method is looked at.
func (m *message) check() *rpcError {
	invalid := func(text string) *rpcError { return &rpcError{Code: mcp.INVALID_REQUEST, Message: text} }
	if len(m.ID) > 0 && !isID(m.ID) {
		m.ID = nil
		return invalid("id must be a string or a number")
	}
	if string(m.JSONRPC) != `"2.0"` {
		return invalid(`jsonrpc must be "2.0"`)
	}
	if m.Method == nil {
		if m.isAnswer() {
			return nil
		}
		return invalid("method is missing")
	}
	if json.Unmarshal(m.Method, &m.method) != nil || m.method == "" {
		return invalid("method must be a string")
	}
	if len(m.Params) == 0 || m.ID == nil {
		return nil
	}
	if m.Params[0] != '{' {
		return &rpcError{Code: mcp.INVALID_PARAMS, Message: "params must be an object"}
	}
	if m.method != string(mcp.MethodToolsCall) {
		return nil
	}
	var params struct {
		Name      json.RawMessage `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(m.Params, &params) != nil || json.Unmarshal(params.Name, &m.tool) != nil || m.tool == "" {
		return &rpcError{Code: mcp.INVALID_PARAMS, Message: "params.name must be the name of a tool"}
	}
	m.args, m.token = params.Arguments, progressToken(params.Meta)
	return nil
}

// progressToken returns the token in the _meta of a request. What is neither a
// string nor an integer is none, and the request is served all the same.
func progressToken(meta json.RawMessage) json.RawMessage {
	var m struct {
		Token json.RawMessage `json:"progressToken"`
	}
	if json.Unmarshal(meta, &m) != nil || len(m.Token) == 0 || !isID(m.Token) {
		return nil
	}
	if m.Token[0] != '"' && bytes.ContainsAny(m.Token, ".eE") {
		return nil
	}
	return m.Token
}

// manyArguments is where it pays to keep arguments from the library, which
// parses a message seven times.
const manyArguments = 16 << 10

// short returns the message without its arguments, for the library. A tool of
// ours takes them from the call.
func (m *message) short(line []byte) []byte {
	var params map[string]json.RawMessage
	if json.Unmarshal(m.Params, &params) != nil {
		return line
	}
	delete(params, "arguments")
	b, err := marshal(map[string]any{"jsonrpc": m.JSONRPC, "id": m.ID, "method": m.Method, "params": params})
	if err != nil {
		return line
	}
	return b
}

// isID says whether raw, which is JSON, may be the ID of a request.
func isID(raw json.RawMessage) bool {
	return raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
}

// isAnswer says whether m answers a request of ours.
func (m *message) isAnswer() bool {
	return m.Method == nil && m.ID != nil && (m.Result != nil || m.Error != nil)
}

// cancels returns the ID of the request that the host wants cancelled.
func (m *message) cancels() json.RawMessage {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return nil
	}
	return params.ID
}

// answer is a response as it goes out.
type answer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

func failureAnswer(id json.RawMessage, err *rpcError) answer {
	if id == nil {
		id = nullID
	}
	return answer{JSONRPC: "2.0", ID: id, Error: err}
}

// answerOf puts the library's response under the ID as it was written. It is
// false for what needs no answer.
func answerOf(id json.RawMessage, resp mcp.JSONRPCMessage) (answer, bool) {
	switch r := resp.(type) {
	case mcp.JSONRPCResponse:
		if res, ok := r.Result.(*mcp.CallToolResult); ok {
			return answer{JSONRPC: "2.0", ID: id, Result: resultOf(res)}, true
		}
		return answer{JSONRPC: "2.0", ID: id, Result: r.Result}, true
	case mcp.JSONRPCError:
		e := &rpcError{Code: r.Error.Code, Message: r.Error.Message, Data: r.Error.Data}
		// What is left of invalid requests are params that don't fit the method.
		// The library's text for them tells of Go types.
		if e.Code == mcp.INVALID_REQUEST {
			e = &rpcError{Code: mcp.INVALID_PARAMS, Message: "params do not fit the method"}
		}
		return failureAnswer(id, e.plain()), true
	}
	return answer{}, false
}

// plain is an error of the library without what it says twice.
func (e *rpcError) plain() *rpcError {
	text, twice := strings.CutSuffix(e.Message, ": "+server.ErrToolNotFound.Error())
	if !twice {
		return e
	}
	return &rpcError{Code: e.Code, Message: text + ": tools/list has those that there are", Data: e.Data}
}

// toolResult is a library's result that is written in one go. The library's own
// way goes over the bytes of a large result four times, and escapes every <.
type toolResult struct {
	Content       []mcp.Content     `json:"content"`
	Structured    any               `json:"structuredContent,omitempty"`
	IsError       bool              `json:"isError,omitempty"`
	Meta          *mcp.Meta         `json:"_meta,omitempty"`
	ResultType    mcp.ResultType    `json:"resultType,omitempty"`
	InputRequests mcp.InputRequests `json:"inputRequests,omitempty"`
	RequestState  string            `json:"requestState,omitempty"`
}

func resultOf(r *mcp.CallToolResult) toolResult {
	res := toolResult{
		Content: r.Content, Structured: r.StructuredContent, IsError: r.IsError, Meta: r.Meta,
		ResultType: r.ResultType, InputRequests: r.InputRequests, RequestState: r.RequestState,
	}
	if res.Content == nil {
		res.Content = []mcp.Content{}
	}
	if len(r.RawStructuredContent) > 0 {
		res.Structured = r.RawStructuredContent
	}
	return res
}

type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}
