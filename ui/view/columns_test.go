package view

import (
	"fmt"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/assets"
)

// Columns that do not grow hold their titles, and all columns all words that can
// be in them.
func TestColumnsHoldTheirWords(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		v, _ := screen(t, language, "light", fyne.NewSize(1040, 680))
		tx := v.env.Texts
		words := func(keys ...string) (out []string) {
			for _, k := range keys {
				out = append(out, tx.Get(k, "n", "127", "s", "59", "name", "ValueError"))
			}
			return out
		}
		var states []string
		for _, s := range []string{"working", "running", "pending", "creating", "in-doubt", "suspending", "suspended", "terminating"} {
			states = append(states, "tray.state."+s)
		}
		states = append(states, "sandboxes.state.ended", "sandboxes.state.lost")
		spans := []string{"59 min", "9 h 55 min"}
		for _, tt := range []struct {
			what  string
			table *Table
			icon  bool // in the cells
			words map[int][]string
		}{
			{"sandboxes", v.table, true, map[int][]string{
				0: words(states...), 5: append(words("sandboxes.age.fresh"), spans...), 6: append(words("sandboxes.sleep.asleep", "sandboxes.sleep.silent", "sandboxes.sleep.busy", "sandboxes.sleep.never"), spans...),
				7: spans, 8: words("sandboxes.free", "sandboxes.cost.unknown"),
			}},
			{"calls", v.Calls.table, false, map[int][]string{
				1: words("sandboxes.call.canceled", "sandboxes.call.failed", "sandboxes.call.timeout", "sandboxes.call.signal", "sandboxes.call.raised", "sandboxes.call.raised.name", "sandboxes.call.exit", "sandboxes.call.runs", "sandboxes.call.done"),
				2: append(words("sandboxes.seconds"), "9,99 s", "59 min"),
			}},
			{"files", v.Files.table, false, map[int][]string{1: {"1.023,9 KiB"}, 2: {"2026-11-29 12:00"}}},
			{"ports", v.Ports.table, false, map[int][]string{0: {"65535"}}},
			{"events", v.Events.table, false, map[int][]string{0: {"2026-11-29 12:00"}}},
			{"activity", NewActivity(v.env).table, false, map[int][]string{0: {"2026-11-29 12:00", "12:00:00"}}},
		} {
			for i, c := range tt.table.columns {
				room := c.Width
				title := fyne.MeasureText(c.Title, theme.TextSize(), fyne.TextStyle{Bold: true}).Width
				if !c.Grow && title > room {
					t.Errorf("%s: the title %q of %s takes %.0f of %.0f", language, c.Title, tt.what, title, room)
				}
				for _, w := range slices.Compact(tt.words[i]) {
					wide := fyne.MeasureText(w, theme.TextSize(), fyne.TextStyle{}).Width
					if i == 0 && tt.icon {
						wide += theme.IconInlineSize() + 4
					}
					if wide > room {
						t.Errorf("%s: %s takes %.0f of %.0f", language, fmt.Sprintf("%s %d: %q", tt.what, i, w), wide, room)
					}
				}
			}
		}
	}
}
