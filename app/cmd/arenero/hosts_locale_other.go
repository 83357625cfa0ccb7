//go:build !windows

package main

// systemLocale is what the environment has not said.
func systemLocale() string { return "" }
