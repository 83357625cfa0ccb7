package ui_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// bothWith runs a test in each language, with parts of the texts.
func bothWith(t *testing.T, test func(t *testing.T, tx assets.Texts), parts ...string) {
	t.Helper()
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) { test(t, assets.Load(language, append(parts, ui.Texts)...)) })
	}
}

// filledIn is what a person would fill in for a kind, with nothing wrong.
func filledIn(kind string) map[string]string {
	v := map[string]string{ui.FieldName: "work", ui.FieldRegion: "eu-west-1"}
	switch kind {
	case ui.KindKeys:
		v[ui.FieldKeyID], v[ui.FieldKeySecret] = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	case ui.KindSSO:
		v[ui.FieldStartURL], v[ui.FieldSSORegion] = "https://example.awsapps.com/start", "eu-west-1"
		v[ui.FieldAccount], v[ui.FieldSSORole] = "123456789012", "PowerUserAccess"
	case ui.KindRole:
		v[ui.FieldRoleARN], v[ui.FieldSource] = "arn:aws:iam::123456789012:role/a/Sandboxes", "base"
	case ui.KindWebIdentity:
		v[ui.FieldRoleARN], v[ui.FieldTokenFile] = "arn:aws-cn:iam::123456789012:role/Sandboxes", "/var/run/token"
	case ui.KindProcess:
		v[ui.FieldCommand] = "get-credentials --for me"
	}
	return v
}

func TestProfileFormsOfEachKind(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for _, kind := range ui.ProfileKinds() {
			fields := ui.ProfileFields(kind, true, []string{"base"})
			if wrong := ui.CheckProfile(tx, fields, filledIn(kind), nil); len(wrong) > 0 {
				t.Errorf("%s: %v", kind, wrong)
			}
			if ui.KindTitle(tx, kind) == kind || strings.Contains(ui.KindHint(tx, kind), "window.") {
				t.Errorf("%s is not told", kind)
			}
			var names []string
			for _, f := range fields {
				names = append(names, f.Name)
				if strings.Contains(ui.FieldTitle(tx, f.Name), "window.") {
					t.Errorf("%s of %s has no title", f.Name, kind)
				}
				if !f.Need {
					continue
				}
				v := filledIn(kind)
				v[f.Name] = "  "
				if wrong := ui.CheckProfile(tx, fields, v, nil); wrong[f.Name] != in(tx, "This is needed.", "Esto hace falta.") {
					t.Errorf("%s without %s: %v", kind, f.Name, wrong)
				}
			}
			if slices.Contains(names, ui.FieldKeySecret) != (kind == ui.KindKeys) {
				t.Errorf("%s asks for %v", kind, names)
			}
			for _, f := range ui.ProfileFields(kind, false, nil) {
				if f.Name == ui.FieldName || f.Input == ui.InputSecret {
					t.Errorf("a change of %s asks for %s", kind, f.Name)
				}
			}
		}
	}, ui.ProfileTexts)
}

