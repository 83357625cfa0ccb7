package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// tokenLife is how long a client token is known. AWS's limit is unknown; it
// was seen to be more than minutes.
const tokenLife = 24 * time.Hour

// A tokenRecord is what a client token stands for: one operation, one request
// and the answer that it got. Requests are kept as hashes only.
type tokenRecord struct {
	Operation string          `json:"operation"`
	Request   string          `json:"request"`
	Answer    json.RawMessage `json:"answer"`
	At        time.Time       `json:"at"`
}

// A tokenBook makes calls with the same client token happen once.
type tokenBook struct {
	store *store
	clock clockwork.Clock

	mu    sync.Mutex
	busy  map[string]chan struct{} // guarded by mu: tokens in use now, by record name
	swept time.Time                // guarded by mu: when old records were last looked for
}

func newTokenBook(st *store, clock clockwork.Clock) *tokenBook {
	return &tokenBook{store: st, clock: clock, busy: map[string]chan struct{}{}}
}

// do calls f, which acts and fills out, and writes the answer down. If token
// has been used before, out is that answer and f is not called; if for another
// request, that is an error. A call that failed does not use its token up.
func (b *tokenBook) do(op string, token *string, request, out any, f func() error) error {
	if token == nil {
		return f()
	}
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("hash request: %w", err)
	}
	sum := sha256.Sum256(text)
	key := sha256.Sum256([]byte(op + "\x00" + *token))
	name := hex.EncodeToString(key[:])
	defer b.take(name)()

	old, err := b.load(name)
	if err != nil {
		return err
	}
	if old != nil && b.clock.Since(old.At) < tokenLife {
		if old.Request != hex.EncodeToString(sum[:]) {
			return invalid("The client token was already used with different request parameters.")
		}
		if err := json.Unmarshal(old.Answer, out); err != nil {
			return fmt.Errorf("read old answer: %w", err)
		}
		return nil
	}
	if err := f(); err != nil {
		return err
	}
	answer, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("keep answer: %w", err)
	}
	if err := b.store.put(dirTokens, name, tokenRecord{op, hex.EncodeToString(sum[:]), answer, b.clock.Now().UTC()}); err != nil {
		return err
	}
	if b.due() {
		if err := b.sweep(); err != nil { // the call went well all the same
			b.store.log.Error("old client tokens stay behind", "err", err)
		}
	}
	return nil
}

// due says whether it is time to look for old records: once in the life of a
// token, so that there are never more than two such lives' worth.
func (b *tokenBook) due() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clock.Since(b.swept) < tokenLife {
		return false
	}
	b.swept = b.clock.Now()
	return true
}

// take waits until nobody else uses the token, and returns the way to give it
// free.
func (b *tokenBook) take(name string) (free func()) {
	for {
		b.mu.Lock()
		ch, busy := b.busy[name]
		if !busy {
			ch = make(chan struct{})
			b.busy[name] = ch
			b.mu.Unlock()
			return func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				delete(b.busy, name)
				close(ch)
			}
		}
		b.mu.Unlock()
		<-ch
	}
}

// load reads one record from disk: tokens are looked up seldom, and there may
// be many.
func (b *tokenBook) load(name string) (*tokenRecord, error) {
	data, err := atomicfile.Read(b.store.path(dirTokens, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read client token: %w", err)
	}
	var rec tokenRecord
	if err := json.Unmarshal(data, &rec); err != nil {
		return nil, fmt.Errorf("read client token: %w", err)
	}
	return &rec, nil
}

// sweep removes the records of tokens that are no longer known.
func (b *tokenBook) sweep() error {
	b.mu.Lock()
	b.swept = b.clock.Now()
	b.mu.Unlock()
	_, err := loadAll(b.store, dirTokens, func(name string, rec tokenRecord) error {
		switch {
		case rec.Operation == "" || rec.Answer == nil:
			return errForeign
		case b.clock.Since(rec.At) < tokenLife:
			return nil
		}
		return b.expire(name)
	})
	return err
}

// expire removes a record, unless its token was just used anew.
func (b *tokenBook) expire(name string) error {
	defer b.take(name)()
	rec, err := b.load(name)
	if err != nil || rec == nil || b.clock.Since(rec.At) < tokenLife {
		return err
	}
	return b.store.remove(dirTokens, name)
}
