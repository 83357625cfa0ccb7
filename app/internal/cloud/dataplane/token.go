package dataplane

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
)

// A PortRange is a span of ports, both ends included.
type PortRange struct{ First, Last int }

// AllPorts is the range that the API calls allPorts.
var AllPorts = PortRange{1, 65535}

// KeySize is the length of a key in bytes.
const KeySize = 32

// A token's claims are sealed in a block of fixed size, so that its length
// says nothing of what it allows. These sizes give the 823 characters that
// AWS's tokens have, and the 767 of its tokens without a list of ports.
const (
	listSize  = 511
	shortSize = 469
)

// maxToken is the longest text that is worth decrypting.
const maxToken = 1024

const claimsVersion = 1

const (
	flagShell = 1 << iota
	flagAllPorts
)

// ErrTooManyPorts says that a list of ports does not fit a token.
var ErrTooManyPorts = errors.New("more separate port ranges than a token can hold")

// The ways a token can fail.
var (
	errNoToken      = &Refusal{http.StatusForbidden, CodeUnauthorized, "Request authentication is missing"}
	errBadToken     = &Refusal{http.StatusForbidden, CodeUnauthorized, "The authentication token is not valid"}
	errForeignToken = &Refusal{http.StatusForbidden, CodeUnauthorized, "The authentication token is not for this MicroVM"}
	errExpiredToken = &Refusal{http.StatusForbidden, CodeUnauthorized, "The authentication token has expired"}
	errPortDenied   = &Refusal{http.StatusForbidden, CodePortDenied, "Access to port denied"}
)

// A Grant is what a token allows.
type Grant struct {
	VM     string
	Ports  []PortRange // sorted, none touching another
	Shell  bool        // the VM's shell, and no port
	Expiry time.Time   // in milliseconds; the first moment it is no longer good
}

// Keys mints and checks tokens.
type Keys struct {
	seal   jose.Encrypter
	open   cipher.AEAD
	header string // what every token of this key starts with, up to the nonce
}

// NewKeys returns Keys for a secret of [KeySize] random bytes.
func NewKeys(secret []byte) (*Keys, error) {
	if len(secret) != KeySize {
		return nil, fmt.Errorf("a token key has %d bytes, not %d", KeySize, len(secret))
	}
	sum := sha256.Sum256(slices.Concat([]byte("arenero token key id\n"), secret))
	kid, err := uuid.FromBytes(sum[:16])
	if err != nil {
		return nil, fmt.Errorf("make key id: %w", err)
	}
	seal, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.DIRECT, Key: slices.Clone(secret), KeyID: kid.String()}, nil)
	if err != nil {
		return nil, fmt.Errorf("prepare token key: %w", err)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, fmt.Errorf("prepare token key: %w", err)
	}
	open, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("prepare token key: %w", err)
	}
	header := fmt.Sprintf(`{"alg":"dir","enc":"A256GCM","kid":"%s"}`, kid)
	return &Keys{seal, open, base64.RawURLEncoding.EncodeToString([]byte(header))}, nil
}

// Mint returns a token that opens the given ports of one VM until expiry. A
// shell token opens the VM's shell and no port: ports must be empty.
func (k *Keys) Mint(vmID string, ports []PortRange, shell bool, expiry time.Time) (string, error) {
	ports, err := normalise(ports)
	if err != nil {
		return "", err
	}
	if shell != (len(ports) == 0) {
		return "", errors.New("a token is for ports or for the shell")
	}
	plain, err := encodeClaims(Grant{vmID, ports, shell, expiry})
	if err != nil {
		return "", err
	}
	obj, err := k.seal.Encrypt(plain)
	if err != nil {
		return "", fmt.Errorf("seal token: %w", err)
	}
	return obj.CompactSerialize()
}

