package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// The kinds of records in the store.
const (
	kindBox = "box"
	kindRun = "run"
)

// A record is what is kept of a sandbox on disk, from before it is asked for
// until a while after its end. It holds no secret.
type record struct {
	Key        string            `json:"key"`
	ID         string            `json:"id,omitempty"` // the cloud's, once it is known
	Endpoint   string            `json:"endpoint,omitempty"`
	State      sandbox.State     `json:"state"`
	Profile    string            `json:"profile"`
	Lease      string            `json:"lease,omitempty"`
	Connection string            `json:"connection,omitempty"`
	Parent     string            `json:"parent,omitempty"`
	Host       string            `json:"host,omitempty"`
	Name       string            `json:"name,omitempty"`
	Keep       bool              `json:"keep,omitempty"`
	Untold     bool              `json:"untold,omitempty"` // whoever asked for it has not heard of it yet
	Image      string            `json:"image,omitempty"`  // as the cloud tells it
	Version    string            `json:"version,omitempty"`
	Request    RunRequest        `json:"request"`
	AskedAt    time.Time         `json:"askedAt"`
	StartedAt  time.Time         `json:"startedAt,omitzero"`
	EndsAt     time.Time         `json:"endsAt,omitzero"`
	RemoveAt   time.Time         `json:"removeAt,omitzero"` // earlier than EndsAt, by request
	Ending     sandbox.EndReason `json:"ending,omitempty"`  // it is to end, and for this
	EndedAt    time.Time         `json:"endedAt,omitzero"`
	EndReason  sandbox.EndReason `json:"endReason,omitempty"`
	EndText    string            `json:"endText,omitempty"`
	Grant      string            `json:"grant,omitempty"`   // who pays; "" is the owner, before there were others
	Size       int               `json:"size,omitempty"`    // MiB of memory; 0 is not known
	Settled    bool              `json:"settled,omitempty"` // it has ended, and the account knows when
}

// A box is one sandbox, or the attempt to make one.
type box struct {
	record
	profile sandbox.Profile    // with what is not kept on disk
	token   string             // the access token that was asked for; "" is a new one
	asked   string             // the image, as the caller names it
	cloud   Cloud              // nil until it is needed
	agent   Agent              // nil until the VM is known
	made    chan struct{}      // closed when the attempt is over, for now
	makeErr error              // of that attempt
	kernel  bool               // its Python has answered
	unheed  context.CancelFunc // ends the wait for its Python, which would wake it; nil before that
	running int                // calls in it
	streams int                // of them, those that may go on for long
	limit   int                // of streams; 0 is not known yet
	usedAt  time.Time
	ports   portView      // that something in it listens at
	calls   *callLog      // nil until one is made, or somebody looks for one
	asking  int           // calls that wait to hear of it, while it is untold
	ending  bool          // work is under way to end it
	tries   int           // to end it, that came to nothing
	tryErr  error         // of the last of them
	hurry   chan struct{} // has it tried again at once; nil until it is to end
	unsure  bool          // it did not turn up, and may be there all the same
	closing bool          // work is under way to find out when it ended
	left    bool          // an earlier engine's, and not taken up yet
	missing int           // lists in a row that did not have it
}

// secrets are what [Secrets] keeps for a box.
type secrets struct {
	Token string            `json:"token"`
	Env   map[string]string `json:"env,omitempty"`
}

func newKey() string { return uuid.NewString() }

// saveLocked writes b down. An intent must be durable before it is acted on.
func (f *Fleet) saveLocked(b *box, durable bool) error {
	r := b.record
	r.Request.Env = nil // it may hold secrets, and is kept with them
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep sandbox: %w", err)
	}
	if err := f.cfg.Store.Put(kindBox, b.Key, text, durable); err != nil {
		return &sandbox.Error{Code: sandbox.StoreDown, Msg: "the state of sandboxes can't be written down", Hint: hintDisk, Retryable: true, Err: err}
	}
	return nil
}

// hintDisk is what to look at when nothing can be written: "arenero logs" has
// the cause.
const hintDisk = "look whether the disk is full or read-only; \"arenero logs\" tells more"

// noteLocked writes down what is true whether it is written down or not.
func (f *Fleet) noteLocked(b *box) {
	if err := f.saveLocked(b, true); err != nil {
		f.log.Error("sandbox not written down", "sandbox", b.ID, "err", err)
	}
	f.changedLocked()
}

func (f *Fleet) keepSecrets(key string, s secrets) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = f.cfg.Secrets.Put(key, string(text))
	}
	if err != nil {
		return &sandbox.Error{Code: sandbox.StoreDown, Msg: "the key of a sandbox can't be kept", Hint: hintDisk, Retryable: true, Err: err}
	}
	return nil
}

// secretsOf returns what was kept of b's secrets; a token of "" means that
// nothing was.
func (f *Fleet) secretsOf(b *box) (s secrets, err error) {
	text, err := f.cfg.Secrets.Get(b.Key)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &s)
	}
	if err != nil {
		return secrets{}, &sandbox.Error{Code: sandbox.StoreDown, Msg: "the key of a sandbox can't be read", Retryable: true, Err: err}
	}
	return s, nil
}

// adoptLocked takes in what the cloud says of a VM that is b's.
func (b *box) adoptLocked(vm VM) {
	b.ID = cmp.Or(vm.ID, b.ID)
	b.Endpoint = cmp.Or(vm.Endpoint, b.Endpoint)
	b.Image, b.Version = cmp.Or(vm.Image, b.Image), cmp.Or(vm.Version, b.Version)
	if b.StartedAt.IsZero() {
		b.StartedAt = vm.StartedAt
	}
	life := cmp.Or(vm.Life, b.Request.Life)
	if b.EndsAt.IsZero() && !b.StartedAt.IsZero() {
		b.EndsAt = b.StartedAt.Add(life)
	}
	if vm.State != "" && b.Ending == "" {
		b.State = vm.State
	}
}

// noun is b as others see it, but for its money.
func (b *box) noun() sandbox.Sandbox {
	s := sandbox.Sandbox{
		ID: b.ID, Key: b.Key, Name: b.Name, State: b.State, Profile: b.Profile, Template: cmp.Or(b.Image, b.Request.Image),
		Version: cmp.Or(b.Version, b.Request.Version), Lease: b.Lease, Connection: b.Connection, Host: b.Host, Keep: b.Keep,
		Idle: b.Request.Idle, StartedAt: b.StartedAt, EndsAt: b.EndsAt, UsedAt: b.usedAt, Running: b.running,
		EndedAt: b.EndedAt, EndReason: b.EndReason, EndText: b.EndText, Grant: b.Grant, SizeMiB: b.Size,
	}
	if s.StartedAt.IsZero() {
		s.StartedAt = b.AskedAt
	}
	if !b.RemoveAt.IsZero() && b.RemoveAt.Before(s.EndsAt) {
		if s.State.Alive() && b.Ending == "" {
			s.Extendable = s.EndsAt
		}
		s.EndsAt = b.RemoveAt
	}
	return s
}

// byIDLocked finds the box of a VM; one that lives goes before one that ended.
func (f *Fleet) byIDLocked(id string) *box {
	for _, b := range f.boxes {
		if b.ID == id && id != "" {
			return b
		}
	}
	return nil
}
