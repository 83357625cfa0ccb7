// Package sandbox holds the nouns of this program: what a sandbox is, what it
// can be asked to do, and how that can fail. It imports nothing of ours. The
// JSON forms are those of the control socket.
package sandbox

import (
	"log/slog"
	"time"
)

// A State is where a sandbox is in its life: the states of the cloud, and those
// that only we know of. Others may appear; treat them as alive.
type State string

// The states of a sandbox.
const (
	Creating    State = "CREATING" // asked for; the cloud has not answered yet
	InDoubt     State = "IN_DOUBT" // asked for, and the answer was lost: it may exist
	Pending     State = "PENDING"  // starting, or waking up
	Running     State = "RUNNING"
	Suspending  State = "SUSPENDING"
	Suspended   State = "SUSPENDED"
	Terminating State = "TERMINATING"
	Terminated  State = "TERMINATED" // for good
)

// Alive reports whether a sandbox in this state may still cost something.
func (s State) Alive() bool { return s != Terminated }

// An EndReason says why a sandbox ended, as far as we know.
type EndReason string

// Why sandboxes end.
const (
	EndClosed   EndReason = "closed"       // the bridge it was made for ended in order
	EndCut      EndReason = "cut"          // that bridge was killed, or crashed, and did not come back
	EndAsked    EndReason = "asked"        // someone asked for it
	EndRemoval  EndReason = "removal_time" // the time came that somebody had set for it
	EndExpired  EndReason = "expired"      // its time was up
	EndFailed   EndReason = "failed"       // it did not start, or its main process ended
	EndCloud    EndReason = "cloud"        // the cloud that held it ended
	EndVanished EndReason = "vanished"     // the cloud does not know it any more
	EndNeverWas EndReason = "never_was"    // it was in doubt, and did not turn up
	EndBudget   EndReason = "budget"       // what was held for it is used up, or its grant was revoked
	EndOther    EndReason = "other"        // the cloud's own reason; see EndText
)

// A Sandbox is one that is, or was a while ago.
type Sandbox struct {
	ID         string        `json:"id"` // the cloud's; "" while it is being created
	Key        string        `json:"key,omitempty"`
	Name       string        `json:"name,omitempty"`
	State      State         `json:"state"`
	Profile    string        `json:"profile"`            // where it runs: "local", or the name of one in AWS
	Template   string        `json:"template,omitempty"` // ARN of the image
	Version    string        `json:"version,omitempty"`  // of the image
	Lease      string        `json:"lease,omitempty"`    // whose it is; "" is nobody's
	Connection string        `json:"connection,omitempty"`
	Host       string        `json:"host,omitempty"`    // the app at the other end of the lease
	Keep       bool          `json:"keep,omitempty"`    // it outlives its lease
	Orphan     bool          `json:"orphan,omitempty"`  // of our image, and not of our making
	Current    bool          `json:"current,omitempty"` // of the lease that asks
	Idle       time.Duration `json:"idle,omitempty"`    // silence after which the cloud suspends it; 0 is never
	StartedAt  time.Time     `json:"started_at,omitzero"`
	EndsAt     time.Time     `json:"ends_at,omitzero"`          // at the latest
	Extendable time.Time     `json:"extendable_until,omitzero"` // its end was brought forward, and can be put off until then; zero: it can't
	UsedAt     time.Time     `json:"used_at,omitzero"`          // when a call of ours last moved bytes
	Running    int           `json:"running,omitempty"`         // calls in it now
	EndedAt    time.Time     `json:"ended_at,omitzero"`         // zero while it lives
	EndReason  EndReason     `json:"end_reason,omitempty"`
	EndText    string        `json:"end_text,omitempty"` // the cloud's words for it
	Grant      string        `json:"grant,omitempty"`    // who pays
	SizeMiB    int           `json:"size_mib,omitempty"` // 0 is not known
	Hold       Micro         `json:"hold_micro,omitempty"`
	Cost       Cost          `json:"cost,omitzero"`            // so far; of a local one, what AWS would take
	PerHour    Micro         `json:"per_hour_micro,omitempty"` // while it runs, as it is booked
	Replay     string        `json:"replay,omitempty"`         // it was there already: why the request was taken for an earlier one
}

// Why a request to make a sandbox was taken for an earlier one.
const (
	ReplayKey  = "idempotency_key"
	ReplaySame = "same_request_10m"
)

// Silence is how long the calls that run in s have said nothing, and whether
// that is more than half of what its cloud waits before it suspends s in the
// middle of them: then its idle time is to be raised, or set to 0.
func (s Sandbox) Silence(now time.Time) (d time.Duration, soon bool) {
	if s.Running == 0 || s.State != Running || s.UsedAt.IsZero() {
		return 0, false
	}
	d = max(0, now.Sub(s.UsedAt))
	return d, s.Idle > 0 && d > s.Idle/2
}

