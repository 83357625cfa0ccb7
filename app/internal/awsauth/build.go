package awsauth

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// A chain is what a profile came to: whom to ask for credentials, and the files
// that say so.
type chain struct {
	a               *Auth
	p               Profile
	ask             Prompter // nil: nobody may be asked
	region          string
	client          *http.Client
	shared          *config.SharedConfig // nil: nothing of ~/.aws is used
	ignoreEndpoints bool

	provider aws.CredentialsProvider
	files    []string     // a change in one of them makes another chain
	sso      []*ssoSource // logins that it rests on
	sessions []string     // names of cached sessions that it rests on
	keychain bool         // it rests on what the keychain has
}

// build finds out what a profile comes to. It reads files, and asks nobody.
func (a *Auth) build(ctx context.Context, p Profile, ask Prompter) (*chain, error) {
	c := &chain{a: a, p: p, ask: ask, region: p.Region}
	env := a.deps.Env
	c.ignoreEndpoints, _ = strconv.ParseBool(env["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"])
	if p.Kind == KindEnvironment {
		c.region = cmp.Or(c.region, env["AWS_REGION"], env["AWS_DEFAULT_REGION"])
	}
	name := ""
	switch p.Kind {
	case KindShared:
		name = cmp.Or(p.SharedProfile, defaultProfile)
	case KindEnvironment:
		name = cmp.Or(env["AWS_PROFILE"], env["AWS_DEFAULT_PROFILE"], defaultProfile)
	}
	bundle := env["AWS_CA_BUNDLE"]
	if name != "" {
		f, err := a.files()
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f.Config, f.Credentials)
		sc, err := load(ctx, f, name)
		switch {
		case err == nil:
			c.shared = &sc
			c.region = cmp.Or(c.region, sc.Region)
			bundle = cmp.Or(bundle, sc.CustomCABundle)
			if sc.IgnoreConfiguredEndpoints != nil && env["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] == "" {
				c.ignoreEndpoints = *sc.IgnoreConfiguredEndpoints
			}
		case p.Kind == KindEnvironment && is[*ErrNoProfile](err) && (!named(env) || env["AWS_ACCESS_KEY_ID"] != ""):
			// Nothing but variables, or else the role of this computer.
		default:
			return nil, err
		}
	}
	var err error
	if c.client, err = a.client(bundle); err != nil {
		return nil, err
	}
	if c.region == "" && p.Kind != KindMetadata {
		return nil, ErrNoRegion
	}
	if c.region != "" && !isRegion(c.region) {
		return nil, &ErrConfig{Profile: c.label(), Why: noRegion(c.region)}
	}
	if c.provider, err = c.of(ctx, p, nil); err != nil {
		return nil, err
	}
	return c, nil
}

// label is what messages call the profile that was asked for.
func (c *chain) label() string {
	if c.p.Kind == KindEnvironment && c.shared != nil {
		return c.shared.Profile
	}
	return c.p.label()
}

// outside is the command that a person signs in with. A profile that is only in
// the environment is none of ours, so that we can't.
func (c *chain) outside(command string) string {
	if c.p.Kind != KindEnvironment {
		return ""
	}
	return command + " " + c.label()
}

func named(env map[string]string) bool {
	return env["AWS_PROFILE"] != "" || env["AWS_DEFAULT_PROFILE"] != ""
}

// of returns the provider for one of our profiles. path are those that lead to
// it.
func (c *chain) of(ctx context.Context, p Profile, path []string) (aws.CredentialsProvider, error) {
	if at := slices.Index(path, p.Name); at >= 0 {
		return nil, &ErrLoop{Names: append(slices.Clone(path[at:]), p.Name)}
	}
	if len(path) >= maxChain {
		return nil, &ErrConfig{Profile: path[0], Why: fmt.Sprintf("its source_profile leads on through more than %d profiles", maxChain)}
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	switch p.Kind {
	case KindKeys:
		c.keychain = true
		keys := &keySource{a: c.a, profile: p.Name}
		if len(path) > 0 && p.MFASerial == "" || p.NoSession { // a role is a session enough
			return keys, nil
		}
		return c.session(p.Name, keys, p.MFASerial, p.DurationSeconds), nil
	case KindSSO:
		return c.ssoSource(&ssoSource{
			profile: c.label(), key: cmp.Or(p.SSOSession, p.StartURL), startURL: p.StartURL, region: p.SSORegion,
			account: p.SSOAccount, role: p.SSORole, flow: p.SSOFlow,
		})
	case KindRole:
		base, err := c.source(ctx, p, append(path, p.Name))
		if err != nil {
			return nil, err
		}
		return c.role(p.Name, base, p.RoleARN, p.ExternalID, p.SessionName, p.MFASerial, p.DurationSeconds), nil
	case KindWebIdentity:
		return c.web(p.label(), p.RoleARN, p.SessionName, p.TokenFile), nil
	case KindProcess:
		return c.process(p.label(), p.Command), nil
	case KindMetadata:
		return c.metadata()
	case KindEnvironment:
		return c.environment()
	}
	sc := c.shared
	if len(path) > 0 {
		f, err := c.a.files()
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f.Config, f.Credentials)
		loaded, err := load(ctx, f, cmp.Or(p.SharedProfile, defaultProfile))
		if err != nil {
			return nil, err
		}
		sc = &loaded
	}
	return c.ofShared(sc)
}

