package awsauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/arenero/arenero/app/internal/keychain"
)

// A Key is what the keychain has for a profile of kind keys.
type Key struct {
	AccessKeyID     string `json:"access_key_id"`
	SecretAccessKey string `json:"secret_access_key"`
	SessionToken    string `json:"session_token,omitempty"` // of a key that is a session itself
}

// secretName is the name in the keychain of a key, or of a session. A long name
// is shown by its start and told apart by a sum.
func secretName(kind, profile string) string {
	name := kind + "/" + profile
	if len(name) <= keychain.MaxName {
		return name
	}
	sum := sha256.Sum256([]byte(profile))
	return name[:keychain.MaxName-17] + "~" + hex.EncodeToString(sum[:8])
}

// SetKey keeps the key of a profile, and forgets sessions of the one before.
func (a *Auth) SetKey(ctx context.Context, profile string, k Key) error {
	if k.AccessKeyID == "" || k.SecretAccessKey == "" {
		return &ErrConfig{Profile: profile, Why: "a key has an id and a secret"}
	}
	if a.deps.Secrets == nil {
		return errNoKeychain
	}
	b, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("keep the key of %s: %w", profile, err)
	}
	if err := a.deps.Secrets.Set(ctx, secretName("aws", profile), b); err != nil {
		return fmt.Errorf("keep the key of %s: %w", profile, err)
	}
	defer a.changed()
	return a.deps.Secrets.Delete(ctx, secretName("aws-session", profile))
}

// Forget removes what the keychain has for a profile: its key and its session.
func (a *Auth) Forget(ctx context.Context, profile string) error {
	defer a.changed()
	if a.deps.Secrets == nil {
		return nil
	}
	return errors.Join(
		a.deps.Secrets.Delete(ctx, secretName("aws", profile)),
		a.deps.Secrets.Delete(ctx, secretName("aws-session", profile)))
}

var errNoKeychain = errors.New("there is no keychain")

// A keySource gives the key of a profile, as it is.
type keySource struct {
	a       *Auth
	profile string
}

func (k *keySource) Retrieve(ctx context.Context) (aws.Credentials, error) {
	if k.a.deps.Secrets == nil {
		return aws.Credentials{}, &ErrSignIn{Profile: k.profile, Why: NoKeys, Err: errNoKeychain}
	}
	b, err := k.a.deps.Secrets.Get(ctx, secretName("aws", k.profile))
	if errors.Is(err, keychain.ErrNotFound) {
		return aws.Credentials{}, &ErrSignIn{Profile: k.profile, Why: NoKeys}
	}
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("get the key of AWS profile %s: %w", k.profile, err)
	}
	var key Key
	if json.Unmarshal(b, &key) != nil || key.AccessKeyID == "" || key.SecretAccessKey == "" {
		return aws.Credentials{}, &ErrSignIn{Profile: k.profile, Why: NoKeys, Err: errors.New("what the keychain has is no key")}
	}
	return aws.Credentials{AccessKeyID: key.AccessKeyID, SecretAccessKey: key.SecretAccessKey, SessionToken: key.SessionToken, Source: "keychain"}, nil
}

// A kept is a session in the keychain, where all our processes find it.
type kept struct {
	Key
	Expires time.Time `json:"expires"`
	Of      string    `json:"of"` // the key or the role, and the MFA device
}

func (a *Auth) kept(ctx context.Context, profile, of string) (aws.Credentials, bool, error) {
	if a.deps.Secrets == nil {
		return aws.Credentials{}, false, nil
	}
	b, err := a.deps.Secrets.Get(ctx, secretName("aws-session", profile))
	if errors.Is(err, keychain.ErrNotFound) {
		return aws.Credentials{}, false, nil
	}
	if err != nil {
		return aws.Credentials{}, false, fmt.Errorf("get the session of AWS profile %s: %w", profile, err)
	}
	var k kept
	if json.Unmarshal(b, &k) != nil || k.Of != of || k.Expires.Sub(a.Now()) < minLife {
		return aws.Credentials{}, false, nil
	}
	return aws.Credentials{
		AccessKeyID: k.AccessKeyID, SecretAccessKey: k.SecretAccessKey, SessionToken: k.SessionToken,
		CanExpire: true, Expires: k.Expires, Source: "keychain",
	}, true, nil
}

func (a *Auth) keep(ctx context.Context, profile, of string, c aws.Credentials) error {
	if a.deps.Secrets == nil {
		return nil // then it serves this once
	}
	b, err := json.Marshal(kept{Key{c.AccessKeyID, c.SecretAccessKey, c.SessionToken}, c.Expires, of})
	if err != nil {
		return fmt.Errorf("keep the session of AWS profile %s: %w", profile, err)
	}
	if err := a.deps.Secrets.Set(ctx, secretName("aws-session", profile), b); err != nil {
		return fmt.Errorf("keep the session of AWS profile %s: %w", profile, err)
	}
	return nil
}

