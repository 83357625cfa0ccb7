package window

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui/view"
)

// secretCanary is the secret of each token of a [teller].
const secretCanary = "arenero_agt_CANARY0123456789abcdefghijABCDEF0"

// A teller is an engine that keeps tokens.
type teller struct {
	control.Engine

	mu     sync.Mutex
	tokens []control.Token
	asked  []any
	refuse error
}

func (k *teller) Tokens(context.Context, string) ([]control.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := []control.Token{{Grant: sandbox.Grant{ID: sandbox.GrantOwner, Name: sandbox.GrantOwner}}}
	return append(out, k.tokens...), nil
}

func (k *teller) OwnProfiles(context.Context, struct{}) (control.OwnProfiles, error) {
	return control.OwnProfiles{Default: "local", Profiles: []control.OwnProfile{{Name: "work", Kind: "sso"}}}, nil
}

func (k *teller) Hosts(context.Context, control.HostQuery) ([]control.Host, error) {
	return []control.Host{{ID: "claude-code", Title: "Claude Code", Entries: []control.HostEntry{{Name: "arenero", Connection: "con_1"}}}}, nil
}

// change notes what was asked, and does it to the token of an id, or refuses.
func (k *teller) change(asked any, id string, do func(t *control.Token)) (sandbox.Grant, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = append(k.asked, asked)
	if k.refuse != nil {
		return sandbox.Grant{}, k.refuse
	}
	for i := range k.tokens {
		if k.tokens[i].Grant.ID == id {
			do(&k.tokens[i])
			return k.tokens[i].Grant, nil
		}
	}
	return sandbox.Grant{}, nil
}

func (k *teller) CreateToken(_ context.Context, g sandbox.Grant) (control.NewToken, error) {
	if _, err := k.change(g, "", nil); err != nil {
		return control.NewToken{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	g.ID, g.CreatedAt = "g_new", time.Now()
	c := sandbox.Credential{ID: "k_1", Grant: g.ID, Hint: "CANA", CreatedAt: time.Now()}
	k.tokens = append(k.tokens, control.Token{Grant: g, Budget: sandbox.Budget{Limit: g.Limit, Period: g.Period}, Credentials: []sandbox.Credential{c}})
	return control.NewToken{Grant: g, Credential: c, Secret: secretCanary}, nil
}

func (k *teller) EditToken(_ context.Context, e control.TokenEdit) (sandbox.Grant, error) {
	return k.change(e, e.Seen.ID, func(t *control.Token) { e.Apply(&t.Grant) })
}

func (k *teller) RotateToken(_ context.Context, r control.TokenRotation) (control.NewToken, error) {
	g, err := k.change(r, r.Grant, func(*control.Token) {})
	return control.NewToken{Grant: g, Secret: secretCanary}, err
}

func (k *teller) RevokeToken(_ context.Context, r control.TokenRevocation) (sandbox.Grant, error) {
	return k.change(r, r.Grant, func(t *control.Token) { t.Grant.RevokedAt = time.Now() })
}

func (k *teller) DisableToken(_ context.Context, r control.TokenSwitch) (sandbox.Grant, error) {
	return k.change(r, r.Grant, func(t *control.Token) { t.Grant.Disabled = r.Disabled })
}

func (k *teller) Bind(_ context.Context, b control.Binding) (struct{}, error) {
	_, err := k.change(b, b.Grant, func(t *control.Token) { t.Connections = append(t.Connections, b.Connection) })
	return struct{}{}, err
}

// last is what the engine was asked last.
func (k *teller) last() any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.asked) == 0 {
		return nil
	}
	return k.asked[len(k.asked)-1]
}

