package app

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf"
)

// A Level is how bad something is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn" // it works, or may
	Fail Level = "fail" // the host has no tools of ours
)

// A Check is one thing that was looked at.
type Check struct {
	Host   hostconf.Host
	File   string // of the entry that it is about; "" is the host as a whole
	Name   string // of that entry
	ID     string // of the check, for programs
	Level  Level
	What   hostconf.Text
	Remedy hostconf.Text // what to do; an empty key is nothing
}

// Rules that fit every host, and what those take that do not say.
const (
	nameAndTool  = 56
	startSeconds = 10
)

// Doctor looks whether the entries of a host work: it starts each as the host
// would. A host without entries of ours has no checks.
func (h *Hosts) Doctor(ctx context.Context, host hostconf.Host, project string) ([]Check, error) {
	var out []Check
	err := h.Examine(ctx, host, project, func(c Check) error {
		out = append(out, c)
		return nil
	})
	return out, err
}

// Examine is Doctor, and tells each check as soon as it is done. An error of tell
// ends it.
func (h *Hosts) Examine(ctx context.Context, host hostconf.Host, project string, tell func(Check) error) error {
	status, err := h.Status(ctx, host, project)
	if err != nil || len(status.Entries) == 0 && len(status.Connections) == 0 {
		return err
	}
	x := &examination{h: h, status: status, tell: tell}
	x.host()
	for _, e := range status.Entries {
		if x.untold != nil {
			return x.untold
		}
		if err := x.entry(ctx, e); err != nil {
			return err
		}
	}
	for _, c := range status.Connections {
		if c.ByHost && !slices.ContainsFunc(status.Entries, func(e hostconf.Entry) bool { return e.Name == c.Name && e.State != hostconf.Gone }) {
			x.file, x.name = c.File, c.Name
			x.add("entry", Warn, text("verb.doctor.by-host", "file", c.File), text("verb.doctor.by-host.remedy", "name", c.Name))
		}
	}
	return x.untold
}

func text(key string, args ...string) hostconf.Text { return hostconf.Text{Key: key, Args: args} }

// An examination is one look at a host.
type examination struct {
	h          *Hosts
	status     HostStatus
	file, name string // of the entry that is looked at
	id         string // of the host, with the flags that lead to that entry
	tell       func(Check) error
	untold     error // of tell
}

func (x *examination) add(id string, level Level, what, remedy hostconf.Text) {
	if x.untold == nil {
		x.untold = x.tell(Check{x.status.Host, x.file, x.name, id, level, what, remedy})
	}
}

// host looks at what is true of all entries of the host.
func (x *examination) host() {
	s := x.status
	switch {
	case s.Detected.Installed:
	case s.Detected.Perhaps != "":
		x.add("installed", Warn, text("verb.doctor.perhaps", "title", s.Host.Title, "path", s.Detected.Perhaps), text("verb.doctor.absent.remedy", "id", s.Host.ID))
	default:
		x.add("installed", Warn, text("verb.doctor.absent", "title", s.Host.Title), text("verb.doctor.absent.remedy", "id", s.Host.ID))
	}
	if s.Managed != nil {
		x.add("managed", Fail, s.Managed.Text, hostconf.Text{})
	}
	if s.Lacks.Key != "" {
		x.add("version", Fail, s.Lacks, hostconf.Text{})
	}
	for _, m := range s.Managers {
		x.add("manager", Warn, text("verb.doctor.manager", "manager", m.Title, "path", m.Path), text("verb.doctor.manager.remedy", "manager", m.Title))
	}
	for _, m := range s.Misplaced {
		x.add("misplaced", Warn, text("verb.doctor.misplaced", "path", m.Path, "names", strings.Join(m.Names, ", "), "title", s.Host.Title), text("verb.doctor.misplaced.remedy", "read", m.Read))
	}
	for _, f := range s.Files {
		if f.Mark {
			x.add("bom", Fail, text("verb.doctor.mark", "path", f.Path, "title", s.Host.Title), text("verb.doctor.mark.remedy", "id", s.Host.ID))
		}
	}
}

// entry looks at one entry of ours.
func (x *examination) entry(ctx context.Context, e hostconf.Entry) error {
	x.file, x.name, x.id = e.Path, e.Name, x.idOf(e)
	again := text("verb.doctor.again", "id", x.id)
	switch e.State {
	case hostconf.AsWritten:
		x.add("entry", OK, text("verb.doctor.as-written", "file", e.Path), hostconf.Text{})
	case hostconf.Edited:
		x.add("entry", Warn, text("verb.doctor.edited", "file", e.Path, "fields", strings.Join(e.Fields, ", ")), again)
	case hostconf.Foreign:
		x.add("entry", Warn, text("verb.doctor.foreign", "file", e.Path, "name", e.Name), again)
	case hostconf.Gone:
		x.add("entry", Fail, text("verb.doctor.gone", "file", e.Path), again)
	case hostconf.Unread:
		x.add("entry", Fail, e.Problem, text("verb.doctor.unread.remedy"))
	}
	if len(e.Lost) > 0 {
		x.add("others", Warn, text("verb.doctor.lost", "names", strings.Join(e.Lost, ", ")), text("verb.doctor.lost.remedy", "backup", e.Backup))
	}
	if e.State == hostconf.Gone || e.State == hostconf.Unread {
		return nil
	}
	if !e.Read {
		x.add("read", Fail, text("verb.doctor.unused", "file", e.Path, "title", x.status.Host.Title), again)
	}
	entry, ok := e.Value.(map[string]any)
	switch {
	case !ok:
		x.add("start", Fail, text("verb.doctor.unreadable", "file", e.Path), again)
		return nil
	case e.Scope == hostconf.Project && !x.ours(entry):
		x.add("start", Warn, text("verb.doctor.not-started", "file", e.Path), again)
		return nil
	}
	return x.start(ctx, e, entry)
}

