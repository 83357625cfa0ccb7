package main

import (
	"errors"
	"sync"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// parts are the files of assets/translation that this program shows texts of.
var parts = []string{"help", "cli", ui.MessageTexts, "verbs", "http", "profiles", "money", hostconf.Texts, app.DoctorTexts, ui.KeychainTexts}

// texts are all of ours, in the language of the user. Tests set others.
var texts = sync.OnceValue(func() assets.Texts { return assets.Load(language(), parts...) })

// say is one text, with its {names} replaced; see [assets.Texts.Get].
func say(key string, args ...string) string { return texts().Get(key, args...) }

// language is the one to speak to this user in.
func language() string {
	known, err := app.OpenProfiles()
	if err != nil { // whatever needs the settings says so
		return hostsLanguage("")
	}
	return hostsLanguage(known.Language())
}

// failure is an error that is one of our texts.
func failure(key string, args ...string) error { return errors.New(say(key, args...)) }