func TestWhatIsWrongWithAProfile(t *testing.T) {
	tests := []struct {
		name, kind, field, value string
		wrong                    bool
	}{
		{"a name of letters", ui.KindMetadata, ui.FieldName, "my.work_2@x+y-z", false},
		{"a name with a blank", ui.KindMetadata, ui.FieldName, "my work", true},
		{"a name that begins with a dash", ui.KindMetadata, ui.FieldName, "-x", true},
		{"a name that is too long", ui.KindMetadata, ui.FieldName, strings.Repeat("x", 65), true},
		{"this computer", ui.KindMetadata, ui.FieldName, "local", true},
		{"the environment", ui.KindMetadata, ui.FieldName, "environment", true},
		{"a name that is taken", ui.KindMetadata, ui.FieldName, "base", true},
		{"no region", ui.KindMetadata, ui.FieldRegion, "EU West", true},
		{"a region that leads elsewhere", ui.KindMetadata, ui.FieldRegion, "eu-west-1.evil.com/", true},
		{"no region where none is needed", ui.KindShared, ui.FieldRegion, "", false},
		{"an account", ui.KindSSO, ui.FieldAccount, "12345678901", true},
		{"a page without TLS", ui.KindSSO, ui.FieldStartURL, "http://example.awsapps.com/start", true},
		{"a page with a password", ui.KindSSO, ui.FieldStartURL, "https://me:secret@example.com/", true},
		{"no role", ui.KindRole, ui.FieldRoleARN, "arn:aws:iam::123456789012:user/me", true},
		{"a source that is not there", ui.KindRole, ui.FieldSource, "gone", true},
		{"a device of hardware", ui.KindKeys, ui.FieldMFA, "GAHT12345678", false},
		{"a device", ui.KindKeys, ui.FieldMFA, "arn:aws:iam::123456789012:mfa/me", false},
		{"no device", ui.KindKeys, ui.FieldMFA, "my phone", true},
		{"an id that is too short", ui.KindKeys, ui.FieldKeyID, "AKIA", true},
		{"a secret with a blank", ui.KindKeys, ui.FieldKeySecret, "wJalrXUtnFEMI K7MDENG", true},
		{"a session", ui.KindKeys, ui.FieldSession, "12h", false},
		{"a session that is too short", ui.KindKeys, ui.FieldSession, "10", true},
		{"an idle time in minutes", ui.KindMetadata, ui.FieldIdle, "5", false},
		{"an idle time as long as a life", ui.KindMetadata, ui.FieldIdle, "1h", true},
		{"no idle time", ui.KindMetadata, ui.FieldIdle, "soon", true},
		{"never idle", ui.KindMetadata, ui.FieldIdle, "0", false},
		{"a life", ui.KindMetadata, ui.FieldTimeout, "9h", true},
		{"an endpoint with a user", ui.KindMetadata, ui.FieldEndpoint, "https://me@example.com", true},
		{"an endpoint of this computer", ui.KindMetadata, ui.FieldEndpoint, "http://127.0.0.1:9000", false},
	}
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				v := filledIn(tt.kind)
				v[tt.field] = tt.value
				got := ui.CheckProfile(tx, ui.ProfileFields(tt.kind, true, []string{"base"}), v, []string{"base"})
				if (got[tt.field] != "") != tt.wrong || len(got) > 1 {
					t.Errorf("%q: %v", tt.value, got)
				}
				if strings.Contains(got[tt.field], "window.") {
					t.Errorf("no text for %q", got[tt.field])
				}
				if s := tt.value; s != "" && (tt.field == ui.FieldKeySecret || tt.field == ui.FieldKeyID) && strings.Contains(got[tt.field], s) {
					t.Errorf("%q is told", s)
				}
			})
		}
	}, ui.ProfileTexts)
}

func TestTemporaryKeysNeedTheirToken(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		v := filledIn(ui.KindKeys)
		v[ui.FieldKeyID] = "ASIAIOSFODNN7EXAMPLE"
		fields := ui.ProfileFields(ui.KindKeys, true, nil)
		if got := ui.CheckProfile(tx, fields, v, nil); !strings.Contains(got[ui.FieldKeyToken], "ASIA") {
			t.Errorf("%v", got)
		}
		v[ui.FieldKeyToken] = "FwoGZXIvYXdzEBYaDExample"
		if got := ui.CheckProfile(tx, fields, v, nil); len(got) > 0 {
			t.Errorf("%v", got)
		}
	}, ui.ProfileTexts)
}