// ours reports whether an entry starts our program and asks for nothing more.
// The files of projects are shared: whoever gives one to the user could have
// anything started.
func (x *examination) ours(entry map[string]any) bool {
	argv, _ := argvOf(entry)
	return len(argv) > 0 && argv[0] == x.h.cfg.Bridge && len(environOf(nil, entry)) == 0
}

// idOf is the host's id as "arenero hosts install" needs it, with the flags that
// lead to an entry.
func (x *examination) idOf(e hostconf.Entry) string {
	out := x.status.Host.ID
	if e.Scope != x.status.Host.Scopes[0] {
		out += " --scope " + x.status.scopeOf(e.Scope, e.Path)
	}
	for _, c := range x.status.Connections {
		if c.ID == e.Connection && c.Project != "" {
			out += " --project '" + c.Project + "'"
		}
	}
	if e.Name != hostconf.DefaultName {
		out += " --name " + e.Name
	}
	return out
}

// start starts what the entry says, with what the host gives to it, and, as
// programs that no shell has started would, with a short PATH.
func (x *examination) start(ctx context.Context, e hostconf.Entry, entry map[string]any) error {
	host := x.status.Host
	budget := time.Duration(max(host.Limits.StartSeconds, 0)) * time.Second
	if budget == 0 {
		budget = startSeconds * time.Second
	}
	argv, url := argvOf(entry)
	if url != "" {
		got, err := call(ctx, url, budget)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.started("start", got, err, budget, text("verb.doctor.http.remedy", "url", url))
		x.names(e, got)
		return nil
	}
	if len(argv) == 0 {
		x.add("start", Fail, text("verb.doctor.no-command", "file", e.Path), text("verb.doctor.again", "id", x.id))
		return nil
	}
	if argv[0] != x.h.cfg.Bridge {
		x.add("command", Warn, text("verb.doctor.other", "command", argv[0], "bridge", x.h.cfg.Bridge), text("verb.doctor.again", "id", x.id))
	}
	again := text("verb.doctor.start.remedy", "id", x.id)
	env := x.h.environment(host.ID, os.Environ())
	got, err := start(ctx, argv, environOf(env, entry), budget)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	x.started("start", got, err, budget, again)
	if err == nil && x.h.cfg.System.OS != "windows" {
		_, err := start(ctx, argv, environOf(withPath(env, shortPath), entry), budget)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			x.failed("path", err, budget, text("verb.doctor.path.remedy"))
		} else {
			x.add("path", OK, text("verb.doctor.path", "path", shortPath), hostconf.Text{})
		}
	}
	x.names(e, got)
	return nil
}

// started tells how the start went.
func (x *examination) started(id string, got startedServer, err error, budget time.Duration, remedy hostconf.Text) {
	if err != nil {
		x.failed(id, err, budget, remedy)
		return
	}
	took := strconv.FormatInt(got.Took.Milliseconds(), 10)
	x.add(id, OK, text("verb.doctor.started", "server", got.Name, "tools", strconv.Itoa(len(got.Tools)), "ms", took, "seconds", strconv.Itoa(int(budget/time.Second))), hostconf.Text{})
	if !got.Ended {
		x.add("end", Warn, text("verb.doctor.stays"), remedy)
	}
}

func (x *examination) failed(id string, err error, budget time.Duration, remedy hostconf.Text) {
	what, detail := "answer", err.Error()
	if e, ok := errors.AsType[*startError](err); ok {
		what, detail = e.what, e.detail
	}
	x.add(id, Fail, text("verb.doctor.start."+what, "detail", detail, "seconds", strconv.Itoa(int(budget/time.Second))), remedy)
}

// names looks whether the names of the tools are short enough for the host.
func (x *examination) names(e hostconf.Entry, got startedServer) {
	longest := ""
	for _, t := range got.Tools {
		if len(t) > len(longest) {
			longest = t
		}
	}
	limit := x.status.Host.Limits.NameAndTool
	if limit == 0 {
		limit = nameAndTool
	}
	n := strconv.Itoa(len(e.Name) + len(longest))
	switch {
	case longest == "":
	case len(e.Name)+len(longest) > limit:
		x.add("names", Fail, text("verb.doctor.long", "name", e.Name, "tool", longest, "length", n, "limit", strconv.Itoa(limit)), text("verb.doctor.long.remedy"))
	default:
		x.add("names", OK, text("verb.doctor.short", "length", n, "limit", strconv.Itoa(limit)), hostconf.Text{})
	}
}

// argvOf is the command line of an entry in any host's form, or its address.
func argvOf(entry map[string]any) (argv []string, url string) {
	for _, key := range []string{"url", "serverUrl", "httpUrl", "uri"} {
		if u, _ := entry[key].(string); u != "" {
			url = u
		}
	}
	texts := func(v any) (out []string) {
		if s, ok := v.(string); ok {
			return []string{s}
		}
		list, _ := v.([]any)
		for _, item := range list {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	for _, key := range []string{"command", "cmd"} {
		argv = append(argv, texts(entry[key])...)
	}
	if len(argv) == 0 {
		return nil, url
	}
	return append(argv, texts(entry["args"])...), ""
}
