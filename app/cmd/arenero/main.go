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
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/arenero/arenero/app/internal/coldstart"
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
	Ls         lsCommand         `cmd:"" group:"Sandboxes"`
	Show       showCommand       `cmd:"" group:"Sandboxes"`
	Run        runCommand        `cmd:"" group:"Sandboxes"`
	Exec       execCommand       `cmd:"" group:"Sandboxes"`
	Shell      shellCommand      `cmd:"" group:"Sandboxes"`
	Cp         cpCommand         `cmd:"" group:"Sandboxes"`
	Suspend    suspendCommand    `cmd:"" group:"Sandboxes"`
	Resume     resumeCommand     `cmd:"" group:"Sandboxes"`
	Kill       killCommand       `cmd:"" group:"Sandboxes"`
	Pause      pauseCommand      `cmd:"" group:"Sandboxes"`
	Tokens     tokensCommand     `cmd:"" group:"Money"`
	Budget     budgetCommand     `cmd:"" group:"Money"`
	Spend      spendCommand      `cmd:"" group:"Money"`
	Quote      quoteCommand      `cmd:"" group:"Money"`
	Prices     pricesCommand     `cmd:"" group:"Money"`
	Events     eventsCommand     `cmd:"" group:"Money"`
	Ledger     ledgerCommand     `cmd:"" group:"Money"`
	Docs       docsCommand       `cmd:"" group:"Money"`
	Hosts      hostsCommand      `cmd:"" group:"Apps"`
	Doctor     doctorCommand     `cmd:"" group:"Arenero"`
	HTTP       httpCommand       `cmd:"" name:"http" group:"Apps"`
	Profiles   profilesCommand   `cmd:"" group:"Apps"`
	Keychain   keychainCommand   `cmd:"" group:"Apps"`
	Bridge     bridgeCommand     `cmd:"" passthrough:"" group:"Arenero"`
	Tray       trayCommand       `cmd:"" group:"Arenero"`
	Engine     engineCommand     `cmd:"" group:"Arenero"`
	Cloud      cloudCommand      `cmd:"" group:"Arenero"`
	Logs       logsCommand       `cmd:"" group:"Arenero"`
	Version    versionCommand    `cmd:"" group:"Arenero"`
	Completion completionCommand `cmd:"" group:"Arenero"`
	Help       helpCommand       `cmd:"" group:"Arenero"`
	Words      wordsCommand      `cmd:"" name:"complete-words" hidden:""`
}

func main() {
	if tray, ok := plainTray(os.Args[1:]); ok {
		if err := tray.Run(); err != nil {
			fail(err, "tray", false)
		}
		return
	}
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
	coldstart.Over()
	if err := ctx.Run(parser); err != nil {
		fail(err, pathOf(ctx.Selected()), isJSON(ctx))
	}
}

// plainTray is the tray, if a command line asks for that and no more, as it does
// when the user logs in. All verbs with their flags need as long to be read as
// the icon needs to be there.
func plainTray(args []string) (*trayCommand, bool) {
	return &trayCommand{}, len(args) == 1 && args[0] == "tray" && os.Getenv(quietHoursVariable) == ""
}

func newParser(cmds *commands) (*kong.Kong, error) {
	parser, err := kong.New(cmds,
		kong.Name("arenero"),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: helpWidth}),
		kong.Help(printHelp),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), durationMapper{}),
	)
	if err != nil {
		return nil, err
	}
	translate(parser.Model.Node)
	return parser, nil
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
		fmt.Fprintln(os.Stderr, "arenero:", reason(err))
		fmt.Fprintln(os.Stderr, say("cli.help.hint", "command", strings.TrimSpace("arenero "+verb)))
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
		return strings.Replace(sandbox.Message(inWords(e)), "agent: ", "", 1)
	}
	if errors.Is(err, context.Canceled) {
		return say("cli.canceled")
	}
	return reason(err)
}

// printError is an error for programs, with the keys of the MCP tools.
func printError(w io.Writer, err error, usage bool) {
	e := *inWords(sandbox.ToError(err))
	if e.Code == sandbox.Internal {
		e.Msg, e.Hint = message(err), ""
	}
	if usage {
		e = sandbox.Error{Code: sandbox.Invalid, Msg: reason(err)}
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

// wrong is a mistake in the command line, told by one of our texts.
func wrong(key string, args ...string) error { return &usageError{failure(key, args...)} }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}
