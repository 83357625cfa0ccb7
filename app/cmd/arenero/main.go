// Command arenero gives sandboxes to the AI apps of this computer. Most verbs
// are clients of the engine; "arenero engine" is it, and "arenero cloud" is AWS
// Lambda MicroVMs on this computer.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/arenero/arenero/app/sandbox"
)

// Exit codes.
const (
	exitFailed = 1 // what was asked for could not be done
	exitUsage  = 2 // it was asked for in a way that can't be understood

	exitTimeout     = 124 // a command's time was up
	exitNoExec      = 126 // it can't be executed, as shells have it
	exitNoProgram   = 127 // it is not there
	exitInterrupted = 130 // as of a program that Ctrl-C ends
	exitPipe        = 141 // as of a program whose reader has gone
)

type commands struct {
	Ls         lsCommand         `cmd:"" group:"Sandboxes" help:"List the sandboxes."`
	Show       showCommand       `cmd:"" group:"Sandboxes" help:"Tell all about a sandbox."`
	Run        runCommand        `cmd:"" group:"Sandboxes" help:"Make a sandbox, and print its id."`
	Exec       execCommand       `cmd:"" group:"Sandboxes" help:"Run a command in a sandbox."`
	Shell      shellCommand      `cmd:"" group:"Sandboxes" help:"Open a terminal in a sandbox."`
	Cp         cpCommand         `cmd:"" group:"Sandboxes" help:"Copy files and folders to or from a sandbox."`
	Suspend    suspendCommand    `cmd:"" group:"Sandboxes" help:"Put sandboxes to sleep."`
	Resume     resumeCommand     `cmd:"" group:"Sandboxes" help:"Wake sandboxes."`
	Kill       killCommand       `cmd:"" group:"Sandboxes" help:"End sandboxes, with all that is in them."`
	Hosts      hostsCommand      `cmd:"" group:"Apps" help:"Give the AI apps of this computer our tools, and take them out again."`
	Doctor     doctorCommand     `cmd:"" group:"Arenero" help:"Look for what keeps sandboxes from working, and say what to do."`
	Profiles   profilesCommand   `cmd:"" group:"Apps" help:"Keep accounts of AWS to run sandboxes in."`
	Keychain   keychainCommand   `cmd:"" group:"Apps" help:"Say where secrets are kept, and open what keeps them."`
	Bridge     bridgeCommand     `cmd:"" passthrough:"" group:"Arenero" help:"Be the MCP server that AI apps start; the same as arenero-bridge."`
	Engine     engineCommand     `cmd:"" group:"Arenero" help:"Run the process that owns your sandboxes, without a tray icon."`
	Cloud      cloudCommand      `cmd:"" group:"Arenero" help:"Run AWS Lambda MicroVMs on this computer, for any AWS SDK."`
	Logs       logsCommand       `cmd:"" group:"Arenero" help:"Print the log of the engine."`
	Version    versionCommand    `cmd:"" group:"Arenero" help:"Print the version, of the engine too."`
	Completion completionCommand `cmd:"" group:"Arenero" help:"Print what makes a shell complete our verbs and sandboxes."`
	Words      wordsCommand      `cmd:"" name:"complete-words" hidden:"" help:"Print how a command line may go on."`
}

func main() {
	var cmds commands
	parser, err := newParser(&cmds)
	if err != nil {
		panic(err) // the struct above is wrong
	}
	args := os.Args[1:]
	if len(args) == 1 && args[0] == "--version" { // as most programs have it
		args = []string{"version"}
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		fail(&usageError{err}, verbOf(err), false)
	}
	if err := ctx.Run(parser); err != nil {
		fail(err, pathOf(ctx.Selected()), isJSON(ctx))
	}
}

func newParser(cmds *commands) (*kong.Kong, error) {
	return kong.New(cmds,
		kong.Name("arenero"),
		kong.Description("Sandboxes for AI apps, on this computer.\n\nExit codes: 0 done, 1 could not be done, 2 not understood."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{{Key: "Sandboxes", Title: "Sandboxes:"}, {Key: "Apps", Title: "AI apps and AWS:"}, {Key: "Arenero", Title: "Arenero itself:"}}),
	)
}

// verbOf is the verb of a command line that could not be read, "" if it did not
// come to that.
func verbOf(err error) string {
	if e, ok := errors.AsType[*kong.ParseError](err); ok && e.Context != nil && e.Context.Selected() != nil {
		return pathOf(e.Context.Selected())
	}
	return ""
}

// pathOf is a verb with those that it belongs to in front.
func pathOf(verb *kong.Node) string {
	if verb.Parent == nil || verb.Parent.Type == kong.ApplicationNode {
		return verb.Name
	}
	return pathOf(verb.Parent) + " " + verb.Name
}

// isJSON reports whether a command line asks for output that programs read.
func isJSON(ctx *kong.Context) bool {
	for _, f := range ctx.Selected().Flags {
		if f.Name == "json" {
			return f.Target.Bool()
		}
	}
	return false
}

// fail tells what went wrong and ends the program.
func fail(err error, verb string, inJSON bool) {
	if e, ok := errors.AsType[*exitError](err); ok {
		os.Exit(e.code)
	}
	_, usage := errors.AsType[*usageError](err)
	err = gone(err)
	switch {
	case inJSON:
		printError(os.Stderr, err, usage)
	case usage:
		fmt.Fprintln(os.Stderr, "arenero:", err)
		fmt.Fprintf(os.Stderr, "Run \"%s --help\" to see what there is.\n", strings.TrimSpace("arenero "+verb))
	default:
		fmt.Fprintln(os.Stderr, "arenero:", message(err))
	}
	switch {
	case usage:
		os.Exit(exitUsage)
	case errors.Is(err, context.Canceled) || sandbox.CodeOf(err) == sandbox.Canceled:
		os.Exit(exitInterrupted)
	}
	os.Exit(programCode(err))
}

// programCode is the exit code for what a shell has codes for, of a program
// that does not start, and that of any failure for the rest.
func programCode(err error) int {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok {
		return exitFailed
	}
	switch e.Details[sandbox.DetailProgram] {
	case sandbox.ProgramMissing:
		return exitNoProgram
	case sandbox.ProgramNotExecutable:
		return exitNoExec
	}
	return exitFailed
}

// message is err for a person. What is not ours has no details to hide here:
// it happened in this program.
func message(err error) string {
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		// Who in the sandbox says it is of no use to a person.
		return strings.Replace(sandbox.Message(e), "agent: ", "", 1)
	}
	if errors.Is(err, context.Canceled) {
		return "cancelled"
	}
	return err.Error()
}

// printError is an error for programs, with the keys of the MCP tools.
func printError(w io.Writer, err error, usage bool) {
	e := *sandbox.ToError(err)
	if e.Code == sandbox.Internal {
		e.Msg, e.Hint = message(err), ""
	}
	if usage {
		e = sandbox.Error{Code: sandbox.Invalid, Msg: err.Error()}
	}
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	writeJSON(w, map[string]any{"error": map[string]any{
		"code": e.Code, "message": sandbox.Message(&e), "retryable": e.Retryable, "details": e.Details,
	}})
}

// An exitError is a result that is told by the exit code alone.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// A usageError is a mistake in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}
