package ui

import (
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// Money is an amount as [sandbox.Micro.Short] rounds it, so that all programs
// tell the same: to the cent, and below a dollar as fine as it takes to be told
// from nothing.
func Money(tx assets.Texts, m sandbox.Micro) string {
	sign, digits := "", m.Short()
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "−", rest
	}
	return sign + tx.Get("tray.money", "amount", strings.Replace(digits, ".", tx.Get("tray.money.point"), 1))
}

// CostNow is what a sandbox has cost at now: what the engine knew when it told
// of it, and since then what one takes that runs at its baseline.
func CostNow(b sandbox.Sandbox, told, now time.Time) sandbox.Micro {
	since := now.Sub(told)
	if b.State != sandbox.Running || since <= 0 {
		return b.Cost.Total
	}
	return b.Cost.Total.Plus(b.PerHour * sandbox.Micro(since/time.Second) / 3600)
}

// Today is when the day began in which now is, on the clock of this computer.
func Today(now time.Time) time.Time {
	y, m, d := now.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, now.Location())
}

// Settled is what rows of spending come to. Local sandboxes cost nothing.
func Settled(rows []sandbox.SpendRow) sandbox.Micro {
	var sum sandbox.Micro
	for _, r := range rows {
		sum = sum.Plus(r.Cost.Total)
	}
	return sum
}
