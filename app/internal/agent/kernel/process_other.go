//go:build !linux

package kernel

import "errors"

// A process can't be had: the agent runs in Linux sandboxes only.
type process struct {
	pid int
}

// Find names the interpreter to use.
func Find() (string, error) { return "", ErrNoPython }

func startProcess(Config) (*process, error) { return nil, errors.ErrUnsupported }

func (*process) send(message) error { return errors.ErrUnsupported }
func (*process) interrupt()         {}
func (*process) kill()              {}

func (k *Kernel) pump() {}
