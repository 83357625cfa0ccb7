package keychain

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"
)

// Memory is a [Store] that ends with the process, for tests: it reaches no
// keychain. Its zero value is empty.
type Memory struct {
	mu     sync.Mutex
	values map[string][]byte
}

var _ Store = (*Memory)(nil)

// Get returns the secret with a name, or ErrNotFound.
func (m *Memory) Get(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[name]
	if !ok {
		return nil, ErrNotFound
	}
	return bytes.Clone(value), nil
}

// Set keeps value under name.
func (m *Memory) Set(_ context.Context, name string, value []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[string][]byte{}
	}
	m.values[name] = bytes.Clone(value)
	return nil
}

// Delete forgets a secret.
func (m *Memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, name)
	return nil
}

// Names returns the names of all secrets, sorted.
func (m *Memory) Names(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.values)), nil
}
