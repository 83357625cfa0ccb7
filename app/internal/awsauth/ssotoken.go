package awsauth

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/aws-sdk-go-v2/service/ssooidc"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/filelock"
)

// An ssoToken is a login to IAM Identity Center, in the form that the AWS CLI
// keeps it.
type ssoToken struct {
	access, refresh     string
	clientID, secret    string
	expires, clientEnds time.Time
	startURL, region    string
	rest                map[string]any // what others wrote besides
	digest              string         // of the file that it came from
}

// parseToken reads a file of the CLI. It fails for what holds no login.
func parseToken(text []byte) (ssoToken, error) {
	t := ssoToken{digest: digest(text)}
	if err := json.Unmarshal(text, &t.rest); err != nil {
		return ssoToken{}, fmt.Errorf("read a login: %w", err)
	}
	for key, field := range map[string]*string{
		"accessToken": &t.access, "refreshToken": &t.refresh, "clientId": &t.clientID, "clientSecret": &t.secret,
		"startUrl": &t.startURL, "region": &t.region,
	} {
		*field, _ = t.rest[key].(string)
	}
	for key, field := range map[string]*time.Time{"expiresAt": &t.expires, "registrationExpiresAt": &t.clientEnds} {
		at, _ := t.rest[key].(string)
		at = strings.TrimSuffix(at, "UTC") // as old versions of the CLI wrote it
		if !strings.HasSuffix(at, "Z") && !strings.ContainsAny(at[min(len(at), 11):], "+-") {
			at += "Z"
		}
		*field, _ = time.Parse(time.RFC3339, at)
	}
	if t.access == "" || t.expires.IsZero() {
		return ssoToken{}, errors.New("read a login: it has no accessToken or no expiresAt")
	}
	return t, nil
}

