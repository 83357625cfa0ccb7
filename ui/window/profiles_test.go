package window

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// A keeper is an engine that keeps profiles and their keys, in a vault.
type keeper struct {
	control.Engine

	mu      sync.Mutex
	own     control.OwnProfiles
	vault   ui.Keychain
	keys    map[string]string // as they came
	asked   []control.ProfileRequest
	answers chan string
	waits   chan struct{} // ends a login at a page; nil waits for ever
	gone    chan struct{} // a login was given up
	refuse  map[control.ProfileAction]error
	drops   []control.ProfileDrop
	needed  error // why a profile is not dropped
	imports []control.Importable
	prompts []control.Prompt
}

func newKeeper() *keeper {
	return &keeper{
		own:     control.OwnProfiles{Default: sandbox.ProfileLocal},
		vault:   ui.Keychain{Backend: "system", State: "ready"},
		keys:    map[string]string{},
		answers: make(chan string, 1), gone: make(chan struct{}, 1), refuse: map[control.ProfileAction]error{},
	}
}

func (k *keeper) OwnProfiles(context.Context, struct{}) (control.OwnProfiles, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := k.own
	out.Profiles = append([]control.OwnProfile{}, k.own.Profiles...)
	return out, nil
}

func (k *keeper) PutProfile(_ context.Context, p control.ProfilePut) (control.OwnProfile, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, had := range k.own.Profiles {
		if had.Name == p.Profile.Name {
			if p.Fresh {
				return had, &sandbox.Error{Code: sandbox.Exists, Msg: "there is one", Details: map[string]any{"why": "exists", "profile": had.Name}}
			}
			k.own.Profiles[i] = p.Profile
			return p.Profile, nil
		}
	}
	k.own.Profiles = append(k.own.Profiles, p.Profile)
	return p.Profile, nil
}

func (k *keeper) DropProfile(_ context.Context, d control.ProfileDrop) (struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drops = append(k.drops, d)
	if k.needed != nil && !d.Force {
		return struct{}{}, k.needed
	}
	var left []control.OwnProfile
	for _, p := range k.own.Profiles {
		if p.Name != d.Name {
			left = append(left, p)
		}
	}
	k.own.Profiles = left
	delete(k.keys, d.Name)
	return struct{}{}, nil
}

func (k *keeper) EditPreferences(_ context.Context, e control.PreferencesEdit) (control.Preferences, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.own.Default = *e.DefaultProfile
	return control.Preferences{DefaultProfile: k.own.Default}, nil
}

func (k *keeper) Importable(context.Context, struct{}) ([]control.Importable, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]control.Importable{}, k.imports...), nil
}

func (k *keeper) Profile(ctx context.Context, r control.ProfileRequest, tell func(control.ProfileEvent) error) ([]byte, error) {
	k.mu.Lock()
	if r.Action != control.KeychainStatus {
		k.asked = append(k.asked, r)
	}
	err := k.refuse[r.Action]
	prompts, waits := k.prompts, k.waits
	k.mu.Unlock()
	if err != nil {
		return nil, err
	}
	switch r.Action {
	case control.ProfileSetKey:
		k.mu.Lock()
		defer k.mu.Unlock()
		k.keys[r.Name] = string(r.Data)
		return nil, nil
	case control.ProfileTest:
		return json.Marshal(ui.ProfileTest{Profile: r.Name, Account: "123456789012", ARN: "arn:aws:sts::123456789012:assumed-role/x/me", Asked: true, Region: "eu-west-1", MicroVMs: 2})
	case control.ProfileLogin:
		return nil, k.login(ctx, prompts, waits, tell)
	case control.ProfileMove:
		k.mu.Lock()
		defer k.mu.Unlock()
		k.own.Profiles = append(k.own.Profiles, control.OwnProfile{Name: r.Name, Kind: ui.KindKeys, Region: r.Region, Moved: true})
		return []byte(`[{"file":"/home/ana/.aws/credentials"}]`), nil
	case control.ProfileRestore:
		return []byte(`[{"file":"/home/ana/.aws/credentials","whole":true}]`), nil
	case control.KeychainUnlock:
		k.mu.Lock()
		defer k.mu.Unlock()
		if string(r.Data) != "the right one" {
			return nil, &sandbox.Error{Code: sandbox.NoKeychain, Msg: "wrong", Details: map[string]any{"class": "wrong_passphrase"}}
		}
		k.vault.State = "ready"
		return nil, nil
	case control.KeychainStatus:
		k.mu.Lock()
		defer k.mu.Unlock()
		return json.Marshal(k.vault)
	}
	return nil, nil
}

