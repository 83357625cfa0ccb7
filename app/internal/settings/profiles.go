package settings

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// A Profile is one that the user has made: an account, as whom to use it, and
// what its sandboxes are unless somebody asks for another kind.
type Profile struct {
	awsauth.Profile
	TimeoutSeconds int `json:"timeout_seconds,omitempty"` // of a sandbox's life; 0 is what is usual
	IdleSeconds    int `json:"idle_seconds,omitempty"`    // after which one is suspended; 0 is what is usual
	rest           []field
}

// Profile returns the profile with a name.
func (s *Settings) Profile(name string) (Profile, bool) {
	i := slices.IndexFunc(s.Profiles, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return s.Profiles[i], true
}

// PutProfile adds a profile, or replaces the one with its name.
func (s *Settings) PutProfile(p Profile) {
	i := slices.IndexFunc(s.Profiles, func(o Profile) bool { return o.Name == p.Name })
	if i < 0 {
		s.Profiles = append(s.Profiles, p)
		return
	}
	p.rest = s.Profiles[i].rest
	s.Profiles[i] = p
}

// DropProfile forgets the profile with a name.
func (s *Settings) DropProfile(name string) {
	s.Profiles = slices.DeleteFunc(s.Profiles, func(p Profile) bool { return p.Name == name })
}

// profileKeys are the keys that a profile may have.
var profileKeys = func() map[string]bool {
	keys := map[string]bool{}
	for _, t := range []reflect.Type{reflect.TypeFor[Profile](), reflect.TypeFor[awsauth.Profile]()} {
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				keys[name] = true
			}
		}
	}
	return keys
}()

func (p *Profile) decode(raw json.RawMessage) error {
	all, err := fieldsOf(raw)
	if err != nil {
		return err
	}
	type plain Profile // which has no methods of its own
	if err := json.Unmarshal(raw, (*plain)(p)); err != nil {
		return err
	}
	for _, f := range all {
		if !profileKeys[f.key] {
			p.rest = append(p.rest, f)
		}
	}
	if p.Name == "" {
		return fmt.Errorf("one has no name")
	}
	return nil
}

func (p *Profile) encode() (json.RawMessage, error) {
	type plain Profile
	raw, err := json.Marshal((*plain)(p))
	if err != nil {
		return nil, err
	}
	all, err := fieldsOf(raw)
	if err != nil {
		return nil, err
	}
	return object(nil, append(all, p.rest...))
}
