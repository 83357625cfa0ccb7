package main

import (
	"cmp"
	"os"

	"github.com/arenero/arenero/assets"
)

// hostsLanguage is the language to speak to this user in: what was chosen, else
// that of the environment, else that of the system.
func hostsLanguage(chosen string) string {
	if l := cmp.Or(assets.Language(chosen), assets.Language(os.Getenv("ARENERO_LANG"))); l != "" {
		return l
	}
	for _, v := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if locale := os.Getenv(v); locale != "" {
			return cmp.Or(assets.Language(locale), assets.English)
		}
	}
	return cmp.Or(assets.Language(systemLocale()), assets.English)
}