func (k *keeper) login(ctx context.Context, prompts []control.Prompt, waits chan struct{}, tell func(control.ProfileEvent) error) error {
	for _, p := range prompts {
		if err := tell(control.ProfileEvent{Prompt: &p}); err != nil {
			return err
		}
		if p.ID == "" {
			select {
			case <-waits:
			case <-ctx.Done():
				k.gone <- struct{}{}
				return ctx.Err()
			}
			continue
		}
		if code := <-k.answers; code != "123456" {
			return &sandbox.Error{Code: sandbox.SignIn, Msg: "wrong", Details: map[string]any{"why": "wrong_code"}, Retryable: true}
		}
	}
	return nil
}

func (k *keeper) Answer(_, text string) error {
	k.answers <- text
	return nil
}

// has is the profile with a name, as the engine has it.
func (k *keeper) has(name string) (control.OwnProfile, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.own.Profiles {
		if p.Name == name {
			return p, true
		}
	}
	return control.OwnProfile{}, false
}

func openProfiles(t *testing.T, language string, k *keeper) (*rig, *profiles, hand) {
	t.Helper()
	r := newRig(t, language, k)
	p := newProfiles(r.core).(*profiles)
	r.show(p, sandbox.Snapshot{})
	r.until("the profiles are there", func() bool { return p.shown.Read && p.shown.Keychain.State != "" })
	return r, p, hand{t, r}
}

const canary = "wJalrCANARYutnFEMIK7MDENGbPxRfiCYEX"

func TestAddAKeyThatNothingKeeps(t *testing.T) {
	k := newKeeper()
	r, p, h := openProfiles(t, assets.English, k)
	h.press("Add a profile…")
	h.pick("Access key")
	h.fill("work", "prod")
	h.fill("eu-west-1", "eu-west-1")
	h.fill("AKIA…", "AKIAIOSFODNN7EXAMPLE")
	h.press("Add")
	if !h.sees("This is needed.") {
		t.Fatalf("a key without a secret: %s", h.texts())
	}
	h.fill("typed unseen, kept in the keychain", canary)
	if h.sees("This is needed.") {
		t.Errorf("what was mended is still told: %s", h.texts())
	}
	if at := h.keeps(canary, p); at == "" {
		t.Fatal("what is typed is nowhere: the search is blind")
	}
	h.tick("Sandboxes run here when nobody says where")
	h.press("Add")
	r.until("it is there and the default", func() bool {
		return p.own.Default == "prod" && len(p.own.Profiles) == 1 && len(r.toasts) > 0
	})
	if got := k.keys["prod"]; !strings.Contains(got, `"secret_access_key":"`+canary+`"`) || !strings.Contains(got, `"access_key_id":"AKIAIOSFODNN7EXAMPLE"`) {
		t.Errorf("the key: %s", got)
	}
	if own, _ := k.has("prod"); own != (control.OwnProfile{Name: "prod", Kind: ui.KindKeys, Region: "eu-west-1"}) {
		t.Errorf("%+v", own)
	}
	if at := h.keeps(canary, p); at != "" {
		t.Errorf("the secret is still at %s", at)
	}
	if top := r.win.Canvas().Overlays().Top(); top != nil {
		t.Errorf("the dialog is still there: %s", h.texts())
	}
}

func TestAKeyThatTheKeychainDoesNotTake(t *testing.T) {
	k := newKeeper()
	k.refuse[control.ProfileSetKey] = &sandbox.Error{Code: sandbox.NoKeychain, Msg: "no keychain", Details: map[string]any{"class": "no_service"}}
	r, p, h := openProfiles(t, assets.Spanish, k)
	h.press("Añadir un perfil…")
	h.pick("Clave de acceso")
	h.fill("trabajo", "prod")
	h.fill("eu-west-1", "eu-west-1")
	h.fill("AKIA…", "AKIAIOSFODNN7EXAMPLE")
	h.fill("se teclea sin verse y se guarda en el llavero", canary)
	h.press("Añadir")
	r.until("it is told why not", func() bool { return h.sees("no hay ningún llavero") })
	if _, ok := k.has("prod"); ok {
		t.Error("half a profile is left")
	}
	if at := h.keeps(canary, p); at != "" {
		t.Errorf("the secret is still at %s", at)
	}
	h.press("Cancelar")
	if at := h.keeps(canary, p); at != "" || r.win.Canvas().Overlays().Top() != nil {
		t.Errorf("the secret is still at %q", at)
	}
}

