// Package journal keeps small records in one file that is only ever added to,
// so that a process killed at any moment leaves all it wrote before.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// A Journal is a file of records, each known by its kind and key. One process
// at a time may use a file.
type Journal struct {
	path string

	mu      sync.Mutex // guards what follows, and the order of lines in the file
	file    *os.File
	records map[string]map[string][]byte // by kind and key
	lines   int                          // in the file
	live    int                          // of them still worth something
	torn    bool                         // a line may lack its end
}

// ErrDamaged means that a file holds what no journal writes.
var ErrDamaged = errors.New("the line is damaged")

// A line is one change: a record as it is from then on, or its end.
type line struct {
	Kind  string          `json:"kind"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"` // absent: the record is dropped
}

const (
	mode       = 0o600
	spareLines = 2000 // lines that are worth nothing, before the file is written anew
)

// Open reads the journal at path, which need not exist. A last line that was
// cut short is what a crash leaves, and is dropped; anything else that can't be
// read is an error.
func Open(path string) (*Journal, error) {
	j, err := Read(path)
	if err != nil {
		return nil, err
	}
	if err := j.rewrite(); err != nil {
		return nil, err
	}
	return j, nil
}

// Read is Open for who only looks: the file stays as it is, and the journal is
// closed from the start.
func Read(path string) (*Journal, error) {
	j := &Journal{path: path, records: map[string]map[string][]byte{}}
	text, err := atomicfile.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	if err := j.read(text); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *Journal) read(text []byte) error {
	r := bufio.NewReader(bytes.NewReader(text))
	for n := 1; ; n++ {
		raw, err := r.ReadBytes('\n')
		if err == io.EOF {
			return nil // nothing, or a line that was cut short
		}
		var l line
		if err := json.Unmarshal(raw, &l); err != nil || l.Kind == "" || l.Key == "" {
			return fmt.Errorf("read journal %s: line %d: %w", j.path, n, ErrDamaged)
		}
		j.apply(l)
	}
}

func (j *Journal) apply(l line) {
	kind := j.records[l.Kind]
	if kind == nil {
		kind = map[string][]byte{}
		j.records[l.Kind] = kind
	}
	if _, had := kind[l.Key]; had {
		j.live--
	}
	if l.Value == nil {
		delete(kind, l.Key)
		return
	}
	j.live++
	kind[l.Key] = l.Value
}

// Put adds a record, or replaces it. value is JSON. With durable it is on the
// disk when Put returns; else it is safe from the end of this process, and not
// from a power cut.
func (j *Journal) Put(kind, key string, value []byte, durable bool) error {
	return j.add(line{kind, key, value}, durable)
}

// Delete drops a record. It need not exist.
func (j *Journal) Delete(kind, key string) error {
	j.mu.Lock()
	_, had := j.records[kind][key]
	j.mu.Unlock()
	if !had {
		return nil
	}
	return j.add(line{Kind: kind, Key: key}, false)
}

func (j *Journal) add(l line, durable bool) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return fmt.Errorf("write journal: %w", fs.ErrClosed)
	}
	if j.torn { // end the line that a full disk cut short, or it would spoil this one
		if err := j.rewrite(); err != nil {
			return err
		}
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		j.torn = true
		return fmt.Errorf("write journal: %w", err)
	}
	if durable {
		if err := j.file.Sync(); err != nil {
			return fmt.Errorf("sync journal: %w", err)
		}
	}
	j.apply(l)
	if j.lines++; j.lines > 2*j.live+spareLines {
		return j.rewrite()
	}
	return nil
}

// All returns the records of a kind, by key.
func (j *Journal) All(kind string) map[string][]byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := map[string][]byte{}
	maps.Copy(out, j.records[kind])
	return out
}

// Kinds returns all records, by kind and key.
func (j *Journal) Kinds() map[string]map[string][]byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := map[string]map[string][]byte{}
	for kind, records := range j.records {
		out[kind] = maps.Clone(records)
	}
	return out
}

// rewrite replaces the file by one with the records that are alive. mu is held,
// or nobody else knows j yet.
func (j *Journal) rewrite() error {
	var text bytes.Buffer
	n := 0
	for _, kind := range slices.Sorted(maps.Keys(j.records)) {
		for _, key := range slices.Sorted(maps.Keys(j.records[kind])) {
			raw, err := json.Marshal(line{kind, key, j.records[kind][key]})
			if err != nil {
				return fmt.Errorf("write journal: %w", err)
			}
			text.Write(append(raw, '\n'))
			n++
		}
	}
	if err := atomicfile.WriteSync(j.path, text.Bytes(), mode); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	file, err := atomicfile.Open(j.path, os.O_WRONLY|os.O_APPEND, mode)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	if j.file != nil {
		j.file.Close()
	}
	j.file, j.lines, j.live, j.torn = file, n, n, false
	return nil
}

// Close ends the use of the file.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}
