package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/arenero/arenero/app/sandbox"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish"`
}

// Run is "arenero completion".
func (c *completionCommand) Run() error {
	_, err := fmt.Print(map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell])
	return err
}

// The scripts ask "arenero complete-words" how the line may go on. Where it has
// nothing to say, files are offered.
const (
	bashScript = `_arenero() {
	local word text
	COMPREPLY=()
	while IFS=$'\t' read -r word text; do
		[[ $word == *: ]] && compopt -o nospace
		COMPREPLY+=("$(printf %q "$word")")
	done < <(arenero complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _arenero arenero
`
	zshScript = `_arenero() {
	local -a plain colon described
	local word text
	while IFS=$'\t' read -r word text; do
		if [[ $word == *: ]]; then
			colon+=("$word")
		else
			plain+=("${word//:/\\:}:$text")
		fi
	done < <(arenero complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
	(( ${#plain} )) && _describe arenero plain
	(( ${#colon} )) && compadd -S '' -- "${colon[@]}"
	(( ${#colon} || ! ${#plain} )) && _files
}
compdef _arenero arenero
`
	fishScript = `function __arenero_words
	set -l words (commandline -opc) (commandline -ct)
	arenero complete-words -- $words[2..-1] 2>/dev/null
end
complete -c arenero -f -n 'test -n "$(__arenero_words)"' -a '(__arenero_words)'
complete -c arenero -F -n 'test -z "$(__arenero_words)"; or __fish_seen_subcommand_from cp'
`
)

// A wordsCommand prints how a command line may go on, one word a line, with a
// tab and what it means behind it.
type wordsCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// completeWithin is how long a person waits for a list after a Tab.
const completeWithin = 2 * time.Second

// Run is "arenero complete-words".
func (c *wordsCommand) Run(parser *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	for _, w := range complete(parser.Model.Node, words, sandboxWords) {
		fmt.Fprintln(os.Stdout, w)
	}
	return nil
}

// complete returns the words that may follow, with what they mean. sandboxes
// lists those there are, with the end given.
func complete(node *kong.Node, words []string, sandboxes func(end string) []string) []string {
	root, last := node, words[len(words)-1]
	var flag *kong.Flag // that waits for its value
	position, seen := 0, []string{}
	for _, w := range words[:len(words)-1] {
		switch {
		case flag != nil:
			flag = nil
		case len(w) > 1 && w[0] == '-':
			if f := flagOf(node, w); f != nil && !f.IsBool() && !strings.Contains(w, "=") {
				flag = f
			}
		case childOf(node, w) != nil:
			node = childOf(node, w)
		default:
			position++
			seen = append(seen, w)
		}
	}
	var out []string
	switch arg := argOf(node, position); {
	case flag != nil:
		out = enumOf(flag.Value)
	case arg != nil && arg.Passthrough && position >= len(node.Positional):
	case strings.HasPrefix(last, "-"):
		for _, f := range flagsOf(node) {
			out = append(out, "--"+f.Name+"\t"+f.Help)
		}
	case arg == nil:
		out = verbWords(node)
	case arg.Tag.Get("complete") == "verb":
		for _, w := range seen {
			if root = childOf(root, w); root == nil {
				return nil
			}
		}
		out = verbWords(root)
	case arg.Tag.Get("complete") == "sandbox":
		out = slices.DeleteFunc(sandboxes(""), func(w string) bool { return slices.Contains(seen, strings.SplitN(w, "\t", 2)[0]) })
	case arg.Tag.Get("complete") == "host":
		out = slices.DeleteFunc(hostWords(), func(w string) bool { return slices.Contains(seen, strings.SplitN(w, "\t", 2)[0]) })
	case arg.Tag.Get("complete") == "profile":
		out = profileWords()
	case arg.Tag.Get("complete") == "token":
		out = tokenWords()
	case arg.Tag.Get("complete") == "budget":
		out = budgetWords()
	case arg.Tag.Get("complete") == "path":
		out = sandboxes(":")
	default:
		out = enumOf(arg)
	}
	return slices.DeleteFunc(out, func(w string) bool { return !strings.HasPrefix(w, last) })
}

// verbWords are the verbs right below a node.
func verbWords(node *kong.Node) []string {
	var out []string
	for _, child := range node.Children {
		if !child.Hidden {
			out = append(out, child.Name+"\t"+child.Help)
		}
	}
	return out
}

func childOf(node *kong.Node, word string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == word {
			return child
		}
	}
	return nil
}

// argOf is the argument at a position; the last one may take many.
func argOf(node *kong.Node, position int) *kong.Value {
	if position >= len(node.Positional) {
		position = len(node.Positional) - 1
		if position < 0 || !node.Positional[position].IsCumulative() {
			return nil
		}
	}
	return node.Positional[position]
}

func enumOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return v.EnumSlice()
}

func flagsOf(node *kong.Node) []*kong.Flag {
	var out []*kong.Flag
	for _, group := range node.AllFlags(true) {
		out = append(out, group...)
	}
	return out
}

func flagOf(node *kong.Node, word string) *kong.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for _, f := range flagsOf(node) {
		if f.Name == name && strings.HasPrefix(word, "--") || f.Short != 0 && string(f.Short) == name {
			return f
		}
	}
	return nil
}

// sandboxWords are the names and ids of what the engine has, if one runs.
func sandboxWords(end string) []string {
	ctx, stop := context.WithTimeout(context.Background(), completeWithin)
	defer stop()
	client, err := look()
	if err != nil {
		return nil
	}
	snap, err := snapshot(ctx, client)
	if err != nil {
		return nil
	}
	var out []string
	for _, b := range snap.Sandboxes {
		if b.ID == "" || !b.State.Alive() {
			continue
		}
		if b.Name != "" {
			out = append(out, printable(b.Name)+end+"\t"+stateText(b))
		}
		out = append(out, b.ID+end+"\t"+describeShort(b))
	}
	return out
}

func describeShort(b sandbox.Sandbox) string {
	text := stateText(b)
	if b.Host != "" {
		text += say("cli.completion.for", "app", printable(b.Host))
	}
	return text
}
