package window

import (
	"context"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// fresh asks for what a new sandbox is to be.
func (p *sandboxes) fresh() {
	ctx, cancel := context.WithCancel(p.ctx)
	fetch(ctx, func(ctx context.Context) (control.OwnProfiles, error) { return p.c.client.OwnProfiles(ctx) }, func(own control.OwnProfiles, err error) {
		if err != nil { // there is still this computer
			p.c.fail(err)
		}
		profiles := []string{sandbox.ProfileLocal}
		for _, o := range own.Profiles {
			profiles = append(profiles, o.Name)
		}
		chosen := own.Default
		if chosen == "" {
			chosen = sandbox.ProfileLocal
		}
		p.form(ctx, cancel, profiles, chosen)
	})
}

// form shows the dialog, and keeps what it tells up to date until it ends.
func (p *sandboxes) form(ctx context.Context, cancel context.CancelFunc, profiles []string, chosen string) {
	tx := p.c.env.Texts
	f := view.NewSandboxForm(p.c.env, profiles, chosen, func(c view.SandboxChoice, done func(string)) { p.make(c, done) }, cancel)
	f.OnProfile = func(profile string) {
		fetch(ctx, func(ctx context.Context) ([]sandbox.Template, error) {
			return p.c.client.Templates(ctx, sandbox.Profile{Name: profile})
		}, func(all []sandbox.Template, err error) {
			if err == nil && f.Choice().Profile == profile { // else there is the usual one, and the quote says what is wrong
				f.Templates(all)
			}
		})
	}
	asked := 0
	f.OnChange = func(c view.SandboxChoice) {
		asked++
		mine := asked
		f.Quote("", tx.Get("sandboxes.new.quoting"))
		fetch(ctx, func(ctx context.Context) (sandbox.Quote, error) { return p.c.client.Quote(ctx, specOf(c)) }, func(q sandbox.Quote, err error) {
			switch {
			case mine != asked:
			case err != nil:
				f.Quote(tx.Get("sandboxes.new.no-quote"), p.c.env.Explain(err))
			default:
				f.Quote(tx.Get("sandboxes.new.quote"), "", ui.QuoteFacts(tx, q)...)
			}
		})
	}
	fetch(ctx, func(ctx context.Context) (control.PriceTable, error) { return p.c.client.RefreshPrices(ctx, "") }, func(t control.PriceTable, err error) {
		if err == nil { // else there is no word of vCPUs, which is little
			f.Prices(t.Sizes)
		}
	})
	f.Begin()
}

func specOf(c view.SandboxChoice) sandbox.Spec {
	return sandbox.Spec{
		Profile: sandbox.Profile{Name: c.Profile}, Template: c.Template, Timeout: c.Life, Idle: c.Idle, Name: c.Name, Asked: true,
	}
}

// make has a sandbox made. The dialog ends when that is on its way: the list
// shows it.
func (p *sandboxes) make(c view.SandboxChoice, done func(problem string)) {
	fetch(context.Background(), func(ctx context.Context) (sandbox.Sandbox, error) { return p.c.client.Create(ctx, specOf(c)) }, func(b sandbox.Sandbox, err error) {
		if err != nil {
			done(p.c.env.Explain(err))
			return
		}
		done("")
		p.c.toast(p.c.env.Texts.Get("sandboxes.made", "sandbox", ui.Name(b)))
		p.place(b.ID)
	})
}
