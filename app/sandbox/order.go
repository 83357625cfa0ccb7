package sandbox

import "time"

// An Order is one sandbox as the account has it, from before it is asked for
// until long after its end.
type Order struct {
	ID        string     `json:"id"` // the key of the sandbox
	Grant     string     `json:"grant"`
	State     OrderState `json:"state"`
	Profile   string     `json:"profile"`
	Host      string     `json:"host,omitempty"` // the app that asked
	Region    string     `json:"region,omitempty"`
	Template  string     `json:"template,omitempty"`
	Version   string     `json:"version,omitempty"`
	Name      string     `json:"name,omitempty"`
	SizeMiB   int        `json:"size_mib,omitempty"`
	Snapshot  int        `json:"snapshot_mgb,omitempty"` // thousandths of a GB; 0 is not measured
	Burst     Burst      `json:"burst"`
	Local     bool       `json:"local,omitempty"`    // it costs nothing; amounts are what AWS would take
	Unpriced  bool       `json:"unpriced,omitempty"` // no price is known: nothing is held
	Sandbox   string     `json:"sandbox,omitempty"`  // the cloud's id, once it is known
	Hold      Micro      `json:"hold_micro"`
	Settled   *Micro     `json:"settled_micro"`         // nil until its end
	Would     Micro      `json:"would_micro,omitempty"` // of a local one: what AWS would take
	Cost      Cost       `json:"cost,omitzero"`
	Life      Seconds    `json:"life_s"`
	Idle      Seconds    `json:"idle_s,omitempty"`
	AskedAt   time.Time  `json:"asked_at"`
	StartedAt time.Time  `json:"started_at,omitzero"`
	MaxEndAt  time.Time  `json:"max_end_at"`
	EndedAt   time.Time  `json:"ended_at,omitzero"`
	EndReason EndReason  `json:"end_reason,omitempty"`
	Prices    string     `json:"prices,omitempty"` // version of the table
}

// Seconds are whole ones.
type Seconds int64

// Duration is s as one.
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }

// An OrderState is how far an order got.
type OrderState string

// The states: held, creating, then in_doubt or running, then settled; or
// released, if nothing came of it. Settled and released are final.
const (
	OrderHeld     OrderState = "held"
	OrderCreating OrderState = "creating"
	OrderInDoubt  OrderState = "in_doubt"
	OrderRunning  OrderState = "running"
	OrderSettled  OrderState = "settled"
	OrderReleased OrderState = "released"
)

// Open reports whether money is held for an order in this state.
func (s OrderState) Open() bool { return s != OrderSettled && s != OrderReleased }

// A Cost is what a sandbox costs, in parts.
type Cost struct {
	Compute Micro `json:"compute_micro"`
	Launch  Micro `json:"launch_micro"`
	Cycles  Micro `json:"cycles_micro"`
	Storage Micro `json:"storage_micro"`
	Total   Micro `json:"total_micro"` // rounded up; what the parts lack is in the largest of them
}

// A Quote is what a sandbox would be held for, which is the most that can be
// booked for it, and what would be booked if it ran all its life.
type Quote struct {
	Profile  string  `json:"profile"`
	Region   string  `json:"region,omitempty"`
	Template string  `json:"template,omitempty"`
	Version  string  `json:"version,omitempty"`
	SizeMiB  int     `json:"size_mib,omitempty"`
	Life     Seconds `json:"life_s"`
	Idle     Seconds `json:"idle_s,omitempty"`
	Local    bool    `json:"local,omitempty"`    // it costs nothing; Hold and Expected are what AWS would take
	Unpriced bool    `json:"unpriced,omitempty"` // no price is known
	Hold     Micro   `json:"hold_micro"`
	Expected Micro   `json:"expected_micro"`
	Fits     bool    `json:"fits"`              // all budgets allow it now
	Level    string  `json:"level,omitempty"`   // of the budget that does not
	Longest  Seconds `json:"longest_s"`         // that would fit; Life where it does
	Hint     string  `json:"hint,omitempty"`    // key of a text: "idle_short"
	Prices   string  `json:"prices,omitempty"`  // version of the table
	Sourced  string  `json:"sourced,omitempty"` // the day of the prices
}

// A Balance is what a grant has left.
type Balance struct {
	Grant     Grant     `json:"grant"`
	Budgets   []Budget  `json:"budgets"`              // all that limit it, its own first
	Left      *Micro    `json:"left_micro"`           // the least of them; nil: no limit
	Running   int       `json:"running"`              // its sandboxes
	PerHour   Micro     `json:"per_hour_micro"`       // of those, as it is booked
	Longest   *Seconds  `json:"longest_s"`            // that the usual sandbox could live; nil: nothing limits that
	RunsOutAt time.Time `json:"runs_out_at,omitzero"` // at this pace; zero: never, or not known
	At        time.Time `json:"at"`
}

// A SpendRow is what was spent under one heading.
type SpendRow struct {
	Key       string `json:"key"` // the day, host, profile, template or grant
	Cost      Cost   `json:"cost"`
	Held      Micro  `json:"held_micro,omitempty"`
	Would     Micro  `json:"would_micro,omitempty"` // local ones, in AWS
	Sandboxes int    `json:"sandboxes"`
	Unpriced  int    `json:"unpriced,omitempty"`
	Seconds   int64  `json:"seconds"`
}

// A Template is an image that sandboxes can be made of.
type Template struct {
	Name     string   `json:"name"`
	ARN      string   `json:"arn"`
	Version  string   `json:"version,omitempty"` // the newest active one
	Versions []string `json:"versions,omitempty"`
	SizeMiB  int      `json:"size_mib,omitempty"`
	State    string   `json:"state,omitempty"`
	Default  bool     `json:"default,omitempty"` // of the profile
	Used     int      `json:"used,omitempty"`    // sandboxes of the grant made of it
	PerHour  Micro    `json:"per_hour_micro,omitempty"`
	Why      []string `json:"why"` // keys of texts, the weightiest first: default, used, launchable, cheap
}
