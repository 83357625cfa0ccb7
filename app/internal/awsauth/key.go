package awsauth

import (
	"context"
	"encoding/json"
	"errors"
)

// Key is what the keychain has for a profile, or [keychain.ErrNotFound].
func (a *Auth) Key(ctx context.Context, profile string) (k Key, err error) {
	if a.deps.Secrets == nil {
		return k, errNoKeychain
	}
	b, err := a.deps.Secrets.Get(ctx, secretName("aws", profile))
	if err != nil {
		return k, err
	}
	if json.Unmarshal(b, &k) != nil {
		return Key{}, errors.New("what the keychain has is no key")
	}
	return k, nil
}
