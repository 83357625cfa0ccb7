package main

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// The texts of help stand in assets/translation, and none in the tags of the
// commands. Their keys, for "arenero hosts list --all HOST":
//
//	help.hosts.list           what the verb does, in a line
//	help.hosts.list.detail    what is said below that, if anything
//	help.hosts.list.--all     a flag
//	help.hosts.list.<host>    an argument
//
// A flag or an argument that is the same for all verbs of hosts may be
// help.hosts.--all, and for all verbs there are help.--all.
const (
	helpTexts  = "help"
	helpDetail = ".detail"
)

const helpWidth = 100 // columns at the most

// helpKey is the key of a verb, or of the program.
func helpKey(node *kong.Node) string {
	if node.Type == kong.ApplicationNode {
		return helpTexts
	}
	return helpTexts + "." + strings.ReplaceAll(pathOf(node), " ", ".")
}

// helpKeyOf is the key of a flag or an argument of a verb: its own, or else the
// nearest of those that it shares with others. "" is none.
func helpKeyOf(node *kong.Node, v *kong.Value) string {
	name := "<" + v.Name + ">"
	if v.Flag != nil {
		name = "--" + v.Name
	}
	for ; node != nil; node = node.Parent {
		if key := helpKey(node) + "." + name; texts().Has(key) {
			return key
		}
	}
	return ""
}

// translate gives a verb, and all below it, the texts of their help.
func translate(node *kong.Node) {
	if key := helpKey(node); texts().Has(key) {
		node.Help = say(key)
	}
	if key := helpKey(node) + helpDetail; texts().Has(key) {
		node.Detail = say(key)
	}
	translateGroup(node.Group)
	for _, v := range node.Values() {
		if v.Flag != nil {
			translateGroup(v.Flag.Group)
		}
		if key := helpKeyOf(node, v); key != "" {
			v.Help = say(key)
		}
	}
	for _, child := range node.Children {
		translate(child)
	}
}

// translateGroup gives a group its title: that of "AI apps" is help.group.ai-apps.
func translateGroup(g *kong.Group) {
	if g == nil {
		return
	}
	if key := helpGroupKey(g); texts().Has(key) {
		g.Title = say(key)
	}
}

func helpGroupKey(g *kong.Group) string {
	return helpTexts + ".group." + strings.ToLower(strings.ReplaceAll(g.Key, " ", "-"))
}

// printHelp is the help that kong prints, with what it says itself in the
// language of the user.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	to := ctx.Stdout
	defer func() { ctx.Stdout = to }()
	if file, ok := to.(*os.File); ok && os.Getenv("COLUMNS") == "" {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			os.Setenv("COLUMNS", strconv.Itoa(columns)) // kong could not measure what it is to write to
		}
	}
	var b bytes.Buffer
	ctx.Stdout = &b
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	_, err := io.WriteString(to, translateHelp(b.String()))
	return err
}

const someVerb = "<command>" // as kong has it where a verb is to follow

// translateHelp puts our words in place of those of kong.
func translateHelp(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		usage, isUsage := strings.CutPrefix(line, "Usage: ")
		command, isMore := strings.CutSuffix(line, ` --help" for more information on a command.`)
		switch {
		case isUsage && i == 0:
			if before, ok := strings.CutSuffix(usage, "[flags]"); ok {
				usage = before + say("help.title.some-flags")
			}
			if before, ok := strings.CutSuffix(usage, someVerb); ok {
				usage = before + say("help.title.some-verb")
			}
			lines[i] = say("help.title.usage") + " " + usage
		case line == "Arguments:":
			lines[i] = say("help.title.arguments")
		case line == "Flags:":
			lines[i] = say("help.title.flags")
		case line == "Commands:":
			lines[i] = say("help.title.commands")
		case isMore:
			lines[i] = say("help.title.more", "command", strings.Replace(strings.TrimPrefix(command, `Run "`), someVerb, say("help.title.some-verb"), 1))
		}
	}
	return strings.Join(lines, "\n")
}

type helpCommand struct {
	Verb []string `arg:"" optional:"" complete:"verb"`
}

// Run is "arenero help".
func (c *helpCommand) Run(parser *kong.Kong) error {
	node := parser.Model.Node
	for _, word := range c.Verb {
		if node = childOf(node, word); node == nil {
			return wrong("cli.help.unknown", "verb", strings.Join(c.Verb, " "))
		}
	}
	ctx, err := kong.Trace(parser, c.Verb)
	if err != nil {
		return err
	}
	return ctx.PrintUsage(false)
}
