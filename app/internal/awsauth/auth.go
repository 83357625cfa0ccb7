package awsauth

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// Secrets is a keychain. Get fails with [keychain.ErrNotFound] for a name that
// it does not have. One that has a method Locked, as that of [keychain.Sealed], is
// asked with it before what came out of it is used once more.
type Secrets interface {
	Get(ctx context.Context, name string) ([]byte, error)
	Set(ctx context.Context, name string, value []byte) error
	Delete(ctx context.Context, name string) error
}

// A Login is where a person confirms one.
type Login struct {
	URL     string
	Code    string // to compare with what the page shows; "" is none
	Expires time.Time
}

// A Prompter is the person who signs in. It is asked in [Auth.Login] alone,
// never while a request is signed.
type Prompter interface {
	// MFA asks for the code that a device shows now.
	MFA(ctx context.Context, profile, serial string) (code string, err error)
	// Login shows where to confirm a login. It need not wait for that.
	Login(ctx context.Context, profile string, how Login) error
}

// Deps are what an [Auth] works with.
type Deps struct {
	Secrets  Secrets                           // nil: keys can't be had
	Profiles func(name string) (Profile, bool) // finds the sources of roles; nil: there are none
	Names    func() []string                   // of all profiles, for messages; may be nil
	Prompt   Prompter                          // nil: nobody to ask
	Browser  func(url string) error            // opens a page; nil: none here
	HTTP     http.RoundTripper                 // nil: that of the SDK
	Home     string                            // folder with .aws; "" is that of this user
	// Env has the variables that count. Commands that give credentials see
	// these, and those of this process that are not of AWS: PATH and the like.
	Env map[string]string
	// Endpoints are where services are, by the names that they have in
	// AWS_ENDPOINT_URL_: STS, SSO, SSO_OIDC, SIGNIN. Else where AWS has them.
	Endpoints map[string]string
	// Patience is how long it may take to get credentials; 0 is a minute.
	Patience time.Duration
}

// An Auth makes configurations from profiles. It is safe for concurrent use.
// There should be one: it is what lets users of a profile share its credentials.
type Auth struct {
	deps   Deps
	offset atomic.Int64 // how far the clock of AWS is ahead, in nanoseconds
	epoch  atomic.Int64 // counts logins and logouts, after which nothing cached holds
	ended  context.Context
	end    context.CancelFunc

	commands sync.WaitGroup // those that run now

	mu      sync.Mutex // guards what follows
	live    map[string]*live
	clients map[string]*http.Client // by file of certificates
	refused map[string]bool         // digests of login files that could not be renewed
}

// New returns an Auth. It reads nothing yet.
func New(deps Deps) *Auth {
	a := &Auth{deps: deps, live: map[string]*live{}, clients: map[string]*http.Client{}, refused: map[string]bool{}}
	a.ended, a.end = context.WithCancel(context.Background())
	return a
}

// Close ends the commands that credentials are being had from, and closes
// connections. Credentials that it takes a command to get can't be had any more.
func (a *Auth) Close() {
	a.mu.Lock()
	a.end()
	a.mu.Unlock()
	a.commands.Wait()
	a.CloseIdleConnections()
}

// begin counts a command, unless there are to be no more.
func (a *Auth) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended.Err() != nil {
		return false
	}
	a.commands.Add(1)
	return true
}

// patience is how long getting credentials may take.
func (a *Auth) patience() time.Duration { return cmp.Or(a.deps.Patience, patience) }

// Now is the time in AWS, as far as it is known.
func (a *Auth) Now() time.Time { return time.Now().Add(a.Offset()) }

// Offset is how far the clock of AWS is ahead of that of this computer: 0 while
// it is not known, or too little to matter.
func (a *Auth) Offset() time.Duration { return time.Duration(a.offset.Load()) }

// Config is the configuration of a profile. It fails at once for a profile that
// can't work as it is written. For one that somebody has to sign in to, its
// credentials fail, and start to work after that.
//
// The HTTP client in it shares what it learns of the clock. Its base endpoint is
// that of the API of MicroVMs, nil where AWS has it: whoever makes a client sets
// it as it is, since other variables than those of the profile mean nothing. The
// services that give credentials are where [Deps.Endpoints] and the files say.
func (a *Auth) Config(ctx context.Context, p Profile) (aws.Config, error) {
	l, err := a.get(p)
	if err != nil {
		return aws.Config{}, err
	}
	c, err := l.current(ctx)
	if err != nil {
		return aws.Config{}, err
	}
	if c.region == "" {
		return aws.Config{}, ErrNoRegion
	}
	cfg := aws.Config{Region: c.region, Credentials: l, HTTPClient: c.client}
	if s := c.shared; s != nil {
		cfg.ConfigSources = []any{*s}
		cfg.AppID, cfg.RetryMode, cfg.RetryMaxAttempts = s.AppID, s.RetryMode, s.RetryMaxAttempts
	}
	cfg.BaseEndpoint = c.api()
	return cfg, nil
}

// get returns the one live of a profile.
func (a *Auth) get(p Profile) (*live, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	key, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("tell profile %s from others: %w", p.label(), err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live[string(key)] == nil {
		a.live[string(key)] = &live{a: a, p: p, turn: make(chan struct{}, 1)}
	}
	return a.live[string(key)], nil
}

// CloseIdleConnections closes connections that are kept for later calls.
func (a *Auth) CloseIdleConnections() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.clients {
		c.CloseIdleConnections()
	}
}

