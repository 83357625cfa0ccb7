//go:build !linux || (!amd64 && !arm64)

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "arenero-agent: runs in Linux sandboxes only, on amd64 and arm64")
	os.Exit(1)
}
