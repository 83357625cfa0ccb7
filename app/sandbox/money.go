package sandbox

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Micro is an amount of money in millionths of a US dollar.
type Micro int64

// ErrAmount means that a text is no amount of dollars.
var ErrAmount = errors.New("not an amount of dollars, as in 12.50, with at most 6 decimals")

const perDollar = 1_000_000

// ParseMicro reads dollars: digits, and up to six more after a point. There is
// no sign, exponent, grouping or currency.
func ParseMicro(s string) (Micro, error) {
	whole, fraction, point := strings.Cut(s, ".")
	if !digits(whole) || point && !digits(fraction) || len(fraction) > 6 || len(whole) > 12 {
		return 0, ErrAmount
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, ErrAmount
	}
	part, err := strconv.ParseInt(fraction+strings.Repeat("0", 6-len(fraction)), 10, 64)
	if err != nil {
		return 0, ErrAmount
	}
	return Micro(n*perDollar + part), nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// String is m in dollars, without a currency: at least two decimals, and as
// many more as say all of it.
func (m Micro) String() string {
	n, sign := uint64(m), ""
	if m < 0 {
		n, sign = uint64(-(m+1))+1, "-" // of the least number, too
	}
	fraction := strings.TrimRight(fmt.Sprintf("%06d", n%perDollar), "0")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return fmt.Sprintf("%s%d.%s", sign, n/perDollar, fraction)
}

// Short is m in dollars as sentences and tables show it: to cents and, below a
// dollar, to as many decimals as make four digits. It is rounded; [Micro.String]
// is all of it.
func (m Micro) Short() string {
	unit := Micro(perDollar / 100)
	if m > -perDollar && m < perDollar {
		for unit = 1; max(m, -m) >= 10_000*unit; unit *= 10 {
		}
	}
	rest := m % unit
	out := m - rest
	switch {
	case rest*2 >= unit && out <= math.MaxInt64-unit:
		out += unit
	case rest*2 <= -unit && out >= math.MinInt64+unit:
		out -= unit
	}
	return out.String()
}

// Beside is Short for an amount that is compared with another one: all of it
// where the two would look the same and are not.
func (m Micro) Beside(other Micro) string {
	if m != other && m.Short() == other.Short() {
		return m.String()
	}
	return m.Short()
}

// Plus adds two amounts. What can't be said is [math.MaxInt64], which no limit
// allows.
func (m Micro) Plus(other Micro) Micro {
	sum := m + other
	switch {
	case m > 0 && other > 0 && sum < 0:
		return math.MaxInt64
	case m < 0 && other < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}
