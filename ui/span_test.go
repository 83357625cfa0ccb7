package ui_test

import (
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

func TestAge(t *testing.T) {
	tests := []struct {
		age    time.Duration
		en, es string
		after  time.Duration // it is told otherwise
	}{
		{0, "under a minute", "menos de un minuto", time.Minute},
		{-time.Hour, "under a minute", "menos de un minuto", time.Minute},
		{59 * time.Second, "under a minute", "menos de un minuto", time.Second},
		{time.Minute, "1 min", "1 min", time.Minute},
		{12*time.Minute + 30*time.Second, "12 min", "12 min", 30 * time.Second},
		{time.Hour, "1 h", "1 h", 5 * time.Minute},
		{66 * time.Minute, "1 h 5 min", "1 h 5 min", 4 * time.Minute},
		{10*time.Hour + 59*time.Minute, "10 h", "10 h", time.Minute},
		{25 * time.Hour, "1 day", "1 día", 23 * time.Hour},
		{49 * time.Hour, "2 days", "2 días", 23 * time.Hour},
	}
	both(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			got, until := ui.Age(tx, noon.Add(-tt.age), noon)
			if want := in(tx, tt.en, tt.es); got != want || !until.Equal(noon.Add(tt.after)) {
				t.Errorf("Age(%v) = %q until %v, want %q until %v", tt.age, got, until.Sub(noon), want, tt.after)
			}
		}
	})
}

func TestCountdown(t *testing.T) {
	tests := []struct {
		left   time.Duration
		en, es string
		after  time.Duration
	}{
		{-time.Second, "under a minute", "menos de un minuto", -1},
		{0, "under a minute", "menos de un minuto", -1},
		{time.Second, "1 min", "1 min", time.Second},
		{time.Minute, "1 min", "1 min", time.Minute},
		{4*time.Minute + time.Second, "5 min", "5 min", time.Second},
		{time.Hour, "1 h", "1 h", time.Minute},
		{time.Hour + time.Second, "1 h 5 min", "1 h 5 min", time.Second},
		{7*time.Hour + 58*time.Minute, "8 h", "8 h", 3 * time.Minute},
	}
	both(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			got, until := ui.Countdown(tx, noon.Add(tt.left), noon)
			want := in(tx, tt.en, tt.es)
			if got != want || tt.after < 0 != until.IsZero() || tt.after >= 0 && !until.Equal(noon.Add(tt.after)) {
				t.Errorf("Countdown(%v) = %q until %v, want %q until %v", tt.left, got, until.Sub(noon), want, tt.after)
			}
		}
	})
}

// TestSpansTellWhenTheyChange walks an hour and a half second by second: a text
// stays until the moment that was told, and not longer.
func TestSpansTellWhenTheyChange(t *testing.T) {
	tx := assets.Load(assets.English, ui.Texts)
	end := noon.Add(90 * time.Minute)
	for name, at := range map[string]func(now time.Time) (string, time.Time){
		"age":       func(now time.Time) (string, time.Time) { return ui.Age(tx, noon, now) },
		"countdown": func(now time.Time) (string, time.Time) { return ui.Countdown(tx, end, now) },
	} {
		text, until := at(noon)
		changes := 0
		for now := noon; now.Before(end); now = now.Add(time.Second) {
			got, next := at(now)
			if got != text && now.Before(until) {
				t.Fatalf("%s: %q became %q at %v, before %v", name, text, got, now.Sub(noon), until.Sub(noon))
			}
			if !now.Before(until) {
				if got == text {
					t.Fatalf("%s: still %q at %v, after %v", name, text, now.Sub(noon), until.Sub(noon))
				}
				text, until = got, next
				changes++
			}
		}
		if changes > 67 {
			t.Errorf("%s: %d changes in 90 minutes", name, changes)
		}
	}
}

func TestMoney(t *testing.T) {
	tests := []struct {
		micro  sandbox.Micro
		en, es string
	}{
		{0, "$0.00", "0,00 US$"},
		{1, "$0.000001", "0,000001 US$"},
		{9_999, "$0.009999", "0,009999 US$"},
		{10_000, "$0.01", "0,01 US$"},
		{123_456, "$0.1235", "0,1235 US$"},
		{999_999, "$1.00", "1,00 US$"},
		{12_345_678, "$12.35", "12,35 US$"},
		{-1_500_000, "−$1.50", "−1,50 US$"},
	}
	both(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			if got, want := ui.Money(tx, tt.micro), in(tx, tt.en, tt.es); got != want {
				t.Errorf("Money(%d) = %q, want %q", tt.micro, got, want)
			}
		}
	})
}

func TestCostNow(t *testing.T) {
	b := awake(func(b *sandbox.Sandbox) { b.Cost.Total, b.PerHour = 100, 3600 })
	if got := ui.CostNow(b, noon, noon.Add(10*time.Second)); got != 110 {
		t.Errorf("10 s later it is %d, want 110", got)
	}
	if got := ui.CostNow(b, noon, noon.Add(-time.Minute)); got != 100 {
		t.Errorf("of a clock behind it is %d, want 100", got)
	}
	b.State = sandbox.Suspended
	if got := ui.CostNow(b, noon, noon.Add(time.Hour)); got != 100 {
		t.Errorf("asleep it is %d, want 100", got)
	}
}
