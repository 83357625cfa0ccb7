// Package nest is the first thing that runs in the namespaces of a jail: it
// builds the file system, sets the limits, gives up every privilege and turns
// into the agent. It also holds what the agent does for the jail afterwards.
package nest

import (
	"os"
)

// Arg is the hidden first argument by which arenero-agent is told to be a nest.
const Arg = "nest"

// Main builds the nest and becomes the agent if this process was started for
// that (its first argument is [Arg]); it returns only if it was not. The
// agent's main calls it before anything else:
//
//	func main() {
//		nest.Main()
//		...
func Main() {
	if len(os.Args) < 2 || os.Args[1] != Arg {
		return
	}
	os.Exit(main())
}