func TestFormsAreOfTheirKind(t *testing.T) {
	k := newKeeper()
	k.own.Profiles = []control.OwnProfile{{Name: "base", Kind: ui.KindShared}}
	r, p, h := openProfiles(t, assets.English, k)
	h.press("Add a profile…")
	h.fill("work", "ci")
	h.pick("Assume a role") // the name is kept
	h.fill("arn:aws:iam::123456789012:role/Sandboxes", "not a role")
	if !h.sees("The ARN of a role looks like") {
		t.Errorf("nothing is told as it is typed: %s", h.texts())
	}
	h.fill("arn:aws:iam::123456789012:role/Sandboxes", "arn:aws:iam::123456789012:role/Sandboxes")
	h.pick("base")
	h.fill("eu-west-1", "us-east-1")
	h.press("Add")
	r.until("it is there", func() bool { return len(p.own.Profiles) == 2 })
	if own, _ := k.has("ci"); own != (control.OwnProfile{Name: "ci", Kind: ui.KindRole, Region: "us-east-1", RoleARN: "arn:aws:iam::123456789012:role/Sandboxes", Source: "base"}) {
		t.Errorf("%+v", own)
	}
}

func TestEveryFieldOfAProfileIsInAForm(t *testing.T) {
	in := map[string]bool{"kind": true, "moved": true}
	for _, kind := range ui.ProfileKinds() {
		for _, f := range ui.ProfileFields(kind, true, nil) {
			in[f.Name] = true
		}
	}
	full := control.OwnProfile{}
	for i, v := 0, reflect.ValueOf(&full).Elem(); i < v.NumField(); i++ {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x" + v.Type().Field(i).Name)
		case reflect.Int:
			f.SetInt(int64(60 * (i + 1)))
		case reflect.Bool:
			f.SetBool(true)
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if !in[name] {
			t.Errorf("%s is in no form", name)
		}
	}
	if got := changedBy(control.OwnProfile{Moved: true}, valuesOf(full)); got != full {
		t.Errorf("got %+v\nwant %+v", got, full)
	}
	less := changedBy(full, map[string]string{ui.FieldTemplate: "", ui.FieldNoSession: "", ui.FieldIdle: "90s"})
	if less.Template != "" || less.NoSession || less.IdleSeconds != 90 || less.Region != full.Region {
		t.Errorf("%+v", less)
	}
}

func TestEditAProfile(t *testing.T) {
	k := newKeeper()
	k.own.Profiles = []control.OwnProfile{{Name: "ci", Kind: ui.KindMetadata, Region: "us-east-1", IdleSeconds: 300, Endpoint: "https://example.com"}}
	r, p, h := openProfiles(t, assets.English, k)
	p.place("ci")
	h.press("Edit…")
	h.fill("eu-west-1", "eu-central-1")
	h.press("Save")
	r.until("it is changed", func() bool { own, _ := k.has("ci"); return own.Region == "eu-central-1" })
	if own, _ := k.has("ci"); own.IdleSeconds != 300 || own.Endpoint != "https://example.com" {
		t.Errorf("what was not touched is lost: %+v", own)
	}
	r.until("it is told", func() bool { return len(r.toasts) > 0 && p.own.Profiles[0].Region == "eu-central-1" })
}

