package main

import (
	"fmt"
	"os"
	"strings"
)

type hostsPrintCommand struct {
	asJSON
	asEntry
	Host string `arg:"" complete:"host"`
}

// inspector stands for a program that is no host, and starts servers all the
// same.
const inspector = "inspector"

// A snippetRow is an entry to paste, for programs.
type snippetRow struct {
	Host     string    `json:"host"`
	File     string    `json:"file,omitempty"`
	Language string    `json:"language"`
	Text     string    `json:"text"`
	Links    []linkRow `json:"links"`
}

type linkRow struct {
	Kind string   `json:"kind"`
	Text string   `json:"text"`
	Argv []string `json:"argv,omitempty"`
	Note string   `json:"note,omitempty"`
}

// Run is "arenero hosts print".
func (c *hostsPrintCommand) Run() error {
	want, err := c.entry()
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	s, err := openHosts(ctx, c.JSON)
	if err != nil {
		return err
	}
	if c.Host == inspector {
		return c.inspector(s)
	}
	h, err := s.host(c.Host)
	if err != nil {
		return err
	}
	snippet, err := s.Snippet(ctx, h, want)
	if err != nil {
		return s.explain(h.ID, err)
	}
	row := snippetRow{h.ID, snippet.File, snippet.Language, snippet.Text, []linkRow{}}
	for _, l := range snippet.Links {
		link := linkRow{Kind: string(l.Kind), Text: l.Text, Argv: l.Argv}
		if l.Note.Key != "" {
			link.Note = s.text(l.Note)
		}
		row.Links = append(row.Links, link)
	}
	if c.JSON {
		return writeJSON(os.Stdout, row)
	}
	if row.File != "" {
		fmt.Fprintln(os.Stderr, s.say("hosts.goes", "title", h.Title, "file", row.File))
	}
	if _, err := fmt.Println(strings.TrimRight(row.Text, "\r\n")); err != nil {
		return err
	}
	for _, l := range row.Links {
		fmt.Fprintln(os.Stderr, s.say("hosts.link."+l.Kind))
		fmt.Fprintln(os.Stderr, "  "+printable(l.Text))
		if l.Note != "" {
			fmt.Fprintln(os.Stderr, "  ! "+l.Note)
		}
	}
	return nil
}

// inspector prints a command to copy.
func (c *hostsPrintCommand) inspector(s *hostsSession) error {
	want, err := c.entry()
	if err != nil {
		return err
	}
	argv, err := s.Inspector(want)
	if err != nil {
		return s.explain(inspector, err)
	}
	var words []string
	for _, a := range argv {
		words = append(words, quote(a))
	}
	if c.JSON {
		return writeJSON(os.Stdout, snippetRow{inspector, "", "sh", strings.Join(words, " "), []linkRow{}})
	}
	_, err = fmt.Println(strings.Join(words, " "))
	return err
}