// encode is the file of the CLI for t. Times are whole seconds in UTC, the only
// form that all its versions read.
func (t ssoToken) encode() ([]byte, error) {
	out := maps.Clone(t.rest)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range map[string]string{
		"accessToken": t.access, "refreshToken": t.refresh, "clientId": t.clientID, "clientSecret": t.secret,
		"startUrl": t.startURL, "region": t.region, "expiresAt": stamp(t.expires), "registrationExpiresAt": stamp(t.clientEnds),
	} {
		if value != "" {
			out[key] = value
		} else {
			delete(out, key)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("write a login: %w", err)
	}
	return b.Bytes(), nil
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// tokenFile is where the CLI keeps the login of an sso-session, or of a start
// URL where there is no session.
func (a *Auth) tokenFile(key string) (string, error) {
	home, err := a.home()
	if err != nil {
		return "", err
	}
	sum := sha1.Sum([]byte(key))
	return filepath.Join(home, ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json"), nil
}

// An ssoSource gives credentials of a role by a login to IAM Identity Center.
// It does itself what the SDK's provider does, since that takes no clock but
// this computer's, and no care that two processes don't renew a login at once.
type ssoSource struct {
	a                *Auth
	profile          string // to sign in to
	outside          string // the command for that, where it is not ours
	key              string // of the login: session or start URL
	startURL, region string
	account, role    string
	flow             string

	file string
	sso  *sso.Client
	oidc *ssooidc.Client
}

// ssoSource completes s.
func (c *chain) ssoSource(s *ssoSource) (aws.CredentialsProvider, error) {
	var err error
	s.a, s.outside = c.a, c.outside("aws sso login --profile")
	if s.file, err = c.a.tokenFile(s.key); err != nil {
		return nil, err
	}
	s.sso = sso.New(sso.Options{Region: s.region, HTTPClient: c.client, BaseEndpoint: c.endpoint("SSO")})
	s.oidc = ssooidc.New(ssooidc.Options{Region: s.region, HTTPClient: c.client, BaseEndpoint: c.endpoint("SSO_OIDC")})
	c.files = append(c.files, s.file)
	c.sso = append(c.sso, s)
	return s, nil
}

func (s *ssoSource) Retrieve(ctx context.Context) (aws.Credentials, error) {
	t, err := s.token(ctx, "")
	if err != nil {
		return aws.Credentials{}, err
	}
	in := &sso.GetRoleCredentialsInput{AccessToken: &t.access, AccountId: &s.account, RoleName: &s.role}
	out, err := s.sso.GetRoleCredentials(ctx, in)
	if code(err) == "UnauthorizedException" {
		if t, err = s.token(ctx, t.access); err != nil {
			return aws.Credentials{}, err
		}
		in.AccessToken = &t.access
		out, err = s.sso.GetRoleCredentials(ctx, in)
	}
	if err != nil {
		return aws.Credentials{}, classify(s.profile, "use role "+s.role+" of account "+s.account, err)
	}
	if out.RoleCredentials == nil || out.RoleCredentials.Expiration == 0 {
		return aws.Credentials{}, fmt.Errorf("AWS profile %s: the answer of IAM Identity Center has no credentials", s.profile)
	}
	return aws.Credentials{
		AccessKeyID: aws.ToString(out.RoleCredentials.AccessKeyId), SecretAccessKey: aws.ToString(out.RoleCredentials.SecretAccessKey),
		SessionToken: aws.ToString(out.RoleCredentials.SessionToken), AccountID: s.account, Source: "SSO",
		CanExpire: true, Expires: time.UnixMilli(out.RoleCredentials.Expiration),
	}, nil
}

// token returns a login that holds, renewed if need be. refused is an access
// token that AWS did not take, though it looks good.
func (s *ssoSource) token(ctx context.Context, refused string) (ssoToken, error) {
	t, err := s.read()
	if err != nil {
		return ssoToken{}, err
	}
	if s.good(t, refused, window) {
		return t, nil
	}
	if !s.renewable(t) {
		return s.last(t, refused, nil)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return ssoToken{}, err
	}
	defer unlock()
	// Whoever had the lock may have done the work.
	if t, err = s.read(); err != nil {
		return ssoToken{}, err
	}
	if s.good(t, refused, window) {
		return t, nil
	}
	if !s.renewable(t) {
		return s.last(t, refused, nil)
	}
	out, err := s.oidc.CreateToken(ctx, &ssooidc.CreateTokenInput{
		ClientId: &t.clientID, ClientSecret: &t.secret, RefreshToken: &t.refresh, GrantType: aws.String("refresh_token"),
	})
	if err != nil {
		// The CLI takes no lock: it may have renewed the login meanwhile, which
		// makes the refresh token that we used void.
		if now, rerr := s.read(); rerr == nil && now.digest != t.digest && s.good(now, refused, minLife) {
			return now, nil
		}
		if !offline(err) {
			s.a.setRefused(t.digest)
		}
		return s.last(t, refused, err)
	}
	if t.access = aws.ToString(out.AccessToken); t.access == "" || out.ExpiresIn <= 0 {
		return ssoToken{}, &ErrUnreachable{Profile: s.profile, Action: "renew the login", Why: Stranger, Err: errNoLogin}
	}
	t.expires = s.a.Now().Add(time.Duration(out.ExpiresIn) * time.Second)
	if out.RefreshToken != nil {
		t.refresh = *out.RefreshToken
	}
	return t, s.write(t)
}

// good reports whether a login will hold for a while.
func (s *ssoSource) good(t ssoToken, refused string, least time.Duration) bool {
	return t.access != refused && t.expires.Sub(s.a.Now()) > least
}

// renewable reports whether it is worth trying.
func (s *ssoSource) renewable(t ssoToken) bool {
	return t.refresh != "" && t.clientID != "" && t.secret != "" && !s.a.isRefused(t.digest) &&
		(t.clientEnds.IsZero() || t.clientEnds.After(s.a.Now()))
}

// last is what can be made of a login that could not be renewed: err says why,
// nil that there was nothing to try.
func (s *ssoSource) last(t ssoToken, refused string, err error) (ssoToken, error) {
	switch {
	case s.good(t, refused, minLife):
		return t, nil
	case err != nil && offline(err):
		return ssoToken{}, fmt.Errorf("AWS profile %s: renew the login: %w", s.profile, err)
	case refused != "" && t.access == refused:
		return ssoToken{}, &ErrSignIn{Profile: s.profile, Outside: s.outside, Why: Revoked, Err: err}
	}
	return ssoToken{}, &ErrSignIn{Profile: s.profile, Outside: s.outside, Why: Expired, Err: err}
}

// read returns the login in the file.
func (s *ssoSource) read() (ssoToken, error) {
	text, err := readFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return ssoToken{}, &ErrSignIn{Profile: s.profile, Outside: s.outside, Why: NotSignedIn}
	}
	if err != nil {
		return ssoToken{}, fmt.Errorf("read the login of AWS profile %s: %w", s.profile, err)
	}
	t, err := parseToken(text)
	if err != nil {
		return ssoToken{}, &ErrSignIn{Profile: s.profile, Outside: s.outside, Why: NotSignedIn, Err: err}
	}
	return t, nil
}

// write keeps a login where the CLI looks for it.
func (s *ssoSource) write(t ssoToken) error {
	text, err := t.encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return fmt.Errorf("keep the login of AWS profile %s: %w", s.profile, err)
	}
	if err := atomicfile.Write(s.file, text, 0o600); err != nil {
		return fmt.Errorf("keep the login of AWS profile %s: %w", s.profile, err)
	}
	return nil
}

// lock keeps our other processes from changing the file.
func (s *ssoSource) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return nil, fmt.Errorf("lock the login of AWS profile %s: %w", s.profile, err)
	}
	l, err := filelock.Wait(ctx, s.file+".lock")
	if err != nil {
		return nil, fmt.Errorf("lock the login of AWS profile %s: %w", s.profile, err)
	}
	return func() { l.Close() }, nil
}

// code is what a service calls an error; "" is none, or that of nobody.
func code(err error) string {
	if api, ok := errors.AsType[apiError](err); ok {
		return api.ErrorCode()
	}
	return ""
}
