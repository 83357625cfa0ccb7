//go:build !linux || !(amd64 || arm64)

package nest

import (
	"fmt"
	"os"
)

func main() int {
	fmt.Fprintln(os.Stderr, "nest: only Linux on amd64 and arm64 has this")
	return ExitCode
}
