package main

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
)

// A durationMapper reads a time off the command line, and says what one looks
// like.
type durationMapper struct{}

// Decode reads one.
func (durationMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	t, err := ctx.Scan.PopValue("duration")
	if err != nil {
		return err
	}
	s := fmt.Sprint(t.Value)
	d, err := time.ParseDuration(s)
	if err != nil {
		if _, nerr := strconv.ParseFloat(s, 64); nerr == nil {
			return failure("cli.time.unit", "value", s)
		}
		return failure("cli.time", "value", s)
	}
	target.SetInt(int64(d))
	return nil
}
