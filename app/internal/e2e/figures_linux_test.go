package e2e

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// A figure is one row of the bench: what was measured, beside what it is held
// against, and how often of the one may be of the other.
type figure struct {
	what, anchor string
	ours, theirs float64 // in the middle; theirs is the goal itself where there is no anchor
	unit         string
	goal         float64 // ours may be so many times theirs; 0 is no goal
}

// beside holds a time against that of something else, of which it may be goal
// times as much.
func beside(what string, ours time.Duration, anchor string, theirs time.Duration, goal float64) figure {
	return figure{what, anchor, millis(ours), millis(theirs), "ms", goal}
}

// within holds a time against a limit.
func within(what string, ours, limit time.Duration) figure {
	return figure{what: what, ours: millis(ours), theirs: millis(limit), unit: "ms", goal: 1}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// printFigures prints a table. Goals are printed, never asserted.
func printFigures(rows []figure) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nwhat\tp50\tanchor\tp50\tratio\tgoal\t")
	for _, f := range rows {
		ratio := f.ours / f.theirs
		goal, mark := "-", ""
		if f.goal > 0 {
			goal, mark = fmt.Sprintf("≤ %.3g", f.goal), "met"
			if ratio > f.goal {
				mark = fmt.Sprintf("missed, %.1f times the goal", ratio/f.goal)
			}
		}
		anchor, theirs := f.anchor, f.amount(f.theirs)
		if anchor == "" {
			anchor, theirs = "goal "+theirs, "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%s\t%s\n", f.what, f.amount(f.ours), anchor, theirs, ratio, goal, mark)
	}
	w.Flush()
}

func (f figure) amount(v float64) string { return fmt.Sprintf("%.1f %s", v, f.unit) }

// median sorts d and returns what is in its middle.
func median[T ~int | ~int64](d []T) T {
	slices.Sort(d)
	return d[len(d)/2]
}
