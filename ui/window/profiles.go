package window

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// profilesLookEvery is how often profiles are asked for while the page is seen:
// others may change them. What is told of them by the time is drawn as often.
const profilesLookEvery = 15 * time.Second

// profiles is the page of profiles.
type profiles struct {
	c     *core
	ctx   context.Context // done when the page is left
	view  *view.Profiles
	shown view.ProfilesShown
	own   control.OwnProfiles
	snap  sandbox.Snapshot

	looking reading
	looked  time.Time
	wanted  string      // to be selected once it is there
	login   *view.Login // that is open
}

func newProfiles(c *core) page {
	return &profiles{c: c, ctx: context.Background(), shown: view.ProfilesShown{Tested: map[string]view.ProfileTested{}}}
}

func (p *profiles) name() string        { return "profiles" }
func (p *profiles) icon() fyne.Resource { return theme.AccountIcon() }

// open makes the view.
func (p *profiles) open() fyne.CanvasObject {
	v := view.NewProfiles(p.c.env)
	v.OnAdd, v.OnEdit, v.OnKey = p.add, p.edit, p.setKey
	v.OnDefault, v.OnTest = p.setDefault, p.test
	v.OnLogin, v.OnLogout = p.signIn, p.signOut
	v.OnBack, v.OnDrop, v.OnImport = p.putBack, p.drop, p.importAny
	v.OnPass, v.OnAgain = p.unlock, p.lookAtKeychain
	if p.view != nil {
		v.Select(p.view.Selected())
	}
	p.view = v
	p.render()
	return v.Object()
}

// show takes in how their clouds answer.
func (p *profiles) show(s sandbox.Snapshot) {
	p.snap = s
	p.render()
}

// enter asks for the profiles, and how the keychain is.
func (p *profiles) enter(ctx context.Context) {
	p.ctx = ctx
	p.looking = reading{} // nobody waits for what was asked before
	for name, t := range p.shown.Tested {
		if t.Busy {
			delete(p.shown.Tested, name)
		}
	}
	p.look()
	p.lookAtKeychain()
}

// tick draws what time changes.
func (p *profiles) tick(now time.Time) {
	if p.login != nil {
		p.login.Tick(now)
	}
	if now.Sub(p.looked) >= profilesLookEvery {
		p.look()
		p.render()
	}
}

// place leads to a profile.
func (p *profiles) place(subject string) {
	p.wanted = subject
	p.render()
}

func (p *profiles) render() {
	if p.view == nil {
		return
	}
	p.shown.At = p.c.env.Now()
	item := func(name, kind string) view.ProfileItem {
		it := view.ProfileItem{Name: name, Kind: kind, Values: map[string]string{}, Default: p.shown.Read && p.own.Default == name}
		if i := slices.IndexFunc(p.snap.Profiles, func(r sandbox.Reach) bool { return r.Profile == name }); i >= 0 {
			it.Reach = &p.snap.Profiles[i]
		}
		return it
	}
	p.shown.Profiles = []view.ProfileItem{item(sandbox.ProfileLocal, sandbox.ProfileLocal)}
	for _, own := range p.own.Profiles {
		it := item(own.Name, own.Kind)
		it.Values, it.Moved = valuesOf(own), own.Moved
		p.shown.Profiles = append(p.shown.Profiles, it)
	}
	p.view.Show(p.shown)
	if p.wanted != "" && slices.ContainsFunc(p.shown.Profiles, func(it view.ProfileItem) bool { return it.Name == p.wanted }) {
		p.view.Select(p.wanted)
		p.wanted = ""
	}
}

func (p *profiles) say(key string, args ...string) string {
	return p.c.env.Texts.Get(key, args...)
}

// why is what went wrong with a profile, and what to do.
func (p *profiles) why(profile string, err error) string {
	if text := ui.ProfileTrouble(p.c.env.Texts, profile, sandbox.ToError(err)); text != "" {
		return text
	}
	return p.c.env.Explain(err)
}

// look asks for the profiles as they are now.
func (p *profiles) look() {
	p.looked = p.c.env.Now()
	if !p.looking.begin() {
		return
	}
	fetch(p.ctx, p.c.client.OwnProfiles, func(own control.OwnProfiles, err error) {
		if p.looking.end() {
			p.look()
			return
		}
		if err != nil {
			p.view.Banner().Error(p.c.env.Explain(err), p.look, p.say("window.profiles.login.again"))
			return
		}
		p.view.Banner().Clear()
		p.own, p.shown.Read = own, true
		p.render()
	})
}

