package hostfile

import "errors"

// WithoutSwap has s be on a file system that can't exchange two files at once.
func (s *Store) WithoutSwap() {
	s.swap = func(string, string) error { return errors.ErrUnsupported }
}
