// Command arenero gives sandboxes to the AI apps of this computer. Today it has
// one verb: "arenero cloud" is AWS Lambda MicroVMs on this computer.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"github.com/arenero/arenero/app/sandbox"
)

// Exit codes.
const (
	exitFailed = 1 // what was asked for could not be done
	exitUsage  = 2 // it was asked for in a way that can't be understood
)

// version is set by the linker.
var version string

type commands struct {
	Cloud   cloudCommand   `cmd:"" help:"Run AWS Lambda MicroVMs on this computer, for any AWS SDK."`
	Engine  engineCommand  `cmd:"" help:"Run the process that owns your sandboxes, without a tray icon."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

func main() {
	var cmds commands
	parser, err := kong.New(&cmds,
		kong.Name("arenero"),
		kong.Description("Sandboxes for AI apps, on this computer.\n\nExit codes: 0 done, 1 could not be done, 2 not understood."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		panic(err) // the struct above is wrong
	}
	ctx, err := parser.Parse(os.Args[1:])
	if err != nil {
		fail(&usageError{err})
	}
	if err := ctx.Run(); err != nil {
		fail(err)
	}
}

// fail prints err for a person and ends the program.
func fail(err error) {
	text := err.Error()
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		text = sandbox.Message(e)
	}
	fmt.Fprintln(os.Stderr, "arenero:", text)
	if _, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintln(os.Stderr, "Run \"arenero --help\" or \"arenero cloud --help\" to see what there is.")
		os.Exit(exitUsage)
	}
	os.Exit(exitFailed)
}

// A usageError is a mistake in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

type versionCommand struct{}

// Run prints the version and what it was built with.
func (versionCommand) Run() error {
	_, err := fmt.Printf("arenero %s %s/%s %s\n", versionText(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
