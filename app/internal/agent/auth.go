package agent

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// tokenKey is the metadata that carries the access token.
const tokenKey = "x-access-token"

// minToken is the least a token has to be, decoded.
const minToken = 16

// healthMethod is the only one that needs no token and passes a shut gate.
const healthMethod = agentpb.HealthService_Health_FullMethodName

var errUnauthenticated = status.Error(codes.Unauthenticated, "access token refused")

// checkToken compares the token in md to its digest, which is nil before the
// run hook has brought one.
func checkToken(md metadata.MD, digest *[32]byte) error {
	values := md.Get(tokenKey)
	if digest == nil || len(values) != 1 {
		return errUnauthenticated
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(values[0], "="))
	if err != nil || len(raw) < minToken {
		return errUnauthenticated
	}
	sum := sha256.Sum256(raw)
	if subtle.ConstantTimeCompare(sum[:], digest[:]) != 1 {
		return errUnauthenticated
	}
	return nil
}
