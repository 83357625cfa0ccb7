package keychain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"filippo.io/age"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/paths"
)

// A vaultKey keeps the key in a file that a passphrase opens. Opening is slow on
// purpose, so the key stays in memory once it was had.
type vaultKey struct {
	path string
	ask  func(ctx context.Context, fresh bool) (string, error)
	work int

	mu  sync.Mutex
	key *age.X25519Identity // nil while closed
}

func newVaultKey(cfg Config) *vaultKey {
	return &vaultKey{path: filepath.Join(cfg.Dir, "vault.age"), ask: cfg.Passphrase, work: cfg.work}
}

// maxWork is the most effort, as a power of two, that opening a vault may ask
// for: the file says how much, and may not be ours.
const maxWork = 22

func (v *vaultKey) load(ctx context.Context) (*age.X25519Identity, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	text, err := os.ReadFile(v.path)
	if errors.Is(err, fs.ErrNotExist) {
		v.key = nil
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read vault: %w", err)
	}
	if v.key != nil {
		return v.key, nil
	}
	if err := readable(text); err != nil { // whoever is asked would answer in vain
		return nil, err
	}
	passphrase, err := v.passphrase(ctx, false)
	if err != nil {
		return nil, err
	}
	who, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, &Error{WrongPassphrase, "open", err} // an empty one
	}
	who.SetMaxWorkFactor(maxWork)
	r, err := age.Decrypt(bytes.NewReader(text), who)
	if err != nil {
		if _, no := errors.AsType[*age.NoIdentityMatchError](err); no {
			return nil, &Error{WrongPassphrase, "open", nil}
		}
		return nil, &Error{VaultDamaged, "open", err}
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, &Error{VaultDamaged, "open", err}
	}
	if v.key, err = age.ParseX25519Identity(strings.TrimSpace(string(plain))); err != nil {
		return nil, &Error{VaultDamaged, "open", errors.New("there is no key in it")} // the text may be one, so it is not told
	}
	return v.key, nil
}

// readable reports what is wrong with the head of a vault, as far as it can be told
// without its passphrase.
func readable(text []byte) error {
	_, err := age.Decrypt(bytes.NewReader(text), nobody{})
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok || err == nil {
		return nil
	}
	return &Error{VaultDamaged, "open", err}
}

// nobody is an identity that can open nothing.
type nobody struct{}

// Unwrap says so.
func (nobody) Unwrap([]*age.Stanza) ([]byte, error) { return nil, age.ErrIncorrectIdentity }

func (v *vaultKey) store(ctx context.Context, key *age.X25519Identity) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	passphrase, err := v.passphrase(ctx, true)
	if err != nil {
		return err
	}
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return &Error{WrongPassphrase, "set", err}
	}
	if v.work > 0 {
		to.SetWorkFactor(v.work)
	}
	var text bytes.Buffer
	w, err := age.Encrypt(&text, to)
	if err != nil {
		return fmt.Errorf("seal vault: %w", err)
	}
	if _, err := io.WriteString(w, key.String()+"\n"); err != nil {
		return fmt.Errorf("seal vault: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("seal vault: %w", err)
	}
	if err := paths.Private(filepath.Dir(v.path)); err != nil {
		return err
	}
	if err := atomicfile.WriteSync(v.path, text.Bytes(), 0o600); err != nil {
		return err
	}
	v.key = key
	return nil
}

func (v *vaultKey) remove(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.key = nil
	if err := os.Remove(v.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove vault: %w", err)
	}
	return nil
}

func (v *vaultKey) passphrase(ctx context.Context, fresh bool) (string, error) {
	if v.ask == nil {
		return "", &Error{NoPassphrase, "open", nil}
	}
	return v.ask(ctx, fresh)
}

// Unlock opens the store, so that later calls need nobody to ask. It is for
// vaults: the keychain of a system asks by itself. There is nothing to open where
// no key was made yet.
func (s *Sealed) Unlock(ctx context.Context) error {
	_, err := s.keys.load(ctx)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if s.Used() { // and its key is gone
		return &Error{KeyLost, "open", nil}
	}
	return nil
}

// Lock forgets a key that [Sealed.Unlock], or any other call, had to ask for.
func (s *Sealed) Lock() {
	if v, ok := s.keys.(*vaultKey); ok {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.key = nil
	}
}
