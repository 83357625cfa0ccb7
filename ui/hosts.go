package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// HostTexts is the part of assets/translation that the texts about the apps are
// in. What the engine tells of them is in "hosts" and "verbs".
const HostTexts = "window-hosts"

// A Tone is how much something wants to be seen.
type Tone string

// The tones.
const (
	ToneMuted Tone = "muted" // nothing is there
	ToneGood  Tone = "good"
	ToneWarn  Tone = "warn" // it works, or may
	ToneBad   Tone = "bad"
)

// rank puts the worst last.
func (t Tone) rank() int {
	return slices.Index([]Tone{ToneMuted, ToneGood, ToneWarn, ToneBad}, t)
}

// Told is a text of the engine's in the language of tx, which must have the part
// that it is in. One that is no key is put into that language as far as it is
// known.
func Told(tx assets.Texts, t control.Text) string {
	text := tx.Get(t.Key, t.Args...)
	if !tx.Has(t.Key) {
		text = InLanguage(tx, text)
	}
	return Visible(strings.NewReplacer("\r", "", "\n", " ").Replace(text))
}

// HostWord is how a host is, in a word or two: the worst of what is known.
func HostWord(tx assets.Texts, h control.Host) (string, Tone) {
	switch {
	case h.Managed != nil:
		return tx.Get("window.hosts.state.managed"), ToneWarn
	case len(h.Entries) > 0:
		return HostEntryWord(tx, worst(h))
	case h.Lacks != nil:
		return tx.Get("window.hosts.state.lacks"), ToneWarn
	case !writable(h):
		return tx.Get("window.hosts.state.by-hand"), ToneMuted
	case perhaps(h):
		return tx.Get("window.hosts.state.perhaps"), ToneMuted
	case !h.Installed:
		return tx.Get("window.hosts.state.absent"), ToneMuted
	}
	return tx.Get("window.hosts.state.none"), ToneMuted
}

// HostEntryWord is how an entry is, in a word or two.
func HostEntryWord(tx assets.Texts, e control.HostEntry) (string, Tone) {
	tone := entryTone(e)
	switch {
	case (e.State == control.EntryAsWritten || e.State == control.EntryByHost) && len(e.Lost) > 0:
		return tx.Get("window.hosts.state.lost"), tone
	case tx.Has("window.hosts.state." + e.State):
		return tx.Get("window.hosts.state." + e.State), tone
	}
	return Visible(e.State), tone
}

func entryTone(e control.HostEntry) Tone {
	switch e.State {
	case control.EntryAsWritten, control.EntryByHost:
		if len(e.Lost) > 0 {
			return ToneWarn
		}
		return ToneGood
	case control.EntryGone, control.EntryUnread:
		return ToneBad
	}
	return ToneWarn
}

// worst is the entry of h to look at first. It has one.
func worst(h control.Host) control.HostEntry {
	return slices.MaxFunc(h.Entries, func(a, b control.HostEntry) int { return entryTone(a).rank() - entryTone(b).rank() })
}

// perhaps reports whether there is of a host what it has files in, and no more.
func perhaps(h control.Host) bool { return !h.Installed && h.Perhaps != "" }

// writable reports whether a host has a file here that an entry can go to.
func writable(h control.Host) bool { return len(h.Scopes) > 0 }

// HostEntryTrouble is what is wrong with an entry, and what to do about it; none of
// one that is as it should be.
func HostEntryTrouble(tx assets.Texts, h control.Host, e control.HostEntry) []string {
	var out []string
	say := func(key string, args ...string) {
		out = append(out, Visible(tx.Get("window.hosts.trouble."+key, append(args, "title", h.Title, "file", e.File)...)))
	}
	switch e.State {
	case control.EntryEdited:
		say("edited", "fields", strings.Join(e.Fields, ", "))
	case control.EntryGone:
		say("gone")
	case control.EntryForeign:
		say("foreign", "name", e.Name)
	case control.EntryUnread:
		if e.Problem != nil {
			out = append(out, Told(tx, *e.Problem))
		}
		say("unread")
	}
	switch {
	case len(e.Lost) > 0 && e.Backup != "":
		say("lost.backup", "names", strings.Join(e.Lost, ", "), "backup", e.Backup)
	case len(e.Lost) > 0:
		say("lost", "names", strings.Join(e.Lost, ", "))
	}
	return out
}

// A HostFact is something known about what is shown.
type HostFact struct {
	Label, Text string
	Mono        bool // it is a path, or another thing to copy
}

// HostEntryFacts is what an entry says.
func HostEntryFacts(tx assets.Texts, e control.HostEntry) []HostFact {
	var out []HostFact
	add := func(key, text string, mono bool) {
		if text != "" {
			out = append(out, HostFact{tx.Get("window.hosts.fact." + key), Visible(text), mono})
		}
	}
	add("file", e.File, true)
	add("project", e.Project, true)
	if e.Connection != "" {
		add("place", PlaceName(tx, e.Profile), false)
		add("tools", ToolsetNames(tx, e.Toolsets), false)
		add("token", cmp.Or(e.Grant, tx.Get("window.hosts.token.owner")), false)
	}
	add("address", e.HTTP, true)
	if e.Name != defaultEntry {
		add("name", e.Name, true)
	}
	return out
}