func someToken(edits ...func(*control.Token)) control.Token {
	limit := sandbox.Micro(5_000_000)
	t := control.Token{
		Grant: sandbox.Grant{
			ID: "g_1", Name: "claude", Scopes: sandbox.AgentScopes(), Limit: &limit, Period: sandbox.PeriodDay, MaxHours: 1, MaxConcurrent: 2,
			Burst: sandbox.BurstStrict, CreatedAt: time.Now().Add(-time.Hour), ExpiresAt: time.Now().Add(20 * 24 * time.Hour),
		},
		Budget:      sandbox.Budget{Limit: &limit, Period: sandbox.PeriodDay, Spent: 1_500_000},
		Credentials: []sandbox.Credential{{Hint: "aB3d", CreatedAt: time.Now().Add(-time.Hour)}},
	}
	for _, edit := range edits {
		edit(&t)
	}
	return t
}

func openTokens(t *testing.T, language string, k *teller) (*rig, *tokens, hand) {
	t.Helper()
	r := newRig(t, language, k)
	r.core.env.Copy = func(text string) { r.app.Clipboard().SetContent(text) }
	p := newTokens(r.core).(*tokens)
	r.show(p, sandbox.Snapshot{})
	r.until("the tokens are there", func() bool { return p.shown.Read && len(p.shown.Profiles) == 2 && len(p.shown.Apps) == 1 })
	return r, p, hand{t, r}
}

func TestCreateATokenAndKeepItsSecret(t *testing.T) {
	k := &teller{}
	r, p, h := openTokens(t, assets.English, k)
	var later []func()
	p.after = func(d time.Duration, do func()) {
		if d != time.Minute {
			t.Errorf("the clipboard has it for %v", d)
		}
		later = append(later, do)
	}
	if !h.sees("No tokens yet") {
		t.Errorf("%s", h.texts())
	}
	h.press("Create a token…")
	h.press("Create")
	if !h.sees("Give it a name") {
		t.Errorf("%s", h.texts())
	}
	h.fill("claude", "nightly")
	h.fill("no limit", "2,50")
	h.pick("month")
	h.pick("7 days from now")
	h.pick("work")
	if !h.sees("nightly can look at its own sandboxes and balance and make and use sandboxes. It may spend at most $2.50 a month. Each sandbox lives up to 1 h. It has up to 2 sandboxes at once. They run with the profile work alone.") {
		t.Errorf("the sum: %s", h.texts())
	}
	h.press("Create")
	r.until("its secret is shown", func() bool { return h.sees("This is the only time it is shown") })
	g := k.last().(sandbox.Grant)
	if *g.Limit != 2_500_000 || g.Period != sandbox.PeriodMonth || g.Profile != "work" || !slices.Equal(g.Scopes, sandbox.AgentScopes()) || time.Until(g.ExpiresAt) > 7*24*time.Hour {
		t.Errorf("%+v", g)
	}
	if h.sees(secretCanary) {
		t.Error("it is seen before anybody wants to see it")
	}
	h.press("Show")
	if !h.sees(secretCanary) {
		t.Errorf("%s", h.texts())
	}
	h.press("Hide")
	h.press("Copy")
	if got := r.app.Clipboard().Content(); got != secretCanary {
		t.Errorf("copied %q", got)
	}
	view.Escape(r.win.Canvas()) // asks, and ends nothing
	if !h.sees("Nothing can show this secret again") {
		t.Fatalf("%s", h.texts())
	}
	h.press("Back")
	h.press("I have kept it")
	if at := h.keeps(secretCanary, p); at != "" {
		t.Errorf("the secret is still at %s", at)
	}
	if len(later) != 1 {
		t.Fatalf("%d things to do later", len(later))
	}
	later[0]()
	r.until("the clipboard is cleared", func() bool { return r.app.Clipboard().Content() == "" })
	r.until("it is listed", func() bool { return h.sees("nightly") && h.sees("CANA…") })
}

func TestAClipboardOfOthersIsLeftAlone(t *testing.T) {
	r, p, _ := openTokens(t, assets.English, &teller{})
	done := false
	p.after = func(_ time.Duration, do func()) {
		r.app.Clipboard().SetContent("of somebody else")
		do()
		done = true
	}
	p.copySecret(secretCanary)
	r.pump()
	if got := r.app.Clipboard().Content(); !done || got != "of somebody else" {
		t.Errorf("%q", got)
	}
}

