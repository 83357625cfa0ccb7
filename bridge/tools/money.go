package tools

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A money is an amount as answers have it: to calculate with, and to show.
type money struct {
	Micro int64  `json:"micro"`
	USD   string `json:"usd"`
}

func moneyOf(m sandbox.Micro) money { return money{int64(m), m.String()} }

// moneyOrNull is nil for an amount that is not known.
func moneyOrNull(m sandbox.Micro) *money {
	if m == 0 {
		return nil
	}
	return new(moneyOf(m))
}

func limitOf(m *sandbox.Micro) *money {
	if m == nil {
		return nil
	}
	return new(moneyOf(*m))
}

// digits writes an amount in a sentence.
func (s *set) digits(amount string) string {
	if s.Texts.Language == assets.Spanish {
		return strings.Replace(amount, ".", ",", 1)
	}
	return amount
}

// hours are a length of time in hours, to two decimals and never more than it.
func hours(of sandbox.Seconds) float64 { return float64(of*100/3600) / 100 }

func hoursText(of sandbox.Seconds) string { return strconv.FormatFloat(hours(of), 'f', -1, 64) }

// whole reads an integer among data that may have come as JSON.
func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		return int64(v), v == float64(int64(v))
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	case sandbox.Micro:
		return int64(v), true
	case sandbox.Seconds:
		return int64(v), true
	}
	return 0, false
}