// defaultEntry is the name of an entry that was given no other.
const defaultEntry = "arenero"

// HostNotes is what else there is to know of a host before anything is done to
// it, what stands in the way first.
func HostNotes(tx assets.Texts, h control.Host) []Note {
	var out []Note
	alert := func(text string) { out = append(out, Note{Text: text, Alert: true}) }
	if h.Managed != nil {
		alert(Told(tx, *h.Managed))
	}
	if h.Lacks != nil {
		alert(Told(tx, *h.Lacks))
	}
	if h.Running { // which matters to whoever is about to change something
		well := len(h.Entries) > 0 && entryTone(worst(h)) == ToneGood
		out = append(out, Note{Text: Visible(tx.Get("window.hosts.running", "title", h.Title)), Alert: !well})
	}
	switch {
	case perhaps(h):
		out = append(out, Note{Text: Visible(tx.Get("window.hosts.perhaps", "title", h.Title, "path", h.Perhaps))})
	case !h.Installed:
		out = append(out, Note{Text: Visible(tx.Get("window.hosts.absent", "title", h.Title))})
	}
	if h.Certain == "low" {
		out = append(out, Note{Text: Visible(tx.Get("window.hosts.uncertain", "title", h.Title))})
	}
	for _, n := range h.Notes {
		if text := Told(tx, n); !slices.ContainsFunc(out, func(o Note) bool { return o.Text == text }) {
			out = append(out, Note{Text: text})
		}
	}
	return out
}

// A HostVerb is something that can be done about a host.
type HostVerb string

// The verbs.
const (
	HostConnect HostVerb = "connect"
	HostUpdate  HostVerb = "update"
	HostRemove  HostVerb = "remove"
	HostUndo    HostVerb = "undo"
	HostCheck   HostVerb = "check"
	HostFolder  HostVerb = "folder"
	HostBind    HostVerb = "bind"
	HostPrint   HostVerb = "print"
)

// A HostAction is a button. One that can't be pressed says why.
type HostAction struct {
	Verb   HostVerb
	Label  string
	Why    string // it can't be done now; "" if it can
	Usual  bool   // what whoever looks at this most likely wants
	Danger bool
}

// HostActions are what can be done about a host as a whole.
func HostActions(tx assets.Texts, h control.Host) []HostAction {
	act := func(v HostVerb) HostAction {
		return HostAction{Verb: v, Label: tx.Get("window.hosts.act." + string(v))}
	}
	connect := act(HostConnect)
	switch {
	case !writable(h):
		connect.Why = tx.Get("window.hosts.why.by-hand")
	case h.Managed != nil:
		connect.Why = tx.Get("window.hosts.why.managed")
	case h.Lacks != nil:
		connect.Why = tx.Get("window.hosts.why.lacks")
	}
	connect.Usual = connect.Why == "" && (h.Installed || perhaps(h)) && len(h.Entries) == 0
	out := []HostAction{connect}
	if len(h.Entries) > 0 {
		out[0].Label = tx.Get("window.hosts.act.connect-more")
		out = append(out, act(HostCheck))
	}
	if h.Undo != nil {
		out = append(out, act(HostUndo))
	}
	return append(out, act(HostPrint))
}

// HostEntryActions are what can be done about one entry of a host.
func HostEntryActions(tx assets.Texts, h control.Host, e control.HostEntry) []HostAction {
	var out []HostAction
	act := func(v HostVerb, when bool) {
		if when {
			out = append(out, HostAction{Verb: v, Label: tx.Get("window.hosts.act." + string(v))})
		}
	}
	act(HostUpdate, e.State != control.EntryByHost && writable(h))
	act(HostUndo, e.Undo)
	act(HostRemove, e.State != control.EntryForeign)
	act(HostBind, e.Connection != "")
	act(HostFolder, e.File != "")
	for i := range out {
		switch a := &out[i]; a.Verb {
		case HostUpdate:
			switch {
			case h.Managed != nil:
				a.Why = tx.Get("window.hosts.why.managed")
			case e.State == control.EntryUnread:
				a.Why = tx.Get("window.hosts.why.unread")
			}
			switch e.State {
			case control.EntryGone:
				a.Label = tx.Get("window.hosts.act.again")
			case control.EntryForeign:
				a.Label = tx.Get("window.hosts.act.take")
			}
			a.Usual = a.Why == "" && (e.State == control.EntryEdited || e.State == control.EntryGone)
		case HostRemove:
			a.Danger = true
			if e.State == control.EntryGone {
				a.Label = tx.Get("window.hosts.act.forget")
			}
		}
	}
	return out
}

