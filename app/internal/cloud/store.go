package cloud

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/cloud/dataplane"
)

// The folders of a store, one record a file.
const (
	dirVMs    = "microvms"
	dirImages = "images"
	dirTokens = "tokens"
)

// A store keeps records on disk, for one process at a time.
type store struct {
	dir  string
	lock *os.File
	log  *slog.Logger
}

// openStore takes the folder for this process.
func openStore(dir string, log *slog.Logger) (*store, error) {
	for _, d := range []string{"", dirVMs, dirImages, dirTokens} {
		if err := privateDir(filepath.Join(dir, d)); err != nil {
			return nil, err
		}
	}
	lock, err := lockFile(filepath.Join(dir, "lock"))
	if errors.Is(err, ErrTaken) {
		if pid := holder(filepath.Join(dir, "lock")); pid > 0 {
			return nil, fmt.Errorf("take %s: %w, process %d", dir, err, pid)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("take %s: %w", dir, err)
	}
	// For whoever comes second, to say who was first.
	if err := sign(lock); err != nil {
		lock.Close()
		return nil, fmt.Errorf("sign lock: %w", err)
	}
	return &store{dir: dir, lock: lock, log: log}, nil
}

// sign writes our process into the lock file.
func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(f, os.Getpid())
	return err
}

// holder is the process that says in the lock file that it has it, or 0 where
// that can't be read.
func holder(path string) int {
	b, err := atomicfile.Read(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

func privateDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return fmt.Errorf("close folder to others: %w", err)
	}
	return nil
}

// ErrTaken is wrapped by the error of [New] where another process has the
// folder.
var ErrTaken = errors.New("another arenero cloud is using this folder")

// close gives the folder free.
func (s *store) close() error { return s.lock.Close() }

func (s *store) path(kind, name string) string {
	return filepath.Join(s.dir, kind, name+".json")
}

// put writes a record. Names are made by us or checked: they hold no
// separators.
func (s *store) put(kind, name string, record any) error {
	data, err := json.MarshalIndent(record, "", "\t")
	if err != nil {
		return fmt.Errorf("write %s record: %w", kind, err)
	}
	if err := atomicfile.Write(s.path(kind, name), data, 0o600); err != nil {
		return fmt.Errorf("write %s record: %w", kind, err)
	}
	return nil
}

// remove forgets a record; one that is not there is no error.
func (s *store) remove(kind, name string) error {
	if err := os.Remove(s.path(kind, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s record: %w", kind, err)
	}
	return nil
}

// loadAll reads every record of a kind. One that can't be read is set aside
// under another name and logged, so that it is neither lost nor in the way.
func loadAll[T any](s *store, kind string, check func(name string, record T) error) ([]T, error) {
	dir := filepath.Join(s.dir, kind)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read %s records: %w", kind, err)
	}
	var all []T
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") {
			if strings.HasPrefix(name, ".") { // half a write of a process that was killed
				os.Remove(filepath.Join(dir, e.Name()))
			}
			continue
		}
		path := filepath.Join(dir, e.Name())
		var record T
		data, err := atomicfile.Read(path)
		if err == nil {
			err = json.Unmarshal(data, &record)
		}
		if err == nil {
			err = check(name, record)
		}
		if err != nil {
			s.log.Warn("record set aside", "kind", kind, "path", path+".bad", "err", err)
			if err := os.Rename(path, path+".bad"); err != nil {
				s.log.Error("record can't be set aside", "path", path, "err", err)
			}
			continue
		}
		all = append(all, record)
	}
	return all, nil
}

// keyRing is what is kept in the key file.
type keyRing struct {
	AccessKeyID     string `json:"access_key_id"`
	SecretAccessKey string `json:"secret_access_key"`
	TokenKey        []byte `json:"token_key"`
	CursorKey       []byte `json:"cursor_key"`
}

// keys reads the key file, or makes a new one if there is none or it is of no
// use.
func (s *store) keys() (keyRing, error) {
	path := filepath.Join(s.dir, "keys.json")
	data, err := atomicfile.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return keyRing{}, fmt.Errorf("read keys: %w", err)
	}
	var k keyRing
	if err == nil {
		if json.Unmarshal(data, &k) == nil && k.AccessKeyID != "" && k.SecretAccessKey != "" &&
			len(k.TokenKey) == dataplane.KeySize && len(k.CursorKey) == dataplane.KeySize {
			return k, nil
		}
		s.log.Warn("keys set aside: old credentials and tokens no longer work", "path", path+".bad")
		if err := os.Rename(path, path+".bad"); err != nil {
			return keyRing{}, fmt.Errorf("set keys aside: %w", err)
		}
	}
	k = keyRing{
		AccessKeyID:     "AKIA" + base32.StdEncoding.EncodeToString(random(10)),
		SecretAccessKey: base64.RawURLEncoding.EncodeToString(random(30)),
		TokenKey:        random(dataplane.KeySize),
		CursorKey:       random(dataplane.KeySize),
	}
	if data, err = json.Marshal(k); err != nil {
		return keyRing{}, fmt.Errorf("write keys: %w", err)
	}
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return keyRing{}, fmt.Errorf("write keys: %w", err)
	}
	return k, nil
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return b
}
