package awsauth

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/logincreds"
	"github.com/aws/aws-sdk-go-v2/service/signin"
)

// ofShared returns the provider for a profile of ~/.aws, in the order in which
// the SDK looks.
func (c *chain) ofShared(sc *config.SharedConfig) (base aws.CredentialsProvider, err error) {
	sso := sc.SSOSession != nil || sc.SSOSessionName+sc.SSORegion+sc.SSOAccountID+sc.SSOStartURL+sc.SSORoleName != ""
	env := c.a.deps.Env
	switch {
	case sc.Source != nil:
		base, err = c.ofShared(sc.Source)
	case sc.Credentials.HasKeys():
		base = fixed{credentials.StaticCredentialsProvider{Value: sc.Credentials}, sc.Profile}
	case sc.CredentialSource == "Ec2InstanceMetadata":
		base = c.instance()
	case sc.CredentialSource == "Environment":
		if env["AWS_ACCESS_KEY_ID"] == "" {
			return nil, &ErrConfig{Profile: sc.Profile, Why: "its credential_source is the environment, which has no AWS_ACCESS_KEY_ID"}
		}
		base = c.variables()
	case sc.CredentialSource == "EcsContainer":
		if !inContainer(env) {
			return nil, &ErrConfig{Profile: sc.Profile, Why: "its credential_source is the container, and this is none"}
		}
		base, err = c.container()
	case sc.CredentialSource != "":
		return nil, &ErrConfig{Profile: sc.Profile, Why: "its credential_source is none of EcsContainer, Ec2InstanceMetadata and Environment"}
	case sc.WebIdentityTokenFile != "":
		return c.web(sc.Profile, sc.RoleARN, sc.RoleSessionName, sc.WebIdentityTokenFile), nil
	case sso:
		base, err = c.sharedSSO(sc)
	case sc.LoginSession != "":
		base, err = c.login(sc.Profile, sc.LoginSession)
	case sc.CredentialProcess != "":
		base = c.process(sc.Profile, sc.CredentialProcess)
	default:
		base, err = c.metadata()
	}
	if err != nil || sc.RoleARN == "" {
		return base, err
	}
	seconds := 0
	if d := sc.RoleDurationSeconds; d != nil && *d/time.Minute > 15 { // as the SDK has it
		seconds = int(*d / time.Second)
	}
	return c.role(sc.Profile, base, sc.RoleARN, sc.ExternalID, sc.RoleSessionName, sc.MFASerial, seconds), nil
}

func (c *chain) sharedSSO(sc *config.SharedConfig) (aws.CredentialsProvider, error) {
	s := &ssoSource{
		profile: c.label(), key: sc.SSOStartURL, startURL: sc.SSOStartURL, region: sc.SSORegion,
		account: sc.SSOAccountID, role: sc.SSORoleName,
	}
	if sc.SSOSession != nil {
		for key, both := range map[string][2]string{
			"sso_region":    {sc.SSORegion, sc.SSOSession.SSORegion},
			"sso_start_url": {sc.SSOStartURL, sc.SSOSession.SSOStartURL},
		} {
			if both[0] != "" && both[0] != both[1] {
				return nil, &ErrConfig{Profile: sc.Profile, Why: key + " differs from that of its sso-session " + sc.SSOSession.Name}
			}
		}
		s.key, s.startURL, s.region = sc.SSOSession.Name, sc.SSOSession.SSOStartURL, sc.SSOSession.SSORegion
	}
	if missing := blank(map[string]string{"sso_region": s.region, "sso_start_url": s.startURL, "sso_account_id": s.account, "sso_role_name": s.role}); missing != "" {
		return nil, &ErrConfig{Profile: sc.Profile, Why: "it lacks " + missing}
	}
	return c.ssoSource(s)
}

// login returns the provider for a login with "aws login", which only that
// command can make.
func (c *chain) login(profile, session string) (aws.CredentialsProvider, error) {
	dir := c.a.deps.Env["AWS_LOGIN_CACHE_DIRECTORY"]
	if dir == "" {
		home, err := c.a.home()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(home, ".aws", "login", "cache")
	}
	file, err := logincreds.StandardCachedTokenFilepath(session, dir)
	if err != nil {
		return nil, err
	}
	c.files = append(c.files, file)
	client := signin.New(signin.Options{Region: c.region, HTTPClient: c.client, BaseEndpoint: c.endpoint("SIGNIN")})
	return loginSource{profile, file, logincreds.New(client, file, func(o *logincreds.Options) { o.RestrictPermissions = true })}, nil
}

// loginSource says how to sign in where the SDK says only that one must.
type loginSource struct {
	profile, file string
	*logincreds.Provider
}

func (l loginSource) Retrieve(ctx context.Context) (aws.Credentials, error) {
	if _, err := readFile(l.file); is[*ErrConfig](err) {
		return aws.Credentials{}, err
	}
	creds, err := l.Provider.Retrieve(ctx)
	switch {
	case err == nil:
		return creds, nil
	case ctx.Err() == nil && exists(l.file) && Unreachable(err) != nil:
		return creds, classify(l.profile, "renew the login", err)
	}
	why := Expired
	if !exists(l.file) {
		why = NotSignedIn
	}
	return creds, &ErrSignIn{Profile: l.profile, Why: why, Outside: "aws login --profile " + l.profile, Err: err}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