// SortHosts puts what is connected first, what is here next, then what perhaps is, and the rest last;
// by name within.
func SortHosts(all []control.Host) []control.Host {
	group := func(h control.Host) int {
		switch {
		case len(h.Entries) > 0:
			return 0
		case h.Installed:
			return 1
		case perhaps(h):
			return 2
		}
		return 3
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b control.Host) int {
		return cmp.Or(group(a)-group(b), strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)))
	})
}

// ScopeName says for whom an entry is, as "user" or "project".
func ScopeName(tx assets.Texts, scope string) string {
	kind, which, _ := strings.Cut(scope, ":")
	text := Visible(scope)
	if tx.Has("window.hosts.scope." + kind) {
		text = tx.Get("window.hosts.scope." + kind)
	}
	if which != "" {
		text += " (" + Visible(which) + ")"
	}
	return text
}

// ScopeNeedsFolder reports whether an entry of a scope is for one folder, which
// has to be told.
func ScopeNeedsFolder(scope string) bool { return scope == "project" || scope == "local" }

// ScopeNeedsProfile reports whether an entry of a scope is for one of the
// profiles that the host itself has.
func ScopeNeedsProfile(scope string) bool { return scope == "profile" }

// PlaceName says where the sandboxes of a connection run.
func PlaceName(tx assets.Texts, profile string) string {
	switch profile {
	case "":
		return tx.Get("window.hosts.place.usual")
	case sandbox.ProfileLocal:
		return tx.Get("window.hosts.place.local")
	case ProfileEnvironment:
		return tx.Get("window.hosts.place.environment")
	}
	return Visible(profile)
}

// ProfileEnvironment is the profile of connections that go by the variables of
// their host.
const ProfileEnvironment = "environment"

// ToolsetNames are the sets of tools of a connection, in words; none are all.
func ToolsetNames(tx assets.Texts, sets []string) string {
	if len(sets) == 0 {
		return tx.Get("window.hosts.tools.all")
	}
	var out []string
	for _, s := range sets {
		out = append(out, ToolsetName(tx, s))
	}
	return strings.Join(out, ", ")
}

// ToolsetName is one set of tools, in words.
func ToolsetName(tx assets.Texts, set string) string {
	if tx.Has("window.hosts.tools." + set) {
		return tx.Get("window.hosts.tools." + set)
	}
	return Visible(set)
}

// A DiffLook is how a line of a difference is drawn.
type DiffLook struct {
	Text string
	Tone Tone // "" is that of all text
	Bold bool
}

// HostEntryKey tells an entry from the others of its host.
func HostEntryKey(e control.HostEntry) string {
	return strings.Join([]string{e.Scope, e.File, e.Project, e.Name}, "\x00")
}

// DiffLooks are the lines of a difference. Each begins with the sign that people
// know it by, so that they can be told apart without colours too.
func DiffLooks(lines []control.DiffLine) []DiffLook {
	out := make([]DiffLook, 0, len(lines))
	for _, l := range lines {
		look := DiffLook{Text: Visible(strings.ReplaceAll(l.Text, "\t", "    "))}
		switch l.Kind {
		case "from", "to", "hunk":
			look.Tone = ToneMuted
		case "added":
			look.Tone, look.Bold = ToneGood, true
		case "deleted":
			look.Tone, look.Bold = ToneBad, true
		}
		out = append(out, look)
	}
	return out
}

// HostChangeDoes is what a change comes to, in a sentence. After it, done is true.
func HostChangeDoes(tx assets.Texts, title string, c control.HostChange, done bool) string {
	key := "window.hosts.would."
	if done {
		key = "window.hosts.did."
	}
	action := c.Action
	if len(c.Argv) > 0 {
		action = "argv"
	}
	return Visible(tx.Get(key+action, "title", title, "file", c.File, "command", strings.Join(c.Argv, " ")))
}

// HostChanges reports whether a result changes anything.
func HostChanges(r control.HostResult) bool {
	return slices.ContainsFunc(r.Changes, func(c control.HostChange) bool { return c.Action != control.HostUnchanged })
}

// FindingText is what a check found, and what to do about it.
func FindingText(tx assets.Texts, f control.Finding) (what, remedy string) {
	what = Sentence(Told(tx, f.What))
	if f.Remedy != nil {
		remedy = Sentence(Told(tx, *f.Remedy))
	}
	return what, remedy
}

// Sentence is text with a capital letter in front, as it stands alone.
func Sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return text
	}
	return string(unicode.ToUpper(r)) + text[n:]
}

// FindingTone is how what a check found is to look.
func FindingTone(level string) Tone {
	switch level {
	case "ok":
		return ToneGood
	case "warn":
		return ToneWarn
	case "fail":
		return ToneBad
	}
	return ToneMuted
}

// TokensToBind are the tokens that a connection can use at now.
func TokensToBind(all []control.Token, now time.Time) []control.Token {
	return slices.DeleteFunc(slices.Clone(all), func(t control.Token) bool {
		g := t.Grant
		return g.ID == sandbox.GrantOwner || !g.RevokedAt.IsZero() || !g.ExpiresAt.IsZero() && !g.ExpiresAt.After(now)
	})
}
