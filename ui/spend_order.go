package ui

import (
	"cmp"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// OrderName is what a sandbox of the account is called.
func OrderName(o sandbox.Order) string {
	return Name(sandbox.Sandbox{ID: cmp.Or(o.Sandbox, o.ID), Name: o.Name})
}

// OrderStateText is how far a sandbox of the account got.
func OrderStateText(tx assets.Texts, o sandbox.Order) string {
	return tx.Get("spend.order.state." + string(o.State))
}

// OrderCost is what a sandbox of the account has cost, in a word or two.
func OrderCost(tx assets.Texts, o sandbox.Order) string {
	switch {
	case o.State == sandbox.OrderReleased:
		return Dollars(tx, 0)
	case o.Unpriced:
		return tx.Get("spend.order.unpriced")
	case o.Local:
		return tx.Get("spend.order.free")
	case o.Settled != nil:
		return Dollars(tx, *o.Settled)
	}
	return tx.Get("spend.order.so-far", "amount", Dollars(tx, o.Cost.Total))
}

// OrderWould is what a local sandbox would have cost in AWS, "" of any other.
func OrderWould(tx assets.Texts, o sandbox.Order) string {
	would := o.Would
	if o.State.Open() {
		would = o.Cost.Total
	}
	if !o.Local || would == 0 {
		return ""
	}
	return Dollars(tx, would)
}

// OrderTime is how long a sandbox of the account has lived, or did.
func OrderTime(tx assets.Texts, o sandbox.Order, now time.Time) string {
	if o.StartedAt.IsZero() {
		return ""
	}
	end := o.EndedAt
	if end.IsZero() {
		end = now
	}
	return Span(tx, end.Sub(o.StartedAt))
}

// OrderFacts are all that the account says of a sandbox.
func OrderFacts(tx assets.Texts, o sandbox.Order, grants map[string]string, now time.Time) []Fact {
	var out []Fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, Fact{Name: tx.Get("spend.order." + name), Value: value})
		}
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.In(now.Location()).Format(time.DateTime)
	}
	add("state", OrderStateText(tx, o))
	add("cost", OrderCost(tx, o))
	if o.Local {
		add("would", OrderWould(tx, o))
	}
	if o.Cost.Total > 0 && !o.Unpriced {
		for _, part := range []struct {
			name   string
			amount sandbox.Micro
		}{{"compute", o.Cost.Compute}, {"launch", o.Cost.Launch}, {"cycles", o.Cost.Cycles}, {"storage", o.Cost.Storage}} {
			add(part.name, AllDollars(tx, part.amount))
		}
	}
	if o.State.Open() && !o.Local && !o.Unpriced {
		add("hold", Dollars(tx, o.Hold))
	}
	place := printable(o.Profile)
	if o.Local {
		place = tx.Get("spend.local")
	}
	if o.Region != "" {
		place += ", " + printable(o.Region)
	}
	add("place", place)
	add("host", printable(o.Host))
	if o.Grant != sandbox.GrantOwner {
		add("grant", printable(cmp.Or(grants[o.Grant], o.Grant)))
	}
	template := lastPart(o.Template)
	if o.Version != "" && template != "" {
		template += " " + printable(o.Version)
	}
	add("template", template)
	if o.SizeMiB > 0 {
		add("size", SizeText(o.SizeMiB))
	}
	add("asked", at(o.AskedAt))
	add("started", at(o.StartedAt))
	add("ended", at(o.EndedAt))
	if !o.EndedAt.IsZero() && o.EndReason != "" {
		add("why", EndText(tx, o.EndReason))
	}
	add("time", OrderTime(tx, o, now))
	if o.Idle > 0 {
		add("idle", Span(tx, o.Idle.Duration()))
	}
	add("burst", tx.Get("spend.order.burst."+string(cmp.Or(o.Burst, sandbox.BurstStrict))))
	add("prices", printable(o.Prices))
	return out
}

// EndText says why a sandbox ended.
func EndText(tx assets.Texts, why sandbox.EndReason) string {
	if key := "spend.end." + string(why); tx.Has(key) {
		return tx.Get(key)
	}
	return tx.Get("spend.end.other")
}

// HostText is the name of an app, in a table.
func HostText(host string) string { return printable(host) }
