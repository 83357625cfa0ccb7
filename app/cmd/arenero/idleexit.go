package main

import (
	"fmt"
	"time"

	"github.com/alecthomas/kong"
)

const defaultIdle = 10 * time.Minute

// An idleExit is a time that may be left out: "--idle-exit" or
// "--idle-exit=30s". Zero means that the flag was not given.
type idleExit time.Duration

// Decode reads the flag.
func (i *idleExit) Decode(ctx *kong.DecodeContext) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		*i = idleExit(defaultIdle)
		return nil
	}
	s := fmt.Sprint(ctx.Scan.Pop().Value)
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return failure("cli.time", "value", s)
	}
	*i = idleExit(d)
	return nil
}

// IsBool tells kong that the next argument is not ours.
func (idleExit) IsBool() bool { return true }
