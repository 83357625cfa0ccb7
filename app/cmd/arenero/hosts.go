package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

type hostsCommand struct {
	List    hostsListCommand    `cmd:""`
	Install hostsInstallCommand `cmd:""`
	Remove  hostsRemoveCommand  `cmd:""`
	Diff    hostsDiffCommand    `cmd:""`
	Undo    hostsUndoCommand    `cmd:""`
	Doctor  hostsDoctorCommand  `cmd:""`
	Print   hostsPrintCommand   `cmd:""`
}

// An atEntry is the flags that say which entry of an app is meant.
type atEntry struct {
	Scope   string `placeholder:"SCOPE"`
	Project string `placeholder:"DIR"`
	Name    string `placeholder:"NAME"`
}

// entry is what the flags say.
func (f atEntry) entry() (app.HostEntry, error) {
	e := app.HostEntry{Scope: f.Scope, Project: f.Project, Name: f.Name}
	if e.Project == "" && f.Scope != hostconf.Project && f.Scope != hostconf.Local {
		return e, nil
	}
	dir, err := filepath.Abs(e.Project)
	e.Project = dir
	return e, err
}

// An asEntry is the flags that say what an entry is to be.
type asEntry struct {
	atEntry
	Profile  string   `placeholder:"NAME"`
	Toolsets []string `placeholder:"SET"`
	HTTP     choice   `name:"http"`
}

const defaultURL = "http://127.0.0.1:8000/mcp"

func (f asEntry) entry() (app.HostEntry, error) {
	e, err := f.atEntry.entry()
	e.Profile, e.HTTP = f.Profile, f.HTTP.or(defaultURL)
	for _, t := range f.Toolsets {
		e.Toolsets = append(e.Toolsets, strings.ToLower(strings.TrimSpace(t)))
	}
	return e, err
}

// A choice is a flag that may have a value, behind a "=".
type choice struct {
	given bool
	value string
}

// IsBool has kong take no next word for the value.
func (*choice) IsBool() bool { return true }

// Decode reads it off the command line.
func (c *choice) Decode(ctx *kong.DecodeContext) error {
	c.given = true
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		c.value, _ = ctx.Scan.Pop().Value.(string)
	}
	return nil
}

// or is the value, or other if it was given without one, or "".
func (c choice) or(other string) string {
	if c.given && c.value == "" {
		return other
	}
	return c.value
}

// A hostsSession is what all verbs of "arenero hosts" work with.
type hostsSession struct {
	*app.Hosts
	ctx    context.Context
	tx     assets.Texts
	inJSON bool
}

// openHosts is called first. Its error is for whoever called arenero.
func openHosts(ctx context.Context, inJSON bool) (*hostsSession, error) {
	hosts, err := app.OpenHosts(ctx, app.HostsConfig{Version: versionText()})
	if err != nil {
		return nil, err
	}
	tx := assets.Load(hostsLanguage(hosts.Language()), hostconf.Texts, "verbs")
	return &hostsSession{hosts, ctx, tx, inJSON}, nil
}

// say is one of our texts, without what a terminal would obey: names of folders
// and entries are part of it.
func (s *hostsSession) say(key string, args ...string) string {
	return printable(s.tx.Get("verb."+key, args...))
}

// text is one of those that come from below, in the same way.
func (s *hostsSession) text(t hostconf.Text) string { return printable(t.In(s.tx)) }

// host finds a host by its id or alias.
func (s *hostsSession) host(id string) (hostconf.Host, error) {
	h, err := hostconf.ByID(id)
	return h, s.explain(id, err)
}

// texts are for people, in their language.
func (s *hostsSession) texts(all []hostconf.Text) []string {
	out := []string{}
	for _, t := range all {
		out = append(out, s.text(t))
	}
	return out
}

// explain makes of what stopped us what a person can do about it, in their
// language. id is the host that it is about.
func (s *hostsSession) explain(id string, err error) error {
	e, ok := errors.AsType[*hostconf.Error](err)
	if !ok {
		return err
	}
	out := &sandbox.Error{Code: sandbox.Code(e.Code), Msg: s.text(e.Text), Err: err, Details: map[string]any{"host": id}, Retryable: e.Code == hostconf.Busy}
	if e.Path != "" {
		out.Details["file"] = e.Path
	}
	if e.Line > 0 {
		out.Details["line"], out.Details["column"] = e.Line, e.Column
	}
	if e.Source != "" && !s.inJSON { // it may hold a secret, so no program gets it
		out.Msg += "\n  " + strconv.Itoa(e.Line) + " | " + printable(e.Source)
	}
	return out
}

// eachHost does something with every host of ids, and tells of those where it
// fails. Its error is that of the last one.
func (s *hostsSession) eachHost(ids []string, do func(hostconf.Host) error) error {
	var seen []string
	return each(ids, s.inJSON, func(id string) error {
		h, err := s.host(id)
		if err != nil || slices.Contains(seen, h.ID) {
			return err
		}
		seen = append(seen, h.ID)
		return s.explain(h.ID, do(h))
	})
}

// hostWords are the hosts there are, for completion.
func hostWords() []string {
	var out []string
	for _, h := range hostconf.Hosts() {
		out = append(out, h.ID+"\t"+h.Title)
	}
	return out
}
