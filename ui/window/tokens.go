package window

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// tokensLookEvery is how often tokens are asked for while the page is seen: they
// spend, and run out. What is told of them by the time is drawn as often.
const tokensLookEvery = 10 * time.Second

// secretOnClipboard is how long a secret stays on the clipboard, if nothing else
// takes its place.
const secretOnClipboard = time.Minute

// tokens is the page of tokens.
type tokens struct {
	c     *core
	ctx   context.Context // done when the page is left
	view  *view.Tokens
	shown view.TokensShown
	after func(d time.Duration, do func()) // does something later, on any goroutine

	looking reading
	looked  time.Time
	wanted  string // to be selected once it is there
	alive   int    // sandboxes, when the tokens were asked for
}

func newTokens(c *core) page {
	return &tokens{c: c, ctx: context.Background(), after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }}
}

func (p *tokens) name() string        { return "tokens" }
func (p *tokens) icon() fyne.Resource { return theme.LoginIcon() }

// open makes the view.
func (p *tokens) open() fyne.CanvasObject {
	v := view.NewTokens(p.c.env)
	v.OnCreate, v.OnEdit, v.OnRotate = p.create, p.edit, p.rotate
	v.OnRevoke, v.OnSwitch, v.OnBind = p.revoke, p.turn, p.bind
	v.OnPast = func(past bool) {
		p.shown.Past = past
		p.render()
	}
	if p.view != nil {
		v.Select(p.view.Selected())
	}
	p.view = v
	p.render()
	return v.Object()
}

// show looks again when there are more sandboxes or fewer: tokens have them.
func (p *tokens) show(s sandbox.Snapshot) {
	if n := len(s.Sandboxes); n != p.alive {
		p.alive = n
		p.looked = time.Time{} // at the next tick
	}
}

// enter asks for the tokens, and for what they can be bound to.
func (p *tokens) enter(ctx context.Context) {
	p.ctx = ctx
	p.looking = reading{} // nobody waits for what was asked before
	p.look()
	fetch(ctx, p.c.client.OwnProfiles, func(own control.OwnProfiles, err error) {
		if err != nil {
			return // the list of tokens says what is wrong with the engine
		}
		p.shown.Profiles = []string{sandbox.ProfileLocal}
		for _, o := range own.Profiles {
			p.shown.Profiles = append(p.shown.Profiles, o.Name)
		}
		p.render()
	})
	p.lookAtApps()
}

// lookAtApps asks which apps there are that a token can be bound to.
func (p *tokens) lookAtApps() {
	fetch(p.ctx, func(ctx context.Context) ([]control.Host, error) {
		return p.c.client.Hosts(ctx, control.HostQuery{})
	}, func(all []control.Host, err error) {
		if err != nil {
			return
		}
		p.shown.Apps = nil
		for _, h := range all {
			for _, e := range h.Entries {
				if e.Connection == "" || slices.ContainsFunc(p.shown.Apps, func(a view.TokenApp) bool { return a.Connection == e.Connection }) {
					continue
				}
				title := h.Title
				if len(h.Entries) > 1 {
					title += " · " + e.Name + " · " + e.Scope
				}
				p.shown.Apps = append(p.shown.Apps, view.TokenApp{Connection: e.Connection, Title: title, Grant: e.Grant})
			}
		}
		p.render()
	})
}

// tick draws what time changes.
func (p *tokens) tick(now time.Time) {
	if now.Sub(p.looked) >= tokensLookEvery {
		p.look()
		p.render()
	}
}

// place leads to a token, by its id or name.
func (p *tokens) place(subject string) {
	p.wanted = subject
	p.render()
}

func (p *tokens) render() {
	if p.view == nil {
		return
	}
	p.shown.At = p.c.env.Now()
	p.view.Show(p.shown)
	for _, t := range p.shown.Tokens {
		if p.wanted != "" && (t.Grant.ID == p.wanted || t.Grant.Name == p.wanted) {
			p.wanted = ""
			p.view.Select(t.Grant.ID)
		}
	}
}

func (p *tokens) say(key string, args ...string) string {
	return p.c.env.Texts.Get(key, args...)
}

// look asks for the tokens as they are now.
func (p *tokens) look() {
	p.looked = p.c.env.Now()
	if !p.looking.begin() {
		return
	}
	fetch(p.ctx, func(ctx context.Context) ([]control.Token, error) {
		return p.c.client.Tokens(ctx, "")
	}, func(all []control.Token, err error) {
		if p.looking.end() {
			p.look()
			return
		}
		if err != nil {
			p.view.Banner().Error(p.c.env.Explain(err), p.look, p.c.env.Texts.Get("window.profiles.login.again"))
			return
		}
		p.view.Banner().Clear()
		p.shown.Read = true
		p.shown.Tokens = slices.DeleteFunc(all, func(t control.Token) bool { return t.Grant.ID == sandbox.GrantOwner })
		p.render()
	})
}

// change has the engine change something about tokens. It goes on when the page is
// left, and what it comes to is told whatever is seen by then.
func change[T any](p *tokens, ask func(ctx context.Context) (T, error), got func(T, error)) {
	fetch(context.WithoutCancel(p.ctx), ask, func(v T, err error) {
		got(v, err)
		p.look()
	})
}

// did tells that something was done with a token, or in front of everything why
// not.
func (p *tokens) did(name, key string, err error) {
	if err != nil {
		p.c.fail(err)
		return
	}
	p.c.toast(p.say(key, "name", ui.Visible(name)))
}

