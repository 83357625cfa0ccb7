package window

import (
	"cmp"
	"encoding/json"
	"os"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// parts are the files of assets/translation that the windows show texts of: one
// for each page, and those that the engine speaks in.
var parts = []string{
	"window", "window-sandboxes", "window-spend", ui.HostTexts, ui.ProfileTexts, ui.TokenTexts, "window-activity", "window-settings", ui.GuideTexts,
	ui.Texts, ui.MessageTexts, ui.KeychainTexts, "hosts", "verbs", "http", "doctor",
}

// textsOf are all texts of a language, which are read once.
func textsOf(language string) assets.Texts {
	if language == assets.Spanish {
		return spanish()
	}
	return english()
}

var (
	english = sync.OnceValue(func() assets.Texts { return assets.Load(assets.English, parts...) })
	spanish = sync.OnceValue(func() assets.Texts { return assets.Load(assets.Spanish, parts...) })
)

// languageOf is the language to speak to this user in: the one chosen, else that
// of the environment, else that of the system.
func languageOf(chosen string) string {
	if l := cmp.Or(assets.Language(chosen), assets.Language(os.Getenv("ARENERO_LANG"))); l != "" {
		return l
	}
	for _, v := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if locale := os.Getenv(v); locale != "" {
			return cmp.Or(assets.Language(locale), assets.English)
		}
	}
	return cmp.Or(assets.Language(string(lang.SystemLocale())), assets.English)
}

// toolkitTexts are what the toolkit says itself, in menus of texts and where
// files are chosen, and our keys for it.
var toolkitTexts = map[string]string{
	"Advanced": "window.toolkit.advanced", "Cancel": "window.cancel", "Confirm": "window.toolkit.confirm", "Copy": "window.copy",
	"Create Folder": "window.toolkit.create-folder", "Cut": "window.toolkit.cut", "Enter filename": "window.toolkit.filename", "Error": "window.toolkit.error",
	"Favourites": "window.toolkit.favourites", "File": "window.toolkit.file", "Folder": "window.toolkit.folder", "New Folder": "window.toolkit.new-folder",
	"No": "window.toolkit.no", "OK": "window.toolkit.ok", "Open": "window.toolkit.open", "Paste": "window.toolkit.paste", "Quit": "window.toolkit.quit",
	"Redo": "window.toolkit.redo", "Save": "window.toolkit.save", "Select all": "window.toolkit.all", "Show Hidden Files": "window.toolkit.hidden",
	"Undo": "window.toolkit.undo", "Yes": "window.toolkit.yes", "file.name": "window.toolkit.name", "file.parent": "window.toolkit.parent",
}

// speak has the toolkit say in the language of tx what it says itself. It goes
// by the language of the system, so that this is what that one has now.
func speak(tx assets.Texts) {
	said := map[string]string{}
	for theirs, ours := range toolkitTexts {
		said[theirs] = tx.Get(ours)
	}
	data, err := json.Marshal(said)
	if err != nil {
		return // no text does that
	}
	for _, locale := range []fyne.Locale{lang.SystemLocale(), "en"} {
		if err := lang.AddTranslationsForLocale(data, locale); err != nil {
			fyne.LogError("texts of the toolkit", err)
		}
	}
}

// explain puts an error into words. Some have one that is for people already.
func explain(tx assets.Texts, err error) string {
	if t, ok := control.TextOf(err); ok && tx.Has(t.Key) {
		return tx.Get(t.Key, t.Args...)
	}
	return ui.Explain(tx, err)
}
