package ui

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// ProfileTexts is the part of assets/translation for the screen of profiles.
const ProfileTexts = "window-profiles"

// The kinds of profiles, by where their credentials come from.
const (
	KindKeys        = "keys"
	KindSSO         = "sso"
	KindRole        = "role"
	KindWebIdentity = "web-identity"
	KindProcess     = "process"
	KindShared      = "shared"
	KindMetadata    = "metadata"
	KindEnvironment = "environment"
)

// ProfileKinds are all kinds, in the order in which a person is offered them:
// those that people sign in to first.
func ProfileKinds() []string {
	return []string{KindSSO, KindKeys, KindRole, KindShared, KindProcess, KindWebIdentity, KindMetadata, KindEnvironment}
}

// KindTitle is a kind in a few words, and KindHint in a sentence.
func KindTitle(tx assets.Texts, kind string) string {
	if key := "window.profiles.kind." + kind; tx.Has(key) {
		return tx.Get(key)
	}
	return kind // of a program that is newer than this one
}

// KindHint says when a kind is the right one.
func KindHint(tx assets.Texts, kind string) string { return tx.Get("window.profiles.hint." + kind) }

// SignsIn reports whether a person can have to sign in to a profile of a kind.
func SignsIn(kind string) bool {
	return slices.Contains([]string{KindSSO, KindKeys, KindRole, KindShared}, kind)
}

// Names of fields of a profile, as the settings have them. The last three are
// parts of a key, and never of a profile.
const (
	FieldName      = "name"
	FieldRegion    = "region"
	FieldTemplate  = "template"
	FieldVersion   = "version"
	FieldRole      = "role"
	FieldEndpoint  = "endpoint"
	FieldTimeout   = "timeout_seconds"
	FieldIdle      = "idle_seconds"
	FieldMFA       = "mfa_serial"
	FieldSession   = "duration_seconds"
	FieldNoSession = "no_session"
	FieldRoleARN   = "role_arn"
	FieldSource    = "source_profile"
	FieldExternal  = "external_id"
	FieldRoleName  = "role_session_name"
	FieldTokenFile = "web_identity_token_file"
	FieldStartURL  = "sso_start_url"
	FieldSSORegion = "sso_region"
	FieldSSOName   = "sso_session"
	FieldAccount   = "sso_account_id"
	FieldSSORole   = "sso_role_name"
	FieldFlow      = "sso_flow"
	FieldCommand   = "credential_process"
	FieldShared    = "shared_profile"

	FieldKeyID     = "key-id"
	FieldKeySecret = "key-secret"
	FieldKeyToken  = "key-token"
)

// An Input is how a field is filled in.
type Input string

// The inputs.
const (
	InputText   Input = "text"
	InputSecret Input = "secret" // typed unseen
	InputTime   Input = "time"   // a length of time, as "90s", "5m" or "1h"
	InputChoice Input = "choice" // one of a few
	InputSwitch Input = "switch" // "true" or ""
)

// A ProfileField is one that a form has.
type ProfileField struct {
	Name    string
	Input   Input
	Need    bool     // it can't be left out
	More    bool     // few need it: it is shown on demand
	Choices []string // of a choice; "" among them is "as usual"
}

// fieldsOf are the fields of each kind, but for those that all have.
var fieldsOf = map[string][]ProfileField{
	KindKeys: {
		{Name: FieldRegion, Need: true},
		{Name: FieldMFA},
		{Name: FieldSession, Input: InputTime, More: true},
		{Name: FieldNoSession, Input: InputSwitch, More: true},
	},
	KindSSO: {
		{Name: FieldStartURL, Need: true},
		{Name: FieldSSORegion, Need: true},
		{Name: FieldAccount, Need: true},
		{Name: FieldSSORole, Need: true},
		{Name: FieldRegion, Need: true},
		{Name: FieldSSOName, More: true},
		{Name: FieldFlow, Input: InputChoice, More: true, Choices: []string{"", "code", "device"}},
	},
	KindRole: {
		{Name: FieldRoleARN, Need: true},
		{Name: FieldSource, Input: InputChoice, Need: true},
		{Name: FieldRegion, Need: true},
		{Name: FieldMFA},
		{Name: FieldExternal, More: true},
		{Name: FieldRoleName, More: true},
		{Name: FieldSession, Input: InputTime, More: true},
	},
	KindWebIdentity: {
		{Name: FieldRoleARN, Need: true},
		{Name: FieldTokenFile, Need: true},
		{Name: FieldRegion, Need: true},
		{Name: FieldRoleName, More: true},
		{Name: FieldSession, Input: InputTime, More: true},
	},
	KindProcess:     {{Name: FieldCommand, Need: true}, {Name: FieldRegion, Need: true}},
	KindShared:      {{Name: FieldShared}, {Name: FieldRegion}},
	KindMetadata:    {{Name: FieldRegion, Need: true}},
	KindEnvironment: {{Name: FieldRegion}},
}