// session returns the provider for sessions of a key.
func (c *chain) session(profile string, key aws.CredentialsProvider, serial string, seconds int) *sessionSource {
	if serial != "" {
		c.sessions, c.keychain = append(c.sessions, profile), true
	}
	return &sessionSource{a: c.a, label: c.label(), outside: c.outside("arenero profiles import"), profile: profile, key: key, serial: serial, seconds: seconds, ask: c.ask, client: c.sts}
}

// A sessionSource gives short sessions of a key. One that took an MFA code is
// kept, so that one code serves for hours.
type sessionSource struct {
	a       *Auth
	label   string // the profile to sign in to
	outside string // the command for that, where it is not ours
	profile string // that has the key
	key     aws.CredentialsProvider
	serial  string // of the MFA device; "" is none
	seconds int
	ask     Prompter
	client  func(aws.CredentialsProvider) *sts.Client
}

func (s *sessionSource) Retrieve(ctx context.Context) (aws.Credentials, error) {
	key, err := s.key.Retrieve(ctx)
	if err != nil || key.SessionToken != "" { // which is a session already
		return key, err
	}
	in := &sts.GetSessionTokenInput{DurationSeconds: aws.Int32(int32(cmp.Or(s.seconds, 3600)))}
	of := key.AccessKeyID + " " + s.serial
	if s.serial != "" {
		if s.ask == nil {
			creds, ok, err := s.a.kept(ctx, s.profile, of)
			if err == nil && !ok {
				err = &ErrSignIn{Profile: s.label, Why: NeedsMFA, Outside: s.outside}
			}
			return creds, err
		}
		code, err := askMFA(ctx, s.ask, s.label, s.serial)
		if err != nil {
			return aws.Credentials{}, err
		}
		in.SerialNumber, in.TokenCode = &s.serial, &code
		in.DurationSeconds = aws.Int32(int32(cmp.Or(s.seconds, 12*3600)))
	}
	out, err := s.client(given(key)).GetSessionToken(ctx, in)
	if err != nil {
		return aws.Credentials{}, classify(s.label, "get a session", err)
	}
	if out.Credentials == nil || out.Credentials.Expiration == nil {
		return aws.Credentials{}, fmt.Errorf("AWS profile %s: get a session: the answer has no credentials", s.label)
	}
	creds := aws.Credentials{
		AccessKeyID: aws.ToString(out.Credentials.AccessKeyId), SecretAccessKey: aws.ToString(out.Credentials.SecretAccessKey),
		SessionToken: aws.ToString(out.Credentials.SessionToken), CanExpire: true, Expires: *out.Credentials.Expiration, Source: "GetSessionToken",
	}
	if s.serial != "" {
		err = s.a.keep(ctx, s.profile, of, creds)
	}
	return creds, err
}

// given are credentials that were had already.
func given(c aws.Credentials) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return c, nil })
}

func askMFA(ctx context.Context, ask Prompter, profile, serial string) (string, error) {
	code, err := ask.MFA(ctx, profile, serial)
	if err != nil {
		return "", fmt.Errorf("ask for the MFA code of AWS profile %s: %w", profile, err)
	}
	if len(code) != 6 {
		return "", fmt.Errorf("AWS profile %s: %w", profile, ErrWrongCode)
	}
	for _, digit := range code {
		if digit < '0' || digit > '9' {
			return "", fmt.Errorf("AWS profile %s: %w", profile, ErrWrongCode)
		}
	}
	return code, nil
}

// A roleSource assumes a role. With an MFA device of its own the session is
// kept, as that of a key is.
type roleSource struct {
	a       *Auth
	label   string // the profile to sign in to
	outside string // the command for that, where it is not ours
	profile string // that names the role
	arn     string
	serial  string
	ask     Prompter
	client  *sts.Client
	options func(*stscreds.AssumeRoleOptions)
}

func (r *roleSource) Retrieve(ctx context.Context) (aws.Credentials, error) {
	of := r.arn + " " + r.serial
	if r.serial != "" && r.ask == nil {
		creds, ok, err := r.a.kept(ctx, r.profile, of)
		if err == nil && !ok {
			err = &ErrSignIn{Profile: r.label, Why: NeedsMFA, Outside: r.outside}
		}
		return creds, err
	}
	creds, err := stscreds.NewAssumeRoleProvider(r.client, r.arn, r.options, func(o *stscreds.AssumeRoleOptions) {
		if r.serial != "" {
			o.SerialNumber = &r.serial
			o.TokenProvider = func() (string, error) { return askMFA(ctx, r.ask, r.label, r.serial) }
		}
	}).Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, classify(r.label, "assume role "+r.arn, err)
	}
	if r.serial != "" {
		err = r.a.keep(ctx, r.profile, of, creds)
	}
	return creds, err
}
