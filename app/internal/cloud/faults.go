package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// Operations that rules may name beside those of the API.
const (
	FaultAny       = "*"         // every operation of the API, but not the data plane
	FaultDataPlane = "DataPlane" // requests to a VM's endpoint
	FaultBuild     = "Build"     // the build of an image version; only Reason applies
)

// Faults are what the cloud does wrong on purpose. Rules are tried in order,
// and all that match a request apply to it.
type Faults struct {
	Seed      uint64 `json:"seed,omitempty"`      // of every probability
	Realistic bool   `json:"realistic,omitempty"` // be as slow as AWS
	Throttle  bool   `json:"throttle,omitempty"`  // refuse calls above the published rates
	Rules     []Rule `json:"rules"`
}

// A Rule says which requests go wrong, and how. The zero value of each part of
// the choice means all; the zero value of each effect means none.
type Rule struct {
	Operation   string  `json:"operation"`             // a name, or one of the Fault constants
	Skip        int     `json:"skip,omitempty"`        // leave this many matching requests alone first
	Every       int     `json:"every,omitempty"`       // then take each n-th
	Count       int     `json:"count,omitempty"`       // and at most this many
	Probability float64 `json:"probability,omitempty"` // each with this chance; 0 means always

	DelayMS      int    `json:"delay_ms,omitempty"`            // wait before acting
	AnswerMS     int    `json:"answer_delay_ms,omitempty"`     // wait between acting and answering
	Error        string `json:"error,omitempty"`               // an error class, in place of acting
	Message      string `json:"message,omitempty"`             // its text
	RetryAfter   int    `json:"retry_after_seconds,omitempty"` // its hint
	Status       int    `json:"status,omitempty"`              // a bare status, as a gateway gives it, in place of acting
	HTML         bool   `json:"html,omitempty"`                // with a page of HTML as its body
	Drop         bool   `json:"drop,omitempty"`                // act, then reset the connection
	Cut          bool   `json:"cut,omitempty"`                 // reset the connection without acting
	StaleReads   int    `json:"stale_reads,omitempty"`         // answer this many reads of a VM with its state before the last
	StaleSeconds int    `json:"stale_seconds,omitempty"`       // show states this much too late
	Reason       string `json:"reason,omitempty"`              // a build fails with this stateReason
}

// ParseFaults reads the JSON form of Faults. A misspelt word is an error: it
// would else be a fault that never comes.
func ParseFaults(data []byte) (Faults, error) {
	var f Faults
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return Faults{}, fmt.Errorf("read faults: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Faults{}, errors.New("read faults: something follows the object")
	}
	for i, r := range f.Rules {
		switch {
		case r.Operation == "":
			return Faults{}, fmt.Errorf("rule %d: operation is missing", i)
		case !isOperation(r.Operation):
			return Faults{}, fmt.Errorf("rule %d: no operation is named %q: give one of the API, like RunMicrovm, or %q, %q or %q",
				i, r.Operation, FaultAny, FaultDataPlane, FaultBuild)
		case r.Probability < 0 || r.Probability > 1:
			return Faults{}, fmt.Errorf("rule %d: probability is not from 0 to 1", i)
		case r.Skip < 0 || r.Every < 0 || r.Count < 0 || r.DelayMS < 0 || r.AnswerMS < 0 || r.RetryAfter < 0 || r.StaleReads < 0 || r.StaleSeconds < 0:
			return Faults{}, fmt.Errorf("rule %d: a number is below zero", i)
		case r.Status != 0 && (r.Status < 400 || r.Status > 599):
			return Faults{}, fmt.Errorf("rule %d: status is not from 400 to 599", i)
		}
	}
	return f, nil
}

func isOperation(name string) bool {
	switch name {
	case FaultAny, FaultDataPlane, FaultBuild:
		return true
	}
	_, ok := wire.OperationOf(name)
	return ok
}

// A mischief is the sum of the rules that hit one request.
type mischief struct {
	before, after time.Duration
	err           error
	drop, cut     bool
	stale         bool          // the state before the last
	late          time.Duration // states become visible this much later
	reason        string
}

// A saboteur counts requests against rules.
type saboteur struct {
	path string // a file to follow; may be empty

	mu     sync.Mutex
	faults Faults        // guarded by mu
	rules  []countedRule // guarded by mu: those of faults
	seen   fs.FileInfo   // guarded by mu: the version of path in force
}

type countedRule struct {
	Rule
	met, taken int
	chance     *rand.Rand
}

func newSaboteur(f Faults, path string) *saboteur {
	s := &saboteur{path: path}
	s.set(f)
	return s
}

// set replaces the rules and starts counting anew.
func (s *saboteur) set(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setLocked(f)
}

func (s *saboteur) setLocked(f Faults) {
	s.faults, s.rules = f, nil
	for i, r := range f.Rules {
		s.rules = append(s.rules, countedRule{Rule: r, chance: rand.New(rand.NewPCG(f.Seed, uint64(i)))})
	}
}

// switches are the faults that are on or off.
func (s *saboteur) switches() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// follow reads the file again if it is another one than last time. A file that
// can't be read leaves the rules as they are, and is complained of once.
func (s *saboteur) follow() error {
	if s.path == "" {
		return nil
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return nil // not there yet, or being replaced
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen != nil && os.SameFile(s.seen, info) && s.seen.ModTime().Equal(info.ModTime()) && s.seen.Size() == info.Size() {
		return nil
	}
	s.seen = info
	data, err := os.ReadFile(s.path)
	if err != nil {
		return fmt.Errorf("read faults: %w", err)
	}
	f, err := ParseFaults(data)
	if err != nil {
		return err
	}
	s.setLocked(f)
	return nil
}

// meet counts a request for operation and says what goes wrong with it.
func (s *saboteur) meet(operation string) mischief {
	s.mu.Lock()
	defer s.mu.Unlock()
	var m mischief
	for i := range s.rules {
		if r := &s.rules[i]; r.hit(operation) {
			r.addTo(&m)
		}
	}
	return m
}

func (r *countedRule) hit(operation string) bool {
	any := r.Operation == FaultAny && operation != FaultDataPlane && operation != FaultBuild
	if r.Operation != operation && !any {
		return false
	}
	r.met++
	n := r.met - r.Skip
	count := r.Count
	if r.StaleReads > 0 {
		count = r.StaleReads
	}
	switch {
	case n <= 0, r.Every > 1 && n%r.Every != 0, count > 0 && r.taken >= count:
		return false
	case r.Probability > 0 && r.chance.Float64() >= r.Probability:
		return false
	}
	r.taken++
	return true
}

func (r *countedRule) addTo(m *mischief) {
	m.before += time.Duration(r.DelayMS) * time.Millisecond
	m.after += time.Duration(r.AnswerMS) * time.Millisecond
	m.drop = m.drop || r.Drop
	m.cut = m.cut || r.Cut
	m.stale = m.stale || r.StaleReads > 0
	m.late = max(m.late, time.Duration(r.StaleSeconds)*time.Second)
	if r.Reason != "" {
		m.reason = r.Reason
	}
	if m.err != nil {
		return
	}
	switch {
	case r.Error != "":
		m.err = &apiError{class: r.Error, message: orDefault(r.Message, "A fault rule asked for this."), retryAfter: r.RetryAfter, status: r.Status}
	case r.Status != 0:
		m.err = &apiError{status: r.Status, message: r.Message, retryAfter: r.RetryAfter, html: r.HTML}
	}
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