// ProfileFields are the fields of a form for a kind, in order. Fresh is of a new
// profile, which has no name and no key yet; sources are the names of profiles
// that a role may start from.
func ProfileFields(kind string, fresh bool, sources []string) []ProfileField {
	var out []ProfileField
	if fresh {
		out = append(out, ProfileField{Name: FieldName, Need: true})
	}
	if fresh && kind == KindKeys {
		out = append(out, KeyFields()...)
	}
	out = append(out, fieldsOf[kind]...)
	out = append(out,
		ProfileField{Name: FieldTemplate},
		ProfileField{Name: FieldVersion, More: true},
		ProfileField{Name: FieldIdle, Input: InputTime, More: true},
		ProfileField{Name: FieldTimeout, Input: InputTime, More: true},
		ProfileField{Name: FieldRole, More: true},
		ProfileField{Name: FieldEndpoint, More: true},
	)
	for i, f := range out {
		out[i].Input = cmp.Or(f.Input, InputText)
		if f.Name == FieldSource {
			out[i].Choices = sources
		}
	}
	return out
}

// KeyFields are those of a key.
func KeyFields() []ProfileField {
	return []ProfileField{
		{Name: FieldKeyID, Input: InputText, Need: true},
		{Name: FieldKeySecret, Input: InputSecret, Need: true},
		{Name: FieldKeyToken, Input: InputSecret, More: true},
	}
}

// FieldTitle is what a form calls a field, and FieldHint an example of it or "".
func FieldTitle(tx assets.Texts, name string) string { return tx.Get("window.profiles.field." + name) }

// FieldHint is an example of what a field takes, or "".
func FieldHint(tx assets.Texts, name string) string {
	if key := "window.profiles.example." + name; tx.Has(key) {
		return tx.Get(key)
	}
	return ""
}

// ChoiceTitle is what a form calls a choice of a field.
func ChoiceTitle(tx assets.Texts, field, choice string) string {
	if field != FieldFlow {
		return choice
	}
	return tx.Get("window.profiles.flow." + cmp.Or(choice, "usual"))
}

// formsOf are the forms of what fields hold, where they have one. Programs without
// these fields, such as the tray, spend nothing on them.
var formsOf = sync.OnceValue(func() map[string]*regexp.Regexp {
	var (
		nameForm    = regexp.MustCompile(`^[0-9A-Za-z_@+][-0-9A-Za-z_.@+]{0,63}$`)
		regionForm  = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9]+){0,15}$`)
		accountForm = regexp.MustCompile(`^\d{12}$`)
		roleForm    = regexp.MustCompile(`^arn:[a-z0-9-]+:iam::\d{12}:role/\S+$`)
		mfaForm     = regexp.MustCompile(`^(arn:[a-z0-9-]+:iam::\d{12}:(mfa|sms-mfa)/\S+|[0-9A-Za-z]{9,256})$`)
		webForm     = regexp.MustCompile(`^https://[^\s/@]+(/\S*)?$`)
		placeForm   = regexp.MustCompile(`^https?://[^\s/@]+(/\S*)?$`)
		keyForm     = regexp.MustCompile(`^[0-9A-Za-z_]{16,128}$`)
		sessionForm = regexp.MustCompile(`^[0-9A-Za-z_+=,.@-]{2,64}$`)
	)
	return map[string]*regexp.Regexp{
		FieldName: nameForm, FieldRegion: regionForm, FieldSSORegion: regionForm, FieldAccount: accountForm,
		FieldRoleARN: roleForm, FieldRole: roleForm, FieldMFA: mfaForm, FieldStartURL: webForm, FieldEndpoint: placeForm,
		FieldKeyID: keyForm, FieldRoleName: sessionForm,
	}
})

