package window

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// How often the hosts are looked at while the page is seen: they are other
// programs, which tell nobody what they do. And how often a plan is tried again
// that something stands in the way of, as a host that is to be quit.
const (
	hostsLookEvery = 15 * time.Second
	hostsPlanEvery = 3 * time.Second
)

// hosts is the page of the apps.
type hosts struct {
	c     *core
	ctx   context.Context // done when the page is left
	view  *view.Hosts
	shown view.HostsShown

	looking reading
	looked  time.Time
	form    *view.HostForm // of the dialog that is open
	planned time.Time
	check   context.CancelFunc
}

func newHosts(c *core) page {
	return &hosts{c: c, ctx: context.Background(), check: func() {}, shown: view.HostsShown{Done: map[string]view.HostDone{}}}
}

func (p *hosts) name() string        { return "hosts" }
func (p *hosts) icon() fyne.Resource { return theme.ComputerIcon() }

// open makes the view.
func (p *hosts) open() fyne.CanvasObject {
	v := view.NewHosts(p.c.env)
	v.OnSelect = p.choose
	v.OnAll = func(all bool) {
		p.shown.All = all
		p.render()
		p.look()
	}
	v.OnAgain = p.look
	v.OnDismiss = func(host string) {
		delete(p.shown.Done, host)
		p.render()
	}
	v.OnAct = p.act
	p.view = v
	p.render()
	return v.Object()
}

func (p *hosts) show(sandbox.Snapshot) {}

// enter looks at the hosts.
func (p *hosts) enter(ctx context.Context) {
	p.ctx = ctx
	p.looking = reading{} // nobody waits for what was asked before
	p.look()
}

// tick looks again now and then.
func (p *hosts) tick(now time.Time) {
	if now.Sub(p.looked) >= hostsLookEvery {
		p.look()
	}
	if p.form != nil && now.Sub(p.planned) >= hostsPlanEvery {
		p.planned = now
		p.form.Again()
	}
}

// place leads to a host.
func (p *hosts) place(subject string) {
	p.shown.Selected = subject
	p.shown.Check = nil
	p.render()
}

func (p *hosts) render() {
	if p.view != nil {
		p.view.Show(p.shown)
	}
}

// choose selects a host.
func (p *hosts) choose(id string) {
	if id != p.shown.Selected {
		p.check()
		p.shown.Check = nil
	}
	p.shown.Selected = id
	p.render()
}

// look asks for the hosts as they are now.
func (p *hosts) look() {
	if !p.looking.begin() {
		return
	}
	p.looked = p.c.env.Now()
	all := p.shown.All
	fetch(p.ctx, func(ctx context.Context) ([]control.Host, error) {
		return p.c.client.Hosts(ctx, control.HostQuery{All: all})
	}, func(found []control.Host, err error) {
		p.looked = p.c.env.Now()
		if again := p.looking.end(); again || all != p.shown.All {
			p.look()
			return
		}
		if err != nil {
			p.view.Banner().Error(p.c.env.Texts.Get("window.hosts.failed", "why", hostProblem(p.c.env, err)), p.look, p.c.env.Texts.Get("window.hosts.retry"))
			return
		}
		p.view.Banner().Clear()
		p.shown.Looked, p.shown.Hosts = true, ui.SortHosts(found)
		if _, ok := p.host(p.shown.Selected); !ok && len(found) > 0 {
			p.shown.Selected, p.shown.Check = p.shown.Hosts[0].ID, nil
		}
		p.render()
	})
}

func (p *hosts) host(id string) (control.Host, bool) {
	i := slices.IndexFunc(p.shown.Hosts, func(h control.Host) bool { return h.ID == id })
	if i < 0 {
		return control.Host{}, false
	}
	return p.shown.Hosts[i], true
}

// hostProblem is what an error about a host says in the user's language.
func hostProblem(env view.Env, err error) string {
	if t, ok := control.TextOf(err); ok {
		return ui.Sentence(ui.Told(env.Texts, t))
	}
	return ui.Sentence(env.Explain(err))
}

// act does what a button says.
func (p *hosts) act(v ui.HostVerb, id, entry string) {
	h, _ := p.host(id)
	var e *control.HostEntry
	if i := slices.IndexFunc(h.Entries, func(e control.HostEntry) bool { return ui.HostEntryKey(e) == entry }); i >= 0 {
		e = &h.Entries[i]
	}
	if v == ui.HostUndo && entry == "" {
		if e = h.Undo; e == nil {
			return
		}
	}
	if entry != "" && e == nil {
		return // it went while the button was pressed
	}
	switch v {
	case ui.HostConnect, ui.HostUpdate, ui.HostRemove, ui.HostUndo:
		p.change(v, h, e)
	case ui.HostCheck:
		p.examine(id)
	case ui.HostFolder:
		p.c.env.Browse(folderURL(e.File))
	case ui.HostBind:
		p.bind(h, *e)
	case ui.HostPrint:
		p.print(h)
	}
}

// change shows what a change would do, and does it if the user wants that.
func (p *hosts) change(v ui.HostVerb, h control.Host, e *control.HostEntry) {
	action := map[ui.HostVerb]string{
		ui.HostConnect: control.HostConnect, ui.HostUpdate: control.HostConnect, ui.HostRemove: control.HostRemove, ui.HostUndo: control.HostUndo,
	}[v]
	if action != control.HostConnect {
		p.ask(v, h, view.NewHostForm(p.c.env, h, e, action, nil))
		return
	}
	fetch(p.ctx, func(ctx context.Context) (known places, err error) {
		if known.own, err = p.c.client.OwnProfiles(ctx); err == nil && h.HTTP {
			known.prefs, err = p.c.client.Preferences(ctx)
		}
		return known, err
	}, func(known places, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		f := view.NewHostForm(p.c.env, h, e, action, placesOf(known.own))
		f.SetAddress(known.prefs.HTTP.URL)
		p.ask(v, h, f)
	})
}

