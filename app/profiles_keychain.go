package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// A secretKeeper is the keychain that the settings name. One that is in a vault
// stays open from the passphrase on until it is locked or the engine ends.
type secretKeeper struct {
	file *settings.File
	dir  string

	mu     sync.Mutex // guards what follows
	stores map[keychain.Backend]*keychain.Sealed
	opened bool // the vault is
}

var _ awsauth.Secrets = (*secretKeeper)(nil)

func newSecretKeeper(file *settings.File, dir string) *secretKeeper {
	return &secretKeeper{file: file, dir: dir, stores: map[keychain.Backend]*keychain.Sealed{}}
}

// passphrase is the key of a passphrase in the context of a call that brings it.
type passphrase struct{}

// backend is the one in use.
func (k *secretKeeper) backend() (keychain.Backend, error) {
	known, err := k.file.Read()
	if err != nil {
		return "", &sandbox.Error{Code: sandbox.StoreDown, Msg: "the settings can't be read", Hint: "see " + k.file.Path(), Err: err}
	}
	return keychain.Backend(cmp.Or(known.Keychain, string(keychain.System))), nil
}

func (k *secretKeeper) store(b keychain.Backend) (*keychain.Sealed, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.stores[b]; s != nil {
		return s, nil
	}
	s, err := keychain.Open(keychain.Config{Backend: b, Dir: k.dir, Passphrase: func(ctx context.Context, _ bool) (string, error) {
		if text, ok := ctx.Value(passphrase{}).(string); ok {
			return text, nil
		}
		return "", &keychain.Error{Class: keychain.NoPassphrase, Op: "open"}
	}})
	if err != nil {
		return nil, err
	}
	k.stores[b] = s
	return s, nil
}

func (k *secretKeeper) current() (*keychain.Sealed, error) {
	b, err := k.backend()
	if err != nil {
		return nil, err
	}
	return k.store(b)
}

// Get returns a secret.
func (k *secretKeeper) Get(ctx context.Context, name string) ([]byte, error) {
	s, err := k.current()
	if err != nil {
		return nil, err
	}
	return s.Get(ctx, name)
}

// Set keeps a secret.
func (k *secretKeeper) Set(ctx context.Context, name string, value []byte) error {
	s, err := k.current()
	if err != nil {
		return err
	}
	return s.Set(ctx, name, value)
}

// Delete forgets a secret.
func (k *secretKeeper) Delete(ctx context.Context, name string) error {
	s, err := k.current()
	if err != nil {
		return err
	}
	return s.Delete(ctx, name)
}

// Locked fails if a person would be needed to get at secrets now, and asks nobody.
func (k *secretKeeper) Locked(ctx context.Context) error {
	s, err := k.current()
	if err != nil {
		return err
	}
	return s.Locked(ctx)
}

// holds reports whether a vault is open, which would have to be opened again by
// a person if this engine ended.
func (k *secretKeeper) holds() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.opened
}

func (k *secretKeeper) setOpened(yes bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.opened = yes
}

// A KeychainStatus is how the keychain is.
type KeychainStatus struct {
	Backend string `json:"backend"`
	State   string `json:"state"` // "ready", "locked", "missing" (a vault that nobody made), or the class of the error
	Secrets int    `json:"secrets"`
	Error   string `json:"error,omitempty"` // in English
	Why     string `json:"why,omitempty"`   // what the keychain itself said
}

func (k *secretKeeper) do(ctx context.Context, r control.ProfileRequest) (any, error) {
	switch r.Action {
	case control.KeychainStatus:
		return k.status(ctx)
	case control.KeychainUse:
		return nil, k.use(ctx, keychain.Backend(r.Name), string(r.Data))
	}
	b, err := k.backend()
	if err != nil {
		return nil, err
	}
	s, err := k.store(b)
	if err != nil {
		return nil, err
	}
	switch r.Action {
	case control.KeychainReset:
		k.setOpened(false)
		return nil, s.Reset(ctx)
	case control.KeychainLock:
		s.Lock()
		k.setOpened(false)
		return nil, nil
	}
	if b != keychain.Vault {
		return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "the keychain of the system is in use, which is unlocked by itself", Details: map[string]any{"why": "not_a_vault"}}
	}
	return nil, k.unlock(ctx, s, string(r.Data))
}

// unlock opens a vault, and makes one that is not there.
func (k *secretKeeper) unlock(ctx context.Context, s *keychain.Sealed, pass string) error {
	s.Lock()
	k.setOpened(false)
	if err := probe(context.WithValue(ctx, passphrase{}, pass), s); err != nil {
		return err
	}
	k.setOpened(true)
	return nil
}

// probe keeps a secret and forgets it, which takes all that keeping one does.
func probe(ctx context.Context, s *keychain.Sealed) error {
	const name = "arenero/probe"
	if err := s.Set(ctx, name, []byte("probe")); err != nil {
		return err
	}
	return s.Delete(ctx, name)
}

func (k *secretKeeper) status(ctx context.Context) (KeychainStatus, error) {
	b, err := k.backend()
	if err != nil {
		return KeychainStatus{}, err
	}
	out := KeychainStatus{Backend: string(b), State: "ready"}
	s, err := k.store(b)
	if err != nil {
		return out, err
	}
	names, err := s.Names(ctx)
	if err != nil {
		return out, err
	}
	out.Secrets = len(names)
	if b == keychain.Vault && !s.Used() {
		if _, err := os.Stat(filepath.Join(k.dir, "vault.age")); errors.Is(err, fs.ErrNotExist) {
			out.State = "missing"
			return out, nil
		}
	}
	switch err := s.Unlock(ctx); keychain.ClassOf(err) {
	case "":
		if err != nil {
			return out, err
		}
	case keychain.NoPassphrase:
		out.State = "locked"
	default:
		e := sandbox.ToError(accountError(err))
		out.State, out.Error = string(keychain.ClassOf(err)), sandbox.Message(e)
		out.Why, _ = e.Details["why"].(string)
	}
	return out, nil
}

// use moves all secrets to another backend.
func (k *secretKeeper) use(ctx context.Context, to keychain.Backend, pass string) error {
	now, err := k.backend()
	if err != nil {
		return err
	}
	next, err := k.store(to)
	if err != nil {
		return &sandbox.Error{Code: sandbox.Invalid, Msg: err.Error()}
	}
	if pass != "" {
		ctx = context.WithValue(ctx, passphrase{}, pass)
	}
	if to == keychain.Vault {
		err = k.unlock(ctx, next, pass)
	} else {
		err = probe(ctx, next)
	}
	if err != nil || to == now {
		return err
	}
	from, err := k.store(now)
	if err != nil {
		return err
	}
	commit := func() error {
		return k.file.Change(ctx, func(s *settings.Settings) error {
			s.Keychain = string(to)
			if to == keychain.System {
				s.Keychain = ""
			}
			return nil
		})
	}
	names, err := from.Names(ctx)
	if err != nil {
		return err
	}
	if len(names) == 0 { // a keychain that has nothing need not be there
		err = commit()
	} else {
		err = keychain.Move(ctx, from, next, commit)
	}
	if err == nil && now == keychain.Vault {
		from.Lock()
		k.setOpened(false)
	}
	return err
}
