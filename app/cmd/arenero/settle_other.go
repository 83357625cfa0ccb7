//go:build !linux

package main

import "runtime/debug"

// settle gives back memory that the start needed.
func settle() { debug.FreeOSMemory() }
