package hostconf

import "context"

// A System is the computer that hosts are looked for on. Tests play other
// systems with it: then Root is a folder with the whole of that computer's
// files below it, and paths are still those that its user would write.
type System struct {
	OS        string                                      // as in runtime.GOOS
	Home      string                                      // of the user
	Root      string                                      // where the files are; empty for this computer's own
	Env       func(name string) string                    // never nil
	LookPath  func(name string) (string, error)           // on PATH; never nil
	Processes func(ctx context.Context) ([]string, error) // paths of the programs that run; never nil
}

// ThisSystem returns the computer we run on.
func ThisSystem() (System, error) { return System{}, errNotYet }