// create makes a token, and shows its secret.
func (p *tokens) create(g sandbox.Grant, done func(string)) {
	change(p, func(ctx context.Context) (control.NewToken, error) {
		return p.c.client.CreateToken(ctx, g)
	}, func(made control.NewToken, err error) {
		switch {
		case sandbox.CodeOf(err) == sandbox.Exists:
			done(p.say("window.tokens.exists"))
		case err != nil:
			done(p.c.env.Explain(err))
		default:
			done("")
			p.wanted = made.Grant.ID
			view.ShowSecret(p.c.env, made.Grant.Name, made.Secret, p.copySecret)
		}
	})
}

// edit changes a token as somebody has agreed to who saw it as seen.
func (p *tokens) edit(seen, changed sandbox.Grant, done func(string)) {
	e := editOf(seen, changed)
	change(p, func(ctx context.Context) (sandbox.Grant, error) {
		return p.c.client.EditToken(ctx, e)
	}, func(g sandbox.Grant, err error) {
		switch sandbox.CodeOf(err) {
		case "":
			done("")
			p.did(g.Name, "window.tokens.edited", nil)
		case sandbox.Exists:
			done(p.say("window.tokens.exists"))
		case sandbox.WrongState:
			done(p.say("window.tokens.edit.over"))
		default:
			done(p.c.env.Explain(err))
		}
	})
}

// editOf is what makes one grant of another.
func editOf(seen, changed sandbox.Grant) control.TokenEdit {
	e := control.TokenEdit{Seen: seen}
	if changed.Name != seen.Name {
		e.Name = &changed.Name
	}
	if !slices.Equal(changed.Scopes, seen.Scopes) {
		e.Scopes = &changed.Scopes
	}
	if (changed.Limit == nil) != (seen.Limit == nil) || changed.Limit != nil && *changed.Limit != *seen.Limit {
		e.Limit = &control.TokenLimit{Limit: changed.Limit}
	}
	if changed.Period != seen.Period {
		e.Period = &changed.Period
	}
	if changed.MaxHours != seen.MaxHours {
		e.MaxHours = &changed.MaxHours
	}
	if changed.MaxConcurrent != seen.MaxConcurrent {
		e.MaxConcurrent = &changed.MaxConcurrent
	}
	if !slices.Equal(changed.Templates, seen.Templates) {
		all := append([]string{}, changed.Templates...) // not nil, which would say nothing to the engine
		e.Templates = &all
	}
	if changed.Profile != seen.Profile {
		e.Profile = &changed.Profile
	}
	if !changed.ExpiresAt.Equal(seen.ExpiresAt) {
		e.ExpiresAt = &changed.ExpiresAt
	}
	if changed.Burst != seen.Burst {
		e.Burst = &changed.Burst
	}
	if changed.Rate != seen.Rate {
		e.Rate = &changed.Rate
	}
	return e
}

// rotate makes a new secret for a token, and shows it.
func (p *tokens) rotate(t control.Token, overlap time.Duration) {
	change(p, func(ctx context.Context) (control.NewToken, error) {
		return p.c.client.RotateToken(ctx, control.TokenRotation{Grant: t.Grant.ID, Overlap: overlap})
	}, func(made control.NewToken, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		view.ShowSecret(p.c.env, made.Grant.Name, made.Secret, p.copySecret)
	})
}

func (p *tokens) revoke(t control.Token, keep bool) {
	change(p, func(ctx context.Context) (sandbox.Grant, error) {
		return p.c.client.RevokeToken(ctx, control.TokenRevocation{Grant: t.Grant.ID, Keep: keep})
	}, func(_ sandbox.Grant, err error) { p.did(t.Grant.Name, "window.tokens.revoked", err) })
}

// turn turns a token off, or on again.
func (p *tokens) turn(t control.Token, disabled bool) {
	key := "window.tokens.enabled"
	if disabled {
		key = "window.tokens.disabled"
	}
	change(p, func(ctx context.Context) (sandbox.Grant, error) {
		return p.c.client.DisableToken(ctx, control.TokenSwitch{Grant: t.Grant.ID, Disabled: disabled})
	}, func(_ sandbox.Grant, err error) { p.did(t.Grant.Name, key, err) })
}

// bind has some connections use a token, and others no longer.
func (p *tokens) bind(t control.Token, with, without []string, done func(string)) {
	change(p, func(ctx context.Context) (struct{}, error) {
		for _, c := range with {
			if err := p.c.client.Bind(ctx, control.Binding{Connection: c, Grant: t.Grant.ID}); err != nil {
				return struct{}{}, err
			}
		}
		for _, c := range without {
			if err := p.c.client.Bind(ctx, control.Binding{Connection: c}); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	}, func(_ struct{}, err error) {
		p.lookAtApps()
		if err != nil {
			done(p.c.env.Explain(err))
			return
		}
		done("")
		if len(with)+len(without) > 0 {
			p.did(t.Grant.Name, "window.tokens.apps.done", nil)
		}
	})
}

// copySecret puts a secret on the clipboard, and takes it off after a while if it
// is still there. What remembers it for that is its sum.
func (p *tokens) copySecret(secret sandbox.Secret) {
	p.c.env.Copy(string(secret))
	sum := sha256.Sum256([]byte(secret))
	p.after(secretOnClipboard, func() {
		onUI(func() {
			board := fyne.CurrentApp().Clipboard()
			if sha256.Sum256([]byte(board.Content())) == sum {
				board.SetContent("")
			}
		})
	})
}
