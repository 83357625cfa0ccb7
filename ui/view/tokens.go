package view

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// A TokenApp is an entry of an app that a token can be bound to.
type TokenApp struct {
	Connection string
	Title      string
	Grant      string // name of the token it has now; "" is the owner's own
}

// TokensShown is all that the screen of tokens shows.
type TokensShown struct {
	Tokens   []control.Token // the owner's is not among them
	Read     bool            // they were asked for and came
	Past     bool            // also those that were revoked, or have expired
	Profiles []string        // that sandboxes can run at, the local one first
	Apps     []TokenApp
	At       time.Time
}

// Tokens is the screen of tokens.
//
// What takes a done is given "" when it was done, or what to tell of why not.
type Tokens struct {
	OnCreate func(g sandbox.Grant, done func(problem string))
	OnEdit   func(seen, changed sandbox.Grant, done func(problem string))
	OnRotate func(t control.Token, overlap time.Duration)
	OnRevoke func(t control.Token, keep bool)
	OnSwitch func(t control.Token, disabled bool)
	// OnBind is given the connections that have the token from now on, and those
	// that no longer do.
	OnBind func(t control.Token, with, without []string, done func(problem string))
	OnPast func(past bool)

	env      Env
	shown    TokensShown
	selected string
	drawn    string
	banner   *Banner
	table    *Table
	past     *Check
	detail   *container.Scroll
	box      *fyne.Container
	body     *fyne.Container
	blank    *fyne.Container
	root     *fyne.Container
}

// NewTokens returns the screen with nothing on it.
func NewTokens(env Env) *Tokens {
	v := &Tokens{env: env, banner: NewBanner()}
	v.table = NewTable(env, []Column{
		{Title: v.say("window.tokens.col.name"), Width: 96, Grow: true},
		{Title: v.say("window.tokens.col.left"), Width: 236, Grow: true},
		{Title: v.say("window.tokens.col.state"), Width: 98},
		{Title: v.say("window.tokens.col.expires"), Width: 80},
		{Title: v.say("window.tokens.col.running"), Width: 84, Right: true, From: 650},
		{Title: v.say("window.tokens.col.used"), Width: 112, From: 772},
		{Title: v.say("window.tokens.col.scopes"), Width: 80, Grow: true, From: 870},
	})
	v.table.OnSelect = func(id string) {
		v.selected = id
		v.drawDetail(true)
	}
	v.table.OnOpen = func(id string) {
		if t, ok := v.item(id); ok && live(t.Grant, v.shown.At) {
			v.edit(t)
		}
	}
	v.box = container.NewVBox()
	v.detail = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(4, 12, 0, 12), v.box))
	create := NewButton(v.say("window.tokens.create"), theme.ContentAddIcon(), func() { v.Create() })
	create.Importance = widget.HighImportance
	use := NewButton(v.say("window.tokens.use"), theme.HelpIcon(), v.Uses)
	prompt := NewButton(v.say("window.tokens.prompt"), theme.DocumentIcon(), v.Prompt)
	v.past = NewCheck(v.say("window.tokens.past"), func(on bool) {
		if on != v.shown.Past {
			v.OnPast(on)
		}
	})
	bar := container.New(flow{}, create, use, prompt, v.past)
	v.body = container.New(under{func() int { return len(v.list()) }, 38}, v.table.Object(), v.detail)
	v.blank = container.NewStack()
	v.root = border(container.NewVBox(v.banner.Object(), bar), nil, nil, nil, container.NewStack(v.body, v.blank))
	v.banner.page = v.root
	v.Show(TokensShown{})
	return v
}

func (v *Tokens) say(key string, args ...string) string {
	return v.env.Texts.Get(key, args...)
}

// Object is what goes into a window.
func (v *Tokens) Object() fyne.CanvasObject { return v.root }

// Banner is the line at the head of the screen.
func (v *Tokens) Banner() *Banner { return v.banner }

// Selected is the id of the token that is selected, or "".
func (v *Tokens) Selected() string { return v.selected }

// Select shows a token, by its id or name.
func (v *Tokens) Select(token string) {
	for _, t := range v.shown.Tokens {
		if t.Grant.Name == token {
			token = t.Grant.ID
		}
	}
	v.selected = token
	v.table.Select(token)
	v.drawDetail(true)
}

// live reports whether a grant can still be used, now or when it is turned on.
func live(g sandbox.Grant, now time.Time) bool {
	return g.RevokedAt.IsZero() && (g.ExpiresAt.IsZero() || now.Before(g.ExpiresAt))
}

