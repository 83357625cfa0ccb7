package ui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// ActivityTexts is the part of assets/translation that the screen of activity is
// in. It needs [Texts] and [SpendTexts] too.
const ActivityTexts = "window-activity"

// A Topic is what an entry of the activity is about.
type Topic string

// The topics.
const (
	TopicSandboxes Topic = "sandboxes"
	TopicCalls     Topic = "calls"
	TopicBudgets   Topic = "budgets"
	TopicTokens    Topic = "tokens"
	TopicApps      Topic = "apps"
	TopicSystem    Topic = "system" // prices, the clock, the account
)

// Topics are all of them, as they are offered.
func Topics() []Topic {
	return []Topic{TopicSandboxes, TopicCalls, TopicBudgets, TopicTokens, TopicApps, TopicSystem}
}

// An Entry is something that happened: an event, or a call in a sandbox.
type Entry struct {
	ID       string
	At       time.Time
	Topic    Topic
	Kind     string // of the event, or "call." and that of the call
	Severity sandbox.Severity
	Text     string // what happened, in a line
	Sandbox  string // id of the sandbox that it is about, "" of none
	Name     string // of that
	Host     string // the app
	Profile  string
	Grant    string // id of the token that pays, "" of none
	By       string // its name
	Budget   string // as [BudgetID] has it, "" of none
	Clock    bool   // only a person can say that the clock is right

	Event *sandbox.Event // that it is, or nil
	Call  *Call          // that it is, or nil

	folded string // what a search looks into
}

// A Call is what is known of a call in a sandbox.
type Call struct {
	Kind    string // "command", "code", "job"
	Text    string // the command, or the code
	Began   time.Time
	Ended   time.Time // zero while it runs
	Code    *int      // how it exited
	Raised  string    // name of the exception that ended it
	Failed  *sandbox.Error
	Timeout bool
	Output  string // the end of what it said
	Cut     bool   // it said more before
}

// Runs reports whether the end of a call has not been told yet.
func (c *Call) Runs() bool { return c.Ended.IsZero() && c.Code == nil && c.Failed == nil }

// mostOutput is how much of what a call said is kept here: the sandbox's own
// page has more.
const mostOutput = 4 << 10

// A Known is what helps to tell of entries: whose they are, and where.
type Known struct {
	Grants    map[string]string          // names, by id
	Sandboxes map[string]sandbox.Sandbox // by id, and by key
}

// EventEntry is the entry of an event.
func EventEntry(tx assets.Texts, e sandbox.Event, known Known) Entry {
	out := Entry{
		ID: "event/" + e.ID, At: e.At, Topic: topicOf(e.Kind), Kind: string(e.Kind), Severity: e.Severity, Event: &e,
		Grant: e.Grant, By: grantName(known, e),
	}
	name, _ := e.Data["name"].(string)
	switch e.Kind {
	case sandbox.EventReady, sandbox.EventSuspended, sandbox.EventResumed, sandbox.EventEnded, sandbox.EventNotice, sandbox.EventDoubt:
		out.Sandbox, out.Name = e.Subject, name
	case sandbox.EventOrphan:
		out.Sandbox, out.Profile = e.Subject, name
	case sandbox.EventRefused:
		out.Name = name
	case sandbox.EventApp, sandbox.EventAppChanged, sandbox.EventAppGone:
		out.Host = name
	case sandbox.EventThreshold, sandbox.EventOver, sandbox.EventBudgetSet:
		out.Budget = e.Subject
		if level, owner, _ := strings.Cut(e.Subject, ":"); level == string(sandbox.LevelProfile) {
			out.Profile = owner
		}
	case sandbox.EventClock:
		why, _ := e.Data["why"].(string)
		out.Clock = why != "ahead"
	}
	if b, ok := known.Sandboxes[out.Sandbox]; ok && out.Sandbox != "" {
		out.Name, out.Host, out.Profile = cmp.Or(out.Name, b.Name), b.Host, cmp.Or(out.Profile, b.Profile)
	}
	out.Text = eventText(tx, e, out)
	out.fold()
	return out
}

