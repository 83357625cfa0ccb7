package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// accounts are the owner's profiles as the engine has them: what they are in the
// settings, their secrets in the keychain, and the one place that makes
// configurations of them, so that all share a login.
type accounts struct {
	file    *settings.File
	secrets *secretKeeper
	auth    *awsauth.Auth
	env     map[string]string // the AWS variables of the engine itself
	program string            // what others start to get credentials
	scratch string            // folder for changes of files that hold secrets; see [scratchFolder]
	fail    func(step string) // called at each step of such a change, by tests; may be nil
	open    func(ctx context.Context, p settings.Profile) (*cloud, error)
	log     *slog.Logger

	moving sync.Mutex // held while files of AWS are changed

	mu      sync.Mutex             // guards what follows
	prompts map[string]chan string // that wait for an answer
}

func newAccounts(dirs paths.Dirs, file *settings.File, program string, log *slog.Logger) *accounts {
	a := &accounts{
		file: file, secrets: newSecretKeeper(file, filepath.Join(dirs.State, "keychain")), env: map[string]string{},
		program: program, scratch: scratchFolder(dirs), log: log, prompts: map[string]chan string{},
	}
	for _, name := range awsauth.Variables {
		if v := os.Getenv(name); v != "" {
			a.env[name] = v
		}
	}
	a.auth = awsauth.New(a.deps())
	return a
}

// scratchFolder is where changes of the files of AWS have their records.
func scratchFolder(dirs paths.Dirs) string { return filepath.Join(dirs.State, "aws") }

func (a *accounts) deps() awsauth.Deps {
	return awsauth.Deps{
		Secrets: a.secrets, Env: a.env,
		Profiles: func(name string) (awsauth.Profile, bool) {
			p, err := a.find(name)
			return p.Profile, err == nil
		},
		Names: func() []string {
			known, err := a.file.Read()
			if err != nil {
				return nil
			}
			return profileNames(known)
		},
	}
}

// find returns the profile with a name.
func (a *accounts) find(name string) (settings.Profile, error) {
	known, err := a.file.Read()
	if err != nil {
		return settings.Profile{}, &sandbox.Error{Code: sandbox.StoreDown, Msg: "the settings can't be read", Hint: "see " + a.file.Path(), Err: err}
	}
	at, err := named(known, name)
	switch {
	case err != nil:
		return settings.Profile{}, err
	case at.own == nil:
		return settings.Profile{}, &sandbox.Error{Code: sandbox.Invalid, Msg: "the profile " + name + " is this computer, and needs no credentials"}
	}
	return *at.own, nil
}

// knows reports whether the credentials of a profile can be had without the
// environment of anybody.
func (a *accounts) knows(name string) bool {
	_, err := a.find(name)
	return err == nil
}

// Profile does what r says.
func (e *engine) Profile(ctx context.Context, r control.ProfileRequest, tell func(control.ProfileEvent) error) ([]byte, error) {
	out, err := e.app.accounts.do(ctx, r, tell)
	known := accountError(err)
	switch _, ours := errors.AsType[*sandbox.Error](err); {
	case known != nil:
		err = known
	case !ours && ctx.Err() == nil:
		if e := awsauth.Unreachable(err); e != nil {
			err = unreachable(&awsauth.ErrUnreachable{Profile: r.Name, Host: e.Host, Why: e.Why}, err)
		}
	}
	if err != nil || out == nil {
		return nil, err
	}
	if raw, ok := out.([]byte); ok {
		return raw, nil
	}
	return json.Marshal(out)
}

// Answer answers a prompt.
func (e *engine) Answer(prompt, text string) error { return e.app.accounts.answer(prompt, text) }

func (a *accounts) do(ctx context.Context, r control.ProfileRequest, tell func(control.ProfileEvent) error) (any, error) {
	switch r.Action {
	case control.KeychainStatus, control.KeychainUse, control.KeychainUnlock, control.KeychainLock, control.KeychainReset:
		out, err := a.secrets.do(ctx, r)
		if r.Action == control.KeychainLock || r.Action == control.KeychainReset {
			// Nor is what was taken out of it to be used any longer. This computer
			// has no key to forget; all others are had anew.
			err = errors.Join(err, a.auth.Forget(ctx, sandbox.ProfileLocal))
		}
		return out, err
	case control.ProfileForget: // of one that may be gone from the settings
		return nil, a.auth.Forget(ctx, r.Name)
	case control.ProfileMove:
		return a.move(ctx, r.Name, r.Data, r.Region)
	case control.ProfileRestore:
		return a.restore(ctx, r.Name)
	}
	p, err := a.find(r.Name)
	if err != nil {
		return nil, err
	}
	switch r.Action {
	case control.ProfileTest:
		return a.test(ctx, p)
	case control.ProfileLogin:
		return nil, a.login(ctx, p, r.Browser, tell)
	case control.ProfileLogout:
		return nil, a.auth.Logout(ctx, p.Profile)
	case control.ProfileSetKey:
		var key awsauth.Key
		if json.Unmarshal(r.Data, &key) != nil {
			return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "the key can't be read"}
		}
		return nil, a.auth.SetKey(ctx, p.Name, key)
	}
	cfg, err := a.auth.Config(ctx, p.Profile)
	if err != nil {
		return nil, authError(err)
	}
	switch r.Action {
	case control.ProfileProcess:
		var b bytes.Buffer
		err := awsauth.WriteProcess(ctx, &b, cfg)
		return b.Bytes(), err
	case control.ProfileEnv:
		return awsauth.Exported(ctx, cfg)
	case control.ProfileEndpoint:
		// Whoever can't sign in now need not find out by way of another program.
		if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
			return nil, err
		}
		at, err := awsauth.NewEndpoint(ctx, cfg)
		if err != nil {
			return nil, err
		}
		served := make(chan error, 1)
		go func() { served <- at.Serve(ctx) }()
		vars := at.Env()
		vars["AWS_REGION"] = cfg.Region
		if err := tell(control.ProfileEvent{Env: vars}); err != nil {
			return nil, err // the client has gone, and ctx with it
		}
		return nil, <-served
	}
	return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "there is no action " + string(r.Action)}
}

