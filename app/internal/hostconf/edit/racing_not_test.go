//go:build !race

package edit_test

// generated is how many documents each property is tested with.
const generated = 10_000