// list are the tokens that are shown: those that are over go last. A revoked one
// is not there, unless it has sandboxes or is asked for.
func (v *Tokens) list() []control.Token {
	var on, over []control.Token
	for _, t := range v.shown.Tokens {
		switch {
		case live(t.Grant, v.shown.At):
			on = append(on, t)
		case v.shown.Past || t.Running > 0 || t.Grant.RevokedAt.IsZero():
			over = append(over, t)
		}
	}
	return append(on, over...)
}

// Listed are the names of the tokens in the list, in its order.
func (v *Tokens) Listed() []string {
	var out []string
	for _, t := range v.list() {
		out = append(out, t.Grant.Name)
	}
	return out
}

func (v *Tokens) item(id string) (control.Token, bool) {
	i := slices.IndexFunc(v.shown.Tokens, func(t control.Token) bool { return t.Grant.ID == id })
	if i < 0 {
		return control.Token{}, false
	}
	return v.shown.Tokens[i], true
}

// names are those of all tokens, but for one. Names are never used again.
func (v *Tokens) names(but string) []string {
	var out []string
	for _, t := range v.shown.Tokens {
		if t.Grant.ID != but {
			out = append(out, t.Grant.Name)
		}
	}
	return out
}

// Show draws s in place of what was there.
func (v *Tokens) Show(s TokensShown) {
	grown := len(s.Tokens) != len(v.shown.Tokens) || s.Past != v.shown.Past
	v.shown = s
	v.past.SetChecked(s.Past)
	tx, now := v.env.Texts, s.At
	var rows []Row
	for _, t := range v.list() {
		g := t.Grant
		state, tone := ui.TokenState(tx, g, now)
		ends, _ := ui.TokenExpires(tx, g, now)
		var quiet fyne.ThemeColorName
		if !live(g, now) {
			quiet = ColorMuted
			if !g.RevokedAt.IsZero() {
				ends = "–"
			}
		}
		rows = append(rows, Row{ID: g.ID, Cells: []Cell{
			{Text: ui.Visible(g.Name), Color: quiet, Bold: quiet == ""},
			v.money(t, quiet),
			{Text: state, Color: toneColor(tone)},
			{Text: ends, Color: quiet},
			{Text: ui.TokenRunning(tx, t.Running, g.MaxConcurrent), Color: quiet},
			{Text: ui.TokenLastUse(tx, t.Credentials, now), Color: quiet},
			{Text: ui.ScopeList(tx, g.Scopes), Color: quiet},
		}})
	}
	if len(rows) > 0 && !slices.ContainsFunc(rows, func(r Row) bool { return r.ID == v.selected }) {
		v.selected = rows[0].ID
	}
	v.table.Show(rows)
	v.table.Select(v.selected)
	v.drawBlank(len(rows) == 0)
	v.drawDetail(false)
	if grown {
		v.root.Refresh()
		v.root.Refresh() // once more, for what has got its width by that
	}
}

// money is the cell with what is left.
func (v *Tokens) money(t control.Token, quiet fyne.ThemeColorName) Cell {
	if !t.Grant.RevokedAt.IsZero() { // nothing is left of what can't be spent
		return Cell{Text: "–", Color: quiet}
	}
	_, gone, tone, capped := ui.TokenLeft(v.env.Texts, t.Budget)
	text := ui.TokenLeftShort(v.env.Texts, t.Budget)
	if !capped || quiet != "" {
		return Cell{Text: text, Color: quiet}
	}
	bar := &Bar{Value: 1 - gone, Text: text}
	switch tone {
	case ui.ToneWarn:
		bar.Level = BarWarn
	case ui.ToneBad: // a bar of nothing would have no color
		return Cell{Text: text, Color: ColorBad}
	}
	return Cell{Bar: bar}
}

func (v *Tokens) drawBlank(none bool) {
	show := none && v.shown.Read
	if show == (len(v.blank.Objects) > 0) && !show == v.body.Visible() {
		return
	}
	v.blank.Objects = nil
	v.body.Show()
	if show {
		title, text := v.say("window.tokens.empty.title"), v.say("window.tokens.empty.text")
		if len(v.shown.Tokens) > 0 {
			title, text = v.say("window.tokens.over.title"), v.say("window.tokens.over.text")
		}
		v.body.Hide()
		v.blank.Objects = []fyne.CanvasObject{EmptyState(theme.LoginIcon(), title, text,
			Action{Label: v.say("window.tokens.create"), Do: v.Create, Primary: true})}
	}
	v.blank.Refresh()
}

