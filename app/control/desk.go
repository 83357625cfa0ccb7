package control

import (
	"context"
	"encoding/json"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A Desk is the part of an engine that knows the owner's computer: the apps on
// it that start servers, what the owner has set, where the logs are, and what
// runs in the sandboxes now. All of it is refused to whoever has a token or
// comes from a tool.
type Desk interface {
	// Hosts are the apps of this computer that are there, or have an entry of ours.
	Hosts(ctx context.Context, q HostQuery) ([]Host, error)
	// PlanHost tells what ChangeHost would do.
	PlanHost(ctx context.Context, o HostOrder) (HostResult, error)
	ChangeHost(ctx context.Context, o HostOrder) (HostResult, error)
	// NoteHost keeps that another of our programs has changed a host.
	NoteHost(ctx context.Context, n HostNote) (struct{}, error)
	// CheckHost starts the entries of a host as it would, and emits what it finds.
	CheckHost(ctx context.Context, host string, emit func(Finding) error) error

	Preferences(ctx context.Context, none struct{}) (Preferences, error)
	// EditPreferences changes what is not nil. The next snapshot has another
	// number of Settings, for those who go by the language or the notices.
	EditPreferences(ctx context.Context, e PreferencesEdit) (Preferences, error)
	// Pause has requests for new sandboxes refused until it is taken back. What
	// lives goes on.
	Pause(ctx context.Context, paused bool) (struct{}, error)

	// OwnProfiles are the owner's profiles of AWS, in the order they were made.
	OwnProfiles(ctx context.Context, none struct{}) (OwnProfiles, error)
	PutProfile(ctx context.Context, p ProfilePut) (OwnProfile, error)
	DropProfile(ctx context.Context, d ProfileDrop) (struct{}, error)
	// Importable are the profiles in the owner's own files of AWS.
	Importable(ctx context.Context, none struct{}) ([]Importable, error)

	// Diagnose makes all checks, and emits each as it ends.
	Diagnose(ctx context.Context, profile string, emit func(Finding) error) error
	// SaveBundle writes what others need to help into a new file, and returns its
	// path. "" is a place of ours.
	SaveBundle(ctx context.Context, path string) (string, error)
	// Logs are the logs there are, with their last lines.
	Logs(ctx context.Context, q LogQuery) ([]Log, error)

	// FollowCalls emits what ran in a sandbox lately, and then what does. Of
	// earlier calls it has the last few, and the end of what they said.
	FollowCalls(ctx context.Context, sandbox string, emit func(CallNews) error) error
	// Ports are those that something in a sandbox listens at. It wakes nothing:
	// of one that sleeps nothing is known.
	Ports(ctx context.Context, sandbox string) ([]Port, error)
}

// A Text is something for a person to read: its key in the translation, and the
// names and values to fill in, in turn. Parts of the translation that it may be
// in are "hosts", "verbs", "http", "doctor", "keychain" and "profiles". A key that is in
// none of them is the text itself in English, as "messages" has it.
type Text struct {
	Key  string   `json:"key"`
	Args []string `json:"args,omitempty"`
}

// A HostQuery asks for hosts: one of them, or all.
type HostQuery struct {
	Host    string `json:"host,omitempty"`
	All     bool   `json:"all,omitempty"`     // also those that are not on this computer
	Project string `json:"project,omitempty"` // folder to look into too
}

// A Host is an app that starts servers.
type Host struct {
	ID        string      `json:"id"`
	Title     string      `json:"title"`
	Installed bool        `json:"installed"`
	Perhaps   string      `json:"perhaps,omitempty"` // file or folder of its own that is here, where neither a program of it was found nor an entry of ours
	Seen      string      `json:"seen,omitempty"`    // where it was found
	Running   bool        `json:"running,omitempty"`
	Connected bool        `json:"connected"`      // an entry of ours is there as we wrote it
	Scopes    []string    `json:"scopes"`         // the first is the usual one
	HTTP      bool        `json:"http,omitempty"` // its entries can have an address
	Certain   string      `json:"certain"`        // how sure we are of its files: "high", "medium", "low"
	Entries   []HostEntry `json:"entries"`
	Managed   *Text       `json:"managed,omitempty"` // an organisation decides
	Lacks     *Text       `json:"lacks,omitempty"`   // what it needs before it can be connected
	Notes     []Text      `json:"notes,omitempty"`
	Undo      *HostEntry  `json:"undo,omitempty"` // one that we removed, which can be put back
}

// A HostEntry is an entry of ours in a file of a host.
type HostEntry struct {
	Name       string    `json:"name"`
	Scope      string    `json:"scope"`
	File       string    `json:"file"`
	Project    string    `json:"project,omitempty"` // the folder that it is for, as an order takes it
	Backup     string    `json:"backup,omitempty"`  // the file before our last change, if it is kept
	State      string    `json:"state"`             // one of those below
	Fields     []string  `json:"changed_fields,omitempty"`
	Lost       []string  `json:"lost_entries,omitempty"`
	Connection string    `json:"connection,omitempty"`
	Profile    string    `json:"profile,omitempty"`
	Toolsets   []string  `json:"toolsets,omitempty"`
	Grant      string    `json:"grant,omitempty"` // name of the token it is bound to; "" is the owner's own
	HTTP       string    `json:"http,omitempty"`
	Problem    *Text     `json:"problem,omitempty"`
	Written    time.Time `json:"written,omitzero"`
	Undo       bool      `json:"undo,omitempty"` // our last change can be taken back
}

// The states of an entry, as "arenero hosts list --json" has them.
const (
	EntryAsWritten = "as-written" // every field that we wrote
	EntryEdited    = "edited"     // by the user or the host, since we wrote it
	EntryGone      = "gone"       // removed by another program or the user, not by us
	EntryForeign   = "foreign"    // it has the name we use, or starts our program, but we did not write it
	EntryUnread    = "unread"     // the file can't be read
	EntryByHost    = "by-host"    // the host itself wrote it, where we can't look
)

// What can be done to a host.
const (
	HostConnect = "connect" // give it our entry, or bring that up to date
	HostRemove  = "remove"
	HostUndo    = "undo" // take back our last change of the file
)

// HostUnchanged is the action of a change that has nothing to do.
const HostUnchanged = "unchanged"

// DetailText is the key among the details of an error of the [Text] that says
// what is wrong, where there is one: see [TextOf].
const DetailText = "text"

// TextOf is what an error about a host says, for people who read no English.
func TextOf(err error) (t Text, ok bool) {
	e := sandbox.ToError(err)
	if e == nil || e.Details[DetailText] == nil {
		return Text{}, false
	}
	raw, err := json.Marshal(e.Details[DetailText]) // by now it may have been on the wire
	if err != nil || json.Unmarshal(raw, &t) != nil || t.Key == "" {
		return Text{}, false
	}
	return t, true
}

// A HostOrder asks for something to be done to a host. What is empty is usual,
// or as it is.
type HostOrder struct {
	Action   string   `json:"action"`
	Host     string   `json:"host"`
	Scope    string   `json:"scope,omitempty"`
	Project  string   `json:"project,omitempty"`
	Name     string   `json:"name,omitempty"` // of the entry
	Profile  string   `json:"profile,omitempty"`
	Toolsets []string `json:"toolsets,omitempty"`
	HTTP     string   `json:"http,omitempty"` // the entry has this address in place of a command
	Force    bool     `json:"force,omitempty"`
	ID       string   `json:"id,omitempty"` // of a new connection, as its plan had it
}

// A HostNote says what was done to a host without the engine.
type HostNote struct {
	Host       string            `json:"host"`
	Kind       sandbox.EventKind `json:"kind"` // of those of apps
	Connection string            `json:"connection,omitempty"`
}

// A HostResult is what was done to the files of a host, or would be.
type HostResult struct {
	Changes []HostChange `json:"changes"`
}

// A HostChange is a change of one file.
type HostChange struct {
	File       string     `json:"file"`
	Scope      string     `json:"scope"`
	Name       string     `json:"name"`
	Action     string     `json:"action"` // "insert", "update", "delete" or "revert"; "unchanged" is nothing to do
	Connection string     `json:"connection,omitempty"`
	Diff       []DiffLine `json:"diff,omitempty"` // what others have in these lines is hidden
	Created    bool       `json:"created,omitempty"`
	Removed    bool       `json:"removed,omitempty"`
	Backup     string     `json:"backup,omitempty"`
	Argv       []string   `json:"argv,omitempty"` // the host's own command line that does it
	Warnings   []Text     `json:"warnings,omitempty"`
	Steps      []Text     `json:"steps,omitempty"` // for the user, now
}

// A DiffLine is a line of a difference.
type DiffLine struct {
	Kind string `json:"kind"` // "from", "to", "hunk", "added", "deleted", "same"
	Text string `json:"text"` // with the sign that it begins with
}

// A Finding is what a check came to.
type Finding struct {
	Name   string        `json:"name"`  // of the check, for programs
	Level  string        `json:"level"` // "ok", "warn", "fail", "skip"; "" is that it begins
	What   Text          `json:"what"`
	Remedy *Text         `json:"remedy,omitempty"`
	More   []Finding     `json:"more,omitempty"` // what else was found, less bad; of these there is no time
	File   string        `json:"file,omitempty"` // of a host's entry that it is about
	Took   time.Duration `json:"took,omitempty"`
}

// Preferences are what the owner has set for the whole program.
type Preferences struct {
	Language       string  `json:"language,omitempty"` // "en" or "es"; "" is the system's
	Theme          string  `json:"theme,omitempty"`    // "light" or "dark"; "" is the system's
	DefaultProfile string  `json:"default_profile"`    // "local", or the name of a profile
	Notices        Notices `json:"notices"`
	StartAtLogin   bool    `json:"start_at_login"`
	CanStart       bool    `json:"can_start"` // at login: this system has a place for it
	HTTP           Serving `json:"http"`      // the tools over HTTP
	Paused         bool    `json:"paused,omitempty"`
	GuideDone      bool    `json:"guide_done,omitempty"` // the first steps were shown to their end, or left
	Window         string  `json:"window,omitempty"`     // size of the windows, as their program wrote it: "960x640"
	Keychain       string  `json:"keychain"`             // "system", "vault" or "memory"
	Settings       string  `json:"settings_file"`
	LogFolder      string  `json:"log_folder"`
	Version        string  `json:"version"`
}

// Notices say which notices a desktop shows.
type Notices struct {
	Off   bool   `json:"off,omitempty"`   // none at all
	Quiet string `json:"quiet,omitempty"` // hours without any, as in "22:00-07:30"
	Done  bool   `json:"done"`            // also that a call of over 30 s has ended well
}

// A PreferencesEdit changes what is not nil.
type PreferencesEdit struct {
	Language       *string  `json:"language,omitempty"`
	Theme          *string  `json:"theme,omitempty"`
	DefaultProfile *string  `json:"default_profile,omitempty"`
	Notices        *Notices `json:"notices,omitempty"`
	StartAtLogin   *bool    `json:"start_at_login,omitempty"`
	GuideDone      *bool    `json:"guide_done,omitempty"`
	Window         *string  `json:"window,omitempty"`

	HTTP *ServingEdit `json:"http,omitempty"`
}

// OwnProfiles are the owner's profiles.
type OwnProfiles struct {
	Default  string       `json:"default"` // its name; "local" is this computer
	Profiles []OwnProfile `json:"profiles"`
}

// An OwnProfile is a profile of AWS that the owner has made. It holds no secret.
type OwnProfile struct {
	Name            string `json:"name"`
	Kind            string `json:"kind"`
	Region          string `json:"region,omitempty"`
	MFASerial       string `json:"mfa_serial,omitempty"`
	DurationSeconds int    `json:"duration_seconds,omitempty"`
	NoSession       bool   `json:"no_session,omitempty"`
	StartURL        string `json:"sso_start_url,omitempty"`
	SSORegion       string `json:"sso_region,omitempty"`
	SSOSession      string `json:"sso_session,omitempty"`
	SSOAccount      string `json:"sso_account_id,omitempty"`
	SSORole         string `json:"sso_role_name,omitempty"`
	SSOFlow         string `json:"sso_flow,omitempty"`
	RoleARN         string `json:"role_arn,omitempty"`
	Source          string `json:"source_profile,omitempty"`
	ExternalID      string `json:"external_id,omitempty"`
	SessionName     string `json:"role_session_name,omitempty"`
	TokenFile       string `json:"web_identity_token_file,omitempty"`
	Command         string `json:"credential_process,omitempty"`
	SharedProfile   string `json:"shared_profile,omitempty"`
	Template        string `json:"template,omitempty"`
	Version         string `json:"version,omitempty"`
	Role            string `json:"role,omitempty"`
	Endpoint        string `json:"endpoint,omitempty"`
	TimeoutSeconds  int    `json:"timeout_seconds,omitempty"`
	IdleSeconds     int    `json:"idle_seconds,omitempty"`
	// Moved tells that its key was taken out of the files of AWS, and that
	// [ProfileRestore] puts it back. What is put may leave it out.
	Moved bool `json:"moved,omitempty"`
}

// A ProfilePut keeps a profile. Fresh says that there is none of its name yet.
type ProfilePut struct {
	Profile OwnProfile `json:"profile"`
	Fresh   bool       `json:"fresh,omitempty"`
	Default bool       `json:"default,omitempty"` // and make it the default
}

// A ProfileDrop forgets a profile. One that others need stays, unless by Force.
type ProfileDrop struct {
	Name  string `json:"name"`
	Force bool   `json:"force,omitempty"`
}

// An Importable is a profile of the files of AWS. Move is what
// [ProfileMove] takes to bring its key into the keychain, and Profile what to
// put to use it where it is; one of them may be absent.
type Importable struct {
	Name     string      `json:"name"`
	Kind     string      `json:"kind"`
	Region   string      `json:"region,omitempty"`
	Imported string      `json:"imported,omitempty"` // name of ours that uses it
	Move     []byte      `json:"move,omitempty"`
	Profile  *OwnProfile `json:"profile,omitempty"`
	NoRegion bool        `json:"no_region,omitempty"` // it has none: Move needs one in its request, and Profile may
	Warnings []Text      `json:"warnings,omitempty"`
	Problem  *Text       `json:"problem,omitempty"`
}

// A LogQuery asks for logs: the file of a name or all, and of their lines those of
// a level and of worse ones. "" is all.
type LogQuery struct {
	Name  string `json:"name,omitempty"`
	Level string `json:"level,omitempty"` // one of those below
}

// The levels of the lines of logs. Lines that have none go with the one before.
const (
	LevelDebug   = "DEBUG"
	LevelInfo    = "INFO"
	LevelWarning = "WARNING"
	LevelError   = "ERROR"
)

// A Log is a log of ours.
type Log struct {
	Name string `json:"name"` // of its file
	Path string `json:"path"`
	Tail string `json:"tail"` // its last lines of those asked for, at most 16 KiB
}

// CallNews is something about a call: see [sandbox.CallNews].
type CallNews = sandbox.CallNews

// A Port is one that something listens at.
type Port struct {
	Number  int    `json:"number"`
	Address string `json:"address"` // of the sandbox's own
}