// client returns the HTTP client that trusts the certificates in a file, or
// those of the system.
func (a *Auth) client(bundle string) (*http.Client, error) {
	a.mu.Lock()
	had := a.clients[bundle]
	a.mu.Unlock()
	if had != nil {
		return had, nil
	}
	next := a.deps.HTTP
	if next == nil {
		t := awshttp.NewBuildableClient().GetTransport()
		if bundle != "" {
			pem, err := readFile(bundle)
			if err != nil {
				return nil, fmt.Errorf("read certificates: %w", err)
			}
			t.TLSClientConfig.RootCAs = x509.NewCertPool()
			if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
				return nil, &ErrConfig{File: bundle, Why: "there is no certificate in it"}
			}
		}
		next = t
	}
	c := &http.Client{
		Transport:     honest{clock{next, &a.offset}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a signature holds for one address only
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.clients[bundle] == nil { // else another was as quick
		a.clients[bundle] = c
	}
	return a.clients[bundle], nil
}

// home is the folder with .aws.
func (a *Auth) home() (string, error) {
	if a.deps.Home != "" {
		return a.deps.Home, nil
	}
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		return home, nil
	}
	u, err := user.Current() // as the SDK does for programs that were started without a home
	if err != nil || u.HomeDir == "" {
		return "", errors.New("find the folder .aws: this user has no home folder: set HOME, or AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE")
	}
	return u.HomeDir, nil
}

// files are those of the AWS configuration.
func (a *Auth) files() (Files, error) {
	f := Files{Config: a.deps.Env["AWS_CONFIG_FILE"], Credentials: a.deps.Env["AWS_SHARED_CREDENTIALS_FILE"]}
	if f.Config != "" && f.Credentials != "" {
		return f, nil
	}
	home, err := a.home()
	if err != nil {
		return Files{}, err
	}
	if f.Config == "" {
		f.Config = filepath.Join(home, ".aws", "config")
	}
	if f.Credentials == "" {
		f.Credentials = filepath.Join(home, ".aws", "credentials")
	}
	return f, nil
}

// load reads one profile of ~/.aws as the SDK does.
func load(ctx context.Context, f Files, name string) (config.SharedConfig, error) {
	known, err := readAll(f)
	if err != nil {
		return config.SharedConfig{}, err
	}
	return known.load(ctx, f, name)
}

// load is that of the files that known tells of.
func (known known) load(ctx context.Context, f Files, name string) (sc config.SharedConfig, err error) {
	file, line := known.place(name)
	if known.deep(name) {
		return sc, &ErrConfig{Profile: name, File: file, Line: line, Why: fmt.Sprintf("its source_profile leads on through more than %d profiles", maxChain)}
	}
	defer func() {
		if recover() != nil { // the SDK falls over a value that is one quotation mark
			file, line := known.lone()
			err = &ErrConfig{Profile: name, File: file, Line: line, Why: "the files can't be read: a value is a single quotation mark"}
		}
	}()
	sc, err = config.LoadSharedConfigProfile(ctx, name, func(o *config.LoadSharedConfigOptions) {
		o.ConfigFiles, o.CredentialsFiles = []string{f.Config}, []string{f.Credentials}
	})
	if err == nil {
		return sc, nil
	}
	if _, ok := errors.AsType[config.SharedConfigProfileNotExistError](err); ok {
		none := &ErrNoProfile{Name: name, Have: known.names(), Problems: known.problems}
		if role, ok := errors.AsType[config.SharedConfigAssumeRoleError](err); ok {
			none.Name, none.From = role.Profile, name
		}
		return sc, none
	}
	if role, ok := errors.AsType[config.SharedConfigAssumeRoleError](err); ok {
		if loop := known.loop(name); loop != nil {
			return sc, &ErrLoop{Names: loop}
		}
		return sc, &ErrConfig{Profile: name, File: file, Line: line, Why: "its source " + role.Profile + " has no credentials"}
	}
	return sc, &ErrConfig{Profile: name, File: file, Line: line, Why: err.Error()}
}

// An Identity is who a profile turns out to be.
type Identity struct {
	Account string `json:"account"`
	ARN     string `json:"arn"`
	Kind    string `json:"kind"` // "root", "user", "assumed-role", "federated-user"
	Name    string `json:"name"` // of the user or the role
}

// Identity asks AWS who a profile is. It needs no permission.
func (a *Auth) Identity(ctx context.Context, p Profile) (Identity, error) {
	l, err := a.get(p)
	if err != nil {
		return Identity{}, err
	}
	c, err := l.current(ctx)
	if err != nil {
		return Identity{}, err
	}
	out, err := c.sts(l).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return Identity{}, classify(p.label(), "ask who it is", err)
	}
	id := Identity{Account: aws.ToString(out.Account), ARN: aws.ToString(out.Arn)}
	id.Kind, id.Name = principal(id.ARN)
	return id, nil
}

// Expires is when the credentials of a profile are had anew, which it does first
// if there are none. The zero time is never.
func (a *Auth) Expires(ctx context.Context, p Profile) (time.Time, error) {
	l, err := a.get(p)
	if err != nil {
		return time.Time{}, err
	}
	creds, err := l.Retrieve(ctx)
	if err != nil || !creds.CanExpire {
		return time.Time{}, err
	}
	return creds.Expires, nil
}

// changed makes all that is cached be had anew.
func (a *Auth) changed() {
	a.epoch.Add(1)
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.refused)
}

func (a *Auth) isRefused(digest string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused[digest]
}

func (a *Auth) setRefused(digest string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused[digest] = true
}

// names are those of all our profiles, sorted.
func (a *Auth) names() []string {
	if a.deps.Names == nil {
		return nil
	}
	return slices.Sorted(slices.Values(a.deps.Names()))
}