// drawDetail draws the selected token, if anything about it has changed.
func (v *Tokens) drawDetail(top bool) {
	t, ok := v.item(v.selected)
	if !ok {
		v.box.Objects, v.drawn = nil, ""
		if v.shown.Read {
			v.box.Objects = []fyne.CanvasObject{Muted(v.say("window.tokens.choose"))}
		}
		v.box.Refresh()
		return
	}
	pairs := v.facts(t)
	sum := ui.TokenSentence(v.env.Texts, t.Grant, v.shown.At)
	about := t.Grant.ID + "\x00" + sum
	for _, p := range pairs {
		about += "\x00" + p[0] + "\x00" + p[1]
	}
	state, tone := ui.TokenState(v.env.Texts, t.Grant, v.shown.At)
	if about += "\x00" + state; about == v.drawn {
		return
	}
	v.drawn = about
	word := widget.NewRichText(&widget.TextSegment{Text: state, Style: widget.RichTextStyle{ColorName: toneColor(tone), TextStyle: fyne.TextStyle{Bold: true}}})
	v.box.Objects = []fyne.CanvasObject{border(nil, nil, nil, container.NewCenter(word), Heading(ui.Visible(t.Grant.Name)))}
	if live(t.Grant, v.shown.At) {
		text := widget.NewLabel(sum)
		text.Wrapping = fyne.TextWrapWord
		v.box.Add(text)
	}
	if t.Budget.OverLimit {
		v.box.Add(marked(theme.WarningIcon(), ColorBad, v.say("window.tokens.fact.over"), ""))
	}
	v.box.Add(container.New(flow{}, v.actions(t)...))
	v.box.Add(facts(pairs))
	relaid(v.box, v.detail)
	if top {
		v.detail.ScrollToTop()
	}
}

func (v *Tokens) facts(t control.Token) (out [][2]string) {
	tx, now, g := v.env.Texts, v.shown.At, t.Grant
	add := func(key, value string) {
		if value != "" {
			out = append(out, [2]string{v.say("window.tokens.fact." + key), value})
		}
	}
	add("may", ui.ScopeList(tx, g.Scopes))
	money, _, _, _ := ui.TokenLeft(tx, t.Budget)
	over := g.ExpiresAt
	if !g.RevokedAt.IsZero() {
		money = tx.Get("window.tokens.spent.only", "amount", ui.Money(tx, t.Budget.Spent))
		over = g.RevokedAt
	}
	add("money", money)
	if t.Budget.Held > 0 {
		add("held", ui.Money(tx, t.Budget.Held))
	}
	add("running", ui.TokenRunning(tx, t.Running, g.MaxConcurrent))
	add("templates", ui.Visible(strings.Join(g.Templates, ", ")))
	add("profile", ui.Visible(g.Profile))
	if !over.IsZero() {
		ends, _ := ui.TokenExpires(tx, g, now)
		add("ends", ui.Moment(tx, over, now)+" ("+ends+")")
	}
	add("made", ui.Moment(tx, g.CreatedAt, now))
	for _, c := range t.Credentials {
		add("secret", ui.SecretText(tx, c, now))
	}
	var apps []string
	for _, c := range t.Connections {
		title := c
		for _, a := range v.shown.Apps {
			if a.Connection == c {
				title = a.Title
			}
		}
		apps = append(apps, ui.Visible(title))
	}
	if len(apps) == 0 {
		apps = []string{v.say("window.tokens.fact.apps.none")}
	}
	add("apps", strings.Join(apps, ", "))
	return out
}

func (v *Tokens) actions(t control.Token) []fyne.CanvasObject {
	if !t.Grant.RevokedAt.IsZero() {
		return nil
	}
	var out []fyne.CanvasObject
	add := func(key string, do func()) { out = append(out, NewButton(v.say(key), nil, do)) }
	add("window.tokens.edit", func() { v.edit(t) })
	add("window.tokens.rotate", func() { v.rotate(t) })
	add("window.tokens.apps", func() { v.apps(t) })
	if t.Grant.Disabled {
		add("window.tokens.enable", func() { v.OnSwitch(t, false) })
	} else {
		add("window.tokens.disable", func() { v.OnSwitch(t, true) })
	}
	add("window.tokens.revoke", func() { v.revoke(t) })
	return out
}