// The least and the most of lengths of time.
var spansOf = map[string][2]time.Duration{
	FieldSession: {15 * time.Minute, 36 * time.Hour},
	FieldTimeout: {time.Minute, 8 * time.Hour},
	FieldIdle:    {time.Minute, 8 * time.Hour},
}

// defaultTimeout is how long a sandbox lives of which nobody says.
const defaultTimeout = time.Hour

// CheckProfile says what is wrong with what a form holds, by field. What is said
// quotes nothing of a secret. Taken are the names that a new profile can't have.
func CheckProfile(tx assets.Texts, fields []ProfileField, values map[string]string, taken []string) map[string]string {
	out := map[string]string{}
	for _, f := range fields {
		if problem := checkField(f, strings.TrimSpace(values[f.Name]), values, taken); problem != "" {
			out[f.Name] = tx.Get("window.profiles.wrong." + problem)
		}
	}
	return out
}

// checkField is what is wrong with one field, as the end of the key of a text.
func checkField(f ProfileField, value string, values map[string]string, taken []string) string {
	temporary := strings.HasPrefix(strings.TrimSpace(values[FieldKeyID]), "ASIA")
	switch {
	case value == "" && f.Name == FieldKeyToken && temporary:
		return "temporary"
	case value == "" && f.Need:
		return "missing"
	case value == "":
		return ""
	case f.Name == FieldName && (value == sandbox.ProfileLocal || value == KindEnvironment):
		return "reserved"
	case f.Name == FieldName && slices.Contains(taken, value):
		return "taken"
	case (f.Name == FieldEndpoint || f.Name == FieldStartURL) && strings.Contains(value, "@"):
		return "password"
	case f.Input == InputSecret && (len(value) < 16 || strings.ContainsFunc(value, unicode.IsSpace)):
		return f.Name
	case f.Name == FieldSource && !slices.Contains(f.Choices, value):
		return "source"
	}
	if form := formsOf()[f.Name]; form != nil && !form.MatchString(value) {
		return f.Name
	}
	if f.Input == InputTime {
		return checkSpan(f.Name, value, values)
	}
	return ""
}

func checkSpan(name, value string, values map[string]string) string {
	d, ok := ParseSpan(value)
	limits := spansOf[name]
	switch {
	case !ok:
		return "time"
	case name == FieldIdle && d == 0:
		return ""
	case d < limits[0] || d > limits[1]:
		return name
	}
	if name == FieldIdle {
		life, ok := ParseSpan(strings.TrimSpace(values[FieldTimeout]))
		if !ok || life == 0 {
			life = defaultTimeout
		}
		if d >= life {
			return "idle"
		}
	}
	return ""
}

// ParseSpan reads a length of time as people type it: a number of minutes, or
// one with a unit, in whole seconds.
func ParseSpan(text string) (time.Duration, bool) {
	text = strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	text = strings.TrimSuffix(text, "in") // "5 min"
	if text != "" && strings.Trim(text, "0123456789") == "" {
		text += "m"
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0 && d%time.Second == 0
}

// SpanInput is a length of time as [ParseSpan] reads it and a person would write
// it.
func SpanInput(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}

// ProfileReach is how things stand with a profile: whether its cloud answers, or
// somebody has to sign in. Nil is one that was not asked yet.
func ProfileReach(tx assets.Texts, reach *sandbox.Reach) (string, Tone) {
	switch {
	case reach == nil:
		return tx.Get("window.profiles.reach.unknown"), ToneMuted
	case reach.Error == nil:
		return tx.Get("window.profiles.reach.good"), ToneGood
	case reach.Error.Code == sandbox.SignIn:
		return tx.Get("window.profiles.reach.sign-in"), ToneWarn
	case reach.Error.Code == sandbox.NoKeychain:
		return tx.Get("window.profiles.reach.keychain"), ToneWarn
	case reach.Error.Retryable:
		return tx.Get("window.profiles.reach.away"), ToneWarn
	}
	return tx.Get("window.profiles.reach.bad"), ToneBad
}

// ProfileWhose is what a profile says of whom it uses an account as, or "".
func ProfileWhose(values map[string]string) string {
	switch values["kind"] {
	case KindSSO:
		return values[FieldSSORole] + "@" + values[FieldAccount]
	case KindRole, KindWebIdentity:
		return values[FieldRoleARN]
	case KindShared:
		return cmp.Or(values[FieldShared], "default")
	case KindProcess:
		return values[FieldCommand]
	case KindKeys:
		return values[FieldMFA]
	}
	return ""
}