func TestSpansAsTheyAreTyped(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5": 5 * time.Minute, "5m": 5 * time.Minute, "5 min": 5 * time.Minute, "90s": 90 * time.Second, "1h": time.Hour, "1h30m": 90 * time.Minute, "0": 0,
	} {
		got, ok := ui.ParseSpan(text)
		if !ok || got != want {
			t.Errorf("ParseSpan(%q) = %v, %v", text, got, ok)
		}
		if again, ok := ui.ParseSpan(ui.SpanInput(got)); !ok || again != got {
			t.Errorf("SpanInput(%v) = %q", got, ui.SpanInput(got))
		}
	}
	for _, text := range []string{"", "soon", "-5", "1.5s0", "500ms", "1d"} {
		if d, ok := ui.ParseSpan(text); ok {
			t.Errorf("ParseSpan(%q) = %v", text, d)
		}
	}
	for d, want := range map[time.Duration]string{time.Hour: "1h", 5 * time.Minute: "5m", 90 * time.Minute: "1h30m", 90 * time.Second: "1m30s", 2*time.Hour + time.Second: "2h0m1s"} {
		if got := ui.SpanInput(d); got != want {
			t.Errorf("SpanInput(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestProfileReach(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			reach *sandbox.Reach
			want  string
			tone  ui.Tone
		}{
			{nil, in(tx, "not asked yet", "aún sin preguntar"), ui.ToneMuted},
			{&sandbox.Reach{}, in(tx, "answers", "responde"), ui.ToneGood},
			{&sandbox.Reach{Error: &sandbox.Error{Code: sandbox.SignIn}}, in(tx, "sign in needed", "falta iniciar sesión"), ui.ToneWarn},
			{&sandbox.Reach{Error: &sandbox.Error{Code: sandbox.NoKeychain}}, in(tx, "keychain needed", "falta el llavero"), ui.ToneWarn},
			{&sandbox.Reach{Error: &sandbox.Error{Code: sandbox.CloudDown, Retryable: true}}, in(tx, "does not answer now", "no responde ahora"), ui.ToneWarn},
			{&sandbox.Reach{Error: &sandbox.Error{Code: sandbox.Access}}, in(tx, "does not work", "no funciona"), ui.ToneBad},
		} {
			if got, tone := ui.ProfileReach(tx, tt.reach); got != tt.want || tone != tt.tone {
				t.Errorf("%+v: %q, %q", tt.reach, got, tone)
			}
		}
	}, ui.ProfileTexts)
}

func TestProfileTroubleHasWordsAndWhatToDo(t *testing.T) {
	whys := []string{
		"not_signed_in", "expired", "revoked", "needs_mfa", "no_keys", "keys_refused", "wrong_code", "no_profile", "exists", "offline", "stranger",
		"untrusted", "busy", "stale", "loop", "used", "live", "moved", "not_moved", "changed", "not_a_vault", "region",
	}
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for _, why := range whys {
			e := &sandbox.Error{Code: sandbox.SignIn, Details: map[string]any{"why": why, "users": "claude, cursor", "file": "/home/ana/.aws/config", "sandboxes": []any{"web", "ci"}}}
			got := ui.ProfileTrouble(tx, "work", e)
			if got == "" || strings.ContainsAny(got, "{}") || strings.Contains(got, "window.") {
				t.Errorf("%s: %q", why, got)
			}
			if why == "live" && !strings.Contains(got, "web, ci") {
				t.Errorf("%q", got)
			}
			if strings.Contains(got, "arenero profiles") { // a window has buttons
				t.Errorf("%s names a command: %q", why, got)
			}
		}
		if got := ui.ProfileTrouble(tx, "work", &sandbox.Error{Code: sandbox.Access, Msg: "x"}); got != "" {
			t.Errorf("%q", got)
		}
		if ui.ProfileTrouble(tx, "work", nil) != "" || ui.WantsKey(nil) {
			t.Error("nothing went wrong")
		}
		if !ui.WantsKey(&sandbox.Error{Code: sandbox.SignIn, Details: map[string]any{"why": "keys_refused"}}) {
			t.Error("a new key would help")
		}
		for _, class := range []string{"no_bus", "no_service", "locked", "dismissed", "denied", "too_big", "timeout", "wrong_passphrase", "no_passphrase", "key_lost", "damaged", "other", "vault_damaged", "news"} {
			got := ui.ProfileTrouble(tx, "", &sandbox.Error{Code: sandbox.NoKeychain, Details: map[string]any{"class": class, "why": "because"}})
			if got == "" || strings.ContainsAny(got, "{}") || strings.Contains(got, "window.") {
				t.Errorf("%s: %q", class, got)
			}
		}
	}, ui.ProfileTexts)
}