func TestTestOfAProfile(t *testing.T) {
	k := newKeeper()
	k.own.Profiles = []control.OwnProfile{{Name: "work", Kind: ui.KindSSO, Region: "eu-west-1"}}
	r, p, h := openProfiles(t, assets.English, k)
	p.place("work")
	h.press("Test")
	r.until("what was found", func() bool {
		return h.sees("It works.") && h.sees("123456789012") && h.sees("arn:aws:sts::123456789012:assumed-role/x/me")
	})
	k.mu.Lock()
	k.refuse[control.ProfileTest] = &sandbox.Error{Code: sandbox.SignIn, Msg: "x", Details: map[string]any{"why": "keys_refused", "profile": "work"}}
	k.mu.Unlock()
	h.press("Test")
	r.until("what is wrong", func() bool { return h.sees(`Press "New key" to give another.`) })
}

func TestSignInWithACode(t *testing.T) {
	k := newKeeper()
	k.own.Profiles = []control.OwnProfile{{Name: "prod", Kind: ui.KindKeys, Region: "eu-west-1"}}
	k.prompts = []control.Prompt{{ID: "1", Profile: "prod", Serial: "arn:aws:iam::123456789012:mfa/me"}}
	r, p, h := openProfiles(t, assets.English, k)
	p.place("prod")
	h.press("Sign in…")
	r.until("it asks", func() bool { return h.sees("mfa/me") })
	h.fill("123456", "12")
	h.press("Sign in")
	if !h.sees("A code has 6 digits.") {
		t.Errorf("%s", h.texts())
	}
	h.fill("123456", "654 321")
	h.press("Sign in")
	r.until("the code is wrong", func() bool { return h.sees("Wait for the next one") })
	h.press("Try again")
	r.until("it asks again", func() bool { return h.sees("mfa/me") })
	h.fill("123456", "123456")
	h.press("Sign in")
	r.until("signed in", func() bool { return len(r.toasts) > 0 && r.win.Canvas().Overlays().Top() == nil })
	if p.login != nil {
		t.Error("the dialog is kept")
	}
	if at := h.keeps("654321", p); at != "" {
		t.Errorf("a code is still at %s", at)
	}
}

func TestSignInOnAPage(t *testing.T) {
	now := time.Now()
	k := newKeeper()
	k.own.Profiles = []control.OwnProfile{{Name: "work", Kind: ui.KindSSO, Region: "eu-west-1"}}
	k.prompts = []control.Prompt{{Profile: "work", URL: "https://device.sso.example/?code=ABCD-EFGH", Code: "ABCD-EFGH", Expires: now.Add(9*time.Minute + 30*time.Second)}}
	k.waits = make(chan struct{})
	r, p, h := openProfiles(t, assets.Spanish, k)
	var opened []string
	r.core.env.Browse = func(url string) { opened = append(opened, url) }
	p.place("work")
	h.press("Iniciar sesión…")
	r.until("the code is shown", func() bool { return h.sees("ABCD-EFGH") })
	if len(opened) != 1 || opened[0] != k.prompts[0].URL || !k.asked[0].Browser {
		t.Errorf("opened %q, asked %+v", opened, k.asked)
	}
	p.tick(now)
	if !h.sees("Quedan 10 min") {
		t.Errorf("%s", h.texts())
	}
	p.tick(now.Add(time.Hour))
	if !h.sees("se ha acabado") {
		t.Errorf("%s", h.texts())
	}
	h.press("Copiar la dirección")
	if r.copied != k.prompts[0].URL {
		t.Errorf("copied %q", r.copied)
	}
	h.press("Cancelar")
	r.until("the engine has given up", func() bool { return len(k.gone) == 1 })
	if p.login != nil || r.win.Canvas().Overlays().Top() != nil {
		t.Error("the dialog is still there")
	}
	h.press("Iniciar sesión…")
	r.until("the code is shown", func() bool { return h.sees("ABCD-EFGH") })
	close(k.waits)
	r.until("signed in", func() bool { return len(r.toasts) > 0 && p.login == nil })
}

func TestRemoveSaysWhatNeedsIt(t *testing.T) {
	k := newKeeper()
	k.own = control.OwnProfiles{Default: "work", Profiles: []control.OwnProfile{{Name: "work", Kind: ui.KindSSO, Region: "eu-west-1"}}}
	k.needed = &sandbox.Error{Code: sandbox.WrongState, Msg: "used", Details: map[string]any{"why": "used", "profile": "work", "users": "claude, cursor"}}
	r, p, h := openProfiles(t, assets.English, k)
	p.place("work")
	h.press("Remove…")
	if !h.sees("It is the default profile.") {
		t.Errorf("%s", h.texts())
	}
	h.press("Remove")
	r.until("what needs it", func() bool { return h.sees("in use by claude, cursor") })
	h.press("Remove anyway")
	r.until("it is gone", func() bool { return p.shown.Read && len(p.own.Profiles) == 0 })
	if want := []control.ProfileDrop{{Name: "work"}, {Name: "work", Force: true}}; !reflect.DeepEqual(k.drops, want) {
		t.Errorf("%+v", k.drops)
	}
}

