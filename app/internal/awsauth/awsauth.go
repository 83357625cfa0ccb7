// Package awsauth turns what is known of somebody's AWS account into the
// configuration that a client of it is made from.
package awsauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
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
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
	"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_LAMBDA_MICROVMS",
}

// ErrNoRegion means that nothing names a region.
var ErrNoRegion = errors.New("no region: set AWS_REGION, AWS_DEFAULT_REGION or the region of the AWS profile")

// Environment is the configuration that the SDK would take from variables, read
// from env and not from this process, which may be somebody else's.
func Environment(ctx context.Context, env map[string]string) (aws.Config, error) {
	first := func(names ...string) string {
		for _, n := range names {
			if env[n] != "" {
				return env[n]
			}
		}
		return ""
	}
	files, keys := config.DefaultSharedConfigFiles, config.DefaultSharedCredentialsFiles
	if file := env["AWS_CONFIG_FILE"]; file != "" {
		files = []string{file}
	}
	if file := env["AWS_SHARED_CREDENTIALS_FILE"]; file != "" {
		keys = []string{file}
	}
	name := first("AWS_PROFILE", "AWS_DEFAULT_PROFILE")
	profile, err := config.LoadSharedConfigProfile(ctx, cmp.Or(name, "default"), func(o *config.LoadSharedConfigOptions) {
		o.ConfigFiles, o.CredentialsFiles = files, keys
	})
	_, missing := errors.AsType[config.SharedConfigProfileNotExistError](err)
	if err != nil && (!missing || name != "" && env["AWS_ACCESS_KEY_ID"] == "") {
		return aws.Config{}, fmt.Errorf("load AWS configuration: %w", err)
	}
	region := cmp.Or(first("AWS_REGION", "AWS_DEFAULT_REGION"), profile.Region)
	if region == "" {
		return aws.Config{}, ErrNoRegion
	}
	var who aws.CredentialsProvider
	if id := env["AWS_ACCESS_KEY_ID"]; id != "" {
		who = credentials.NewStaticCredentialsProvider(id, env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"])
	}
	if missing { // there are no files: keys, or else the role of this computer
		if who == nil {
			who = aws.NewCredentialsCache(ec2rolecreds.New())
		}
		return aws.Config{Region: region, Credentials: who}, nil
	}
	// A profile that is named goes before the variables of this process.
	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithSharedConfigProfile(profile.Profile), config.WithSharedConfigFiles(files), config.WithSharedCredentialsFiles(keys),
		config.WithRegion(region), config.WithCredentialsProvider(who))
	if err != nil {
		return aws.Config{}, fmt.Errorf("load AWS configuration: %w", err)
	}
	return cfg, nil
}

// IsAuth reports whether err means that a request could not be signed, so that
// it was not sent.
func IsAuth(err error) bool {
	_, ok := errors.AsType[*v4.SigningError](err)
	return ok
}
