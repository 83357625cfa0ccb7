package sandbox

import "time"

// The kinds of calls that [CallNews] tells of.
const (
	CallCommand = "command"
	CallCode    = "code"
	CallJob     = "job"
)

// CallNews is something about a call: that it began, what it says, that it
// ended. The first of each call has all of Kind, Text and StartedAt.
type CallNews struct {
	ID        string    `json:"id"`
	Sandbox   string    `json:"sandbox"`
	Host      string    `json:"host,omitempty"` // the app that makes it
	Kind      string    `json:"kind,omitempty"` // "command", "code" or "job"
	Text      string    `json:"text,omitempty"` // the command or the code, cut to 2,000 characters; "" is one that an earlier engine began
	StartedAt time.Time `json:"started_at,omitzero"`
	Stream    string    `json:"stream,omitempty"` // "stdout" or "stderr", of Data
	Data      []byte    `json:"data,omitempty"`
	Cut       bool      `json:"cut,omitempty"` // some of what it said before is not here
	Exit      *Exit     `json:"exit,omitempty"`
	Raised    string    `json:"raised,omitempty"` // beside Exit: the name of the exception that ended the code
	Failed    *Error    `json:"failed,omitempty"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
}
