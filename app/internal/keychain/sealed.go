package keychain

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/filelock"
	"github.com/arenero/arenero/app/internal/paths"
)

// A keyHolder has the key of all sealed secrets.
type keyHolder interface {
	// load returns the key, or ErrNotFound.
	load(ctx context.Context) (*age.X25519Identity, error)
	// store keeps a key, for as long as the secrets exist.
	store(ctx context.Context, key *age.X25519Identity) error
	// remove forgets the key. It is no error if there is none.
	remove(ctx context.Context) error
}

// Sealed is a [Store] of files, each sealed with the key of a backend.
type Sealed struct {
	dir  string // of sealed secrets
	keys keyHolder
}

var _ Store = (*Sealed)(nil)

// suffix ends the name of each file: the rest is the name of the secret.
const suffix = ".age"

func newSealed(dir string, keys keyHolder) *Sealed {
	return &Sealed{filepath.Join(dir, "sealed"), keys}
}

// Get returns the secret with a name, or ErrNotFound.
func (s *Sealed) Get(ctx context.Context, name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	key, err := s.keys.load(ctx)
	if errors.Is(err, ErrNotFound) {
		return nil, &Error{KeyLost, "get", nil}
	}
	if err != nil {
		return nil, err
	}
	return s.open(name, text, key)
}

func (s *Sealed) open(name string, text []byte, key *age.X25519Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(text), key)
	if err != nil {
		if _, other := errors.AsType[*age.NoIdentityMatchError](err); other && s.sealedFor() != key.Recipient().String() {
			return nil, &Error{KeyLost, "get", nil}
		}
		return nil, &Error{Damaged, "get", err}
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, &Error{Damaged, "get", err}
	}
	// A file with another's name is another secret: whoever may rename files
	// must not choose which key is used where.
	rest, ok := bytes.CutPrefix(plain, header(name))
	if !ok {
		return nil, &Error{Damaged, "get", errors.New("it belongs to another name")}
	}
	return rest, nil
}

// Set keeps value under name, in place of what was there.
func (s *Sealed) Set(ctx context.Context, name string, value []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	key, err := s.key(ctx)
	if err != nil {
		return err
	}
	return s.seal(name, value, key)
}

func (s *Sealed) seal(name string, value []byte, key *age.X25519Identity) error {
	var text bytes.Buffer
	w, err := age.Encrypt(&text, key.Recipient())
	if err != nil {
		return fmt.Errorf("seal secret: %w", err)
	}
	for _, part := range [][]byte{header(name), value} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("seal secret: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("seal secret: %w", err)
	}
	return atomicfile.WriteSync(s.path(name), text.Bytes(), 0o600)
}

// Delete forgets a secret.
func (s *Sealed) Delete(_ context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete secret: %w", err)
	}
	return nil
}

// Names returns the names of all secrets, sorted. It needs no key.
func (s *Sealed) Names(context.Context) ([]string, error) {
	files, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list secrets: %w", err)
	}
	var names []string
	for _, f := range files {
		code, ok := strings.CutSuffix(f.Name(), suffix)
		if !ok {
			continue
		}
		if name, err := names32.DecodeString(strings.ToUpper(code)); err == nil {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Reset forgets every secret, and the key. It is for keys that are lost.
func (s *Sealed) Reset(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	names, err := s.Names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.Delete(ctx, name); err != nil {
			return err
		}
	}
	if err := os.Remove(s.recipient()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reset keychain: %w", err)
	}
	return s.keys.remove(ctx)
}

// key returns the key, made now if there is none and nothing was sealed yet. The
// lock is held, so that no two processes make one each.
func (s *Sealed) key(ctx context.Context) (*age.X25519Identity, error) {
	key, err := s.keys.load(ctx)
	sealed := s.sealedFor()
	switch {
	case err == nil && sealed == key.Recipient().String():
		return key, nil
	case err == nil && sealed == "":
		return key, s.sealFor(key)
	case err == nil, errors.Is(err, ErrNotFound) && sealed != "":
		return nil, &Error{KeyLost, "set", nil}
	case !errors.Is(err, ErrNotFound):
		return nil, err
	}
	if key, err = age.GenerateX25519Identity(); err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	if err := s.keys.store(ctx, key); err != nil {
		return nil, err
	}
	return key, s.sealFor(key)
}

// Used reports whether a key was made for this store, so that to keep a secret
// makes none.
func (s *Sealed) Used() bool { return s.sealedFor() != "" }

// sealedFor returns whom the secrets here are sealed for, "" for no one yet. It
// is no secret, and tells a lost key from one that was never made.
func (s *Sealed) sealedFor() string {
	text, err := os.ReadFile(s.recipient())
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func (s *Sealed) sealFor(key *age.X25519Identity) error {
	return atomicfile.WriteSync(s.recipient(), []byte(key.Recipient().String()+"\n"), 0o600)
}

func (s *Sealed) recipient() string { return filepath.Join(s.dir, "recipient") }

// lock makes this the only one that changes secrets or the key.
func (s *Sealed) lock(ctx context.Context) (unlock func(), err error) {
	if err := paths.Private(s.dir); err != nil {
		return nil, err
	}
	l, err := filelock.Wait(ctx, filepath.Join(s.dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("change secrets: %w", err)
	}
	return func() { l.Close() }, nil
}

// names32 writes names so that file systems which don't tell upper from lower
// case keep them apart.
var names32 = base32.StdEncoding.WithPadding(base32.NoPadding)

func (s *Sealed) path(name string) string {
	return filepath.Join(s.dir, strings.ToLower(names32.EncodeToString([]byte(name)))+suffix)
}

// header is what a sealed file begins with: the length of its name, and that.
func header(name string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(name))), name...)
}

func checkName(name string) error {
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("name of a secret: %d bytes, want 1 to %d", len(name), MaxName)
	}
	return nil
}

// Move brings all secrets to another backend. It copies, compares, makes the new
// one the one in use by way of commit, and only then forgets the old: whenever it
// breaks off, the one in use has all secrets, and Move may be tried again.
func Move(ctx context.Context, from, to *Sealed, commit func() error) error {
	unlock, err := from.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	names, err := from.Names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		value, err := from.Get(ctx, name)
		if err != nil {
			return fmt.Errorf("move secrets: %w", err)
		}
		if err := to.Set(ctx, name, value); err != nil {
			return fmt.Errorf("move secrets: %w", err)
		}
		copied, err := to.Get(ctx, name)
		if err = cmp.Or(err, same(value, copied)); err != nil {
			return fmt.Errorf("move secrets: %w", err)
		}
	}
	if err := commit(); err != nil {
		return err
	}
	for _, name := range names {
		if err := from.Delete(ctx, name); err != nil {
			return err
		}
	}
	if err := os.Remove(from.recipient()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("move secrets: %w", err)
	}
	return from.keys.remove(ctx)
}

func same(a, b []byte) error {
	if !bytes.Equal(a, b) {
		return &Error{Damaged, "set", errors.New("a copy differs")}
	}
	return nil
}
