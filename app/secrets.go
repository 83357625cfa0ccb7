package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/paths"
)

// secretFiles keep the access tokens of sandboxes as one file each, which only
// their owner can read, until the sandbox ends. Each opens one sandbox, for
// those who also have the right to call its cloud.
type secretFiles struct{ dir string }

var _ fleet.Secrets = (*secretFiles)(nil)

func newSecretFiles(dir string) (*secretFiles, error) {
	if err := paths.Private(dir); err != nil {
		return nil, err
	}
	return &secretFiles{dir}, nil
}

// Put keeps secret under key. It is on the disk when Put returns: a sandbox
// whose token is lost can't be used again.
func (s *secretFiles) Put(key, secret string) error {
	return atomicfile.WriteSync(s.path(key), []byte(secret), 0o600)
}

// Get returns the secret of key, "" if there is none.
func (s *secretFiles) Get(key string) (string, error) {
	text, err := atomicfile.Read(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	return string(text), nil
}

// Delete forgets the secret of key.
func (s *secretFiles) Delete(key string) error {
	if err := os.Remove(s.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove key: %w", err)
	}
	return nil
}

func (s *secretFiles) path(key string) string { return filepath.Join(s.dir, filepath.Base(key)) }