func TestKeychainTold(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for state, want := range map[string]string{
			"": "", "ready": "", "locked": ui.KeychainUnlock, "missing": ui.KeychainMake, "no_service": ui.KeychainVault, "no_bus": ui.KeychainVault,
		} {
			text, do := ui.Keychain{State: state}.Told(tx)
			if do != want || (text == "") != (want == "") {
				t.Errorf("%s: %q, %q", state, text, do)
			}
		}
		if text, do := (ui.Keychain{State: "denied"}).Told(tx); text == "" || do != "" {
			t.Errorf("%q, %q", text, do)
		}
	}, ui.ProfileTexts)
}

func TestPassphrasesAndCodes(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			pass, again string
			fresh, ok   bool
		}{{"", "", false, false}, {"x", "", false, true}, {"short", "short", true, false}, {"long enough", "long enougH", true, false}, {"long enough", "long enough", true, true}} {
			got := ui.CheckPassphrase(tx, tt.pass, tt.again, tt.fresh)
			if (got == "") != tt.ok || tt.pass != "" && len(tt.pass) > 3 && strings.Contains(got, tt.pass) {
				t.Errorf("%+v: %q", tt, got)
			}
		}
		for code, ok := range map[string]bool{"123456": true, " 123456 ": true, "12345": false, "12345a": false, "": false} {
			if got := ui.CheckCode(tx, code); (got == "") != ok {
				t.Errorf("%q: %q", code, got)
			}
		}
	}, ui.ProfileTexts)
}

func TestProfileTestTold(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		found := ui.ProfileTest{Account: "123456789012", ARN: "arn:aws:sts::123456789012:assumed-role/x/me", Asked: true, Region: "eu-west-1", MicroVMs: 3, Expires: noon.Add(50 * time.Minute)}
		all := map[string]string{}
		for _, p := range found.Pairs(tx, noon) {
			all[p.Name] = p.Value
		}
		for name, want := range map[string]string{
			in(tx, "Account", "Cuenta"): "123456789012", in(tx, "Region", "Región"): "eu-west-1",
			in(tx, "Sandboxes alive", "Sandboxes vivos"): "3", in(tx, "Signed in for", "Sesión válida"): in(tx, "50 min more", "50 min más"),
		} {
			if all[name] != want {
				t.Errorf("%s: %q, want %q", name, all[name], want)
			}
		}
		if pairs := (ui.ProfileTest{Region: "eu-west-1"}).Pairs(tx, noon); !strings.Contains(pairs[0].Value, "http") {
			t.Errorf("%v", pairs)
		}
	}, ui.ProfileTexts)
}

func TestMovedText(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		raw := []byte(`[{"file":"/a","whole":true},{"file":"/b","gone":true},{"file":"/c"}]`)
		lines := strings.Split(ui.MovedText(tx, raw, true), "\n")
		if len(lines) != 3 || len(slices.Compact(slices.Sorted(slices.Values(lines)))) != 3 {
			t.Errorf("%q", lines)
		}
		if got := ui.MovedText(tx, raw[:0], false); got != "" {
			t.Errorf("%q", got)
		}
	}, ui.ProfileTexts)
}

func TestProfileWhose(t *testing.T) {
	for kind, want := range map[string]string{
		ui.KindSSO: "PowerUserAccess@123456789012", ui.KindRole: "arn:aws:iam::123456789012:role/a/Sandboxes", ui.KindShared: "default", ui.KindProcess: "get-credentials --for me", ui.KindMetadata: "",
	} {
		v := maps.Clone(filledIn(kind))
		v["kind"] = kind
		if got := ui.ProfileWhose(v); got != want {
			t.Errorf("%s: %q", kind, got)
		}
	}
}
