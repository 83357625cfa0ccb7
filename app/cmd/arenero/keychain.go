package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

type keychainCommand struct {
	Status keychainStatusCommand `cmd:""`
	Use    keychainUseCommand    `cmd:""`
	Unlock keychainUnlockCommand `cmd:""`
	Lock   keychainLockCommand   `cmd:""`
	Reset  keychainResetCommand  `cmd:""`
}

type keychainStatusCommand struct{ asJSON }

// Run is "arenero keychain status".
func (c *keychainStatusCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		status, err := s.keychain()
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(os.Stdout, status)
		}
		state := s.say("keychain.state." + status.State)
		if status.Error != "" {
			what, do := app.KeychainWords(s.tx, status.State, status.Why)
			state = what + ": " + do
		}
		_, err = fmt.Println(s.say("keychain.status", "backend", s.say("keychain.backend."+status.Backend), "state", state, "secrets", strconv.Itoa(status.Secrets)))
		return err
	})
}

// keychain is how the keychain is.
func (s *profilesSession) keychain() (app.KeychainStatus, error) {
	var status app.KeychainStatus
	raw, err := s.engine(control.ProfileRequest{Action: control.KeychainStatus}, nil)
	if err != nil {
		return status, err
	}
	return status, json.Unmarshal(raw, &status)
}

// A passphraseFlag is where a passphrase comes from.
type passphraseFlag struct {
	File string `name:"passphrase-file" placeholder:"FILE"`
}

// passphrase gets it; fresh has a person type it twice.
func (f passphraseFlag) passphrase(s *profilesSession, fresh bool) (string, error) {
	if f.File != "" {
		text, err := s.ask.file(f.File)
		if err != nil {
			return "", err
		}
		text, _, _ = strings.Cut(text, "\n")
		return checked(s, strings.TrimSuffix(text, "\r"), fresh)
	}
	text, err := s.ask.secret(s.say("keychain.ask"))
	if err != nil {
		return "", err
	}
	if text, err = checked(s, text, fresh); err != nil || !fresh || !s.ask.terminal {
		return text, err
	}
	again, err := s.ask.secret(s.say("keychain.ask.again"))
	if err != nil {
		return "", err
	}
	if again != text {
		return "", errors.New(s.say("keychain.differ"))
	}
	return text, nil
}

// shortest is the length of the shortest passphrase that a new vault may have:
// whoever gets the file can try as many as they like.
const shortest = 8

func checked(s *profilesSession, text string, fresh bool) (string, error) {
	switch {
	case text == "":
		return "", errors.New(s.say("keychain.empty"))
	case fresh && utf8.RuneCountInString(text) < shortest:
		return "", errors.New(s.say("keychain.short", "characters", strconv.Itoa(shortest)))
	}
	return text, nil
}

type keychainUseCommand struct {
	asJSON
	passphraseFlag
	Backend string `arg:"" enum:"system,vault"`
}

// Run is "arenero keychain use".
func (c *keychainUseCommand) Run() error {
	if c.Backend == "system" && c.File != "" {
		return usagef("--passphrase-file is for the vault; \"arenero keychain unlock\" opens the one in use")
	}
	return withProfiles(c.JSON, func(s *profilesSession) error {
		r := control.ProfileRequest{Action: control.KeychainUse, Name: c.Backend}
		if c.Backend == "vault" {
			status, err := s.keychain()
			if err != nil {
				return err
			}
			text, err := c.passphrase(s, status.Backend != "vault" || status.State == "missing")
			if err != nil {
				return err
			}
			r.Data = []byte(text)
		}
		if _, err := s.engine(r, nil); err != nil {
			return err
		}
		return s.keychainDone("keychain.use.done." + c.Backend)
	})
}

type keychainUnlockCommand struct {
	asJSON
	passphraseFlag
}

// Run is "arenero keychain unlock".
func (c *keychainUnlockCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		status, err := s.keychain()
		if err != nil {
			return err
		}
		if status.Backend != "vault" {
			return errors.New(s.say("profiles.err.not_a_vault"))
		}
		if status.Error != "" { // no passphrase mends that
			return &sandbox.Error{Code: sandbox.NoKeychain, Msg: status.Error, Details: map[string]any{"class": status.State, "why": status.Why}}
		}
		text, err := c.passphrase(s, status.State == "missing")
		if err != nil {
			return err
		}
		if _, err := s.engine(control.ProfileRequest{Action: control.KeychainUnlock, Data: []byte(text)}, nil); err != nil {
			return err
		}
		return s.keychainDone("keychain.unlock.done")
	})
}

type keychainLockCommand struct{ asJSON }

// Run is "arenero keychain lock".
func (c *keychainLockCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		if _, err := s.engine(control.ProfileRequest{Action: control.KeychainLock}, nil); err != nil {
			return err
		}
		return s.keychainDone("keychain.lock.done")
	})
}

type keychainResetCommand struct {
	asJSON
	Yes bool `short:"y"`
}

// Run is "arenero keychain reset".
func (c *keychainResetCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		if !c.Yes && !s.ask.terminal {
			return &usageError{errors.New(s.say("keychain.reset.yes"))}
		}
		status, err := s.keychain()
		if err != nil {
			return err
		}
		moved, err := s.Moved(s.ctx)
		if err != nil {
			return err
		}
		key := "keychain.reset.ask"
		if len(moved) > 0 { // nowhere else is there one
			key = "keychain.reset.ask.moved"
		}
		if err := s.consent(c.Yes, key, "secrets", strconv.Itoa(status.Secrets), "profiles", strings.Join(moved, ", ")); err != nil {
			return err
		}
		if _, err := s.engine(control.ProfileRequest{Action: control.KeychainReset}, nil); err != nil {
			return err
		}
		return s.keychainDone("keychain.reset.done")
	})
}

func (s *profilesSession) keychainDone(key string) error {
	if s.inJSON {
		return writeJSON(os.Stdout, map[string]any{"done": true})
	}
	_, err := fmt.Println(s.say(key))
	return err
}