func TestImportAndPutBack(t *testing.T) {
	k := newKeeper()
	k.imports = []control.Importable{
		{Name: "default", Kind: ui.KindKeys, Move: []byte("m"), NoRegion: true, Warnings: []control.Text{{Key: "profiles.import.long-lived"}}},
		{Name: "dev", Kind: ui.KindSSO, Region: "eu-west-1", Profile: &control.OwnProfile{Name: "dev", Kind: ui.KindShared, SharedProfile: "dev"}},
	}
	r, p, h := openProfiles(t, assets.English, k)
	h.press("Import from ~/.aws…")
	r.until("the files are read", func() bool { return h.sees("dev") && h.sees("A key that never expires") })
	h.press("Use it where it is")
	r.until("it is used", func() bool { _, ok := k.has("dev"); return ok && len(r.toasts) == 1 })
	h.press("Move its key to the keychain")
	h.fill("eu-west-1", "us-east-1")
	h.press("Go on")
	h.press("Move it")
	r.until("it is moved", func() bool { own, ok := k.has("default"); return ok && own.Region == "us-east-1" && len(r.toasts) == 2 })
	if !strings.Contains(r.toasts[1], "/home/ana/.aws/credentials") {
		t.Errorf("%q", r.toasts)
	}
	h.press("Close")
	r.until("it is listed", func() bool { return len(p.own.Profiles) == 2 })
	p.place("default")
	h.press("Put the key back")
	h.press("Put the key back")
	r.until("it is back", func() bool { return len(r.toasts) == 3 && strings.Contains(r.toasts[2], "to the byte") })
}

func TestOpenTheVault(t *testing.T) {
	k := newKeeper()
	k.vault = ui.Keychain{Backend: "vault", State: "locked"}
	r, p, h := openProfiles(t, assets.English, k)
	if !h.sees("The vault with your keys is closed.") {
		t.Fatalf("%s", h.texts())
	}
	h.press("Open the vault…")
	h.fill("", canary)
	h.press("Open")
	r.until("it is the wrong one", func() bool { return h.sees("That is not the passphrase") })
	if at := h.keeps(canary, p); at != "" {
		t.Errorf("the passphrase is still at %s", at)
	}
	h.fill("", "the right one")
	h.press("Open")
	r.until("it is open", func() bool { return !h.sees("vault with your keys") && r.win.Canvas().Overlays().Top() == nil })
}

func TestProfilesTellWhatTheEngineCantDo(t *testing.T) {
	k := newKeeper()
	r, p, h := openProfiles(t, assets.English, k)
	r.stop()
	p.look()
	r.until("it is told", func() bool { return p.view.Banner().Text() != "" })
	r.serve(k)
	h.press("Try again")
	r.until("it is well", func() bool { return p.view.Banner().Text() == "" })
}

func TestReachOfProfilesComesFromTheSnapshot(t *testing.T) {
	k := newKeeper()
	k.own.Profiles = []control.OwnProfile{{Name: "work", Kind: ui.KindSSO, Region: "eu-west-1"}}
	_, p, h := openProfiles(t, assets.English, k)
	p.place("work")
	p.show(sandbox.Snapshot{Profiles: []sandbox.Reach{{Profile: "work", At: time.Now(), Error: &sandbox.Error{Code: sandbox.SignIn, Details: map[string]any{"why": "expired", "profile": "work"}}}}})
	if !h.sees("The session of work has expired.") || !h.sees("sign in needed") {
		t.Errorf("%s", h.texts())
	}
	p.show(sandbox.Snapshot{Profiles: []sandbox.Reach{{Profile: "work", At: time.Now()}}})
	if h.sees("The session of work") || !h.sees("answers") {
		t.Errorf("%s", h.texts())
	}
}
