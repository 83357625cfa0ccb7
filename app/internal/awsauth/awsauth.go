// Package awsauth turns what is known of somebody's AWS account into the
// configuration that a client of it is made from.
//
// A [Profile] says where credentials come from. It holds no secret: keys and
// sessions are in the keychain, logins of IAM Identity Center in the files that
// the AWS CLI keeps them in, so that both use one login. [Auth.Config] makes a
// configuration whose credentials renew themselves without asking anybody. When
// a person is needed they fail with [*ErrSignIn], and work again by themselves
// after [Auth.Login], or after a login with another program.
//
// Nothing is read from the environment of this process, which may be somebody
// else's, but for what commands need that give credentials: see [Deps.Env].
package awsauth

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Static is the configuration for one key.
func Static(region, id, secret, session string) aws.Config {
	return aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider(id, secret, session)}
}

// Variables are those of the environment that say which account to use, and as
// whom.
var Variables = []string{
	"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_PROFILE",
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE",
	"AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_WEB_IDENTITY_TOKEN_FILE",
	"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
	"AWS_EC2_METADATA_DISABLED", "AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_LOGIN_CACHE_DIRECTORY",
	"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_LAMBDA_MICROVMS", "AWS_ENDPOINT_URL_STS",
	"AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL_SSO_OIDC", "AWS_ENDPOINT_URL_SIGNIN",
	"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
}

// ErrNoRegion means that nothing names a region.
var ErrNoRegion = errors.New("no region: set AWS_REGION, AWS_DEFAULT_REGION or the region of the AWS profile")

// Environment is the configuration that the SDK would take from variables, read
// from env and not from this process, which may be somebody else's.
func Environment(ctx context.Context, env map[string]string) (aws.Config, error) {
	return New(Deps{Env: env}).Config(ctx, Profile{Kind: KindEnvironment})
}

// IsAuth reports whether err means that a request could not be signed, so that
// it was not sent.
func IsAuth(err error) bool {
	_, ok := errors.AsType[*v4.SigningError](err)
	return ok
}