// places is what a connection can be given.
type places struct {
	own   control.OwnProfiles
	prefs control.Preferences
}

// placesOf are the profiles that a connection can be given.
func placesOf(own control.OwnProfiles) []string {
	out := []string{sandbox.ProfileLocal}
	for _, o := range own.Profiles {
		out = append(out, o.Name)
	}
	return append(out, ui.ProfileEnvironment)
}

// ask shows the form of a change.
func (p *hosts) ask(v ui.HostVerb, h control.Host, f *view.HostForm) {
	tx := p.c.env.Texts
	ctx, stop := context.WithCancel(p.ctx)
	f.OnPlan = planner(ctx, p.c, f)
	p.form, p.planned = f, p.c.env.Now()
	title := tx.Get("window.hosts.title."+string(v), "title", ui.Visible(h.Title))
	view.NewHostDialog(p.c.env, title, tx.Get("window.hosts.do."+string(v)), v == ui.HostRemove, f, func() {
		stop()
		p.form = nil
	}, func(o control.HostOrder) { p.do(h, o) })
}

// planner has a form get the plans that it asks for.
func planner(ctx context.Context, c *core, f *view.HostForm) func(control.HostOrder) {
	return func(o control.HostOrder) {
		fetch(ctx, func(ctx context.Context) (control.HostResult, error) { return c.client.PlanHost(ctx, o) }, func(r control.HostResult, err error) {
			if err != nil {
				f.ShowFailure(o, hostProblem(c.env, err), whyOf(err))
				return
			}
			f.ShowPlan(o, r)
		})
	}
}

// whyOf is the word for why something can't be done to a host, for programs.
func whyOf(err error) string {
	why, _ := sandbox.ToError(err).Details["why"].(string)
	return why
}

// do makes a change. It goes on though the page is left.
func (p *hosts) do(h control.Host, o control.HostOrder) {
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (control.HostResult, error) {
		return p.c.client.ChangeHost(ctx, o)
	}, func(r control.HostResult, err error) {
		p.check()
		p.shown.Check = nil
		if err != nil {
			p.view.Banner().Error(hostProblem(p.c.env, err), nil, "")
		} else {
			p.shown.Done[h.ID] = view.HostDone{Changes: r.Changes}
			p.shown.Selected = h.ID
		}
		p.render()
		p.look()
	})
}

// examine has the engine start the entries of a host as that would.
func (p *hosts) examine(id string) {
	p.check()
	ctx, cancel := context.WithCancel(p.ctx)
	p.check = cancel
	p.shown.Check = &view.HostChecked{}
	p.render()
	follow(ctx, func(ctx context.Context, emit func(control.Finding) error) error {
		return p.c.client.CheckHost(ctx, id, emit)
	}, func(f control.Finding) {
		p.shown.Check.Findings = append(p.shown.Check.Findings, f)
		p.render()
	}, func(err error) {
		p.shown.Check.Over = true
		if err != nil {
			p.shown.Check.Failed = hostProblem(p.c.env, err)
		}
		p.render()
	})
}

// bind lets the user choose the token of a connection.
func (p *hosts) bind(h control.Host, e control.HostEntry) {
	env := p.c.env
	fetch(p.ctx, func(ctx context.Context) ([]control.Token, error) { return p.c.client.Tokens(ctx, "") }, func(all []control.Token, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		ids, names, current := []string{""}, []string{env.Texts.Get("window.hosts.token.owner")}, 0
		for _, t := range ui.TokensToBind(all, env.Now()) {
			if t.Grant.Name == e.Grant {
				current = len(ids)
			}
			ids, names = append(ids, t.Grant.ID), append(names, ui.Visible(t.Grant.Name))
		}
		view.NewHostTokenDialog(env, env.Texts.Get("window.hosts.title.bind", "title", ui.Visible(h.Title)), names, current, func(i int) {
			p.bound(h, control.Binding{Connection: e.Connection, Grant: ids[i]}, names[i])
		}, func() { p.c.goTo("tokens", "") })
	})
}

func (p *hosts) bound(h control.Host, b control.Binding, name string) {
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, p.c.client.Bind(ctx, b)
	}, func(_ struct{}, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		key := "window.hosts.bind.done"
		if b.Grant == "" {
			key = "window.hosts.bind.cleared"
		}
		p.c.toast(p.c.env.Texts.Get(key, "title", ui.Visible(h.Title), "token", name))
		p.look()
	})
}

// print tells how to connect a host by hand.
func (p *hosts) print(h control.Host) {
	tx := p.c.env.Texts
	title, command := tx.Get("window.hosts.title.print.any"), ""
	if h.ID != "" {
		title, command = tx.Get("window.hosts.title.print", "title", ui.Visible(h.Title)), "arenero hosts print "+h.ID
	}
	view.NewHostPrintDialog(p.c.env, title, command, bridgeProgram())
}

// bridgeProgram is what hosts start, "" if it is not where it should be.
func bridgeProgram() string {
	path, err := control.Beside("arenero-bridge")
	if err != nil {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// folderURL leads to the folder that a file is in.
func folderURL(file string) string {
	path := filepath.ToSlash(filepath.Dir(file))
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
