package hostfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
)

// A snapshot is a file as it was read.
type snapshot struct {
	doc  []byte // nil if there is no file
	info fs.FileInfo
}

const (
	slack      = 64 << 10 // room for what an edit adds, so that a large file needs one buffer only
	chunk      = 256 << 10
	maxReads   = 20 // of a file that does not stay as it is
	emptyReads = 6  // of an empty one, which may be about to be written
	mendReads  = 5  // of one that makes no sense, as it may be half written
)

// read reads the file at path into buf if that is large enough.
func read(path string, limit int64, buf []byte) (snapshot, error) {
	f, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return snapshot{}, nil
	}
	if err != nil {
		return snapshot{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return snapshot{}, err
	}
	if !info.Mode().IsRegular() {
		return snapshot{}, notRegular(path)
	}
	if info.Size() > limit {
		return snapshot{}, tooBig(path)
	}
	if size := int(info.Size()); cap(buf) <= size { // with a byte to see the end in
		MakeRoom(info.Size())
		buf = make([]byte, 0, size+slack)
	}
	doc, err := readAll(f, buf[:0], limit)
	if errors.Is(err, errLimit) {
		return snapshot{}, tooBig(path)
	}
	return snapshot{doc, info}, err
}

// manyBytes are so many that two files of that size should not be in memory.
const manyBytes = 32 << 20

// MakeRoom is for whoever is about to read so many bytes: what was read before
// may be in memory still, and nobody's.
func MakeRoom(size int64) {
	if size > manyBytes {
		debug.FreeOSMemory()
	}
}

var errLimit = errors.New("too many bytes")

func readAll(r io.Reader, buf []byte, limit int64) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return nil, errLimit
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func tooBig(path string) error {
	return &Error{
		Kind: TooBig, Path: path, Msg: "the file is larger than any configuration should be",
		Hint: "put the entry in by the program of the host, or by hand",
	}
}

// open opens a file to read it, and never waits for the other end of a pipe.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|openFlags, 0)
}

// calm reports whether the file at path holds what want reads, and nobody has
// it open to write it, as far as the system tells.
func calm(path string, want io.Reader) (bool, error) {
	f, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	if isWritten(path, f) {
		return false, nil
	}
	return equal(f, want)
}

func equal(a, b io.Reader) (bool, error) {
	bufA, bufB := make([]byte, chunk), make([]byte, chunk)
	for {
		n, errA := io.ReadFull(a, bufA)
		m, errB := io.ReadFull(b, bufB)
		if !bytes.Equal(bufA[:n], bufB[:m]) {
			return false, nil
		}
		for _, err := range []error{errA, errB} {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return false, err
			}
		}
		if errA != nil || errB != nil { // both ended: they have the same length
			return true, nil
		}
	}
}

// still reports whether path is as old says.
func (old snapshot) still(path string) (bool, error) {
	if old.doc == nil {
		_, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, err
	}
	return calm(path, bytes.NewReader(old.doc))
}

// readStill reads a file until it stays as it is for a while.
func (s *Store) readStill(ctx context.Context, path string, limit int64, buf []byte) (snapshot, error) {
	snap, err := read(path, limit, buf)
	if err != nil {
		return snapshot{}, err
	}
	for same, reads := 0, 0; reads < maxReads; reads++ {
		if err := s.wait(ctx, s.settle); err != nil {
			return snapshot{}, err
		}
		ok, err := snap.still(path)
		if err != nil {
			return snapshot{}, err
		}
		if ok {
			same++
			if snap.doc == nil || len(snap.doc) > 0 || same >= emptyReads {
				return snap, nil
			}
			continue
		}
		same = 0
		if snap, err = read(path, limit, snap.doc); err != nil {
			return snapshot{}, err
		}
	}
	return snapshot{}, errMoved
}

// mends waits a little for a file that makes no sense to change, as one does
// that its owner is in the middle of writing.
func (s *Store) mends(ctx context.Context, path string, snap snapshot) bool {
	for range mendReads {
		if s.wait(ctx, s.settle) != nil {
			return false
		}
		if ok, err := snap.still(path); err != nil || !ok {
			return err == nil
		}
	}
	return false
}

// sum is the SHA-256 of doc in hex, and empty for no document.
func sum(doc []byte) string {
	if doc == nil {
		return ""
	}
	h := sha256.Sum256(doc)
	return hex.EncodeToString(h[:])
}

// sumFile is the SHA-256 of a file, and empty if there is none.
func sumFile(path string) (string, error) {
	f, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, notRegular(path))
	}
	return sumReader(f)
}

func sumReader(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
