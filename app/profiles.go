package app

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// Profiles are the owner's profiles in the settings. They need no engine: what
// needs their secrets does.
type Profiles struct {
	file *settings.File
	dir  string // of the keychain
}

// A Profile is one of them.
type Profile = settings.Profile

// OpenProfiles returns those of this user. If a key was being taken out of a file
// when everything ended, it clears up after that.
func OpenProfiles() (*Profiles, error) {
	dirs, err := paths.Find()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), sweepWithin)
	defer cancel()
	_ = sweepMoves(ctx, scratchFolder(dirs)) // the engine says what can't be cleared up
	return &Profiles{settings.Open(dirs.Config), keychainFolder(dirs)}, nil
}

// keychainFolder is where secrets are, sealed.
func keychainFolder(dirs paths.Dirs) string { return filepath.Join(dirs.State, "keychain") }

// sweepWithin is how long whoever looks at profiles waits for that.
const sweepWithin = 5 * time.Second

// Language is the one that the user has chosen, "" if none.
func (p *Profiles) Language() string {
	s, err := p.file.Read()
	if err != nil {
		return "" // whatever needs the settings says so
	}
	return s.Language
}

// All are all profiles but that of this computer, and the name of the default.
func (p *Profiles) All() (all []Profile, byDefault string, err error) {
	s, err := p.file.Read()
	return s.Profiles, cmp.Or(s.DefaultProfile, sandbox.ProfileLocal), err
}

// Get returns the profile with a name.
func (p *Profiles) Get(name string) (Profile, error) {
	s, err := p.file.Read()
	if err != nil {
		return Profile{}, err
	}
	own, ok := s.Profile(name)
	if !ok {
		return Profile{}, noProfile(name, s)
	}
	return own, nil
}

func noProfile(name string, s settings.Settings) error {
	return &sandbox.Error{
		Code: sandbox.NotFound, Msg: "there is no profile " + name, Hint: "\"arenero profiles list\" shows those there are",
		Details: map[string]any{"why": "no_profile", "profile": name, "have": profileNames(s)},
	}
}

func profileExists(name string) error {
	return &sandbox.Error{
		Code: sandbox.Exists, Msg: "there is a profile " + name, Hint: "change it: \"arenero profiles edit " + name + "\"",
		Details: map[string]any{"why": "exists", "profile": name},
	}
}