// A ProfileTest is what a profile turns out to be.
type ProfileTest struct {
	Profile string `json:"profile"`
	Account string `json:"account,omitempty"` // "" where nobody tells: a local cloud knows no accounts
	ARN     string `json:"arn,omitempty"`
	// Asked is whether STS was asked who this is. It is not where the profile's
	// cloud stands for AWS, and no STS with it was named.
	Asked  bool   `json:"sts_asked"`
	Kind   string `json:"principal,omitempty"`
	Region string `json:"region"`
	// Expires is when the credentials run out that there are now.
	Expires  time.Time `json:"expires,omitzero"`
	Template string    `json:"template,omitempty"` // ARN of the image, once it was found
	MicroVMs int       `json:"microvms"`           // that live there now
}

// test has a profile do all that it is for but make a sandbox.
func (a *accounts) test(ctx context.Context, p settings.Profile) (ProfileTest, error) {
	out := ProfileTest{Profile: p.Name}
	cfg, err := a.auth.Config(ctx, p.Profile)
	if err != nil {
		return out, authError(err)
	}
	out.Region = cfg.Region
	if out.Expires, err = a.auth.Expires(ctx, p.Profile); err != nil {
		return out, err
	}
	if cfg.BaseEndpoint == nil || plain(*cfg.BaseEndpoint) == nil || a.env["AWS_ENDPOINT_URL_STS"] != "" { // a cloud on this computer has no STS beside it
		id, err := a.auth.Identity(ctx, p.Profile)
		if err != nil {
			return out, err
		}
		out.Asked, out.Account, out.ARN, out.Kind = true, id.Account, id.ARN, id.Kind
	}
	cloud, err := a.open(ctx, p)
	if err != nil {
		return out, err
	}
	if p.Template != "" {
		if out.Template, err = cloud.arn(ctx, p.Template); err != nil {
			return out, err
		}
	}
	vms, err := cloud.List(ctx)
	for _, vm := range vms {
		if vm.State.Alive() {
			out.MicroVMs++
		}
	}
	return out, err
}

// login has whoever asked do what the profile needs.
func (a *accounts) login(ctx context.Context, p settings.Profile, browser bool, tell func(control.ProfileEvent) error) error {
	ctx, cancel := context.WithTimeout(ctx, promptWithin)
	defer cancel()
	deps := a.deps()
	deps.Prompt = &prompter{a, tell}
	if browser {
		deps.Browser = func(string) error { return nil } // whoever was prompted opens it
	}
	auth := awsauth.New(deps)
	defer auth.Close()
	return auth.Login(ctx, p.Profile)
}

// promptWithin is how long a person may take to sign in.
const promptWithin = 15 * time.Minute

// A prompter asks a person by way of the client that has the login done.
type prompter struct {
	a    *accounts
	tell func(control.ProfileEvent) error
}

// MFA asks for a code.
func (p *prompter) MFA(ctx context.Context, profile, serial string) (string, error) {
	id := rand.Text()
	answer := make(chan string, 1)
	p.a.mu.Lock()
	p.a.prompts[id] = answer
	p.a.mu.Unlock()
	defer func() {
		p.a.mu.Lock()
		defer p.a.mu.Unlock()
		delete(p.a.prompts, id)
	}()
	if err := p.tell(control.ProfileEvent{Prompt: &control.Prompt{ID: id, Profile: profile, Serial: serial}}); err != nil {
		return "", err
	}
	select {
	case code := <-answer:
		return code, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Login shows where to confirm one.
func (p *prompter) Login(_ context.Context, profile string, how awsauth.Login) error {
	return p.tell(control.ProfileEvent{Prompt: &control.Prompt{Profile: profile, URL: how.URL, Code: how.Code, Expires: how.Expires}})
}

func (a *accounts) answer(prompt, text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer := a.prompts[prompt]
	if answer == nil {
		return &sandbox.Error{Code: sandbox.NotFound, Msg: "nobody waits for this answer any more"}
	}
	delete(a.prompts, prompt)
	answer <- text
	return nil
}
