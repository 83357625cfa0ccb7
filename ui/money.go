package ui

import (
	"fmt"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

const cent = sandbox.Micro(10_000)

// Money is an amount to the cent. What is less than one is told as such, since
// it is not nothing.
func Money(tx assets.Texts, m sandbox.Micro) string {
	if m > 0 && m < cent {
		return tx.Get("tray.money.less")
	}
	whole := (m + cent/2) / cent
	return tx.Get("tray.money", "amount", fmt.Sprintf("%d%s%02d", whole/100, tx.Get("tray.money.point"), whole%100))
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
