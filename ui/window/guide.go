package window

import (
	"bytes"
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"github.com/google/uuid"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

const (
	guideLookEvery = 5 * time.Second  // for hosts that are installed, or quit, meanwhile
	trialLife      = 10 * time.Minute // of a first sandbox that could not be ended
	trialEnd       = time.Minute      // that its end may take
	trialHello     = "hello"
)

// guide is the page of the first steps. It may be left at any time, and goes on
// where it was.
type guide struct {
	c     *core
	ctx   context.Context // done when the page is left
	view  *view.Guide
	shown view.GuideShown
	snap  sandbox.Snapshot
	// entered tells the view that it is in the window.
	entered func()
	// What went wrong, of which shown has the texts in the language of now:
	failed  error // of the trial
	problem error // of looking for hosts, or of a change
	unseen  bool  // problem is of looking

	tried    bool // the trial has begun once
	trying   bool
	looking  reading
	looked   time.Time
	form     *view.HostForm
	planFor  string // host of form
	planned  time.Time
	stopPlan context.CancelFunc

	connection string          // whose first call is awaited; "" is any
	before     map[string]bool // leases that were there before
	followed   string          // sandbox whose calls are followed
}

func newGuide(c *core) page {
	return &guide{c: c, ctx: context.Background(), stopPlan: func() {}, shown: view.GuideShown{Step: ui.GuideTry, Arrival: ui.ArrivalNone}}
}

func (p *guide) name() string        { return "guide" }
func (p *guide) icon() fyne.Resource { return theme.MediaPlayIcon() }

// open makes the view.
func (p *guide) open() fyne.CanvasObject {
	v := view.NewGuide(p.c.env, bridgeProgram())
	entered := false
	v.Seen = func() bool { return entered && p.ctx.Err() == nil }
	p.entered = func() { entered = true }
	v.OnLanguage = p.speak
	v.OnTry = p.try
	v.OnSelect = p.choose
	v.OnByHand = func(on bool) {
		p.shown.ByHand = on
		p.render()
	}
	v.OnAgain = func() {
		p.wrong(nil, false)
		p.look()
	}
	v.OnCopy = p.copy
	v.OnRules = func() {
		p.c.env.Copy(assets.Doc(assets.DocFirstPrompt, p.c.env.Texts.Language))
		p.c.toast(p.c.env.Texts.Get("window.guide.rules.copied"))
	}
	v.OnNext, v.OnBack, v.OnLeave = p.next, p.back, func() { p.finish("") }
	if p.failed != nil {
		p.shown.Trial.Problem = p.c.env.Explain(p.failed)
	}
	p.wrong(p.problem, p.unseen)
	p.view = v
	p.render()
	return v.Object()
}

// enter goes on where it was.
func (p *guide) enter(ctx context.Context) {
	p.ctx = ctx
	p.entered()
	p.view.Focus()
	p.looking, p.followed = reading{}, "" // nobody waits for what was asked before
	if !p.tried || p.trying {
		p.try()
	}
	p.look()
	if p.form != nil {
		p.planFor = ""
		p.plan()
	}
	p.arrive()
}

// tick looks again, as apps come and go.
func (p *guide) tick(now time.Time) {
	if p.shown.Step != ui.GuideConnect {
		return
	}
	if now.Sub(p.looked) >= guideLookEvery {
		p.look()
	}
	if p.form != nil && !p.shown.Busy && now.Sub(p.planned) >= hostsPlanEvery {
		p.planned = now
		p.form.Again()
	}
}

// show takes in who has come.
func (p *guide) show(s sandbox.Snapshot) {
	p.snap = s
	p.arrive()
}

func (p *guide) render() {
	if p.view != nil {
		p.view.Show(p.shown)
	}
}

// speak changes the language of all.
func (p *guide) speak(language string) {
	p.edit(control.PreferencesEdit{Language: &language}, p.c.changed)
}

func (p *guide) edit(e control.PreferencesEdit, then func()) {
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (control.Preferences, error) {
		return p.c.client.EditPreferences(ctx, e)
	}, func(_ control.Preferences, err error) {
		if err != nil {
			p.c.fail(err)
		}
		then()
	})
}

// try makes a sandbox on this computer, runs a command in it, and ends it. What
// is told is what it took.
func (p *guide) try() {
	p.tried, p.trying = true, true
	p.shown.Findings, p.failed = nil, nil
	p.shown.Trial = ui.Trial{Stage: ui.TrialMaking}
	p.render()
	follow(p.ctx, p.trial, func(t ui.Trial) {
		p.shown.Trial = t
		p.render()
	}, func(err error) {
		p.trying = false
		if err == nil {
			p.render()
			return
		}
		p.failed = err
		p.shown.Trial = ui.Trial{Stage: ui.TrialBad, Problem: p.c.env.Explain(err)}
		p.render()
		p.diagnose()
	})
}