// Open returns what a token allows, expired or not. Its error is a [*Refusal].
//
// Every request passes here, so it doesn't parse what can only be one thing: a
// token of ours has a known header and no wrapped key.
func (k *Keys) Open(token string) (Grant, error) {
	if token == "" {
		return Grant{}, errNoToken
	}
	rest, ok := strings.CutPrefix(token, k.header+"..")
	nonce, rest, ok1 := strings.Cut(rest, ".")
	text, tag, ok2 := strings.Cut(rest, ".")
	if !ok || !ok1 || !ok2 || len(token) > maxToken || strings.ContainsAny(token, "\r\n") { // base64 skips line ends
		return Grant{}, errBadToken
	}
	var space [maxToken]byte
	iv, err1 := strictBase64.AppendDecode(space[:0], []byte(nonce))
	n := len(iv)
	sealed, err2 := strictBase64.AppendDecode(iv, []byte(text))
	sealed, err3 := strictBase64.AppendDecode(sealed, []byte(tag))
	if err1 != nil || err2 != nil || err3 != nil || n != k.open.NonceSize() {
		return Grant{}, errBadToken
	}
	sealed = sealed[n:]
	plain, err := k.open.Open(sealed[:0], iv, sealed, []byte(k.header))
	if err != nil {
		return Grant{}, errBadToken
	}
	g, ok := decodeClaims(plain)
	if !ok {
		return Grant{}, errBadToken
	}
	return g, nil
}

// strictBase64 has one text for each value: a changed token is a bad token.
var strictBase64 = base64.RawURLEncoding.Strict()

// Check says whether a token opens a port of a VM now. Its error is a
// [*Refusal].
func (k *Keys) Check(token, vmID string, port int, now time.Time) error {
	g, err := k.Open(token)
	if err != nil {
		return err
	}
	return g.check(vmID, port, now)
}

// check is Check for port 0, which stands for the shell, too.
func (g Grant) check(vmID string, port int, now time.Time) error {
	switch {
	case g.VM != vmID:
		return errForeignToken
	case !now.Before(g.Expiry):
		return errExpiredToken
	case port == 0 && g.Shell:
		return nil
	}
	for _, r := range g.Ports {
		if r.First <= port && port <= r.Last {
			return nil
		}
	}
	return errPortDenied
}

// normalise sorts ranges and joins those that touch.
func normalise(ports []PortRange) ([]PortRange, error) {
	ports = slices.Clone(ports)
	slices.SortFunc(ports, func(a, b PortRange) int { return a.First - b.First })
	var out []PortRange
	for _, r := range ports {
		if r.First < 1 || r.First > r.Last || r.Last > 65535 {
			return nil, fmt.Errorf("ports %d to %d are no range", r.First, r.Last)
		}
		if n := len(out); n > 0 && r.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return out, nil
}

func encodeClaims(g Grant) ([]byte, error) {
	var flags byte
	size, ports := listSize, g.Ports
	if g.Shell {
		flags |= flagShell
		size = shortSize
	}
	if slices.Equal(ports, []PortRange{AllPorts}) {
		flags |= flagAllPorts
		size, ports = shortSize, nil
	}
	b := make([]byte, 0, size)
	b = append(b, claimsVersion, flags)
	b = binary.BigEndian.AppendUint64(b, uint64(g.Expiry.UnixMilli()))
	b = binary.BigEndian.AppendUint16(b, uint16(len(g.VM)))
	if len(b)+len(g.VM)+2 > size {
		return nil, errors.New("a MicroVM id does not fit a token")
	}
	b = append(b, g.VM...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(ports)))
	if len(b)+4*len(ports) > size {
		return nil, ErrTooManyPorts
	}
	for _, r := range ports {
		b = binary.BigEndian.AppendUint16(b, uint16(r.First))
		b = binary.BigEndian.AppendUint16(b, uint16(r.Last))
	}
	return b[:size], nil // what is left is zero
}

// decodeClaims reads what encodeClaims wrote, and nothing else.
func decodeClaims(b []byte) (g Grant, ok bool) {
	if len(b) < 12 || b[0] != claimsVersion || b[1]&^(flagShell|flagAllPorts) != 0 {
		return g, false
	}
	flags := b[1]
	g.Shell = flags&flagShell != 0
	g.Expiry = time.UnixMilli(int64(binary.BigEndian.Uint64(b[2:])))
	n := int(binary.BigEndian.Uint16(b[10:]))
	b = b[12:]
	if len(b) < n+2 {
		return g, false
	}
	g.VM = string(b[:n])
	count := int(binary.BigEndian.Uint16(b[n:]))
	b = b[n+2:]
	if len(b) < 4*count {
		return g, false
	}
	if flags&flagAllPorts != 0 {
		g.Ports = []PortRange{AllPorts}
	}
	for range count {
		g.Ports = append(g.Ports, PortRange{int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))})
		b = b[4:]
	}
	return g, true
}
