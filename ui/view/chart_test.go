package view

import (
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// TestChartUsesItsObjectsAgain holds that a day of drawings leaves nothing with
// the toolkit, which keeps each object that it has met for a while.
func TestChartUsesItsObjectsAgain(t *testing.T) {
	_, env := spendIn(t, "en", "light", fyne.NewSize(780, 580))
	c := NewChart(env)
	c.Resize(fyne.NewSize(600, chartHeight))
	r := test.WidgetRenderer(c)
	bars := func(n int, spent sandbox.Micro) (out []ui.Bar) {
		day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		for i := range n {
			var b ui.Bar
			b.From, b.Unit = day.AddDate(0, 0, i), "day"
			b.Spent, b.Running = spent+sandbox.Micro(i)*10_000, 20_000
			out = append(out, b)
		}
		return out
	}
	c.Draw(bars(7, 1_000_000))
	was := slices.Clone(r.Objects())
	for spent := sandbox.Micro(1_000_001); spent < 1_000_050; spent++ {
		c.Draw(bars(7, spent))
		for _, o := range r.Objects() {
			if !slices.Contains(was, o) {
				t.Fatalf("%T is another one", o)
			}
		}
	}
	c.Draw(bars(2, 1_000_000))
	if got := len(r.Objects()); got >= len(was) {
		t.Errorf("%d objects for 2 bars, %d for 7", got, len(was))
	}
}