// trial is what try does, and tells of each stage.
func (p *guide) trial(ctx context.Context, tell func(ui.Trial) error) error {
	begun := p.c.env.Now()
	b, err := p.c.client.Create(ctx, sandbox.Spec{Name: p.c.env.Texts.Get("window.guide.trial.name"), Profile: sandbox.Profile{Name: sandbox.ProfileLocal}, Timeout: trialLife})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trialEnd)
		defer cancel()
		_ = p.c.client.Terminate(ctx, b.ID, "") // else it ends by itself
	}()
	t := ui.Trial{Stage: ui.TrialRunning, Ready: p.c.env.Now().Sub(begun)}
	if err := tell(t); err != nil {
		return err
	}
	var said bytes.Buffer
	begun = p.c.env.Now()
	exit, err := p.c.client.Exec(ctx, sandbox.Exec{ID: uuid.NewString(), Target: sandbox.Target{Sandbox: b.ID}, Args: []string{"echo", trialHello}, Timeout: time.Minute},
		func(o sandbox.Output) error {
			said.Write(o.Data)
			return nil
		})
	if err != nil {
		return err
	}
	if exit.Code != 0 || said.String() != trialHello+"\n" {
		return &sandbox.Error{Code: sandbox.Internal, Msg: "something went wrong that should not", Hint: "the log says more"}
	}
	t.Stage, t.Answer = ui.TrialGood, p.c.env.Now().Sub(begun)
	return tell(t)
}

// diagnose finds out why the trial failed.
func (p *guide) diagnose() {
	follow(p.ctx, func(ctx context.Context, emit func(control.Finding) error) error {
		return p.c.client.Diagnose(ctx, sandbox.ProfileLocal, emit)
	}, func(f control.Finding) {
		if f.Level == "fail" || f.Level == "warn" && f.Name == "jail" {
			p.shown.Findings = append(slices.Clone(p.shown.Findings), f)
			p.render()
		}
	}, func(error) {}) // the trial has said what is wrong
}

// look asks for the hosts as they are now.
func (p *guide) look() {
	if !p.looking.begin() {
		return
	}
	p.looked = p.c.env.Now()
	fetch(p.ctx, func(ctx context.Context) ([]control.Host, error) { return p.c.client.Hosts(ctx, control.HostQuery{}) }, func(found []control.Host, err error) {
		p.looked = p.c.env.Now()
		if p.looking.end() {
			p.look()
		}
		if err != nil {
			p.wrong(err, true)
			p.render()
			return
		}
		if !p.shown.Looked || p.unseen {
			p.wrong(nil, false)
		}
		p.shown.Looked, p.shown.Hosts = true, ui.GuideHosts(found)
		if _, ok := p.host(); !ok && len(p.shown.Hosts) > 0 {
			p.shown.Selected = p.shown.Hosts[0].ID
		}
		p.plan()
		p.render()
	})
}

// wrong takes in what went wrong with the hosts, in looking for them or not; nil
// is nothing any more.
func (p *guide) wrong(err error, looking bool) {
	p.problem, p.unseen = err, looking
	switch {
	case err == nil:
		p.shown.Problem = ""
	case looking:
		p.shown.Problem = p.c.env.Texts.Get("window.hosts.failed", "why", hostProblem(p.c.env, err))
	default:
		p.shown.Problem = hostProblem(p.c.env, err)
	}
}

// host is the one that is selected.
func (p *guide) host() (control.Host, bool) {
	i := slices.IndexFunc(p.shown.Hosts, func(h control.Host) bool { return h.ID == p.shown.Selected })
	if i < 0 {
		return control.Host{}, false
	}
	return p.shown.Hosts[i], true
}

// choose selects a host.
func (p *guide) choose(id string) {
	p.shown.Selected = id
	p.wrong(nil, false)
	p.plan()
	p.render()
}

// plan has the form show what connecting the selected host would change.
func (p *guide) plan() {
	h, ok := p.host()
	if !ok || ui.HostConnected(h) {
		p.stopPlan()
		p.planFor, p.form, p.shown.Ready = "", nil, false
		p.view.SetForm(nil)
		return
	}
	if p.planFor == h.ID {
		return
	}
	p.stopPlan()
	var ctx context.Context
	ctx, p.stopPlan = context.WithCancel(p.ctx)
	p.planFor, p.planned, p.shown.Ready = h.ID, p.c.env.Now(), false
	var entry *control.HostEntry
	if len(h.Entries) > 0 {
		entry = &h.Entries[0]
	}
	f := view.NewHostForm(p.c.env, h, entry, control.HostConnect, nil)
	f.OnPlan = planner(ctx, p.c, f)
	f.OnReady = func(ready bool) {
		p.shown.Ready = ready
		p.render()
	}
	p.form = f
	p.view.SetForm(f)
	f.Plan()
}

