package ui

import (
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A Link is how a client stands with its engine.
type Link string

// The links.
const (
	Starting Link = "starting" // it has not answered yet
	Linked   Link = "linked"
	Lost     Link = "lost" // it answered once, or should have by now
)

// An Icon says in one picture how things are.
type Icon string

// The icons, by the names of their files in assets/icons.
const (
	IconNone      Icon = "none"      // no sandbox
	IconRunning   Icon = "running"   // at least one is awake
	IconSuspended Icon = "suspended" // there are some, and all sleep
	IconWorking   Icon = "working"   // a call runs, or one is being made
	IconAttention Icon = "attention" // somebody has to look
	IconLost      Icon = "lost"      // there is no engine: nothing is known
)

// Icons are all of them.
func Icons() []Icon {
	return []Icon{IconNone, IconRunning, IconSuspended, IconWorking, IconAttention, IconLost}
}

// A Host is an app that may have an entry of ours.
type Host struct {
	ID, Title string
	Connected bool
}

// A State is all that a tray goes by.
type State struct {
	Link     Link
	Why      *sandbox.Error   // of a lost link, if there is more to say
	Snapshot sandbox.Snapshot // the last one; that of an engine that is lost tells what there was
	Settled  *sandbox.Micro   // of what ended today; nil is not known
	Hosts    []Host           // that are on this computer
	Looked   bool             // for hosts; before that their menu is not there
	Doing    map[string]Verb  // what is being done, by the id of a sandbox
	Notes    []Note           // what went wrong, or was done, and is not hidden yet
	TellDone bool             // that long work has ended well is worth a notice
	Serving  control.Serving  // the tools over HTTP
	Explain  func(*sandbox.Error) string
}

// A Note is a line for the user to see, until a click hides it.
type Note struct {
	ID    string
	Text  string
	Alert bool // it wants attention, and is no mere answer
}

// A Verb is something that the user can ask for in a menu.
type Verb string

// The verbs.
const (
	Suspend     Verb = "suspend"
	Resume      Verb = "resume"
	Terminal    Verb = "terminal"
	Copy        Verb = "copy"
	Extend      Verb = "extend"
	EndAt       Verb = "end-at" // at a time that the user is asked for
	Kill        Verb = "kill"
	SuspendAll  Verb = "suspend-all"
	KillAll     Verb = "kill-all"
	Connect     Verb = "connect" // Subject is a host
	SignIn      Verb = "sign-in" // Subject is a profile
	Hide        Verb = "hide"    // Subject is a note
	Pause       Verb = "pause"   // Subject is [Paused] or [Unpaused]
	Open        Verb = "open"    // the window; Page is one of it, and Subject a place there
	Quit        Verb = "quit"
	QuitSuspend Verb = "quit-suspend"
	QuitKill    Verb = "quit-kill"
)

// What [Pause] is to do with requests for new sandboxes.
const (
	Paused   = "on"  // refuse them
	Unpaused = "off" // take them again
)

// Pages of the window, by the names that it has for them.
const (
	PageSandboxes = "sandboxes"
	PageSpend     = "spend"
	PageProfiles  = "profiles"
	PageTokens    = "tokens"
	PageActivity  = "activity"
	PageSettings  = "settings"
)

// An Action is what a click on an item asks for.
type Action struct {
	Verb    Verb
	Subject string // id of a sandbox, unless the verb says otherwise
	Page    string // for [Open]; "" is whatever is there
}

// An Item is one line of a menu. Its ID says what it is about, and stays the
// same for as long as that is there.
type Item struct {
	ID        string
	Label     string
	Disabled  bool
	Separator bool
	Toggle    bool // it has a mark, which On shows
	On        bool
	Action    Action
	Items     []Item // of a menu to the side
}

// A Model is what the tray shows.
type Model struct {
	Icon    Icon
	Tooltip string
	Items   []Item
	Until   time.Time // when a text will change though nothing happens; zero is never
}

// Find returns the item with an id, in items or below them.
func Find(items []Item, id string) (Item, bool) {
	for _, i := range items {
		if i.ID == id {
			return i, true
		}
		if found, ok := Find(i.Items, id); ok {
			return found, true
		}
	}
	return Item{}, false
}
