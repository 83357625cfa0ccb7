package sandbox

import "time"

// An EventQuery says which events are wanted, newest first.
type EventQuery struct {
	Grant  string    `json:"grant,omitempty"` // those of this one alone; "" is all
	Kind   EventKind `json:"kind,omitempty"`  // no others
	Since  time.Time `json:"since,omitzero"`  // at or after; zero: 30 days back
	Until  time.Time `json:"until,omitzero"`  // before; zero: now
	Limit  int       `json:"limit,omitempty"` // 1 to 100, of the account itself to 1000; 0 is 20
	Cursor string    `json:"cursor,omitempty"`
	Alerts bool      `json:"alerts,omitempty"` // no others
}

// An EventPage is a part of the events.
type EventPage struct {
	Events []Event `json:"events"`
	Next   string  `json:"next,omitempty"` // cursor of the next part; "" is the end
}

// An OrderQuery says which sandboxes of the account are wanted, newest first.
type OrderQuery struct {
	Grant   string     `json:"grant,omitempty"` // "" is all
	Profile string     `json:"profile,omitempty"`
	State   OrderState `json:"state,omitempty"`
	Open    bool       `json:"open,omitempty"`  // those that money is held for, and no others
	Since   time.Time  `json:"since,omitzero"`  // asked for at or after
	Until   time.Time  `json:"until,omitzero"`  // asked for before
	Limit   int        `json:"limit,omitempty"` // 1 to 1000; 0 is 100
	Cursor  string     `json:"cursor,omitempty"`
}

// An OrderPage is a part of the sandboxes of the account.
type OrderPage struct {
	Orders []Order `json:"orders"`
	Next   string  `json:"next,omitempty"`
}

// A SpendBy is what spending is summed by.
type SpendBy string

// The headings.
const (
	SpendByDay      SpendBy = "day" // of UTC, on which it settled
	SpendByHost     SpendBy = "host"
	SpendByProfile  SpendBy = "profile"
	SpendByTemplate SpendBy = "template"
	SpendByToken    SpendBy = "token"
)

// A SpendQuery says which spending is wanted.
type SpendQuery struct {
	By    SpendBy   `json:"by"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"` // zero: now
	Grant string    `json:"grant,omitempty"`
}

// A Violation is something that the account should never hold.
type Violation struct {
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// A BillDay is what AWS billed on a day, beside our own figure.
type BillDay struct {
	Day    string `json:"day"` // as in 2026-11-29
	Billed Micro  `json:"billed_micro"`
	Ours   Micro  `json:"ours_micro"`
}
