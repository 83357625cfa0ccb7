package agent

import (
	"github.com/arenero/arenero/app/internal/agent/agentpb"
	"github.com/arenero/arenero/app/internal/agent/kernel"
)

// The messages of a cell's stream, without their sequence numbers.

func startedEvent(id string, count uint64) *agentpb.ExecuteEvent {
	return &agentpb.ExecuteEvent{Event: &agentpb.ExecuteEvent_Started{
		Started: &agentpb.ExecutionStarted{ExecutionId: id, ExecutionCount: count},
	}}
}

func outputEvent(o *kernel.Output) *agentpb.ExecuteEvent {
	chunk := &agentpb.OutputChunk{Text: o.Text, TimestampUnixNs: o.Time.UnixNano()}
	if o.Stderr {
		return &agentpb.ExecuteEvent{Event: &agentpb.ExecuteEvent_Stderr{Stderr: chunk}}
	}
	return &agentpb.ExecuteEvent{Event: &agentpb.ExecuteEvent_Stdout{Stdout: chunk}}
}

func errorEvent(e *kernel.Error) *agentpb.ExecuteEvent {
	return &agentpb.ExecuteEvent{Event: &agentpb.ExecuteEvent_Error{
		Error: &agentpb.ExecutionError{Name: e.Name, Value: e.Value, Traceback: e.Traceback},
	}}
}

func endEvent(count uint64) *agentpb.ExecuteEvent {
	return &agentpb.ExecuteEvent{Event: &agentpb.ExecuteEvent_End{
		End: &agentpb.ExecutionEnd{ExecutionCount: count},
	}}
}

func keepAliveEvent() *agentpb.ExecuteEvent {
	return &agentpb.ExecuteEvent{Event: &agentpb.ExecuteEvent_Keepalive{Keepalive: &agentpb.KeepAlive{}}}
}

// resultEvent sorts the forms of a value into the members made for them, and
// the rest into extra.
func resultEvent(r *kernel.Result) *agentpb.ExecuteEvent {
	m := &agentpb.ExecutionResult{IsMainResult: r.Main}
	members := map[string]**string{
		"text/plain":             &m.Text,
		"text/html":              &m.Html,
		"text/markdown":          &m.Markdown,
		"text/latex":             &m.Latex,
		"application/json":       &m.Json,
		"application/javascript": &m.Javascript,
		"image/png":              &m.Png,
		"image/jpeg":             &m.Jpeg,
		"image/svg+xml":          &m.Svg,
		"application/pdf":        &m.Pdf,
		"e2b/chart":              &m.Chart,
		"e2b/data":               &m.Data,
	}
	for mime, text := range r.Data {
		if member := members[mime]; member != nil {
			*member = &text
			continue
		}
		if m.Extra == nil {
			m.Extra = map[string]string{}
		}
		m.Extra[mime] = text
	}
	return &agentpb.ExecuteEvent{Event: &agentpb.ExecuteEvent_Result{Result: m}}
}
