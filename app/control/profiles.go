package control

import (
	"context"
	"net/http"
	"time"
)

// A ProfileAction is what is asked for about a profile, or about the keychain
// that has the secrets of all.
type ProfileAction string

// The actions. Data is what each takes, as JSON unless it says otherwise.
const (
	ProfileTest     ProfileAction = "test"     // who it is
	ProfileLogin    ProfileAction = "login"    // ask a person for what it needs; events are prompts
	ProfileLogout   ProfileAction = "logout"   // end its sessions
	ProfileSetKey   ProfileAction = "set-key"  // keep its key
	ProfileForget   ProfileAction = "forget"   // drop what the keychain has of it
	ProfileProcess  ProfileAction = "process"  // its credentials, as a credential_process prints them
	ProfileEnv      ProfileAction = "env"      // its credentials, as variables by name
	ProfileEndpoint ProfileAction = "endpoint" // serve its credentials for as long as the call lasts; one event says where
	ProfileMove     ProfileAction = "move"     // take its key out of the files of AWS
	ProfileRestore  ProfileAction = "restore"  // put it back

	KeychainStatus ProfileAction = "keychain-status"
	KeychainUse    ProfileAction = "keychain-use" // Name is the backend, Data the passphrase of a new vault as it is
	KeychainUnlock ProfileAction = "keychain-unlock"
	KeychainLock   ProfileAction = "keychain-lock"
	KeychainReset  ProfileAction = "keychain-reset"
)

// A ProfileRequest asks for something about a profile. Data may be a secret.
type ProfileRequest struct {
	Action ProfileAction `json:"action"`
	Name   string        `json:"name,omitempty"`
	// Browser says that whoever asks opens the pages of prompts on this computer.
	Browser bool   `json:"browser,omitempty"`
	Data    []byte `json:"data,omitempty"`
	Region  string `json:"region,omitempty"` // of [ProfileMove], for a profile that names none
}

// A ProfileEvent is something that happens while a profile is worked on.
type ProfileEvent struct {
	Prompt *Prompt           `json:"prompt,omitempty"`
	Env    map[string]string `json:"env,omitempty"` // leads other programs to an endpoint; holds a secret
}

// A Prompt is what a person has to do. One with an ID wants an answer, by
// [Client.Answer].
type Prompt struct {
	ID      string    `json:"id,omitempty"`
	Profile string    `json:"profile"`
	Serial  string    `json:"serial,omitempty"` // of the MFA device whose code is wanted
	URL     string    `json:"url,omitempty"`    // of the page to confirm a login at
	Code    string    `json:"code,omitempty"`   // to compare with what the page shows
	Expires time.Time `json:"expires,omitzero"`
}

// Profile asks for something about a profile. What it came to is JSON, or
// nothing.
func (c *Client) Profile(ctx context.Context, r ProfileRequest, event func(ProfileEvent) error) ([]byte, error) {
	a, err := c.call(ctx, callProfile, &request{Profile: &r}, ifUnsent, func(f frame) error {
		if f.Event == nil || event == nil {
			return nil
		}
		return event(*f.Event)
	}, nil)
	if err != nil {
		return nil, err
	}
	return a.Data, nil
}

// Answer answers a prompt.
func (c *Client) Answer(ctx context.Context, prompt, text string) error {
	_, err := c.call(ctx, callAnswer, &request{ID: prompt, Data: []byte(text)}, ifUnsent, nil, nil)
	return err
}

func (s *server) profile(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
	if q.Profile == nil {
		return nil, missing("profile")
	}
	data, err := s.e.Profile(ctx, *q.Profile, func(e ProfileEvent) error { return out.send(frame{Event: &e}) })
	return &answer{Data: data}, err
}

func (s *server) answer(_ context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
	return nil, s.e.Answer(q.ID, string(q.Data))
}

// A profiler is the part of an engine that knows profiles.
type profiler interface {
	// Profile does what r says. What it comes to is JSON, or nothing.
	Profile(ctx context.Context, r ProfileRequest, tell func(ProfileEvent) error) ([]byte, error)
	// Answer answers a prompt.
	Answer(prompt, text string) error
}
