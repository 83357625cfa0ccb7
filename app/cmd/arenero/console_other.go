//go:build !windows

package main

// leaveConsole does nothing: here no program is given a console that it has not
// asked for.
func leaveConsole() {}
