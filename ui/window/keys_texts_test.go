package window

import (
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// TestTextsOfProfilesAndTokensAreSaid holds that each key of the two screens has
// a text in both languages, and that each text is said: in full, or with its end
// from a set that is there to its last.
func TestTextsOfProfilesAndTokensAreSaid(t *testing.T) {
	fields := []string{}
	for _, kind := range ui.ProfileKinds() {
		for _, f := range ui.ProfileFields(kind, true, nil) {
			fields = append(fields, f.Name)
		}
	}
	kinds := append(ui.ProfileKinds(), sandbox.ProfileLocal)
	var scopes []string
	for _, s := range sandbox.Scopes() {
		scopes = append(scopes, string(s))
	}
	periods := []string{"none", "day", "week", "month"}
	lines := []string{ui.TokenName, ui.TokenMoney, ui.TokenHours, ui.TokenAtOnce, ui.TokenTemplates, ui.TokenRate}
	for _, screen := range []struct {
		part, prefix string
		patterns     []string
		together     map[string][]string // what is put together, by its beginning
		loose        []string            // beginnings of which not all of a set have a text
	}{
		{
			ui.ProfileTexts, "window.profiles.",
			[]string{"profiles*.go", "../profiles*.go", "../view/profiles*.go"},
			map[string][]string{
				"window.profiles.kind.": kinds, "window.profiles.hint.": kinds, "window.profiles.field.": fields, "window.profiles.flow.": {"usual", "code", "device"},
				"window.profiles.test.":        {"account", "arn", "region", "template", "microvms", "expires"},
				"window.profiles.keychain.do.": {ui.KeychainUnlock, ui.KeychainMake, ui.KeychainVault},
				"window.profiles.keychain.": {
					"no_bus", "no_service", "locked", "dismissed", "denied", "too_big", "timeout", "wrong_passphrase", "no_passphrase", "key_lost", "damaged", "vault_damaged", "other",
				},
				"window.profiles.why.": {
					"not_signed_in", "expired", "revoked", "needs_mfa", "no_keys", "keys_refused", "wrong_code", "no_profile", "exists", "offline", "stranger", "untrusted",
					"busy", "stale", "loop", "used", "live", "moved", "not_moved", "changed", "not_a_vault", "region",
				},
				"window.profiles.wrong.": {"missing", "reserved", "taken", "password", "temporary", "source", "time", "idle"},
			},
			[]string{"window.profiles.example.", "window.profiles.wrong."},
		},
		{
			ui.TokenTexts, "window.tokens.",
			[]string{"tokens*.go", "../tokens*.go", "../view/tokens*.go"},
			map[string][]string{
				"window.tokens.scope.": scopes, "window.tokens.allows.": scopes, "window.tokens.can.": scopes,
				"window.tokens.limit.": periods, "window.tokens.period.": periods,
				"window.tokens.field.": lines, "window.tokens.example.": lines,
				"window.tokens.use.":   {"bridge", "bridge.text", "url", "url.text", "header", "header.text", "prompt", "prompt.text"},
				"window.tokens.fact.":  {"may", "money", "held", "running", "templates", "profile", "ends", "made", "secret", "apps"},
				"window.tokens.revoke": {".end.one", ".end.many", ".keep.one", ".keep.many"},
				"window.tokens.wrong.": {
					"name.missing", "name.long", "name.reserved", "name.taken", "characters", "scopes", "limit", "hours", "at-once", "rate", "templates", "date", "past", "far",
				},
			},
			nil,
		},
	} {
		said := saidBy(t, screen.prefix, screen.patterns...)
		for key := range said {
			if strings.HasPrefix(key, screen.prefix+screen.prefix) { // what is said has its prefix
				delete(said, key)
			}
		}
		beginnings := map[string]bool{}
		for beginning, ends := range screen.together {
			beginnings[beginning] = true
			for _, end := range ends {
				said[beginning+end] = true
			}
		}
		for _, language := range []string{assets.English, assets.Spanish} {
			tx := assets.Load(language, screen.part)
			for key := range said {
				plural := tx.Has(key+".one") && tx.Has(key+".many")
				if !strings.HasSuffix(key, ".") && !plural && !tx.Has(key) {
					t.Errorf("%s has no %q", language, key)
				}
				if strings.HasSuffix(key, ".") && !beginnings[key] && !slices.Contains(screen.loose, key) {
					t.Errorf("it is not told what %q ends with", key)
				}
			}
			for _, key := range tx.Keys() {
				if !strings.HasPrefix(key, screen.prefix) || said[key] {
					continue
				}
				var end string
				for _, l := range screen.loose {
					if rest, ok := strings.CutPrefix(key, l); ok {
						end = rest
					}
				}
				if !slices.Contains(fields, end) {
					t.Errorf("nothing says %q", key)
				}
			}
		}
	}
}