// next does what the main button says.
func (p *guide) next() {
	switch p.shown.Step {
	case ui.GuideTry:
		p.shown.Step = ui.GuideConnect
		p.look()
	case ui.GuideConnect:
		h, ok := p.host()
		switch {
		case p.shown.ByHand || !ok:
			p.await("", "", nil)
		case ui.HostConnected(h):
			e, _ := ui.HostEntryInUse(h)
			p.await(e.Connection, h.Title, nil)
		default:
			p.connect(h)
		}
	case ui.GuideCall:
		switch {
		case p.shown.Arrival == ui.ArrivalCalled:
			p.finish(p.followed)
		case !p.shown.Copied:
			p.copy()
		default:
			p.finish("")
		}
		return
	}
	p.render()
}

// back goes one step back.
func (p *guide) back() {
	switch p.shown.Step {
	case ui.GuideConnect:
		p.shown.Step = ui.GuideTry
	case ui.GuideCall:
		p.shown.Step, p.shown.Done = ui.GuideConnect, nil
		p.look()
	}
	p.render()
}

// connect makes the change that is shown.
func (p *guide) connect(h control.Host) {
	if p.form == nil || p.shown.Busy {
		return
	}
	o, ok := p.form.Planned()
	if !ok {
		return
	}
	p.shown.Busy = true
	p.wrong(nil, false)
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (control.HostResult, error) {
		return p.c.client.ChangeHost(ctx, o)
	}, func(r control.HostResult, err error) {
		p.shown.Busy, p.planFor = false, ""
		if err != nil {
			p.wrong(err, false)
			p.plan()
			p.render()
			return
		}
		connection := ""
		for _, c := range r.Changes {
			connection = c.Connection
		}
		p.await(connection, h.Title, r.Changes)
		p.seen()
		p.look()
		p.render()
	})
}

// await goes to the last step, and waits for the first call of a connection.
func (p *guide) await(connection, title string, done []control.HostChange) {
	p.connection, p.before, p.followed = connection, map[string]bool{}, ""
	for _, l := range p.snap.Leases {
		p.before[l.ID] = true
	}
	p.shown.Step, p.shown.Title, p.shown.Done = ui.GuideCall, ui.Visible(title), done
	p.shown.Arrival, p.shown.Call, p.shown.Copied = ui.ArrivalNone, "", false
	p.arrive()
}

// arrive takes in how far the app has come. A call that was made stays made.
func (p *guide) arrive() {
	if p.shown.Step != ui.GuideCall {
		return
	}
	a, id, host := ui.Arrived(p.snap, p.connection, p.before)
	if p.shown.Arrival != ui.ArrivalCalled {
		p.shown.Arrival = a
		if p.shown.Title == "" {
			p.shown.Title = host
		}
	}
	if id != "" && p.followed == "" {
		p.followed = id
		p.listen(id)
	}
	p.render()
}

// listen learns what the first call was.
func (p *guide) listen(id string) {
	ctx, stop := context.WithCancel(p.ctx)
	follow(ctx, func(ctx context.Context, emit func(control.CallNews) error) error {
		return p.c.client.FollowCalls(ctx, id, emit)
	}, func(n control.CallNews) {
		if n.Text != "" && p.shown.Call == "" {
			p.shown.Call = ui.CallText(n.Text)
			p.render()
			stop()
		}
	}, func(error) { stop() })
}

// copy copies what to say first.
func (p *guide) copy() {
	tx := p.c.env.Texts
	p.c.env.Copy(tx.Get("window.guide.prompt"))
	title := p.shown.Title
	if title == "" {
		title = tx.Get("window.guide.app")
	}
	p.c.toast(tx.Get("window.guide.copied", "title", title))
	p.shown.Copied = true
	p.render()
}

// seen keeps the first steps from coming by themselves once more: an app is
// connected, and a window that is closed now would open with them from the start,
// if the connection were undone before the next time.
func (p *guide) seen() {
	p.edit(control.PreferencesEdit{GuideDone: new(true)}, func() {})
}

// finish ends the first steps, and leads to what came of them.
func (p *guide) finish(id string) {
	p.edit(control.PreferencesEdit{GuideDone: new(true)}, func() { p.c.goTo("sandboxes", id) })
}
