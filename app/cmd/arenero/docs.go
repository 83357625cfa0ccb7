package main

import (
	"fmt"
	"os"

	"github.com/arenero/arenero/assets"
)

type docsCommand struct {
	Agents docsAgentsCommand `cmd:""`
	Prompt docsPromptCommand `cmd:""`
}

type docsAgentsCommand struct{ asJSON }

// Run is "arenero docs agents".
func (c *docsAgentsCommand) Run() error { return c.page(assets.DocAgents) }

type docsPromptCommand struct{ asJSON }

// Run is "arenero docs prompt".
func (c *docsPromptCommand) Run() error { return c.page(assets.DocFirstPrompt) }

// page prints a page in the language of the user.
func (f asJSON) page(name string) error {
	language := texts().Language
	page := assets.Doc(name, language)
	if f.JSON {
		return writeJSON(os.Stdout, map[string]any{"name": name, "language": language, "markdown": page})
	}
	_, err := fmt.Print(page)
	return err
}
