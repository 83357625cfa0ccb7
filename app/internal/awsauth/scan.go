package awsauth

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
)

// A Found is a profile of ~/.aws.
type Found struct {
	Name   string `json:"name"`
	Kind   Kind   `json:"kind"`             // what it is, were it one of ours
	Region string `json:"region,omitempty"` // "" is none
	Source string `json:"source_profile,omitempty"`
	File   string `json:"file"` // where it is written first
	Line   int    `json:"line"`
	// LongLived says that a key which never expires stands in the files, where
	// every program of this user can read it.
	LongLived bool `json:"long_lived,omitempty"`
	// Keys is where that key is. The last one counts.
	Keys []KeyPlace `json:"keys,omitempty"`
	Err  error      `json:"-"` // why it can't be used; nil if it can
}

// A KeyPlace is a section of a file that has a key.
type KeyPlace struct {
	File    string `json:"file"`
	Section string `json:"section"`
	Line    int    `json:"line"`
}

// Files are those of the AWS configuration of this Auth.
func (a *Auth) Files() (Files, error) { return a.files() }

// Scan lists the profiles of the files, by name, and the lines in them that
// nobody reads. Files that are not there have no profiles. It fails for files that
// are not fit to be read, and when ctx is done.
func Scan(ctx context.Context, f Files) ([]Found, []Problem, error) {
	var problems []Problem
	found, err := apart(ctx, func() (found []Found, err error) {
		found, problems, err = scan(ctx, f)
		return found, err
	})
	if err != nil { // whoever reads may still be at it
		return nil, nil, err
	}
	return found, problems, nil
}

func scan(ctx context.Context, f Files) ([]Found, []Problem, error) {
	k, err := readAll(f)
	if err != nil {
		return nil, nil, err
	}
	names := k.names()
	if len(names) > maxProfiles {
		return nil, nil, &ErrConfig{File: f.Config, Why: fmt.Sprintf("it has more than %d profiles", maxProfiles)}
	}
	var found []Found
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, nil, gaveUp(ctx)
		}
		p := Found{Name: name, Source: k.source[name]}
		p.File, p.Line = k.place(name)
		sc, err := k.load(ctx, f, name)
		p.Err = err
		if err == nil {
			p.Kind, p.Region = kindOf(sc), sc.Region
			p.LongLived = sc.Credentials.HasKeys() && sc.Credentials.SessionToken == ""
		}
		for _, at := range k.keys[name] {
			p.Keys = append(p.Keys, KeyPlace{at.file, at.section, at.line})
		}
		found = append(found, p)
	}
	return found, k.problems, nil
}

func kindOf(sc config.SharedConfig) Kind {
	switch {
	case sc.WebIdentityTokenFile != "":
		return KindWebIdentity
	case sc.RoleARN != "":
		return KindRole
	case sc.Credentials.HasKeys():
		return KindKeys
	case sc.SSOSessionName+sc.SSORegion+sc.SSOAccountID+sc.SSOStartURL+sc.SSORoleName != "":
		return KindSSO
	case sc.CredentialProcess != "":
		return KindProcess
	case sc.LoginSession != "":
		return KindShared
	}
	return KindMetadata
}

// SharedKey is the key that a profile of the files holds, to be moved into the
// keychain. MFASerial comes with it where the profile names a device.
func SharedKey(ctx context.Context, f Files, name string) (k Key, mfaSerial string, err error) {
	var known known
	sc, err := apart(ctx, func() (sc config.SharedConfig, err error) {
		if known, err = readAll(f); err != nil {
			return sc, err
		}
		return known.load(ctx, f, name)
	})
	if err != nil {
		return Key{}, "", err
	}
	if !sc.Credentials.HasKeys() {
		file, line := known.place(name)
		return Key{}, "", &ErrConfig{Profile: name, File: file, Line: line, Why: "it holds no key"}
	}
	return Key{sc.Credentials.AccessKeyID, sc.Credentials.SecretAccessKey, sc.Credentials.SessionToken}, sc.MFASerial, nil
}

var keyNames = []string{"aws_access_key_id", "aws_secret_access_key", "aws_session_token"}

// ReplaceKeys takes the key out of all sections of that name in a text, and puts
// line in its place; "" is nothing. All else stays as it is, byte for byte. It
// fails if there is no key.
func ReplaceKeys(text []byte, section, line string) ([]byte, error) {
	var out []byte
	met, dropping := false, false
	for _, l := range readINI(string(text)) {
		raw := text[l.start:l.end]
		switch {
		case l.section == section && slices.Contains(keyNames, l.key):
			dropping = true
			if !met && line != "" {
				out = append(out, line+ending(string(raw), string(text))...)
			}
			met = true
		case l.more && dropping:
		default:
			dropping = dropping && l.key == "" && !l.opens && !l.junk // blank lines and comments end nothing
			out = append(out, raw...)
		}
	}
	if !met {
		return nil, fmt.Errorf("take a key out of section [%s]: there is none", section)
	}
	return out, nil
}

// ending is how a line ends, or would in its text.
func ending(line, text string) string {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return "\r\n"
	case strings.HasSuffix(line, "\n"):
		return "\n"
	case strings.Contains(text, "\r\n"):
		return "\r\n"
	}
	return "\n"
}
