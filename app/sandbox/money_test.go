package sandbox_test

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

// A limit in dollars is read exactly, or not at all.
func TestA5_ParseMicro(t *testing.T) {
	for s, want := range map[string]sandbox.Micro{
		"12.50": 12_500_000, "12.5": 12_500_000, "12": 12_000_000, "0": 0, "0.00": 0, "0.000001": 1, "007.10": 7_100_000,
		"0.1": 100_000, "0.29": 290_000, "1.005": 1_005_000, // what floats get wrong
		"999999999999.999999": 999_999_999_999_999_999,
	} {
		if got, err := sandbox.ParseMicro(s); err != nil || got != want {
			t.Errorf("ParseMicro(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{
		"NaN", "nan", "Inf", "-Inf", "infinity", "-1", "-0", "-0.01", "+1", // no number of dollars
		"0.0000001", "1.2345678", "12.5000000", // over-precise, even if by zeros
		"", ".", "1.", ".5", "1.2.3", "1..2", "1e3", "1E3", "0x10", "0b1", "1_000", "1,000", "1,5", "$1", "1 USD", " 1", "1 ", "1\n",
		"१", "１", "1٫5", "1\x00", "1000000000000", "99999999999999999999",
	} {
		if got, err := sandbox.ParseMicro(s); !errors.Is(err, sandbox.ErrAmount) || got != 0 {
			t.Errorf("ParseMicro(%q) = %d, %v, want an ErrAmount", s, got, err)
		}
	}
}

func TestMicroString(t *testing.T) {
	for m, want := range map[sandbox.Micro]string{
		0: "0.00", 1: "0.000001", 10: "0.00001", 500_000: "0.50", 12_500_000: "12.50", 12_345_600: "12.3456", 1_000_000: "1.00",
		-1: "-0.000001", -1_500_000: "-1.50", math.MaxInt64: "9223372036854.775807", math.MinInt64: "-9223372036854.775808",
	} {
		if got := m.String(); got != want {
			t.Errorf("String of %d = %s, want %s", int64(m), got, want)
		}
	}
}

func TestMicroShort(t *testing.T) {
	for m, want := range map[sandbox.Micro]string{
		0: "0.00", 1: "0.000001", 983: "0.000983", 1_623: "0.001623", 13_412: "0.01341", 13_415: "0.01342", 127_083: "0.1271", 500_000: "0.50",
		999_949: "0.9999", 999_950: "1.00", 1_000_000: "1.00", 1_091_330: "1.09", 4_509_443: "4.51", 12_505_000: "12.51", 12_504_999: "12.50",
		-1: "-0.000001", -127_083: "-0.1271", -1_505_000: "-1.51", -999_950: "-1.00",
		math.MaxInt64: "9223372036854.77", math.MinInt64: "-9223372036854.77", // the next can't be said
	} {
		if got := m.Short(); got != want {
			t.Errorf("Short of %d = %s, want %s", int64(m), got, want)
		}
	}
	for _, tt := range []struct {
		m, other sandbox.Micro
		want     string
	}{
		{4_999_999, 5_000_000, "4.999999"},
		{5_000_000, 4_999_999, "5.00"},
		{5_000_000, 5_000_000, "5.00"},
		{4_999_999, 6_000_000, "5.00"},
	} {
		if got := tt.m.Beside(tt.other); got != tt.want {
			t.Errorf("%d beside %d = %s, want %s", int64(tt.m), int64(tt.other), got, tt.want)
		}
	}
}

func TestMicroPlus(t *testing.T) {
	for _, tt := range []struct{ a, b, want sandbox.Micro }{
		{1, 2, 3},
		{-1, 1, 0},
		{math.MaxInt64, 0, math.MaxInt64},
		{math.MaxInt64, 1, math.MaxInt64},
		{math.MaxInt64 - 1, 1, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MinInt64, -1, math.MinInt64},
		{math.MinInt64, math.MinInt64, math.MinInt64},
		{math.MinInt64, math.MaxInt64, -1},
	} {
		if got := tt.a.Plus(tt.b); got != tt.want {
			t.Errorf("%d plus %d = %d, want %d", int64(tt.a), int64(tt.b), int64(got), int64(tt.want))
		}
		if got := tt.b.Plus(tt.a); got != tt.want {
			t.Errorf("%d plus %d = %d, want %d", int64(tt.b), int64(tt.a), int64(got), int64(tt.want))
		}
	}
}

// amount is the grammar, written a second time.
var amount = regexp.MustCompile(`\A[0-9]{1,12}(\.[0-9]{1,6})?\z`)

// A5: a text is an amount if the grammar says so, it is then that very amount,
// and it is read again from what is shown of it.
func FuzzParseMicro(f *testing.F) {
	for _, s := range []string{"12.50", "0", "0.000001", "999999999999.999999", "NaN", "-1", "+1", "1e3", "0.0000001", ".5", "1.", "1,5", "", "00.10", "１"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := sandbox.ParseMicro(s)
		if ok := amount.MatchString(s); ok != (err == nil) {
			t.Fatalf("ParseMicro(%q) = %d, %v", s, got, err)
		}
		if err != nil {
			if !errors.Is(err, sandbox.ErrAmount) || got != 0 {
				t.Fatalf("ParseMicro(%q) = %d, %v", s, got, err)
			}
			return
		}
		want, _ := new(big.Rat).SetString(s)
		want.Mul(want, big.NewRat(1_000_000, 1))
		if !want.IsInt() || want.Num().Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("ParseMicro(%q) = %d, want %s", s, got, want)
		}
		if back, err := sandbox.ParseMicro(got.String()); err != nil || back != got {
			t.Fatalf("%q is shown as %s, which reads as %d, %v", s, got, back, err)
		}
	})
}
