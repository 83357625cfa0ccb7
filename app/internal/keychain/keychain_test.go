package keychain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// lowWork makes vaults quick to open, and so too weak for anything but tests.
const lowWork = 2

func vault(t *testing.T, dir, passphrase string) *Sealed {
	t.Helper()
	s, err := Open(Config{Backend: Vault, Dir: dir, work: lowWork, Passphrase: func(context.Context, bool) (string, error) { return passphrase, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStores(t *testing.T) {
	stores := map[string]Store{"vault": vault(t, t.TempDir(), "correct horse"), "memory": &Memory{}}
	for name, s := range stores {
		t.Run(name, func(t *testing.T) { testStore(t, s) })
	}
}

// testStore has a store do all that stores do.
func testStore(t *testing.T, s Store) {
	ctx := t.Context()
	if _, err := s.Get(ctx, "aws/none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get() of nothing = %v, want ErrNotFound", err)
	}
	if err := s.Delete(ctx, "aws/none"); err != nil {
		t.Errorf("Delete() of nothing = %v", err)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	want := map[string][]byte{
		"aws/prod": []byte("secret"), "aws/Prod": []byte("another"), "": nil, "..": []byte("dots"), "a/../b": {}, "ñandú €": []byte("\x00\xff"),
		strings.Repeat("n", MaxName): []byte("long"), "big": big, "2560": big[:2560], "2561": big[:2561],
	}
	delete(want, "")
	for name, value := range want {
		if err := s.Set(ctx, name, []byte("old")); err != nil {
			t.Fatal(err)
		}
		if err := s.Set(ctx, name, value); err != nil {
			t.Fatal(err)
		}
	}
	names, err := s.Names(ctx)
	if err != nil || len(names) != len(want) || !slices.IsSorted(names) {
		t.Errorf("Names() = %q, %v, want %d, sorted", names, err, len(want))
	}
	for name, value := range want {
		got, err := s.Get(ctx, name)
		if err != nil || !bytes.Equal(got, value) {
			t.Errorf("Get(%q) = %d bytes, %v, want %d", name, len(got), err, len(value))
		}
		if err := s.Delete(ctx, name); err != nil {
			t.Error(err)
		}
		if _, err := s.Get(ctx, name); !errors.Is(err, ErrNotFound) {
			t.Errorf("Get(%q) after Delete() = %v, want ErrNotFound", name, err)
		}
	}
	for _, name := range []string{"", strings.Repeat("n", MaxName+1)} {
		if err := s.Set(ctx, name, nil); err == nil {
			t.Errorf("Set() with a name of %d bytes = nil", len(name))
		}
	}
}

func TestVaultIsClosed(t *testing.T) {
	dir := t.TempDir()
	s := vault(t, dir, "right")
	must(t, s.Set(t.Context(), "name", []byte("value")))

	_, err := vault(t, dir, "wrong").Get(t.Context(), "name")
	wantClass(t, err, WrongPassphrase)
	_, err = vault(t, dir, "").Get(t.Context(), "name")
	wantClass(t, err, WrongPassphrase)

	nobody, err := Open(Config{Backend: Vault, Dir: dir})
	must(t, err)
	_, err = nobody.Get(t.Context(), "name")
	wantClass(t, err, NoPassphrase)

	asked := 0
	again, err := Open(Config{Backend: Vault, Dir: dir, Passphrase: func(context.Context, bool) (string, error) { asked++; return "right", nil }})
	must(t, err)
	must(t, again.Unlock(t.Context()))
	for range 3 {
		if _, err := again.Get(t.Context(), "name"); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
	again.Lock()
	must(t, again.Unlock(t.Context()))
	if asked != 2 {
		t.Errorf("asked %d times after Lock(), want twice", asked)
	}
	cancel := errors.New("cancelled")
	dismissed, err := Open(Config{Backend: Vault, Dir: dir, Passphrase: func(context.Context, bool) (string, error) { return "", cancel }})
	must(t, err)
	if _, err := dismissed.Get(t.Context(), "name"); !errors.Is(err, cancel) {
		t.Errorf("Get() = %v, want that of who was asked", err)
	}
}

// TestNoPlainText looks for secrets and names in all files.
func TestNoPlainText(t *testing.T) {
	dir := t.TempDir()
	s := vault(t, dir, "a passphrase like no other")
	must(t, s.Set(t.Context(), "name", []byte("canary-7f3a")))
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		must(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if path != dir && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		must(t, err)
		for _, word := range []string{"canary-7f3a", "AGE-SECRET-KEY", "like no other"} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s has %q in it", path, word)
			}
		}
		return nil
	}))
}

func TestDamage(t *testing.T) {
	ctx := t.Context()
	newVault := func(t *testing.T) (*Sealed, string) {
		dir := t.TempDir()
		s := vault(t, dir, "p")
		must(t, s.Set(ctx, "a", []byte("of a")))
		must(t, s.Set(ctx, "b", []byte("of b")))
		return s, dir
	}
	t.Run("swapped files", func(t *testing.T) {
		s, _ := newVault(t)
		must(t, os.Rename(s.path("a"), s.path("b")))
		_, err := s.Get(ctx, "b")
		wantClass(t, err, Damaged)
	})
	t.Run("a bit", func(t *testing.T) {
		s, _ := newVault(t)
		text, err := os.ReadFile(s.path("a"))
		must(t, err)
		for i := range text {
			bad := bytes.Clone(text)
			bad[i] ^= 1
			must(t, os.WriteFile(s.path("a"), bad, 0o600))
			if got, err := s.Get(ctx, "a"); err == nil {
				t.Fatalf("byte %d changed: Get() = %q", i, got)
			}
		}
	})
	t.Run("short", func(t *testing.T) {
		s, _ := newVault(t)
		text, err := os.ReadFile(s.path("a"))
		must(t, err)
		for n := range text {
			must(t, os.WriteFile(s.path("a"), text[:n], 0o600))
			if got, err := s.Get(ctx, "a"); err == nil {
				t.Fatalf("%d bytes of %d: Get() = %q", n, len(text), got)
			}
		}
	})
	t.Run("key gone", func(t *testing.T) {
		s, dir := newVault(t)
		must(t, os.Remove(filepath.Join(dir, "vault.age")))
		_, err := s.Get(ctx, "a")
		wantClass(t, err, KeyLost)
		// A new key would leave the old secrets sealed for good, so none is made.
		wantClass(t, s.Set(ctx, "c", nil), KeyLost)
		must(t, s.Reset(ctx))
		must(t, s.Set(ctx, "c", []byte("new")))
		names, err := s.Names(ctx)
		if err != nil || !slices.Equal(names, []string{"c"}) {
			t.Errorf("Names() = %q, %v, want only the new", names, err)
		}
	})
	t.Run("vault", func(t *testing.T) {
		s, dir := newVault(t)
		path := filepath.Join(dir, "vault.age")
		whole, err := os.ReadFile(path)
		must(t, err)
		nobody, err := Open(Config{Backend: Vault, Dir: dir})
		must(t, err)
		wantClass(t, nobody.Unlock(ctx), NoPassphrase)
		for n := range whole {
			must(t, os.WriteFile(path, whole[:n], 0o600))
			s.Lock()
			wantClass(t, s.Unlock(ctx), VaultDamaged)
		}
		must(t, os.WriteFile(path, whole[:50], 0o600))
		wantClass(t, nobody.Unlock(ctx), VaultDamaged) // no passphrase is asked for in vain
		must(t, os.Remove(path))
		wantClass(t, nobody.Unlock(ctx), KeyLost)
		must(t, os.WriteFile(path, whole, 0o600))
		must(t, s.Unlock(ctx))
	})
	t.Run("another key", func(t *testing.T) {
		s, dir := newVault(t)
		other := t.TempDir()
		must(t, vault(t, other, "p").Set(ctx, "x", nil))
		must(t, os.Rename(filepath.Join(other, "vault.age"), filepath.Join(dir, "vault.age")))
		s.Lock()
		_, err := s.Get(ctx, "a")
		wantClass(t, err, KeyLost)
		wantClass(t, s.Set(ctx, "a", nil), KeyLost)
	})
}

// TestFirstKeyOnce has many stores, as of many processes, begin at once: one key
// is made, and all secrets are sealed for it.
func TestFirstKeyOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	const n = 8
	for i := range n {
		wg.Go(func() {
			if err := vault(t, dir, "p").Set(t.Context(), fmt.Sprint(i), []byte{byte(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := vault(t, dir, "p")
	for i := range n {
		if got, err := s.Get(t.Context(), fmt.Sprint(i)); err != nil || !bytes.Equal(got, []byte{byte(i)}) {
			t.Errorf("Get(%d) = %q, %v", i, got, err)
		}
	}
}

func TestMove(t *testing.T) {
	ctx := t.Context()
	broken := errors.New("broken off")
	for _, fails := range []bool{true, false} {
		from, to := vault(t, t.TempDir(), "old"), vault(t, t.TempDir(), "new")
		want := map[string]string{"a": "of a", "b": "of b"}
		for name, value := range want {
			must(t, from.Set(ctx, name, []byte(value)))
		}
		current := from
		err := Move(ctx, from, to, func() error {
			if fails {
				return broken
			}
			current = to
			return nil
		})
		if fails != errors.Is(err, broken) {
			t.Fatalf("Move() = %v", err)
		}
		for name, value := range want {
			if got, err := current.Get(ctx, name); err != nil || string(got) != value {
				t.Errorf("Get(%s) = %q, %v, want %q", name, got, err, value)
			}
		}
		if fails {
			must(t, Move(ctx, from, to, func() error { return nil })) // again, over what is there
		}
		if names, err := from.Names(ctx); err != nil || len(names) > 0 {
			t.Errorf("left behind: %q, %v", names, err)
		}
		if _, err := os.Stat(from.keys.(*vaultKey).path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("old vault: %v, want it gone", err)
		}
	}
}

func TestCodes(t *testing.T) {
	for code, want := range map[int]Class{36: Locked, 51: Denied, 128: Dismissed, 50: NoService, 1: Other} {
		if got := classOfExit(code); got != want {
			t.Errorf("classOfExit(%d) = %s, want %s", code, got, want)
		}
	}
	for code, want := range map[uintptr]Class{1312: NoService, 1783: TooBig, 5: Denied, 1223: Dismissed, 2: Other} {
		if got := classOfErrno(code); got != want {
			t.Errorf("classOfErrno(%d) = %s, want %s", code, got, want)
		}
	}
}

func TestUnknownBackend(t *testing.T) {
	if _, err := Open(Config{Backend: "paper", Dir: t.TempDir()}); err == nil {
		t.Error("Open() = nil, want an error")
	}
}

func wantClass(t *testing.T, err error, want Class) {
	t.Helper()
	if got := ClassOf(err); got != want {
		t.Errorf("error = %v, of class %q, want %q", err, got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