// source returns the provider for the source of a role.
func (c *chain) source(ctx context.Context, p Profile, path []string) (aws.CredentialsProvider, error) {
	if c.a.deps.Profiles != nil {
		if src, ok := c.a.deps.Profiles(p.Source); ok {
			return c.of(ctx, src, path)
		}
	}
	return nil, &ErrNoProfile{Name: p.Source, From: p.Name, Have: c.a.names()}
}

// environment returns the provider for variables, then files, then this
// computer, in the order of the SDK.
func (c *chain) environment() (aws.CredentialsProvider, error) {
	env := c.a.deps.Env
	switch {
	case env["AWS_ACCESS_KEY_ID"] != "" && env["AWS_SECRET_ACCESS_KEY"] != "":
		return c.variables(), nil
	case env["AWS_WEB_IDENTITY_TOKEN_FILE"] != "" && !named(env):
		if env["AWS_ROLE_ARN"] == "" {
			return nil, &ErrConfig{Profile: c.label(), Why: "AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not"}
		}
		return c.web(c.label(), env["AWS_ROLE_ARN"], env["AWS_ROLE_SESSION_NAME"], env["AWS_WEB_IDENTITY_TOKEN_FILE"]), nil
	case c.shared != nil:
		return c.ofShared(c.shared)
	}
	return c.metadata()
}

func (c *chain) variables() aws.CredentialsProvider {
	env := c.a.deps.Env
	return fixed{credentials.NewStaticCredentialsProvider(env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"]), c.label()}
}

// fixed is a key that is written somewhere.
type fixed struct {
	credentials.StaticCredentialsProvider
	profile string // where
}

var unfit = regexp.MustCompile(`[^\w+=,.@-]+`)

// sessionName is what logs of the account call us.
func sessionName(given, profile string) string {
	if given != "" {
		return given
	}
	name := "arenero-" + unfit.ReplaceAllString(profile, "-")
	return name[:min(len(name), 64)]
}

// role returns the provider for a role. One that wants MFA gets it from the
// session of a key where that is its source, since such a session serves many
// roles for hours.
func (c *chain) role(profile string, base aws.CredentialsProvider, arn, external, session, serial string, seconds int) aws.CredentialsProvider {
	switch key := base.(type) {
	case *sessionSource:
		if key.serial != "" {
			serial = ""
		}
	case *keySource:
		if serial != "" {
			base, serial = c.session(key.profile, key, serial, 0), ""
		}
	case fixed:
		if serial != "" && key.Value.SessionToken == "" {
			base, serial = c.session(key.profile, key, serial, 0), ""
		}
	}
	if serial != "" {
		c.sessions, c.keychain = append(c.sessions, profile), true
	}
	return &roleSource{
		a: c.a, label: c.label(), outside: c.outside("arenero profiles import"), profile: profile, arn: arn, serial: serial, ask: c.ask, client: c.sts(base),
		options: func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = sessionName(session, profile)
			o.Duration = time.Duration(cmp.Or(seconds, 3600)) * time.Second
			if external != "" {
				o.ExternalID = &external
			}
		},
	}
}

func (c *chain) web(profile, arn, session, file string) aws.CredentialsProvider {
	c.files = append(c.files, file)
	return blamed{profile, "assume role " + arn, stscreds.NewWebIdentityRoleProvider(c.sts(aws.AnonymousCredentials{}), arn, tokenFile(file),
		func(o *stscreds.WebIdentityRoleOptions) { o.RoleSessionName = sessionName(session, profile) })}
}

// blamed says in errors whose credentials could not be had.
type blamed struct {
	profile, action string
	aws.CredentialsProvider
}

func (n blamed) Retrieve(ctx context.Context) (aws.Credentials, error) {
	creds, err := n.CredentialsProvider.Retrieve(ctx)
	return creds, classify(n.profile, n.action, err)
}

// sts returns a client of STS.
func (c *chain) sts(who aws.CredentialsProvider) *sts.Client {
	return sts.New(sts.Options{Region: c.region, Credentials: who, HTTPClient: c.client, BaseEndpoint: c.endpoint("STS")})
}

// microVMs is the service in the names of variables, and in the files.
const microVMs = "LAMBDA_MICROVMS"

// api is where the API of MicroVMs is: where the profile says, else its own
// variables if it is made of some, else its files. Nil is where AWS has it.
func (c *chain) api() *string {
	at := c.p.Endpoint
	if at == "" && !c.ignoreEndpoints {
		if env := c.a.deps.Env; c.p.Kind == KindEnvironment {
			at = cmp.Or(env["AWS_ENDPOINT_URL_"+microVMs], env["AWS_ENDPOINT_URL"])
		}
		if c.shared != nil && at == "" {
			at = cmp.Or(c.shared.Services.ServiceValues[strings.ToLower(microVMs)]["endpoint_url"], c.shared.BaseEndpoint)
		}
	}
	if at == "" {
		return nil
	}
	return &at
}

// endpoint is where a service is that gives credentials; nil is where AWS has
// it.
func (c *chain) endpoint(service string) *string {
	if at := c.a.deps.Endpoints[service]; at != "" {
		return &at
	}
	if c.ignoreEndpoints {
		return nil
	}
	env := c.a.deps.Env
	at := cmp.Or(env["AWS_ENDPOINT_URL_"+service], env["AWS_ENDPOINT_URL"])
	if c.shared != nil && at == "" {
		at = cmp.Or(c.shared.Services.ServiceValues[strings.ToLower(service)]["endpoint_url"], c.shared.BaseEndpoint)
	}
	if at == "" {
		return nil
	}
	return &at
}