func TestTokensThatReachFarAreAskedAbout(t *testing.T) {
	k := &teller{}
	r, _, h := openTokens(t, assets.Spanish, k)
	h.press("Crear un token…")
	h.fill("claude", "jefe")
	h.tick("Gestionar todos")
	h.press("Crear")
	if !h.sees("alcanza más que lo suyo") || k.last() != nil {
		t.Fatalf("%s", h.texts())
	}
	h.press("Cancelar")
	if k.last() != nil {
		t.Error("it is made without a yes")
	}
	h.press("Crear")
	h.press("Crear")
	r.until("it is made", func() bool { return h.sees("Es la única vez") })
	if g := k.last().(sandbox.Grant); !g.Allows(sandbox.ScopeManage) {
		t.Errorf("%+v", g)
	}
}

func TestEditAToken(t *testing.T) {
	k := &teller{tokens: []control.Token{someToken()}}
	r, p, h := openTokens(t, assets.English, k)
	seen := p.shown.Tokens[0].Grant
	h.press("Edit…")
	h.fill("no limit", "7")
	h.press("Save")
	r.until("it is changed", func() bool { return len(r.toasts) > 0 })
	e := k.last().(control.TokenEdit)
	if *e.Limit.Limit != 7_000_000 || !reflect.DeepEqual(e.Seen.ExpiresAt.UTC(), seen.ExpiresAt.UTC()) || e.Seen.ID != "g_1" {
		t.Errorf("%+v", e)
	}
	e.Seen, e.Limit = sandbox.Grant{}, nil
	if !reflect.DeepEqual(e, control.TokenEdit{}) {
		t.Errorf("what was not touched is changed: %+v", e)
	}
	k.refuse = &sandbox.Error{Code: sandbox.WrongState, Msg: "changed meanwhile"}
	r.until("it is listed anew", func() bool { return *p.shown.Tokens[0].Grant.Limit == 7_000_000 })
	h.press("Edit…")
	h.fill("no limit", "9")
	h.press("Save")
	r.until("it was changed elsewhere", func() bool { return h.sees("It was changed elsewhere") })
}

func TestEditOf(t *testing.T) {
	seen := someToken().Grant
	changed := seen
	limit := sandbox.Micro(1)
	changed.Name, changed.Scopes, changed.Limit, changed.Period = "x", sandbox.Scopes(), &limit, sandbox.PeriodWeek
	changed.MaxHours, changed.MaxConcurrent, changed.Templates, changed.Profile = 2, 3, []string{"a"}, "work"
	changed.ExpiresAt, changed.Burst, changed.Rate = seen.ExpiresAt.Add(time.Hour), sandbox.BurstBaseline, 5
	got := seen
	editOf(seen, changed).Apply(&got)
	if !reflect.DeepEqual(got, changed) {
		t.Errorf("got %+v\nwant %+v", got, changed)
	}
	back := changed
	editOf(changed, seen).Apply(&back)
	if len(back.Templates) != 0 {
		t.Errorf("%+v", back.Templates)
	}
	back.Templates = nil
	if !reflect.DeepEqual(back, seen) {
		t.Errorf("got %+v\nwant %+v", back, seen)
	}
}

