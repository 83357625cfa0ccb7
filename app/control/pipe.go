package control

import (
	"crypto/sha256"
	"encoding/hex"
)

// pipePrefix is where Windows has its named pipes.
const pipePrefix = `\\.\pipe\`

// pipeName is the name of the control pipe of a user whose files are at home.
// Names are the same for all users, so it holds the user's.
func pipeName(sid, home string) string {
	sum := sha256.Sum256([]byte(home))
	return pipePrefix + "arenero-" + sid + "-" + hex.EncodeToString(sum[:6])
}

// pipeACL lets in the owner and the system, and refuses all that comes over the
// network.
func pipeACL(sid string) string {
	return "D:P(D;;GA;;;NU)(A;;GA;;;" + sid + ")(A;;GA;;;SY)"
}
