package sandbox

import "time"

// An EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventReady       EventKind = "sandbox.ready"
	EventSuspended   EventKind = "sandbox.suspended" // as far as it was seen
	EventResumed     EventKind = "sandbox.resumed"   // the same
	EventEnded       EventKind = "sandbox.ended"
	EventNotice      EventKind = "sandbox.notice"
	EventOrphan      EventKind = "sandbox.orphan"
	EventThreshold   EventKind = "budget.threshold"
	EventOver        EventKind = "budget.over"
	EventBudgetSet   EventKind = "budget.set"
	EventRefused     EventKind = "create.refused"
	EventDoubt       EventKind = "create.in_doubt"
	EventCreated     EventKind = "token.created"
	EventRotated     EventKind = "token.rotated"
	EventRevoked     EventKind = "token.revoked"
	EventExpiring    EventKind = "token.expiring"
	EventApp         EventKind = "app.connected"
	EventAppChanged  EventKind = "app.changed" // its entry, or where its sandboxes run
	EventAppGone     EventKind = "app.disconnected"
	EventPriceStale  EventKind = "price.stale"
	EventClock       EventKind = "clock.suspect"
	EventLedger      EventKind = "ledger.older" // than when it was last used: what is newer is lost
	EventMachine     EventKind = "machine.ready"
	EventMachineOver EventKind = "machine.ended"
	EventMachineSaid EventKind = "machine.notice"
)

// A Severity says how much an event matters.
type Severity string

// The severities. Those that are not Info are alerts for a day.
const (
	SeverityInfo  Severity = "info"
	SeverityWarn  Severity = "warn"
	SeverityError Severity = "error"
)

// An Origin is where an event is from.
type Origin string

// The origins.
const (
	OriginLocal   Origin = "local"
	OriginArrakis Origin = "arrakis"
)

// An Event is something that happened to a sandbox, a budget, a token or an app. Data
// holds no secret; its keys go with the kind: "reason" (an [EndReason]),
// "percent", "spent_micro", "limit_micro", "period", "level", "code", "name",
// "days", "connection", "text" (of others, to be quoted).
type Event struct {
	ID       string         `json:"id"`
	At       time.Time      `json:"at"`
	Kind     EventKind      `json:"kind"`
	Severity Severity       `json:"severity"`
	Grant    string         `json:"grant,omitempty"`   // "" is nobody's but the owner's
	Subject  string         `json:"subject,omitempty"` // id of a sandbox, grant, app or machine, or a budget
	Origin   Origin         `json:"origin"`
	Data     map[string]any `json:"data,omitempty"`
}

// Alert reports whether e goes with the answers of tools for a day.
func (e Event) Alert() bool {
	return e.Severity != SeverityInfo || e.Kind == EventMachine || e.Kind == EventMachineOver
}
