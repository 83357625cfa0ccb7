package control

import (
	"context"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// An Accountant is the part of an engine that knows who may do what, and what
// it costs. Calls that change what others may do, or tell of all, are refused
// to whoever has a token or comes from a tool.
type Accountant interface {
	// Alerts are what the caller of ctx is to hear with each answer.
	Alerts(ctx context.Context) []sandbox.Event
	// Authorize returns the grant of the caller of ctx, or why there is none.
	Authorize(ctx context.Context, none struct{}) (sandbox.Grant, error)
	Quote(ctx context.Context, s sandbox.Spec) (sandbox.Quote, error)
	Balance(ctx context.Context, q BalanceQuery) (sandbox.Balance, error)
	Events(ctx context.Context, q sandbox.EventQuery) (sandbox.EventPage, error)
	FollowEvents(ctx context.Context, emit func(sandbox.Event) error) error
	Templates(ctx context.Context, p sandbox.Profile) ([]sandbox.Template, error)
	Orders(ctx context.Context, q sandbox.OrderQuery) (sandbox.OrderPage, error)
	Spend(ctx context.Context, q sandbox.SpendQuery) ([]sandbox.SpendRow, error)

	CreateToken(ctx context.Context, g sandbox.Grant) (NewToken, error)
	Tokens(ctx context.Context, name string) ([]Token, error)
	EditToken(ctx context.Context, e TokenEdit) (sandbox.Grant, error)
	RotateToken(ctx context.Context, r TokenRotation) (NewToken, error)
	RevokeToken(ctx context.Context, r TokenRevocation) (sandbox.Grant, error)
	DisableToken(ctx context.Context, r TokenSwitch) (sandbox.Grant, error)
	Bind(ctx context.Context, b Binding) (struct{}, error)
	Budgets(ctx context.Context, none struct{}) ([]sandbox.Budget, error)
	SetBudget(ctx context.Context, b sandbox.Budget) (sandbox.Budget, error)
	ConfirmClock(ctx context.Context, none struct{}) (struct{}, error)
	CheckLedger(ctx context.Context, none struct{}) ([]sandbox.Violation, error)
	// ExportLedger emits the account in parts, as the format has it.
	ExportLedger(ctx context.Context, format string, emit func([]byte) error) error
	Bill(ctx context.Context, q BillQuery) ([]sandbox.BillDay, error)
	RefreshPrices(ctx context.Context, profile string) (PriceTable, error)
}

// A BalanceQuery says whose balance is wanted, by id or name; "" is the
// caller's own, and the only one that a token may ask for.
type BalanceQuery struct {
	Grant string `json:"grant,omitempty"`
	// Profile is where the caller's sandboxes run, as in a request for one, and
	// Template what they are made of; none is what the grant and the settings say.
	Profile  sandbox.Profile `json:"profile,omitzero"`
	Template string          `json:"template,omitempty"`
}

// A Token is a grant with what opens it.
type Token struct {
	Grant       sandbox.Grant        `json:"grant"`
	Budget      sandbox.Budget       `json:"budget"`
	Credentials []sandbox.Credential `json:"credentials"`
	Connections []string             `json:"connections,omitempty"`
	Running     int                  `json:"running"`
}

// A NewToken is a grant and the secret that opens it, which nothing tells again.
type NewToken struct {
	Grant      sandbox.Grant      `json:"grant"`
	Credential sandbox.Credential `json:"credential"`
	Secret     sandbox.Secret     `json:"secret"`
}

// A TokenEdit changes some of what a grant allows, the one with the id of Seen.
// What is nil stays as it is.
type TokenEdit struct {
	// Seen is the grant as its owner saw it who wants the change. What the change
	// would allow more than the grant does now is refused, unless it is that much
	// more than Seen as well: else nobody has agreed to it.
	Seen          sandbox.Grant    `json:"seen"`
	Name          *string          `json:"name,omitempty"`
	Scopes        *[]sandbox.Scope `json:"scopes,omitempty"`
	Limit         *TokenLimit      `json:"limit,omitempty"`
	Period        *sandbox.Period  `json:"period,omitempty"`
	MaxHours      *float64         `json:"max_hours,omitempty"`
	MaxConcurrent *int             `json:"max_concurrent,omitempty"`
	Templates     *[]string        `json:"templates,omitempty"` // none: all
	Profile       *string          `json:"profile,omitempty"`   // "": any
	ExpiresAt     *time.Time       `json:"expires_at,omitempty"`
	Burst         *sandbox.Burst   `json:"burst,omitempty"`
	Rate          *int             `json:"rate,omitempty"`
}

// A TokenLimit is a limit of money; nil is none.
type TokenLimit struct {
	Limit *sandbox.Micro `json:"limit_micro"`
}

// Apply has g be what e says.
func (e TokenEdit) Apply(g *sandbox.Grant) {
	replace(&g.Name, e.Name)
	replace(&g.Scopes, e.Scopes)
	if e.Limit != nil {
		g.Limit = e.Limit.Limit
	}
	replace(&g.Period, e.Period)
	replace(&g.MaxHours, e.MaxHours)
	replace(&g.MaxConcurrent, e.MaxConcurrent)
	replace(&g.Templates, e.Templates)
	replace(&g.Profile, e.Profile)
	replace(&g.ExpiresAt, e.ExpiresAt)
	replace(&g.Burst, e.Burst)
	replace(&g.Rate, e.Rate)
}

func replace[T any](old, changed *T) {
	if changed != nil {
		*old = *changed
	}
}

// A TokenRotation asks for a new secret of a grant, by its id or name. The old
// one opens it for Overlap more, at most a day.
type TokenRotation struct {
	Grant   string        `json:"grant"`
	Overlap time.Duration `json:"overlap,omitempty"`
}

// A TokenRevocation ends a grant for good, and its sandboxes with it unless Keep.
type TokenRevocation struct {
	Grant string `json:"grant"`
	Keep  bool   `json:"keep,omitempty"`
}

// A TokenSwitch turns a grant off or on again.
type TokenSwitch struct {
	Grant    string `json:"grant"`
	Disabled bool   `json:"disabled"`
}

// A Binding has a connection use a grant; "" is the owner's again.
type Binding struct {
	Connection string `json:"connection"`
	Grant      string `json:"grant,omitempty"`
}

// A BillQuery asks for what AWS billed, by day.
type BillQuery struct {
	Profile string    `json:"profile"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until,omitzero"`
}

// A PriceTable tells which prices are used.
type PriceTable struct {
	Version string   `json:"version"`
	Sourced string   `json:"sourced"` // the day, as in 2026-11-29
	Regions []string `json:"regions"`
	Stale   bool     `json:"stale,omitempty"`
	// Sizes is what sandboxes cost, by region and then by size.
	Sizes []SizePrice `json:"sizes,omitempty"`
}

// A SizePrice is what an hour of a running sandbox of a size costs in a region:
// Base while it uses its baseline, and Peak if it uses all that it may, which is
// what is booked of one without a grant that says otherwise.
type SizePrice struct {
	Region    string        `json:"region"`
	SizeMiB   int           `json:"size_mib"`
	MilliVCPU int           `json:"milli_vcpu"`
	Base      sandbox.Micro `json:"base_micro"`
	Peak      sandbox.Micro `json:"peak_micro"`
}

// The actions, by the name they have between client and engine.
const (
	moneyAuthorize = "authorize"
	moneyQuote     = "quote"
	moneyBalance   = "balance"
	moneyEvents    = "events"
	moneyFollow    = "events/follow"
	moneyTemplates = "templates"
	moneyOrders    = "orders"
	moneySpend     = "spend"
	moneyCreate    = "token/create"
	moneyTokens    = "token/list"
	moneyEdit      = "token/edit"
	moneyRotate    = "token/rotate"
	moneyRevoke    = "token/revoke"
	moneyDisable   = "token/disable"
	moneyBind      = "token/bind"
	moneyBudgets   = "budget/list"
	moneySetBudget = "budget/set"
	moneyClock     = "clock/confirm"
	moneyCheck     = "ledger/check"
	moneyExport    = "ledger/export"
	moneyBill      = "bill"
	moneyPrices    = "prices/refresh"
)

// moneyCalls are what e can be asked.
func moneyCalls(e Accountant) map[string]actionCall {
	return map[string]actionCall{
		moneyAuthorize: on(e.Authorize), moneyQuote: on(e.Quote), moneyBalance: on(e.Balance), moneyEvents: on(e.Events),
		moneyTemplates: on(e.Templates), moneyOrders: on(e.Orders), moneySpend: on(e.Spend),
		moneyCreate: on(e.CreateToken), moneyTokens: on(e.Tokens), moneyEdit: on(e.EditToken), moneyRotate: on(e.RotateToken),
		moneyRevoke: on(e.RevokeToken), moneyDisable: on(e.DisableToken), moneyBind: on(e.Bind),
		moneyBudgets: on(e.Budgets), moneySetBudget: on(e.SetBudget), moneyClock: on(e.ConfirmClock),
		moneyCheck: on(e.CheckLedger), moneyBill: on(e.Bill), moneyPrices: on(e.RefreshPrices),
		moneyFollow: func(ctx context.Context, _ []byte, emit func(any) error) (any, error) {
			return nil, e.FollowEvents(ctx, func(ev sandbox.Event) error { return emit(ev) })
		},
		moneyExport: each(e.ExportLedger),
	}
}

// Authorize returns the grant that the call of ctx is under.
func (c *Client) Authorize(ctx context.Context) (sandbox.Grant, error) {
	return ask[sandbox.Grant](ctx, c, moneyAuthorize, struct{}{}, always)
}

// Quote tells what a sandbox would cost. It makes and holds nothing.
func (c *Client) Quote(ctx context.Context, s sandbox.Spec) (sandbox.Quote, error) {
	return ask[sandbox.Quote](ctx, c, moneyQuote, s, always)
}

// Balance tells what a grant has left.
func (c *Client) Balance(ctx context.Context, q BalanceQuery) (sandbox.Balance, error) {
	return ask[sandbox.Balance](ctx, c, moneyBalance, q, always)
}

// Events returns events, newest first: the caller's own, or all for the owner.
func (c *Client) Events(ctx context.Context, q sandbox.EventQuery) (sandbox.EventPage, error) {
	return ask[sandbox.EventPage](ctx, c, moneyEvents, q, always)
}

// FollowEvents calls emit with each event from now on, until ctx is done or emit
// fails. One that comes while an engine is replaced may be missed: its id tells
// which there were.
func (c *Client) FollowEvents(ctx context.Context, emit func(sandbox.Event) error) error {
	return items(ctx, c, moneyFollow, struct{}{}, always, emit)
}

// Templates lists the images of a profile, the best first.
func (c *Client) Templates(ctx context.Context, p sandbox.Profile) ([]sandbox.Template, error) {
	return ask[[]sandbox.Template](ctx, c, moneyTemplates, p, always)
}

// Orders lists sandboxes of the account, past ones included.
func (c *Client) Orders(ctx context.Context, q sandbox.OrderQuery) (sandbox.OrderPage, error) {
	return ask[sandbox.OrderPage](ctx, c, moneyOrders, q, always)
}

// Spend sums what was spent.
func (c *Client) Spend(ctx context.Context, q sandbox.SpendQuery) ([]sandbox.SpendRow, error) {
	return ask[[]sandbox.SpendRow](ctx, c, moneySpend, q, always)
}

// CreateToken makes a grant of what g says, its id aside, and a secret for it.
// It is not tried again: the secret of a lost answer is lost.
func (c *Client) CreateToken(ctx context.Context, g sandbox.Grant) (NewToken, error) {
	return ask[NewToken](ctx, c, moneyCreate, g, ifUnsent)
}

// Tokens lists all grants, or the one of an id or name.
func (c *Client) Tokens(ctx context.Context, name string) ([]Token, error) {
	return ask[[]Token](ctx, c, moneyTokens, name, always)
}

// EditToken changes what e says of a grant. Its account and its secrets stay as
// they are.
func (c *Client) EditToken(ctx context.Context, e TokenEdit) (sandbox.Grant, error) {
	return ask[sandbox.Grant](ctx, c, moneyEdit, e, always)
}

// RotateToken makes a new secret for a grant. Like [Client.CreateToken] it is
// not tried again.
func (c *Client) RotateToken(ctx context.Context, r TokenRotation) (NewToken, error) {
	return ask[NewToken](ctx, c, moneyRotate, r, ifUnsent)
}

// RevokeToken ends a grant for good.
func (c *Client) RevokeToken(ctx context.Context, r TokenRevocation) (sandbox.Grant, error) {
	return ask[sandbox.Grant](ctx, c, moneyRevoke, r, always)
}

// DisableToken turns a grant off, or on again.
func (c *Client) DisableToken(ctx context.Context, r TokenSwitch) (sandbox.Grant, error) {
	return ask[sandbox.Grant](ctx, c, moneyDisable, r, always)
}

// Bind has a connection use a grant.
func (c *Client) Bind(ctx context.Context, b Binding) error {
	_, err := ask[struct{}](ctx, c, moneyBind, b, always)
	return err
}

// Budgets lists all budgets.
func (c *Client) Budgets(ctx context.Context) ([]sandbox.Budget, error) {
	return ask[[]sandbox.Budget](ctx, c, moneyBudgets, struct{}{}, always)
}

// SetBudget sets the limit and the period of the budget that b names.
func (c *Client) SetBudget(ctx context.Context, b sandbox.Budget) (sandbox.Budget, error) {
	return ask[sandbox.Budget](ctx, c, moneySetBudget, b, always)
}

// ConfirmClock tells the engine that the time of this computer is right.
func (c *Client) ConfirmClock(ctx context.Context) error {
	_, err := ask[struct{}](ctx, c, moneyClock, struct{}{}, always)
	return err
}

// CheckLedger looks for what the account should never hold.
func (c *Client) CheckLedger(ctx context.Context) ([]sandbox.Violation, error) {
	return ask[[]sandbox.Violation](ctx, c, moneyCheck, struct{}{}, always)
}

// ExportLedger passes on the account in parts, as "csv" or "json".
func (c *Client) ExportLedger(ctx context.Context, format string, emit func([]byte) error) error {
	return items(ctx, c, moneyExport, format, ifUnsent, emit)
}

// Bill asks AWS what it billed. Each question costs money.
func (c *Client) Bill(ctx context.Context, q BillQuery) ([]sandbox.BillDay, error) {
	return ask[[]sandbox.BillDay](ctx, c, moneyBill, q, ifUnsent)
}

// RefreshPrices has the engine ask AWS for its prices, as a profile may. Without
// one it asks nobody, and tells which prices are used.
func (c *Client) RefreshPrices(ctx context.Context, profile string) (PriceTable, error) {
	return ask[PriceTable](ctx, c, moneyPrices, profile, always)
}
