package app

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// bundleLog is how much of the end of each log goes into a bundle.
const bundleLog = 512 << 10

// Bundle writes what others need to help to a file that only its owner can
// read: the answers of the doctor, which versions there are, the settings and the
// ends of the logs, all without secrets. Diagnosis is what the doctor says as
// JSON.
func (d *Doctor) Bundle(ctx context.Context, path string, diagnosis []byte, programs map[string]string) error {
	if old, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) && !bytes.HasPrefix(old, []byte("PK")) {
		return fmt.Errorf("%s is there already, and is no zip file: choose another name", path)
	}
	out, err := d.packed(ctx, diagnosis, programs)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, out, 0o600)
}

// packed is the content of such a file.
func (d *Doctor) packed(ctx context.Context, diagnosis []byte, programs map[string]string) ([]byte, error) {
	r := newRedactor(os.Environ())
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name string, content []byte) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: d.cfg.Clock.Now().UTC().Truncate(time.Second)})
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	}
	versions, err := json.Marshal(map[string]any{
		"arenero": d.cfg.Version, "build": d.cfg.Build, "programs": programs, "os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version(),
		"desktop": os.Getenv("XDG_CURRENT_DESKTOP"), "session": os.Getenv("XDG_SESSION_TYPE"), "lang": os.Getenv("LANG"),
	})
	if err != nil {
		return nil, err
	}
	parts := []struct {
		name    string
		content []byte
	}{{"doctor.json", r.json(diagnosis)}, {"versions.json", r.json(versions)}}
	text, err := os.ReadFile(d.file.Path())
	if err == nil {
		parts = append(parts, struct {
			name    string
			content []byte
		}{"settings.json", r.json(text)})
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	for _, p := range parts {
		if err := add(p.name, p.content); err != nil {
			return nil, fmt.Errorf("write bundle: %w", err)
		}
	}
	for _, log := range []string{"engine.log", "cloud.log", "tray.log", httpLog, crashLog} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := lastOf(filepath.Join(d.dirs.State, "log", log), bundleLog)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
		if err := add(log, []byte(r.text(text))); err != nil {
			return nil, fmt.Errorf("write bundle: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("write bundle: %w", err)
	}
	return out.Bytes(), nil
}

// lastOf is the end of a file, from the start of a line on: half a secret could
// not be told.
func lastOf(path string, limit int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-limit)
	text, err := io.ReadAll(io.NewSectionReader(f, from, limit))
	if err != nil {
		return "", err
	}
	s := string(text)
	if from > 0 {
		_, s, _ = strings.Cut(s, "\n")
	}
	return s, nil
}
