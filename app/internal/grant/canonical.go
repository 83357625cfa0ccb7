package grant

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/arenero/arenero/app/sandbox"
)

// MaxKey is how many characters an idempotency key may have.
const MaxKey = 255

// KeyArgument is the name of the argument that holds an idempotency key.
const KeyArgument = "idempotency_key"

// CheckKey holds an idempotency key to printable ASCII.
func CheckKey(key string) error {
	if len(key) == 0 || len(key) > MaxKey {
		return wrong(KeyArgument, RuleLength, map[string]any{"min": 1, "max": MaxKey}, "%s must have from 1 to %d characters", KeyArgument, MaxKey)
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return wrong(KeyArgument, RuleCharacters, nil, "%s may hold letters, digits, blanks and punctuation of ASCII only", KeyArgument)
		}
	}
	return nil
}

// Canonical returns v as JSON in the one form that RFC 8785 gives it. Values are
// told apart as that form tells them: 1 and 1.0 are the same, as are numbers
// that a double can't tell apart. What has no such form is an error: text that
// is not Unicode, a name that an object has twice, a number beyond a double.
func Canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v, jsonv1.DefaultOptionsV1(), jsontext.AllowInvalidUTF8(false), jsontext.AllowDuplicateNames(false))
	if err != nil {
		return nil, notCanonical(err)
	}
	return CanonicalText(text)
}

// CanonicalText is [Canonical] of what is JSON already.
func CanonicalText(text []byte) ([]byte, error) {
	// Numbers that are too large would all become the largest.
	for dec := jsontext.NewDecoder(bytes.NewReader(text)); ; {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, notCanonical(err)
		}
		if token.Kind() == '0' {
			if _, err := strconv.ParseFloat(token.String(), 64); err != nil {
				return nil, notCanonical(err)
			}
		}
	}
	out := jsontext.Value(bytes.Clone(text))
	if err := out.Canonicalize(); err != nil {
		return nil, notCanonical(err)
	}
	return out, nil
}

func notCanonical(err error) error {
	return &sandbox.Error{
		Code: sandbox.Invalid, Msg: "the arguments can't be compared: they hold text that is not Unicode, a name twice or a number that is too large",
		Details: map[string]any{"field": "arguments", "rule": RuleCharacters}, Err: fmt.Errorf("canonical JSON: %w", err),
	}
}

// Fingerprint tells whether two calls ask for the same thing. Args are the
// arguments after defaults, as an object; an idempotency key among them does not
// count.
func Fingerprint(args any) (string, error) {
	text, err := Canonical(args)
	if err != nil {
		return "", err
	}
	if text[0] == '{' {
		var members map[string]jsontext.Value
		if err := json.Unmarshal(text, &members); err != nil {
			return "", notCanonical(err)
		}
		if _, keyed := members[KeyArgument]; keyed {
			delete(members, KeyArgument)
			if text, err = Canonical(members); err != nil {
				return "", err
			}
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
