package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A ProfileTest is what a test of a profile found, as the engine answers it.
type ProfileTest struct {
	Profile  string    `json:"profile"`
	Account  string    `json:"account"`
	ARN      string    `json:"arn"`
	Asked    bool      `json:"sts_asked"`
	Region   string    `json:"region"`
	Expires  time.Time `json:"expires"`
	Template string    `json:"template"`
	MicroVMs int       `json:"microvms"`
}

// A Pair is a name and what it is.
type Pair struct{ Name, Value string }

// Pairs are the lines in which a window tells of a test.
func (t ProfileTest) Pairs(tx assets.Texts, now time.Time) (out []Pair) {
	add := func(key, value string) {
		if value != "" {
			out = append(out, Pair{tx.Get("window.profiles.test." + key), Visible(value)})
		}
	}
	add("account", t.Account)
	add("arn", t.ARN)
	if !t.Asked {
		add("arn", tx.Get("window.profiles.test.not-asked"))
	}
	add("region", t.Region)
	add("template", t.Template)
	add("microvms", strconv.Itoa(t.MicroVMs))
	if !t.Expires.IsZero() {
		left, _ := Countdown(tx, t.Expires, now)
		add("expires", tx.Get("window.profiles.test.left", "span", left))
	}
	return out
}

// whys are the reasons of failures of profiles for which there is a text of
// ours: a window names its buttons where a command line names commands.
var whys = []string{
	"not_signed_in", "expired", "revoked", "needs_mfa", "no_keys", "keys_refused", "wrong_code",
	"no_profile", "exists", "offline", "stranger", "untrusted", "busy", "stale", "loop", "used", "live", "moved", "not_moved", "changed", "not_a_vault", "region",
}

// ProfileTrouble is what kept something about a profile from being done, and
// what to do, where that differs in a window from what all are told; else "".
// profile is the one that was asked about.
func ProfileTrouble(tx assets.Texts, profile string, e *sandbox.Error) string {
	if e == nil {
		return ""
	}
	if e.Code == sandbox.NoKeychain {
		return KeychainTrouble(tx, detail(e, "class"), detail(e, "why"))
	}
	why := detail(e, "why")
	if !slices.Contains(whys, why) {
		return ""
	}
	return tx.Get("window.profiles.why."+why, "profile", cmp.Or(detail(e, "profile"), Visible(profile)), "users", detail(e, "users"), "file", detail(e, "file"), "sandboxes", detail(e, "sandboxes"), "host", cmp.Or(detail(e, "host"), "AWS"))
}

func detail(e *sandbox.Error, name string) string {
	switch v := e.Details[name].(type) {
	case nil:
		return ""
	case []any: // names, by now on the wire
		var all []string
		for _, one := range v {
			all = append(all, fmt.Sprint(one))
		}
		return Visible(strings.Join(all, ", "))
	case []string:
		return Visible(strings.Join(v, ", "))
	default:
		return Visible(fmt.Sprint(v))
	}
}

// Why is the reason among the details of an error, for what a window offers to
// do about it.
func Why(e *sandbox.Error) string {
	if e == nil {
		return ""
	}
	return detail(e, "why")
}

// WantsKey reports whether a new key of a profile would mend an error.
func WantsKey(e *sandbox.Error) bool {
	return e != nil && e.Code == sandbox.SignIn && slices.Contains([]string{"no_keys", "keys_refused"}, Why(e))
}

// A Keychain is how the place for secrets is, as the engine answers it.
type Keychain struct {
	Backend string `json:"backend"` // "system" or "vault"
	State   string `json:"state"`   // "ready", "locked", "missing", or the class of an error
	Secrets int    `json:"secrets"`
	Why     string `json:"why"`
}

// What a window can do about a keychain.
const (
	KeychainUnlock = "unlock" // ask for the passphrase of the vault
	KeychainMake   = "make"   // ask for the passphrase of a new vault
	KeychainVault  = "vault"  // make a vault, since the system has no keychain
)

// Told is what to say of a keychain, and what can be done about it; both are ""
// when it is in order.
func (k Keychain) Told(tx assets.Texts) (text, do string) {
	switch k.State {
	case "", "ready":
		return "", ""
	case "locked":
		return tx.Get("window.profiles.keychain.no_passphrase"), KeychainUnlock
	case "missing":
		return tx.Get("window.profiles.keychain.missing"), KeychainMake
	case "no_bus", "no_service", "too_big":
		do = KeychainVault
	}
	return KeychainTrouble(tx, k.State, k.Why), do
}

// KeychainTrouble is what a class of the keychain's errors means to a person.
func KeychainTrouble(tx assets.Texts, class, why string) string {
	key := "window.profiles.keychain." + class
	if !tx.Has(key) {
		key = "window.profiles.keychain.other"
	}
	return tx.Get(key, "why", cmp.Or(why, class))
}

// shortestPassphrase is that of a vault that is made: whoever gets its file can
// try as many as they like.
const shortestPassphrase = 8

// CheckPassphrase says what is wrong with a passphrase, and with the same typed
// again where it is to be a new one.
func CheckPassphrase(tx assets.Texts, pass, again string, fresh bool) string {
	switch n := len([]rune(pass)); {
	case n == 0:
		return tx.Get("window.profiles.pass.empty")
	case fresh && n < shortestPassphrase:
		return tx.Get("window.profiles.pass.short", "n", strconv.Itoa(shortestPassphrase))
	case fresh && pass != again:
		return tx.Get("window.profiles.pass.differ")
	}
	return ""
}

// CheckCode says what is wrong with the code of an MFA device.
func CheckCode(tx assets.Texts, code string) string {
	if code = strings.TrimSpace(code); len(code) != 6 || strings.Trim(code, "0123456789") != "" {
		return tx.Get("window.profiles.code.wrong")
	}
	return ""
}

// A Moved is what became of a file of AWS, as the engine answers it.
type Moved struct {
	File  string `json:"file"`
	Whole bool   `json:"whole"`
	Gone  bool   `json:"gone"`
}

// MovedText tells what became of files whose key was taken out, or put back.
func MovedText(tx assets.Texts, answer []byte, back bool) string {
	var all []Moved
	if json.Unmarshal(answer, &all) != nil {
		return ""
	}
	var lines []string
	for _, m := range all {
		key := "window.profiles.moved"
		switch {
		case back && m.Whole:
			key = "window.profiles.back.whole"
		case back && m.Gone:
			key = "window.profiles.back.gone"
		case back:
			key = "window.profiles.back.spliced"
		}
		lines = append(lines, tx.Get(key, "file", m.File))
	}
	return strings.Join(lines, "\n")
}

// ImportText is what the engine says of a profile of the files, for which a window
// may have words of its own.
func ImportText(tx assets.Texts, t control.Text) string {
	if t.Key == "profiles.import.long-lived" { // of a part that windows do without
		return tx.Get("window.profiles.import.long-lived")
	}
	return InLanguage(tx, Told(tx, t))
}

// DropText is the question before a profile is forgotten.
func DropText(tx assets.Texts, profile string, isDefault bool) string {
	lines := []string{tx.Get("window.profiles.drop.text", "profile", profile)}
	if isDefault {
		lines = append(lines, tx.Get("window.profiles.drop.default"))
	}
	return strings.Join(lines, "\n\n")
}
