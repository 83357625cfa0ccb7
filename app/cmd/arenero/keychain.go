package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
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
		return checked(s, strings.TrimSuffix(text, "\r"))
	}
	text, err := s.ask.secret(s.say("keychain.ask"))
	if err != nil || !fresh || !s.ask.terminal {
		if err != nil {
			return "", err
		}
		return checked(s, text)
	}
	again, err := s.ask.secret(s.say("keychain.ask.again"))
	if err != nil {
		return "", err
	}
	if again != text {
		return "", errors.New(s.say("keychain.differ"))
	}
	return checked(s, text)
}

func checked(s *profilesSession, text string) (string, error) {
	if text == "" {
		return "", errors.New(s.say("keychain.empty"))
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
			text, err := c.passphrase(s, true)
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
		if err := s.consent(c.Yes, "keychain.reset.ask", "secrets", strconv.Itoa(status.Secrets)); err != nil {
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
