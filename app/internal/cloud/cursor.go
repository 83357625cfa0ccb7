package cloud

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// cursorRoom is how many bytes a cursor's text is padded to. It makes cursors
// about as long as AWS's, so a client that can't carry those fails here too.
const cursorRoom = 504

// A cursor is a place in a list: behind After, in the list that Scope names.
type cursor struct {
	Scope string `json:"s"` // operation and filters: a cursor of one list opens no other
	After string `json:"a"`
}

// A cursorBox seals cursors so that clients can neither read nor make them.
type cursorBox struct{ aead cipher.AEAD }

func newCursorBox(key []byte) (*cursorBox, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("cursor key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("cursor key: %w", err)
	}
	return &cursorBox{aead}, nil
}

func (b *cursorBox) seal(c cursor) (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("write cursor: %w", err)
	}
	if pad := cursorRoom - len(text); pad > 0 {
		text = append(text, bytes.Repeat([]byte{' '}, pad)...)
	}
	nonce := make([]byte, b.aead.NonceSize())
	rand.Read(nonce) // never fails
	return base64.URLEncoding.EncodeToString(b.aead.Seal(nonce, nonce, text, nil)), nil
}

// open returns the place that a token names in the list scope; the start for
// no token at all.
func (b *cursorBox) open(token, scope string) (after string, err error) {
	if token == "" {
		return "", nil
	}
	bad := newError("ValidationException", "Invalid nextToken.")
	data, err := base64.URLEncoding.DecodeString(token)
	if err != nil || len(data) < b.aead.NonceSize() {
		return "", bad
	}
	text, err := b.aead.Open(nil, data[:b.aead.NonceSize()], data[b.aead.NonceSize():], nil)
	if err != nil {
		return "", bad
	}
	var c cursor
	if json.Unmarshal(text, &c) != nil || c.Scope != scope {
		return "", bad
	}
	return c.After, nil
}