func profileNames(s settings.Settings) []string {
	out := []string{}
	for _, p := range s.Profiles {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out
}

// maxProfileName is the most bytes of a name.
const maxProfileName = 64

// CheckProfile reports what is wrong with a profile as it is written.
func CheckProfile(p Profile) error {
	invalid := func(why, format string, args ...any) error {
		return &sandbox.Error{Code: sandbox.Invalid, Msg: fmt.Sprintf(format, args...), Details: map[string]any{"why": why, "profile": p.Name}}
	}
	ok := p.Name != "" && len(p.Name) <= maxProfileName && p.Name[0] != '-' && p.Name[0] != '.'
	for _, c := range []byte(p.Name) {
		ok = ok && (c == '-' || c == '_' || c == '.' || c == '@' || c == '+' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if !ok || slices.Contains([]string{sandbox.ProfileLocal, ProfileEnvironment}, p.Name) {
		return invalid("name", "%q can't be the name of a profile: use up to %d letters, digits and -_.@+; local and environment mean something else", p.Name, maxProfileName)
	}
	if err := p.Profile.Validate(); err != nil {
		return invalid("fields", "%v", err)
	}
	if p.Region == "" && p.Kind != awsauth.KindShared && p.Kind != awsauth.KindEnvironment { // those may have it from elsewhere
		return invalid("region", "a profile of kind %s names no region of its own: give it one", p.Kind)
	}
	if at, err := url.Parse(p.Endpoint); err != nil || at.User != nil { // the settings are no place for a password
		return invalid("endpoint", "the endpoint of %s has to be an address without a user or a password", p.Name)
	}
	spec := sandbox.Spec{Timeout: time.Duration(p.TimeoutSeconds) * time.Second, Idle: time.Duration(p.IdleSeconds) * time.Second}
	if err := spec.Validate(); err != nil {
		return invalid("times", "%s", sandbox.Message(err))
	}
	if p.IdleSeconds > 0 && p.IdleSeconds >= cmp.Or(p.TimeoutSeconds, 3600) {
		return invalid("times", "idle is not shorter than the life of a sandbox")
	}
	return nil
}

// Put keeps a profile. With fresh there must be none of its name yet.
func (p *Profiles) Put(ctx context.Context, own Profile, fresh bool) error {
	if err := CheckProfile(own); err != nil {
		return err
	}
	return p.file.Change(ctx, func(s *settings.Settings) error {
		if _, had := s.Profile(own.Name); had && fresh {
			return profileExists(own.Name)
		}
		if own.Source != "" {
			if _, ok := s.Profile(own.Source); !ok && own.Source != own.Name {
				return noProfile(own.Source, *s)
			}
		}
		s.PutProfile(own)
		return checkSources(*s, own)
	})
}

// checkSources refuses a profile whose sources lead back to it.
func checkSources(s settings.Settings, p Profile) error {
	seen := []string{p.Name}
	for at := p; at.Kind == awsauth.KindRole; {
		next, ok := s.Profile(at.Source)
		if !ok {
			return nil
		}
		if slices.Contains(seen, next.Name) {
			return &sandbox.Error{Code: sandbox.Invalid, Msg: (&awsauth.ErrLoop{Names: append(seen, next.Name)}).Error(), Details: map[string]any{"why": "loop", "profile": p.Name}}
		}
		seen, at = append(seen, next.Name), next
	}
	return nil
}

// SetDefault makes a profile that of connections and verbs that name none.
func (p *Profiles) SetDefault(ctx context.Context, name string) error {
	return p.file.Change(ctx, func(s *settings.Settings) error {
		if _, ok := s.Profile(name); !ok && name != sandbox.ProfileLocal {
			return noProfile(name, *s)
		}
		s.DefaultProfile = name
		return nil
	})
}

// Moved are the profiles, be they forgotten or not, whose key was taken out of the
// files of AWS, sorted: nothing else has it any more.
func (p *Profiles) Moved(ctx context.Context) ([]string, error) {
	s, err := p.file.Read()
	if err != nil {
		return nil, err
	}
	store, err := keychain.Open(keychain.Config{Backend: keychain.Backend(cmp.Or(s.Keychain, string(keychain.System))), Dir: p.dir})
	if err != nil {
		return nil, err
	}
	names, err := store.Names(ctx) // which needs no key
	var out []string
	for _, n := range names {
		if profile, ok := strings.CutPrefix(n, moveName("")); ok {
			out = append(out, profile)
		}
	}
	return out, err
}

// Drop forgets a profile. One that others need stays, unless by force, and so does
// one that programs get credentials from since its key was taken out of their files.
func (p *Profiles) Drop(ctx context.Context, name string, force bool) error {
	moved, err := p.Moved(ctx)
	if err != nil {
		return err
	}
	return p.file.Change(ctx, func(s *settings.Settings) error {
		if _, ok := s.Profile(name); !ok {
			return noProfile(name, *s)
		}
		var users []string
		for _, c := range s.Connections {
			if c.Profile == name {
				users = append(users, c.Host)
			}
		}
		for _, o := range s.Profiles {
			if o.Source == name {
				users = append(users, o.Name)
			}
		}
		if len(users) > 0 && !force {
			slices.Sort(users)
			users = slices.Compact(users)
			return &sandbox.Error{
				Code: sandbox.WrongState, Msg: "the profile " + name + " is used by " + strings.Join(users, ", "), Hint: "change those first, or say --force",
				Details: map[string]any{"why": "used", "profile": name, "users": strings.Join(users, ", ")},
			}
		}
		if slices.Contains(moved, name) && !force {
			return &sandbox.Error{
				Code: sandbox.WrongState, Msg: "the files of AWS get the key of " + name + " from here",
				Hint:    "\"arenero profiles import --undo " + name + "\" puts it back there and forgets the profile, or say --force",
				Details: map[string]any{"why": "moved", "profile": name},
			}
		}
		s.DropProfile(name)
		if s.DefaultProfile == name {
			s.DefaultProfile = ""
		}
		return nil
	})
}

// AWSFiles are the files of the AWS configuration: those of a folder, or those
// that the environment of this process names, or those in the home folder.
func AWSFiles(from string) (awsauth.Files, error) {
	if from == "" {
		env := map[string]string{"AWS_CONFIG_FILE": os.Getenv("AWS_CONFIG_FILE"), "AWS_SHARED_CREDENTIALS_FILE": os.Getenv("AWS_SHARED_CREDENTIALS_FILE")}
		return awsauth.New(awsauth.Deps{Env: env}).Files()
	}
	dir, err := filepath.Abs(from)
	if err != nil {
		return awsauth.Files{}, err
	}
	if _, err := os.Stat(dir); err != nil {
		return awsauth.Files{}, &sandbox.Error{Code: sandbox.NotFound, Msg: "the folder " + dir + " can't be read", Err: err}
	}
	return awsauth.Files{Config: filepath.Join(dir, "config"), Credentials: filepath.Join(dir, "credentials")}, nil
}
