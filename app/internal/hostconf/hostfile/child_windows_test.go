package hostfile_test

import (
	"errors"
	"os"
)

// die ends this process as a crash does.
func die() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = p.Kill()
	}
	select {}
}

func limit(size uint64) error {
	if size == 0 {
		return nil
	}
	return errors.ErrUnsupported
}
