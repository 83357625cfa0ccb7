package ui

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A Fact is a name and a value, for a list of them.
type Fact struct {
	Name, Value string
	Gauge       Gauge // of the value
}

// QuoteFacts tell what a sandbox would cost.
func QuoteFacts(tx assets.Texts, q sandbox.Quote) []Fact {
	var out []Fact
	add := func(name, value string, gauge Gauge) {
		if value != "" {
			out = append(out, Fact{tx.Get("spend.quote." + name), value, gauge})
		}
	}
	fits, gauge := FitsText(tx, q)
	add("fits", fits, gauge)
	if !q.Fits {
		longest := tx.Get("spend.quote.longest.none")
		if q.Longest > 0 {
			longest = Span(tx, q.Longest.Duration())
		}
		add("longest", longest, GaugeGood)
	}
	switch {
	case q.Unpriced:
		add("hold", tx.Get("spend.quote.unpriced"), GaugeWarn)
	case q.Local:
		add("cost", tx.Get("spend.quote.local"), GaugeGood)
		add("would", Dollars(tx, q.Expected), GaugeGood)
		add("would-hold", Dollars(tx, q.Hold), GaugeGood)
	default:
		add("hold", Dollars(tx, q.Hold), GaugeGood)
		add("expected", Dollars(tx, q.Expected), GaugeGood)
	}
	if key := "spend.quote.hint." + q.Hint; q.Hint != "" && tx.Has(key) {
		add("hint", tx.Get(key), GaugeWarn)
	}
	add("life", Span(tx, q.Life.Duration()), GaugeGood)
	idle := tx.Get("spend.quote.idle.never")
	if q.Idle > 0 {
		idle = Span(tx, q.Idle.Duration())
	}
	add("idle", idle, GaugeGood)
	if q.SizeMiB > 0 {
		add("size", SizeText(q.SizeMiB), GaugeGood)
	}
	place := printable(q.Profile)
	if q.Local {
		place = tx.Get("spend.local")
	}
	add("place", strings.TrimSuffix(place+", "+q.Region, ", "), GaugeGood)
	add("template", strings.TrimSpace(lastPart(q.Template)+" "+q.Version), GaugeGood)
	if q.Prices != "" {
		add("prices", PricesNote(tx, q.Prices, q.Sourced, false), GaugeGood)
	}
	return out
}

// FitsText says whether a quote fits, and if not why.
func FitsText(tx assets.Texts, q sandbox.Quote) (string, Gauge) {
	if q.Fits {
		return tx.Get("spend.quote.fits.yes"), GaugeGood
	}
	if key := "spend.quote.fits." + q.Level; q.Level != "" && tx.Has(key) {
		return tx.Get(key), GaugeBad
	}
	return tx.Get("spend.quote.fits.no"), GaugeBad
}

// SizeText is a size of memory.
func SizeText(mib int) string {
	if mib >= 1024 && mib%1024 == 0 {
		return strconv.Itoa(mib/1024) + " GiB"
	}
	return strconv.Itoa(mib) + " MiB"
}

// TemplateText is a template in a list of them: what its sandboxes have, and
// cost.
func TemplateText(tx assets.Texts, t sandbox.Template, local bool) string {
	text := printable(t.Name)
	if t.SizeMiB > 0 {
		text += " · " + SizeText(t.SizeMiB)
	}
	switch {
	case t.PerHour == 0:
	case local:
		text += " · " + tx.Get("spend.template.would", "amount", Dollars(tx, t.PerHour))
	default:
		text += " · " + tx.Get("spend.template.hour", "amount", Dollars(tx, t.PerHour))
	}
	return text
}

// lastPart is the name in an ARN.
func lastPart(arn string) string {
	return printableTo(arn[strings.LastIndexByte(arn, ':')+1:], longest)
}

// ErrSpan means that a text is no length of time. Its text is a key.
var ErrSpan = errors.New("spend.span.wrong")

// ParseHoursOf reads hours that somebody typed, such as 1.5 or 0,5.
func ParseHoursOf(text string) (time.Duration, error) { return parseTimes(text, time.Hour) }

// ParseMinutes reads minutes that somebody typed. None at all is none.
func ParseMinutes(text string) (time.Duration, error) {
	if strings.TrimSpace(text) == "" {
		return 0, nil
	}
	return parseTimes(text, time.Minute)
}

func parseTimes(text string, unit time.Duration) (time.Duration, error) {
	text = strings.Replace(strings.TrimSpace(text), ",", ".", 1)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > 10_000 {
		return 0, ErrSpan
	}
	return time.Duration(math.Round(n*unit.Seconds())) * time.Second, nil
}
