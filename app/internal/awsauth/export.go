package awsauth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// printed is what a credential_process prints. The container service says the
// same, with Token for SessionToken and without a version.
type printed struct {
	Version         int `json:",omitempty"`
	AccessKeyId     string
	SecretAccessKey string
	SessionToken    string  `json:",omitempty"`
	Token           *string `json:",omitempty"` // some programs take no answer without one, be it empty
	Expiration      string  `json:",omitempty"`
	AccountId       string  `json:",omitempty"`
}

func print(c aws.Credentials) printed {
	p := printed{AccessKeyId: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey, AccountId: c.AccountID}
	if c.CanExpire {
		p.Expiration = c.Expires.UTC().Format(time.RFC3339)
	}
	return p
}

// WriteProcess writes the credentials of a configuration as a credential_process
// prints them. Others ask again a little before AWS would say no.
func WriteProcess(ctx context.Context, w io.Writer, cfg aws.Config) error {
	c, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	p := print(c)
	p.Version, p.SessionToken = 1, c.SessionToken
	if err := json.NewEncoder(w).Encode(p); err != nil {
		return fmt.Errorf("print credentials: %w", err)
	}
	return nil
}

// Exported are the variables that make other programs use a configuration, by
// name. They hold for as long as the credentials do.
func Exported(ctx context.Context, cfg aws.Config) (map[string]string, error) {
	c, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]string{
		"AWS_ACCESS_KEY_ID": c.AccessKeyID, "AWS_SECRET_ACCESS_KEY": c.SecretAccessKey,
		"AWS_REGION": cfg.Region, "AWS_DEFAULT_REGION": cfg.Region,
	}
	if c.SessionToken != "" {
		out["AWS_SESSION_TOKEN"] = c.SessionToken
	}
	if c.CanExpire {
		out["AWS_CREDENTIAL_EXPIRATION"] = c.Expires.UTC().Format(time.RFC3339)
	}
	return out, nil
}
