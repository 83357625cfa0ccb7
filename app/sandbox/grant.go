package sandbox

import (
	"slices"
	"time"
)

// A Scope is something that a grant allows. None implies another.
type Scope string

// The scopes.
const (
	ScopeRead    Scope = "read"    // look at what is the grant's own
	ScopeRent    Scope = "rent"    // make sandboxes, use them and end them: what may cost something
	ScopeManage  Scope = "manage"  // the same with sandboxes of others
	ScopeBilling Scope = "billing" // what all grants spend
)

// Scopes are all there are.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeRent, ScopeManage, ScopeBilling} }

// AgentScopes are those of the preset for agents.
func AgentScopes() []Scope { return []Scope{ScopeRead, ScopeRent} }

// A Period is after what time a budget begins anew, at 00:00 UTC.
type Period string

// The periods. Weeks begin on Monday.
const (
	PeriodNone  Period = "none"
	PeriodDay   Period = "day"
	PeriodWeek  Period = "week"
	PeriodMonth Period = "month"
)

// A Burst is what is assumed of use above a sandbox's baseline, which is billed
// and not reported.
type Burst string

// The modes.
const (
	BurstStrict   Burst = "strict"   // four times the baseline, all the time it runs
	BurstBaseline Burst = "baseline" // none
)

// GrantOwner is the grant of the computer's owner: it has all scopes and no
// limit, and can't be revoked. Whoever brings no token and has no connection
// with a grant of its own uses it.
const GrantOwner = "owner"

// A Grant is what somebody may do, and what it may cost. Its account is a
// [Budget] of the same id.
type Grant struct {
	ID            string    `json:"id"`
	Name          string    `json:"name"`
	Scopes        []Scope   `json:"scopes"`
	Limit         *Micro    `json:"limit_micro"` // nil: no cap
	Period        Period    `json:"period"`
	MaxHours      float64   `json:"max_hours,omitempty"`      // of one sandbox; 0 is what the cloud allows
	MaxConcurrent int       `json:"max_concurrent,omitempty"` // sandboxes at once; 0 is any number
	Templates     []string  `json:"templates,omitempty"`      // names or ARNs; none are all
	Profile       string    `json:"profile,omitempty"`        // the only one it may use; "" is any
	Burst         Burst     `json:"burst"`
	Rate          int       `json:"rate,omitempty"` // calls a minute; 0 is the usual number
	NotBefore     time.Time `json:"not_before,omitzero"`
	ExpiresAt     time.Time `json:"expires_at,omitzero"` // zero: never, which only the owner's has
	Disabled      bool      `json:"disabled,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
	RevokedAt     time.Time `json:"revoked_at,omitzero"`
}

// Allows reports whether g has a scope.
func (g Grant) Allows(s Scope) bool { return slices.Contains(g.Scopes, s) }

// Capped reports whether g has a limit of money.
func (g Grant) Capped() bool { return g.Limit != nil }

// A Credential opens a grant over HTTP. What is kept of its secret is a digest.
type Credential struct {
	ID           string    `json:"id"`
	Grant        string    `json:"grant"`
	Hint         string    `json:"hint"` // the first random characters
	CreatedAt    time.Time `json:"created_at"`
	LastUsedAt   time.Time `json:"last_used_at,omitzero"`  // to the minute
	OverlapUntil time.Time `json:"overlap_until,omitzero"` // it was replaced, and still opens until then
	RevokedAt    time.Time `json:"revoked_at,omitzero"`
}

// A BudgetLevel is whose spending a budget limits.
type BudgetLevel string

// The levels, in the order in which they are asked.
const (
	LevelGrant   BudgetLevel = "grant"
	LevelProfile BudgetLevel = "profile"
	LevelGlobal  BudgetLevel = "global"
)

// A Budget is an account with a limit.
type Budget struct {
	Level     BudgetLevel `json:"level"`
	Owner     string      `json:"owner"`       // id of the grant, name of the profile; "" for the global one
	Limit     *Micro      `json:"limit_micro"` // nil: none
	Period    Period      `json:"period"`
	Since     time.Time   `json:"since,omitzero"` // of this period
	Spent     Micro       `json:"spent_micro"`    // in this period
	Held      Micro       `json:"held_micro"`     // for what runs
	OverLimit bool        `json:"over_limit,omitempty"`
	// LeftOnly marks one of which only what is left is told: the limit is that.
	LeftOnly bool `json:"left_only,omitempty"`
}

// Left is what may still be held, or nil where there is no limit.
func (b Budget) Left() *Micro {
	if b.Limit == nil {
		return nil
	}
	return new(max(0, *b.Limit-b.Spent-b.Held))
}

// A Caller is who a request to the engine is made for.
type Caller struct {
	Connection string `json:"connection,omitempty"` // of the host's entry
	Token      Secret `json:"token,omitempty"`      // of an agent; goes first
	HTTP       bool   `json:"http,omitempty"`       // it comes over HTTP, with a token or without
	// Tool is the tool of which this request is a part; "" is none.
	Tool string `json:"tool,omitempty"`
	// First marks the first request of a call of a tool. Calls are counted by it.
	First bool `json:"first,omitempty"`
}