func topicOf(k sandbox.EventKind) Topic {
	word, _, _ := strings.Cut(string(k), ".")
	switch word {
	case "sandbox", "create", "machine":
		return TopicSandboxes
	case "budget":
		return TopicBudgets
	case "token":
		return TopicTokens
	case "app":
		return TopicApps
	}
	return TopicSystem
}

func grantName(known Known, e sandbox.Event) string {
	if e.Grant == "" || e.Grant == sandbox.GrantOwner {
		return ""
	}
	name, _ := e.Data["name"].(string)
	if !strings.HasPrefix(string(e.Kind), "token.") { // else it is that of something else
		name = ""
	}
	return cmp.Or(known.Grants[e.Grant], name, e.Grant)
}

// eventText is what happened.
func eventText(tx assets.Texts, e sandbox.Event, out Entry) string {
	name, _ := e.Data["name"].(string)
	of := func(key string) sandbox.Micro { return amount(e.Data[key]) }
	key := "activity.event." + string(e.Kind)
	args := []string{
		"subject", printable(e.Subject), "kind", printable(string(e.Kind)), "name", printable(name), "days", number(e.Data["days"]),
		"sandbox", Name(sandbox.Sandbox{ID: out.Sandbox, Name: out.Name}), "by", printable(out.By),
	}
	switch e.Kind {
	case sandbox.EventEnded, sandbox.EventMachineOver:
		reason, _ := e.Data["reason"].(string)
		args = append(args, "reason", EndText(tx, sandbox.EndReason(reason)))
		if cost := of("settled_micro"); cost > 0 {
			key += ".cost"
			args = append(args, "cost", Dollars(tx, cost))
		} else if would := of("would_micro"); would > 0 {
			key += ".would"
			args = append(args, "would", Dollars(tx, would))
		}
	case sandbox.EventDoubt:
		args = append(args, "hold", Dollars(tx, of("hold_micro")))
	case sandbox.EventThreshold, sandbox.EventOver:
		level, _ := e.Data["level"].(string)
		used, limit := of("spent_micro").Plus(of("held_micro")), of("limit_micro")
		args = append(args, "budget", BudgetTitle(tx, sandbox.BudgetLevel(level), cmp.Or(out.By, name)), "percent", number(e.Data["percent"]),
			"used", DollarsBeside(tx, used, limit), "limit", AllDollars(tx, limit))
	case sandbox.EventBudgetSet:
		level, _ := e.Data["level"].(string)
		args = append(args, "budget", BudgetTitle(tx, sandbox.BudgetLevel(level), cmp.Or(out.By, name)))
		if e.Data["limit_micro"] == nil {
			key += ".none"
			break
		}
		period, _ := e.Data["period"].(string)
		args = append(args, "limit", LimitText(tx, new(of("limit_micro")), sandbox.Period(period)))
	case sandbox.EventRefused:
		args = append(args, "why", refusal(tx, e))
		if name == "" {
			key += ".nameless"
		}
	case sandbox.EventExpiring:
		args = append(args, "left", Span(tx, time.Duration(of("left_s"))*time.Second))
	case sandbox.EventClock:
		if why, _ := e.Data["why"].(string); why == "back" || why == "ahead" {
			key += "." + why
		}
		args = append(args, "span", Span(tx, time.Duration(of("seconds"))*time.Second))
	}
	if !tx.Has(key) { // of a newer engine
		key = "activity.event.other"
	}
	text := tx.Get(key, args...)
	if said, _ := e.Data["text"].(string); said != "" {
		text += tx.Get("activity.quote", "text", printableTo(strings.Join(strings.Fields(said), " "), longest))
	}
	return text
}

// refusal says why a sandbox was refused.
func refusal(tx assets.Texts, e sandbox.Event) string {
	code, _ := e.Data["code"].(string)
	if key := "activity.refused." + code; code != "" && tx.Has(key) {
		asked, left := amount(e.Data["asked_micro"]), amount(e.Data["left_micro"])
		return tx.Get(key, "asked", DollarsBeside(tx, asked, left), "left", DollarsBeside(tx, left, asked))
	}
	return printable(code)
}