func TestRotateRevokeAndTurnOff(t *testing.T) {
	k := &teller{tokens: []control.Token{someToken(func(t *control.Token) { t.Running = 3 })}}
	r, p, h := openTokens(t, assets.English, k)
	h.press("New secret…")
	h.pick("still opens for 24 hours")
	h.press("Make it")
	r.until("the new one is shown", func() bool { return h.sees("This is the only time it is shown") })
	if want := (control.TokenRotation{Grant: "g_1", Overlap: 24 * time.Hour}); k.last() != want {
		t.Errorf("%+v", k.last())
	}
	h.press("Close without it")
	h.press("Close without it")
	if r.win.Canvas().Overlays().Top() != nil {
		t.Errorf("%s", h.texts())
	}
	if at := h.keeps(secretCanary, p); at != "" {
		t.Errorf("the secret is still at %s", at)
	}
	h.press("Turn off")
	r.until("it is off", func() bool { return h.button("Turn on") != nil })
	h.press("Turn on")
	r.until("it is on", func() bool { return h.button("Turn off") != nil })
	h.press("Revoke…")
	if !h.sees("Its 3 sandboxes end too") {
		t.Errorf("%s", h.texts())
	}
	h.tick("Let its sandboxes go on")
	if !h.sees("Its 3 sandboxes go on") {
		t.Errorf("%s", h.texts())
	}
	h.press("Revoke")
	r.until("it is revoked", func() bool { return len(r.toasts) == 3 })
	if want := (control.TokenRevocation{Grant: "g_1", Keep: true}); k.last() != want {
		t.Errorf("%+v", k.last())
	}
}

func TestBindApps(t *testing.T) {
	k := &teller{tokens: []control.Token{someToken()}}
	r, p, h := openTokens(t, assets.English, k)
	h.press("Apps…")
	h.tick("Claude Code")
	h.press("Save")
	r.until("it is bound", func() bool { return len(p.shown.Tokens[0].Connections) == 1 })
	if want := (control.Binding{Connection: "con_1", Grant: "g_1"}); k.last() != want {
		t.Errorf("%+v", k.last())
	}
	r.until("it is told", func() bool { return h.sees("Claude Code") && len(r.toasts) == 1 })
	h.press("Apps…")
	h.tick("Claude Code")
	h.press("Save")
	r.until("it is the owner's again", func() bool { return k.last() == control.Binding{Connection: "con_1"} })
}

func TestPastTokens(t *testing.T) {
	k := &teller{tokens: []control.Token{
		someToken(),
		someToken(func(t *control.Token) { t.Grant.ID, t.Grant.Name, t.Grant.RevokedAt = "g_2", "bygone", time.Now() }),
	}}
	_, p, h := openTokens(t, assets.English, k)
	if got := p.view.Listed(); !slices.Equal(got, []string{"claude"}) {
		t.Errorf("%q", got)
	}
	h.tick("Show those that are over")
	if got := p.view.Listed(); !slices.Equal(got, []string{"claude", "bygone"}) {
		t.Errorf("%q", got)
	}
	p.place("bygone")
	if h.button("Edit…") != nil || !h.sees("revoked") {
		t.Errorf("%s", h.texts())
	}
}

func TestHowToUseATokenHasNoSecret(t *testing.T) {
	r, _, h := openTokens(t, assets.Spanish, &teller{tokens: []control.Token{someToken()}})
	h.press("Cómo usarlo…")
	for _, want := range []string{"arenero-bridge --http --auth token", "http://127.0.0.1:8000/mcp", "Authorization: Bearer ${ARENERO_TOKEN}", "idempotency_key"} {
		if !h.sees(want) {
			t.Errorf("nothing of %q", want)
		}
	}
	view.Escape(r.win.Canvas())
	h.press("Primer prompt…")
	h.press("Copiar")
	if got := r.app.Clipboard().Content(); got != strings.TrimSpace(assets.Doc(assets.DocFirstPrompt, assets.Spanish)) {
		t.Errorf("copied %q", got)
	}
}

// A page that is left while a token is made has its secret shown all the same:
// nothing can show it later.
func TestLeavingDoesNotLoseASecret(t *testing.T) {
	k := &teller{}
	r := newRig(t, assets.English, k)
	p := newTokens(r.core).(*tokens)
	r.win.SetContent(p.open())
	r.win.Resize(fyne.NewSize(960, 640))
	ctx, leave := context.WithCancel(t.Context())
	p.enter(ctx)
	h := hand{t, r}
	p.create(someToken().Grant, func(string) {})
	leave()
	r.until("it is shown", func() bool { return h.sees("This is the only time it is shown") })
}
