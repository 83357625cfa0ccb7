package awsauth

import (
	"context"
	"crypto/sha256"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/arenero/arenero/app/internal/keychain"
)

const (
	window   = 5 * time.Minute  // credentials are renewed this long before they run out
	minLife  = 10 * time.Second // what lives shorter is not worth using
	patience = time.Minute      // for one renewal, however long its callers would wait; see [Deps.Patience]
)

// A live gives the credentials of one profile for as long as it is asked. When
// a file that they come from has changed, it starts again from the files, so
// that a login or a logout with another program counts from the next request.
type live struct {
	a *Auth
	p Profile

	// turn is held by the one who reads files: those may be where nobody answers,
	// and one who waits there is enough.
	turn chan struct{}

	mu  sync.Mutex // guards now
	now *current   // nil until first needed
}

// A current is a chain with what it gave.
type current struct {
	*chain
	cache  *aws.CredentialsCache // one renewal at a time
	gave   atomic.Bool           // credentials
	epoch  int64
	offset time.Duration
	files  []*watched
}

// Retrieve implements [aws.CredentialsProvider].
func (l *live) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := l.current(ctx)
	if err != nil {
		return aws.Credentials{}, err
	}
	if c.keychain && c.gave.Load() && l.a.locked(ctx) {
		// What came out of the keychain is not to outlive that it was locked.
		l.drop(c)
		if c, err = l.current(ctx); err != nil {
			return aws.Credentials{}, err
		}
	}
	creds, err := c.cache.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, classify(l.p.label(), "get credentials", err)
	}
	c.gave.Store(true)
	return creds, nil
}

// drop forgets what c gave.
func (l *live) drop(c *current) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == c {
		l.now = nil
	}
}

// locked reports whether the keychain is known to be locked, where it can tell
// without asking anybody.
func (a *Auth) locked(ctx context.Context) bool {
	s, ok := a.deps.Secrets.(interface{ Locked(context.Context) error })
	if !ok {
		return false
	}
	switch keychain.ClassOf(s.Locked(ctx)) {
	case keychain.Locked, keychain.NoPassphrase, keychain.NoBus, keychain.NoService:
		return true
	}
	return false
}

// current returns what the files say now. It waits for them no longer than ctx.
func (l *live) current(ctx context.Context) (*current, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, gaveUp(ctx)
	}
	return apart(ctx, func() (*current, error) {
		defer func() { <-l.turn }()
		return l.read(ctx)
	})
}

func (l *live) read(ctx context.Context) (*current, error) {
	l.mu.Lock()
	had := l.now
	l.mu.Unlock()
	if had != nil && had.holds() {
		return had, nil
	}
	fresh := &current{epoch: l.a.epoch.Load(), offset: l.a.Offset()}
	chain, err := l.a.build(ctx, l.p, nil)
	if err != nil {
		return nil, err
	}
	fresh.chain = chain
	slices.Sort(chain.files)
	for _, path := range slices.Compact(chain.files) {
		fresh.files = append(fresh.files, watch(path))
	}
	fresh.cache = aws.NewCredentialsCache(&steady{a: l.a, profile: chain.label(), source: chain.provider}, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = window })
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == had { // else another was as quick
		l.now = fresh
	}
	return l.now, nil
}

// holds reports whether nothing has changed of what c was made of.
func (c *current) holds() bool {
	if c.epoch != c.a.epoch.Load() || (c.offset-c.a.Offset()).Abs() > minOffset {
		return false
	}
	for _, f := range c.files {
		if f.changed() {
			return false
		}
	}
	return true
}

// A steady gives credentials in the time of this computer, and lets a renewal
// fail for as long as there is something left to use.
type steady struct {
	a       *Auth
	profile string
	source  aws.CredentialsProvider

	mu  sync.Mutex // guards end
	end time.Time  // of what was given last
}

func (s *steady) Retrieve(ctx context.Context) (aws.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, s.a.patience())
	defer cancel()
	creds, err := s.source.Retrieve(ctx)
	if err != nil || !creds.CanExpire {
		return creds, err
	}
	if err := s.a.fresh(s.profile, creds); err != nil {
		return aws.Credentials{}, err
	}
	creds.Expires = creds.Expires.Add(-s.a.Offset())
	s.mu.Lock()
	s.end = creds.Expires
	s.mu.Unlock()
	return creds, nil
}

// fresh refuses what can't be used any more: whoever gives that has an old answer
// or the wrong time, and to ask again for each request would not help.
func (a *Auth) fresh(profile string, c aws.Credentials) error {
	if c.CanExpire && !c.Expires.After(a.Now()) {
		return &ErrStale{Profile: profile, Ended: c.Expires}
	}
	return nil
}

// AdjustExpiresBy implements [aws.AdjustExpiresByCredentialsCacheStrategy]. What
// lives for less than two windows is used for half its life.
func (*steady) AdjustExpiresBy(creds aws.Credentials, by time.Duration) (aws.Credentials, error) {
	if creds.CanExpire {
		creds.Expires = creds.Expires.Add(max(by, -max(0, time.Until(creds.Expires))/2))
	}
	return creds, nil
}

// HandleFailToRefresh implements [aws.HandleFailRefreshCredentialsCacheStrategy].
func (s *steady) HandleFailToRefresh(_ context.Context, had aws.Credentials, err error) (aws.Credentials, error) {
	s.mu.Lock()
	left := time.Until(s.end)
	s.mu.Unlock()
	if !had.HasKeys() || !had.CanExpire || left < minLife {
		return aws.Credentials{}, err
	}
	had.Expires = time.Now().Add(min(left, time.Minute))
	return had, nil
}

// A watched is a file, and what was in it.
type watched struct {
	path string
	seen atomic.Pointer[sight]
}

type sight struct {
	there bool
	mod   time.Time
	size  int64
	sum   [sha256.Size]byte
	early bool // looked at so soon after a change that the next may leave the same stamp
}

// settled is how old a change must be before its stamp tells it from the next
// one: stamps are as coarse as two seconds on some disks.
const settled = 3 * time.Second

func watch(path string) *watched {
	w := &watched{path: path}
	w.seen.Store(look(path))
	return w
}

func look(path string) *sight {
	s := &sight{}
	info, err := os.Stat(path)
	if err != nil {
		return s
	}
	text, err := readFile(path)
	if err != nil {
		return s
	}
	*s = sight{there: true, mod: info.ModTime(), size: info.Size(), sum: sha256.Sum256(text), early: time.Since(info.ModTime()) < settled}
	return s
}

// changed reports whether the file holds something else than when it was first
// looked at. It reads it only if its stamp says that it may.
func (w *watched) changed() bool {
	had := w.seen.Load()
	info, err := os.Stat(w.path)
	if err != nil {
		return had.there
	}
	if had.there && !had.early && info.ModTime().Equal(had.mod) && info.Size() == had.size {
		return false
	}
	now := look(w.path)
	if now.there != had.there || now.sum != had.sum {
		return true
	}
	w.seen.Store(now)
	return false
}