// A Spec is what a new sandbox is to be.
type Spec struct {
	// Key stands for one sandbox that is asked for: the same again makes no
	// second one. Leases need none.
	Key      string            `json:"key,omitempty"`
	Profile  Profile           `json:"profile,omitzero"`
	Template string            `json:"template,omitempty"` // name or ARN; "" is the profile's
	Version  string            `json:"version,omitempty"`  // "" is the newest active one
	Role     string            `json:"role,omitempty"`     // execution role; it also turns the cloud's logging on
	Timeout  time.Duration     `json:"timeout,omitempty"`  // of its whole life; 0 is an hour
	Idle     time.Duration     `json:"idle,omitempty"`     // 0 is never suspended
	Name     string            `json:"name,omitempty"`
	Keep     bool              `json:"keep,omitempty"` // don't end it with the lease
	Env      map[string]string `json:"env,omitempty"`  // of everything that runs in it
	// AccessToken opens the agent of the new sandbox, so that whoever else has
	// it can reach the sandbox too: at least 16 bytes in base64url. "" is a
	// random one that nobody else has.
	AccessToken Secret `json:"access_token,omitempty"`
	// IdempotencyKey is the caller's own name for this one request, of 1 to 255
	// printable characters of ASCII.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Asked says that Timeout is what the caller asked for, and no default.
	Asked bool `json:"asked,omitempty"`
	// Grant pays. The engine alone sets it, from who the caller is.
	Grant string `json:"-"`
}

// A Secret is a text that shows nowhere but on the control socket: what prints
// or logs one gets a mark in its place.
type Secret string

const hidden = "[secret]"

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString is what %#v prints.
func (s Secret) GoString() string { return s.String() }

// LogValue is what a log gets.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// ProfileLocal is the profile that runs sandboxes on this computer.
const ProfileLocal = "local"

// ProfileDescribed starts the names of profiles that an environment describes.
// Those of the owner have no colon.
const ProfileDescribed = "env:"

// A Profile is where sandboxes run.
type Profile struct {
	// Name is "local", or one that the owner or the environment gave to a part
	// of AWS. Profiles of one name are the same place. "" is the default of the
	// owner, where the engine is asked, and "local" elsewhere.
	Name string `json:"name,omitempty"`
	// Env are the AWS_ variables of whoever asks. They may hold secrets: they
	// are never logged, written down, or shown.
	Env map[string]string `json:"env,omitempty"`
	// Connection is the host's entry on whose behalf it is asked. The engine
	// lets the profile of that entry go first.
	Connection string `json:"connection,omitempty"`
}

// A Lease is one connection's claim to a sandbox of its own, which is made by
// the first call that needs it.
type Lease struct {
	ID         string `json:"id"`                   // made by the bridge, for as long as its process lives
	Connection string `json:"connection,omitempty"` // of the host's entry
	Parent     string `json:"parent,omitempty"`     // tells the host's process from all others
	Host       string `json:"host,omitempty"`       // the host's name, for people
	Spec       Spec   `json:"spec"`
}

// A ListRequest says what to list. Listing asks the cloud, and wakes and makes
// nothing.
type ListRequest struct {
	Profile  Profile `json:"profile,omitzero"`
	Template string  `json:"template,omitempty"` // name or ARN; "" is all
	Lease    string  `json:"lease,omitempty"`    // marks its own as current
	Ended    bool    `json:"ended,omitempty"`    // those that ended a while ago, too
}

// A Snapshot is all there is to see at one moment.
type Snapshot struct {
	Seq       uint64      `json:"seq"` // grows with every snapshot
	At        time.Time   `json:"at"`
	Version   string      `json:"version"` // of the engine
	Sandboxes []Sandbox   `json:"sandboxes"`
	Leases    []LeaseInfo `json:"leases"`
	Profiles  []Reach     `json:"profiles"`
	Paused    bool        `json:"paused,omitempty"`   // requests for new sandboxes are refused
	Settings  uint64      `json:"settings,omitempty"` // another number each time that the owner has set something
}

// A LeaseInfo is a lease as others see it.
type LeaseInfo struct {
	ID         string    `json:"id"`
	Connection string    `json:"connection,omitempty"`
	Host       string    `json:"host,omitempty"`
	Profile    string    `json:"profile,omitempty"`
	Sandbox    string    `json:"sandbox,omitempty"` // "" until a call needs one
	Attached   bool      `json:"attached"`          // its bridge is there
	Shares     string    `json:"shares,omitempty"`  // another lease whose sandbox this one uses
	Since      time.Time `json:"since"`
}

// A Reach tells how it went to ask a profile's cloud what it has.
type Reach struct {
	Profile string    `json:"profile"`
	At      time.Time `json:"at"`
	Error   *Error    `json:"error,omitempty"` // nil: it answered
}
