package window

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// settings is the page of what the owner has set, and of the program itself.
type settings struct {
	c        *core
	ctx      context.Context // done when the page is left
	view     *view.Settings
	prefs    control.Preferences
	profiles []string
	found    map[string]int
	known    bool // prefs are those of the engine
	logs     reading
	shown    kept
}

// kept is what the engine told the page last, which a page that is made anew
// begins with.
type kept struct {
	keychain *keychainStatus
	logs     []control.Log
	status   *control.Status
	prices   *control.PriceTable
}

func newSettings(c *core) page {
	return &settings{c: c, ctx: context.Background(), profiles: []string{sandbox.ProfileLocal}}
}

func (p *settings) name() string        { return "settings" }
func (p *settings) icon() fyne.Resource { return theme.SettingsIcon() }

// open makes the view.
func (p *settings) open() fyne.CanvasObject {
	v := view.NewSettings(p.c.env)
	v.OnEdit = p.edit
	v.OnUnlock = func(passphrase string) {
		p.keep(control.ProfileRequest{Action: control.KeychainUnlock, Data: []byte(passphrase)}, "window.settings.keychain.unlocked")
	}
	v.OnLock = func() {
		p.keep(control.ProfileRequest{Action: control.KeychainLock}, "window.settings.keychain.closed")
	}
	v.OnUse = func(backend, passphrase string) {
		p.keep(control.ProfileRequest{Action: control.KeychainUse, Name: backend, Data: []byte(passphrase)}, "window.settings.keychain.moved")
	}
	v.OnFolder = func() { p.c.env.Browse(fileURL(p.prefs.LogFolder)) }
	v.OnCheck = p.check
	v.OnBundle = p.bundle
	v.OnPrices = p.refreshPrices
	v.OnPause = p.pause
	v.OnGuide = func() { p.c.goTo(guideName, "") }
	v.OnLog = p.readLog
	p.view = v
	p.again()
	return v.Object()
}

// fileURL is the address of a folder, for the program that opens such.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if len(path) > 0 && path[0] != '/' { // C:/Users
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func (p *settings) show(sandbox.Snapshot) {}

// tick goes on with the log that is shown.
func (p *settings) tick(time.Time) { p.readLog() }

// again shows what is known already, in the language of now.
func (p *settings) again() {
	if p.known {
		p.view.Prefer(p.prefs, p.profiles)
	}
	if p.shown.keychain != nil {
		p.view.Keychain(p.keychain(*p.shown.keychain))
	}
	if p.shown.logs != nil {
		p.view.Logs(p.shown.logs)
	}
	if p.shown.status != nil {
		p.versions(*p.shown.status)
	}
	if p.shown.prices != nil {
		p.price(*p.shown.prices)
	}
}

// readLog reads the log that is shown once more.
func (p *settings) readLog() {
	name, level := p.view.OpenLog()
	if name == "" || !p.logs.begin() {
		return
	}
	ctx := p.ctx
	fetch(ctx, func(ctx context.Context) ([]control.Log, error) {
		return p.c.client.LogTails(ctx, control.LogQuery{Name: name, Level: level})
	}, func(logs []control.Log, err error) {
		again := p.logs.end()
		if err != nil {
			p.c.fail(err)
			return
		}
		for _, l := range logs {
			p.view.LogTail(l, level)
		}
		if again {
			p.readLog()
		}
	})
}

// enter reads all that is shown.
func (p *settings) enter(ctx context.Context) {
	p.ctx, p.logs = ctx, reading{}
	fetch(ctx, p.c.client.Preferences, func(s control.Preferences, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		p.prefer(s)
	})
	fetch(ctx, p.c.client.OwnProfiles, func(o control.OwnProfiles, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		p.profiles = []string{sandbox.ProfileLocal}
		for _, own := range o.Profiles {
			p.profiles = append(p.profiles, own.Name)
		}
		if p.known {
			p.view.Prefer(p.prefs, p.profiles)
		}
		p.askPrices("")
	})
	fetch(ctx, p.c.client.Logs, func(logs []control.Log, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		p.shown.logs = logs
		p.view.Logs(logs)
	})
	fetch(ctx, p.c.client.Status, func(s control.Status, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		p.shown.status = &s
		p.versions(s)
	})
	p.lookAtKeychain()
}

// versions tells of the programs.
func (p *settings) versions(s control.Status) {
	p.view.Versions(p.c.env.Texts.Get("window.settings.versions",
		"engine", s.Version, "program", s.Program, "pid", fmt.Sprint(s.PID), "since", s.Since.Local().Format("2006-01-02 15:04"), "system", runtime.GOOS+"/"+runtime.GOARCH))
}

// prefer shows what is set.
func (p *settings) prefer(s control.Preferences) {
	p.prefs, p.known = s, true
	p.view.Prefer(s, p.profiles)
}

// edit changes a preference. What the engine refuses is shown as it was.
func (p *settings) edit(e control.PreferencesEdit) {
	p.set(func(ctx context.Context) (control.Preferences, error) { return p.c.client.EditPreferences(ctx, e) })
}

// pause has new sandboxes refused, or made again.
func (p *settings) pause(paused bool) {
	p.set(func(ctx context.Context) (control.Preferences, error) {
		if err := p.c.client.Pause(ctx, paused); err != nil {
			return control.Preferences{}, err
		}
		return p.c.client.Preferences(ctx)
	})
}

// set changes what is set, and shows what is so then.
func (p *settings) set(change func(context.Context) (control.Preferences, error)) {
	fetch(p.ctx, change, func(s control.Preferences, err error) {
		if err != nil {
			p.c.fail(err)
			if p.known {
				p.view.Prefer(p.prefs, p.profiles)
			}
			return
		}
		p.prefer(s)
		p.c.changed()
	})
}

