// Package keychain keeps secrets of any size where only their owner can read
// them.
//
// Each secret is a file of its own, sealed with one key. What differs is who has
// the key: the keychain of the system (Secret Service, macOS Keychain, Windows
// Credential Manager), which so never sees more than a key and can't find it too
// big, or a vault that a passphrase opens, for computers that have no keychain.
package keychain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// A Store keeps named secrets. Its methods may be called at once by any number
// of goroutines, and by those of other processes on the same files. Errors are
// [ErrNotFound] or of type [*Error], but for those of the disk.
//
// Calls may wait for a person, so none belongs on a goroutine that draws.
type Store interface {
	// Get returns the secret with a name, or ErrNotFound.
	Get(ctx context.Context, name string) ([]byte, error)
	// Set keeps value under name, in place of what was there. The value is on
	// the disk when it returns.
	Set(ctx context.Context, name string, value []byte) error
	// Delete forgets a secret. It is no error if there is none.
	Delete(ctx context.Context, name string) error
	// Names returns the names of all secrets, sorted. It needs no key.
	Names(ctx context.Context) ([]string, error)
}

// ErrNotFound means that there is no secret with a name.
var ErrNotFound = errors.New("no such secret")

// MaxName is the greatest length of a name, in bytes.
const MaxName = 128

// A Backend is who has the key.
type Backend string

// The backends.
const (
	System Backend = "system" // the keychain of the system
	Vault  Backend = "vault"  // a passphrase, by explicit choice
)

// Timeout is how long a call waits for the keychain of the system, unless the
// configuration says otherwise. It may be showing a dialog that nobody sees.
const Timeout = 3 * time.Second

// A Config says where secrets are.
type Config struct {
	Backend Backend
	Dir     string // folder for sealed secrets, and for the vault; made when first needed
	// Passphrase asks for that of the vault. New says that it is to be made up,
	// so that a person is asked twice. Nil is nobody to ask.
	Passphrase func(ctx context.Context, fresh bool) (string, error)
	Timeout    time.Duration // for a call to the keychain of the system; default [Timeout]

	work int // of scrypt, as a power of two; default of age. Tests take less.
}

// Open returns the store of a configuration. It asks nobody for anything yet.
func Open(cfg Config) (*Sealed, error) {
	if cfg.Dir == "" {
		return nil, errors.New("open keychain: no folder")
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = Timeout
	}
	switch cfg.Backend {
	case System:
		return newSealed(filepath.Join(cfg.Dir, "system"), newSystemKey(cfg.Timeout)), nil
	case Vault:
		return newSealed(filepath.Join(cfg.Dir, "vault"), newVaultKey(cfg)), nil
	}
	return nil, fmt.Errorf("open keychain: no backend is called %q: use %s or %s", cfg.Backend, System, Vault)
}

// A Class says why secrets can't be had, and so what a person can do.
type Class string

// The classes.
const (
	NoBus           Class = "no_bus"           // no session bus, as over SSH, in WSL or in a container
	NoService       Class = "no_service"       // a bus, and no keychain on it
	Locked          Class = "locked"           // the keychain is locked, and opened no dialog
	Dismissed       Class = "dismissed"        // a person closed the dialog
	Denied          Class = "denied"           // the keychain said no
	TooBig          Class = "too_big"          // the keychain takes no value of this size
	TimedOut        Class = "timeout"          // the keychain did not answer, perhaps for a dialog
	WrongPassphrase Class = "wrong_passphrase" // of the vault
	NoPassphrase    Class = "no_passphrase"    // the vault is closed, and there is nobody to ask
	KeyLost         Class = "key_lost"         // there are sealed secrets, and their key is gone
	Damaged         Class = "damaged"          // a sealed secret is not what was written
	VaultDamaged    Class = "vault_damaged"    // the vault itself is not what was written, and no passphrase opens it
	Other           Class = "other"
)

// Classes are all classes.
var Classes = []Class{NoBus, NoService, Locked, Dismissed, Denied, TooBig, TimedOut, WrongPassphrase, NoPassphrase, KeyLost, Damaged, VaultDamaged, Other}

// An Error says why a keychain did not do what it was asked for. It holds no
// secret.
type Error struct {
	Class Class
	Op    string // what was asked for: "get", "set", "delete", "open"
	Err   error  // what the keychain said; may be nil
}

// Error is for logs. What people are told of a class, and what they can do, is for
// the programs that speak to them.
func (e *Error) Error() string {
	text := "keychain: " + e.Op + ": " + string(e.Class)
	if e.Err != nil && (e.Class == Other || e.Class == Damaged || e.Class == VaultDamaged) {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns what the keychain said.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of err, "" if it is not of a keychain.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return ""
}
