// Package icons holds the pictures of the tray, one for each state that it can
// tell. They are drawn by draw.go: to change one, change that, and run "go
// generate".
package icons

import "strconv"

//go:generate go run draw.go

// Sizes are those of [PNG], in pixels.
func Sizes() []int { return []int{16, 22, 24, 32, 48, 64} }

// SVG is a picture without a size, as text.
func SVG(name string) []byte { return read(name + ".svg") }

// PNG is a picture of one of [Sizes].
func PNG(name string, size int) []byte { return read(name + "-" + strconv.Itoa(size) + ".png") }

// Template is a picture in black alone, for menu bars that color it themselves.
func Template(name string) []byte { return read(name + "-template.png") }