// ask asks something about a profile that goes on when the page is left: what it
// comes to is told, whatever is seen by then.
func (p *profiles) ask(r control.ProfileRequest, got func(answer []byte, err error)) {
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) ([]byte, error) {
		return p.c.client.Profile(ctx, r, nil)
	}, got)
}

// did tells that something was done with a profile, or in front of everything why
// not, and looks again.
func (p *profiles) did(profile, key string, err error) {
	if err != nil {
		p.view.Banner().Error(p.why(profile, err), nil, "")
		return
	}
	p.c.toast(p.say(key, "profile", ui.Visible(profile)))
	p.look()
}

// lookAtKeychain asks how the keychain is.
func (p *profiles) lookAtKeychain() {
	fetch(p.ctx, func(ctx context.Context) (out ui.Keychain, err error) {
		raw, err := p.c.client.Profile(ctx, control.ProfileRequest{Action: control.KeychainStatus}, nil)
		if err != nil {
			return out, err
		}
		return out, json.Unmarshal(raw, &out)
	}, func(k ui.Keychain, err error) {
		if e := sandbox.ToError(err); e != nil && e.Code == sandbox.NoKeychain {
			class, _ := e.Details["class"].(string)
			why, _ := e.Details["why"].(string)
			k = ui.Keychain{State: class, Why: why}
		} else if err != nil {
			return // the list says what is wrong with the engine
		}
		p.shown.Keychain = k
		p.render()
	})
}

// unlock opens the vault, or makes one.
func (p *profiles) unlock(do string, pass sandbox.Secret, done func(string)) {
	r := control.ProfileRequest{Action: control.KeychainUnlock, Data: []byte(pass)}
	if do == ui.KeychainVault {
		r.Action, r.Name = control.KeychainUse, "vault"
	}
	p.ask(r, func(_ []byte, err error) {
		p.lookAtKeychain()
		if err != nil {
			done(p.why("", err))
			return
		}
		done("")
		p.c.toast(p.say("window.profiles.keychain.opened"))
	})
}

// test has the engine do with a profile all that it is for, but make a sandbox.
func (p *profiles) test(name string) {
	p.shown.Tested[name] = view.ProfileTested{Busy: true}
	p.render()
	fetch(p.ctx, func(ctx context.Context) (out ui.ProfileTest, err error) {
		raw, err := p.c.client.Profile(ctx, control.ProfileRequest{Action: control.ProfileTest, Name: name}, nil)
		if err != nil {
			return out, err
		}
		return out, json.Unmarshal(raw, &out)
	}, func(found ui.ProfileTest, err error) {
		t := view.ProfileTested{Found: found}
		if err != nil {
			t.Wrong = p.why(name, err)
		} else {
			t.Found.Profile = name
		}
		p.shown.Tested[name] = t
		p.render()
	})
}

// signIn has the engine sign in, and a person do what that takes.
func (p *profiles) signIn(name string) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.ctx))
	d := view.NewLogin(p.c.env, name, func() {
		cancel()
		p.login = nil
	})
	p.login = d
	begin := func() {
		follow(ctx, func(ctx context.Context, emit func(control.Prompt) error) error {
			r := control.ProfileRequest{Action: control.ProfileLogin, Name: name, Browser: true}
			_, err := p.c.client.Profile(ctx, r, func(e control.ProfileEvent) error {
				if e.Prompt == nil {
					return nil
				}
				return emit(*e.Prompt)
			})
			return err
		}, func(prompt control.Prompt) {
			if prompt.ID == "" && prompt.URL != "" {
				p.c.env.Browse(prompt.URL)
			}
			d.Prompt(prompt, p.c.env.Now())
		}, func(err error) {
			if err != nil {
				d.Fail(p.why(name, err))
				return
			}
			d.Close()
			delete(p.shown.Tested, name)
			p.did(name, "window.profiles.signed-in", nil)
		})
	}
	d.OnAgain = begin
	d.OnCode = func(id, code string) {
		fetch(ctx, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, p.c.client.Answer(ctx, id, code)
		}, func(_ struct{}, err error) {
			if err != nil {
				d.Fail(p.why(name, err))
			}
		})
	}
	begin()
}

func (p *profiles) signOut(name string) {
	p.ask(control.ProfileRequest{Action: control.ProfileLogout, Name: name}, func(_ []byte, err error) {
		delete(p.shown.Tested, name)
		p.did(name, "window.profiles.signed-out", err)
		p.render()
	})
}
