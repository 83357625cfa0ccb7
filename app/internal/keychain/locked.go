package keychain

import "context"

// Locked asks nobody, and fails if a person would be needed to get at the secrets
// now: with the class Locked or NoPassphrase, or NoBus or NoService where who had
// the key has gone. It knows nothing of the keychains of macOS and Windows, which
// can't be asked without a dialog.
func (s *Sealed) Locked(ctx context.Context) error {
	switch keys := s.keys.(type) {
	case *vaultKey:
		keys.mu.Lock()
		defer keys.mu.Unlock()
		if keys.key == nil {
			return &Error{NoPassphrase, "look", nil}
		}
	case *systemKey:
		ctx, cancel := context.WithTimeout(ctx, keys.timeout)
		defer cancel()
		return classify("look", locked(ctx))
	}
	return nil
}