// A keychainStatus is what the engine tells of the keychain.
type keychainStatus struct {
	Backend string `json:"backend"`
	State   string `json:"state"` // "ready", "locked", "missing", or the class of an error
	Secrets int    `json:"secrets"`
	Error   string `json:"error"`
	Why     string `json:"why"`
}

func (p *settings) lookAtKeychain() {
	fetch(p.ctx, func(ctx context.Context) (k keychainStatus, err error) {
		raw, err := p.c.client.Profile(ctx, control.ProfileRequest{Action: control.KeychainStatus}, nil)
		if err != nil {
			return k, err
		}
		return k, json.Unmarshal(raw, &k)
	}, func(k keychainStatus, err error) {
		if err != nil {
			p.view.Keychain(view.KeychainShown{Text: p.c.env.Explain(err), Bad: true})
			return
		}
		p.shown.keychain = &k
		p.view.Keychain(p.keychain(k))
	})
}

// keychain puts into words how the keychain is.
func (p *settings) keychain(k keychainStatus) view.KeychainShown {
	tx := p.c.env.Texts
	out := view.KeychainShown{
		Vault: k.Backend == "vault", Open: k.State == "ready", Made: k.State != "missing",
		Text: tx.Get("window.settings.keychain.is", "backend", tx.Get("window.settings.keychain.backend."+k.Backend), "secrets", fmt.Sprint(k.Secrets)),
	}
	switch {
	case k.Error != "":
		out.Bad = true
		what, do := ui.KeychainClass(tx, k.State, k.Why)
		out.Text = tx.Get("window.settings.keychain.in", "backend", tx.Get("window.settings.keychain.backend."+k.Backend)) + ": " + what
		out.Do = ui.Sentence(do)
	case k.State == "locked":
		out.Do = tx.Get("window.settings.keychain.locked")
	case k.State == "missing":
		out.Do = tx.Get("window.settings.keychain.missing")
	case k.Backend == "memory":
		out.Do = tx.Get("window.settings.keychain.memory")
	}
	return out
}

// keep does something with the keychain, and tells what was done.
func (p *settings) keep(r control.ProfileRequest, done string) {
	stop := view.Busy(p.c.env, p.c.env.Texts.Get("window.settings.keychain.wait"))
	fetch(p.ctx, func(ctx context.Context) ([]byte, error) { return p.c.client.Profile(ctx, r, nil) }, func(_ []byte, err error) {
		stop()
		if err != nil {
			p.c.fail(err)
		} else {
			p.c.toast(p.c.env.Texts.Get(done))
		}
		p.lookAtKeychain()
	})
}

// check makes all checks of the profile in use.
func (p *settings) check() {
	tx := p.c.env.Texts
	p.found = map[string]int{}
	p.view.Checking()
	follow(p.ctx, func(ctx context.Context, emit func(control.Finding) error) error {
		return p.c.client.Diagnose(ctx, p.prefs.DefaultProfile, emit)
	}, func(f control.Finding) {
		if f.Level != "" {
			p.found[f.Level]++
		}
		p.view.Finding(f)
	}, func(err error) {
		warn, fail := fmt.Sprint(p.found["warn"]), fmt.Sprint(p.found["fail"])
		switch {
		case err != nil:
			p.view.Checked(p.c.env.Explain(err), view.BarBad)
		case p.found["fail"] > 0:
			p.view.Checked(tx.Get("doctor.verdict.fail", "fail", fail, "warn", warn), view.BarBad)
		case p.found["warn"] > 0:
			p.view.Checked(tx.Get("doctor.verdict.warn", "warn", warn), view.BarWarn)
		default:
			p.view.Checked(tx.Get("doctor.verdict.ok", "skip", fmt.Sprint(p.found["skip"])), view.BarPlain)
		}
	})
}

// bundle writes what others need to help.
func (p *settings) bundle() {
	stop := view.Busy(p.c.env, p.c.env.Texts.Get("window.settings.bundle.wait"))
	fetch(p.ctx, func(ctx context.Context) (string, error) { return p.c.client.SaveBundle(ctx, "") }, func(path string, err error) {
		stop()
		if err != nil {
			p.c.fail(err)
			return
		}
		p.view.Bundle(path, func() { p.c.env.Browse(fileURL(filepath.Dir(path))) })
	})
}

// askPrices asks which prices are in use, or has those of a profile's account
// looked up.
func (p *settings) askPrices(profile string) {
	fetch(p.ctx, func(ctx context.Context) (control.PriceTable, error) { return p.c.client.RefreshPrices(ctx, profile) }, func(t control.PriceTable, err error) {
		if err != nil {
			p.c.fail(err)
			return
		}
		p.shown.prices = &t
		p.price(t)
		if profile != "" {
			p.c.toast(p.c.env.Texts.Get("window.settings.prices.done"))
		}
	})
}

func (p *settings) refreshPrices(profile string) { p.askPrices(profile) }

// price tells which prices are in use.
func (p *settings) price(t control.PriceTable) {
	tx := p.c.env.Texts
	text := tx.Get("window.settings.prices.are", "version", t.Version, "day", t.Sourced, "regions", fmt.Sprint(len(t.Regions)))
	own := slices.DeleteFunc(slices.Clone(p.profiles), func(name string) bool { return name == sandbox.ProfileLocal })
	switch {
	case t.Stale && len(own) > 0:
		text += " " + tx.Get("window.settings.prices.stale")
	case t.Stale: // nobody can be asked for others
		text += " " + tx.Get("window.settings.prices.stale.local")
	}
	p.view.Prices(text, own)
}
