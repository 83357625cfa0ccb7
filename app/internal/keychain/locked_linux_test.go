package keychain

import "testing"

// Locked tells of a lock that somebody else turned, and does not turn it.
func TestLocked(t *testing.T) {
	s := system(t, t.TempDir(), long)
	wantClass(t, s.Locked(t.Context()), NoBus)
	newBus(t, true)
	wantClass(t, s.Locked(t.Context()), NoService) // and none was started
	kill := newKeyring(t, "pw")
	must(t, s.Set(t.Context(), "name", []byte("value")))
	must(t, s.Locked(t.Context()))
	lockCollections(t)
	wantClass(t, s.Locked(t.Context()), Locked)
	kill()
	newBus(t, false)
	wantClass(t, s.Locked(t.Context()), NoService)

	v := vault(t, t.TempDir(), "p")
	must(t, v.Set(t.Context(), "name", nil))
	must(t, v.Locked(t.Context()))
	v.Lock()
	wantClass(t, v.Locked(t.Context()), NoPassphrase)
}
