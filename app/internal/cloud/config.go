package cloud

import (
	"log/slog"
	"time"

	"github.com/jonboulle/clockwork"
)

// A Config is what a [Server] is made of. Launcher and Dir are required.
type Config struct {
	Dir         string           // records and keys; one Server at a time
	Launcher    Launcher         // starts what is behind each VM
	Region      string           // default us-east-1
	Account     string           // default 000000000000
	Credentials []Credential     // who may call; default one key made once and kept in Dir
	Clock       clockwork.Clock  // turns every timer, lag and expiry
	SigningTime func() time.Time // what signatures are checked against; default the wall's clock
	Lags        Lags             // default as fast as the machine is
	Policy      Policy           // answers to what AWS leaves open
	Faults      Faults           // what goes wrong on purpose
	FaultsFile  string           // replaces Faults, and is read again whenever it changes
	Log         *slog.Logger     // default: none
}

// Lags are the times AWS needs, for those who want to meet them here.
type Lags struct {
	Run       time.Duration // from RunMicrovm to RUNNING
	Suspend   time.Duration
	Resume    time.Duration
	Terminate time.Duration
	Read      time.Duration // how far reads of a state are behind
	Exit      time.Duration // how long the end of the main process stays unseen
	Build     time.Duration // of an image version; zero means one second
	Delete    time.Duration // of an image version; zero means at once
}

// RealisticLags are the times measured in AWS.
func RealisticLags() Lags {
	return Lags{
		Run:       2 * time.Second,
		Suspend:   1200 * time.Millisecond,
		Resume:    time.Second,
		Terminate: 3 * time.Second,
		Read:      500 * time.Millisecond,
		Exit:      15 * time.Second,
		Build:     150 * time.Second,
		Delete:    5400 * time.Millisecond,
	}
}

// A Policy chooses where what is known of AWS is contradictory, and how much
// the account may have. The zero value is the usual choice throughout.
type Policy struct {
	RepeatConflicts      bool          // suspending a SUSPENDED VM, or resuming a RUNNING one, is a Conflict, as documented
	KeepExplicitSuspends bool          // suspendedDurationSeconds counts for idle suspends only
	HoldPending          time.Duration // how long a request waits for a new VM; default 10 s
	Retention            time.Duration // how long ended VMs are listed; default 1 h
	Throttle             bool          // refuse calls, and requests to VMs, above the published rates
	Quotas               Quotas
}

// Quotas are limits of the account. Zero means the published default.
type Quotas struct {
	MemoryMiB int // of all VMs that are not terminated
	Images    int
	Versions  int // per image
	Builds    int // at the same time
}

func (c Config) withDefaults() Config {
	c.Region = orDefault(c.Region, "us-east-1")
	c.Account = orDefault(c.Account, "000000000000")
	if c.Clock == nil {
		c.Clock = wallClock{clockwork.NewRealClock()}
	}
	if c.SigningTime == nil {
		c.SigningTime = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Lags.Build = orDefault(c.Lags.Build, time.Second)
	c.Policy.HoldPending = orDefault(c.Policy.HoldPending, 10*time.Second)
	c.Policy.Retention = orDefault(c.Policy.Retention, time.Hour)
	q := &c.Policy.Quotas
	memory, builds := 400*1024, 5
	switch c.Region {
	case "us-east-1", "us-east-2", "us-west-2", "ap-northeast-1":
		memory, builds = 1024*1024, 10
	}
	q.MemoryMiB = orDefault(q.MemoryMiB, memory)
	q.Images = orDefault(q.Images, 100)
	q.Versions = orDefault(q.Versions, 50)
	q.Builds = orDefault(q.Builds, builds)
	return c
}