// longest is how much of a name is shown where there is room for all of any.
const longest = 200

// printableTo is printable, and at most so many characters.
func printableTo(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if p := printable(string(r)); p == "" {
			return -1
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// CallEntry is the entry of a call in a sandbox.
func CallEntry(tx assets.Texts, id string, b sandbox.Sandbox, host string, c Call, known Known) Entry {
	out := Entry{
		ID: "call/" + id, At: c.Began, Topic: TopicCalls, Kind: "call." + c.Kind, Severity: sandbox.SeverityInfo, Call: &c,
		Sandbox: b.ID, Name: b.Name, Host: cmp.Or(host, b.Host), Profile: b.Profile, Grant: b.Grant,
	}
	if b.Grant != "" && b.Grant != sandbox.GrantOwner {
		out.By = cmp.Or(known.Grants[b.Grant], b.Grant)
	}
	switch {
	case c.Failed != nil:
		out.Severity = sandbox.SeverityError
	case c.Code != nil && *c.Code != 0, c.Timeout, c.Raised != "":
		out.Severity = sandbox.SeverityWarn
	}
	line, _, _ := strings.Cut(strings.TrimSpace(c.Text), "\n")
	out.Text = tx.Get("activity.call", "how", CallState(tx, c), "text", printableTo(line, longest))
	out.fold()
	return out
}

// CallState says how a call stands.
func CallState(tx assets.Texts, c Call) string {
	switch {
	case c.Failed != nil:
		return tx.Get("activity.call.failed")
	case c.Timeout:
		return tx.Get("activity.call.timeout")
	case c.Raised != "":
		return tx.Get("activity.call.raised", "name", printableTo(c.Raised, 60))
	case c.Code != nil && *c.Code == 0:
		return tx.Get("activity.call.done")
	case c.Code != nil:
		return tx.Get("activity.call.exit", "code", strconv.Itoa(*c.Code))
	case !c.Ended.IsZero():
		return tx.Get("activity.call.over")
	}
	return tx.Get("activity.call.running")
}

// Say adds to what a call said.
func (c *Call) Say(data []byte, cut bool) {
	c.Output += strings.ToValidUTF8(string(data), "�")
	c.Cut = c.Cut || cut
	if over := len(c.Output) - mostOutput; over > 0 {
		c.Output, c.Cut = strings.ToValidUTF8(c.Output[over:], ""), true
	}
}

// fold notes what a search looks into.
func (e *Entry) fold() {
	text := e.Text + "\n" + e.Kind + "\n" + e.Sandbox + "\n" + e.Name + "\n" + e.Host + "\n" + e.Profile + "\n" + e.By
	if e.Call != nil {
		text += "\n" + e.Call.Text
	}
	e.folded = fold(text)
}

var unaccented = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ü", "u", "ñ", "n")

// fold is a text without what people don't type when they search.
func fold(s string) string { return unaccented.Replace(strings.ToLower(s)) }

// Happened orders entries, the newest first.
func Happened(a, b Entry) int {
	return cmp.Or(b.At.Compare(a.At), strings.Compare(b.ID, a.ID))
}

// A Log is what happened, as far as it is loaded. The zero value is empty.
type Log struct {
	entries []Entry // the newest first
}

// mostEntries is how many are kept: the oldest go first.
const mostEntries = 20_000

// Put adds entries, each in place of one that has its id. It reports how many
// are new.
func (l *Log) Put(all ...Entry) (added int) {
	for _, e := range all {
		i, ok := slices.BinarySearchFunc(l.entries, e, Happened)
		if ok {
			l.entries[i] = e
			continue
		}
		l.entries = slices.Insert(l.entries, i, e)
		added++
	}
	if len(l.entries) > mostEntries {
		l.entries = slices.Delete(l.entries, mostEntries, len(l.entries))
	}
	return added
}

// Len is how many entries there are.
func (l *Log) Len() int { return len(l.entries) }

// Find returns the entry of an id.
func (l *Log) Find(id string) (Entry, bool) {
	i := slices.IndexFunc(l.entries, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return Entry{}, false
	}
	return l.entries[i], true
}

// Shown are the entries that a filter lets through.
func (l *Log) Shown(f Filter) []Entry {
	m := f.match()
	var out []Entry
	for _, e := range l.entries {
		if m(e) {
			out = append(out, e)
		}
	}
	return out
}

// Hosts are the apps that there are entries of, in order.
func (l *Log) Hosts() []string { return l.each(func(e Entry) string { return e.Host }) }

// Sandboxes are the ids of those that there are entries of, the newest first.
func (l *Log) Sandboxes() []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, e := range l.entries {
		if !seen[e.Sandbox] {
			seen[e.Sandbox] = true
			out = append(out, e.Sandbox)
		}
	}
	return out
}

func (l *Log) each(of func(Entry) string) []string {
	var out []string
	for _, e := range l.entries {
		if s := of(e); s != "" {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A Filter says which entries are wanted; what is empty is any.
type Filter struct {
	Topic   Topic
	Alerts  bool // warnings and errors alone
	Errors  bool // errors alone
	Host    string
	Sandbox string
	Text    string // each word of it, anywhere
	Days    *Days
}

// Any reports whether f lets everything through.
func (f Filter) Any() bool {
	return f.Topic == "" && !f.Alerts && !f.Errors && f.Host == "" && f.Sandbox == "" && strings.TrimSpace(f.Text) == "" && f.Days == nil
}

func (f Filter) match() func(Entry) bool {
	words := strings.Fields(fold(f.Text))
	return func(e Entry) bool {
		switch {
		case f.Topic != "" && e.Topic != f.Topic,
			f.Alerts && e.Severity == sandbox.SeverityInfo,
			f.Errors && e.Severity != sandbox.SeverityError,
			f.Host != "" && e.Host != f.Host,
			f.Sandbox != "" && e.Sandbox != f.Sandbox,
			f.Days != nil && (e.At.Before(f.Days.From) || !e.At.Before(f.Days.Until)):
			return false
		}
		for _, w := range words {
			if !strings.Contains(e.folded, w) {
				return false
			}
		}
		return true
	}
}

// ActivityFacts are all that is known of an entry, besides what a call said.
func ActivityFacts(tx assets.Texts, e Entry, now time.Time) []Fact {
	var out []Fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, Fact{Name: tx.Get("activity.fact." + name), Value: value})
		}
	}
	add("at", e.At.In(now.Location()).Format("2006-01-02 15:04:05.000 MST"))
	add("severity", SeverityText(tx, e.Severity))
	if e.Name != "" && e.Sandbox != "" {
		add("name", printableTo(e.Name, longest))
	}
	add("sandbox", printableTo(e.Sandbox, longest))
	add("host", printable(e.Host))
	place := printable(e.Profile)
	if e.Profile == sandbox.ProfileLocal {
		place = tx.Get("spend.local")
	}
	add("profile", place)
	add("token", printable(e.By))
	if c := e.Call; c != nil {
		add("state", CallState(tx, *c))
		if c.Failed != nil {
			add("why", printableTo(c.Failed.Msg, 400))
		}
		if !c.Ended.IsZero() {
			add("took", c.Ended.Sub(c.Began).Round(time.Millisecond).String())
		}
	}
	add("kind", printable(e.Kind))
	return out
}

// EventData are the particulars of an event, as programs have them, "" if there
// are none.
func EventData(e Entry) string {
	if e.Event == nil || len(e.Event.Data) == 0 {
		return ""
	}
	raw, err := json.MarshalIndent(e.Event.Data, "", "  ")
	if err != nil {
		return ""
	}
	return string(raw)
}

// SeverityText is what a severity is called.
func SeverityText(tx assets.Texts, s sandbox.Severity) string {
	if key := "activity.severity." + string(s); tx.Has(key) {
		return tx.Get(key)
	}
	return printable(string(s))
}

// TopicText is what a topic is called.
func TopicText(tx assets.Texts, t Topic) string { return tx.Get("activity.topic." + string(t)) }
