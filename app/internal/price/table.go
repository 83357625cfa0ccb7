package price

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

//go:embed prices.json
var embedded []byte

var shipped = sync.OnceValue(func() Sheet {
	s, err := ParseSheet("prices.json", embedded)
	if err != nil {
		panic(err) // a test reads it too
	}
	return s
})

// A Table knows prices. It does not change: what adds to one returns another.
type Table struct {
	sizes []int
	own   []Row // of the user; they go first
	aws   []Row
}

// Embedded is the table that is part of the program. It names only regions of
// which a price is known exactly.
func Embedded() *Table { return (&Table{}).With(shipped()) }

// Load is the embedded table with the user's own file over it, if there is one.
func Load(path string) (*Table, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Embedded(), nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSheet+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	s, err := ParseSheet(path, data)
	if err != nil {
		return nil, err
	}
	return Embedded().Override(s), nil
}

func unreadable(path string, err error) error {
	return &sandbox.Error{
		Code: sandbox.Invalid, Msg: fmt.Sprintf("the file of your own prices, %s, can't be read", path),
		Hint: "make it readable for you, or take it away", Err: err,
	}
}

// With adds what AWS says, as [Fetch] returns it. Of two rows for a region that
// are valid, the one that is valid since later goes, then the one looked up later.
func (t *Table) With(s Sheet) *Table {
	return &Table{t.plus(s.Sizes), t.own, slices.Concat(t.aws, s.Rows)}
}

// Override adds what the user says, which goes before what AWS does.
func (t *Table) Override(s Sheet) *Table {
	return &Table{t.plus(s.Sizes), slices.Concat(t.own, s.Rows), t.aws}
}

func (t *Table) plus(sizes []int) []int {
	all := slices.Concat(t.sizes, sizes)
	slices.Sort(all)
	return slices.Compact(all)
}

// Sizes are the baselines in MiB of which a price is known, the least first.
func (t *Table) Sizes() []int { return slices.Clone(t.sizes) }

// Regions are those of which a price is known at that time, in order.
func (t *Table) Regions(at time.Time) []string {
	var all []string
	for _, r := range slices.Concat(t.own, t.aws) {
		if !at.Before(r.ValidFrom) {
			all = append(all, r.Region)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Rates are those for a sandbox of a size that starts then, and whether they
// are known.
func (t *Table) Rates(region string, sizeMiB int, at time.Time) (Rates, bool) {
	if !slices.Contains(t.sizes, sizeMiB) {
		return Rates{}, false
	}
	row, ok := t.row(region, at)
	return row.Rates, ok
}

// Row is what a price in a region comes from.
func (t *Table) row(region string, at time.Time) (Row, bool) {
	for _, rows := range [][]Row{t.own, t.aws} {
		var best Row
		for _, r := range rows {
			if r.Region == region && !at.Before(r.ValidFrom) && (best.Region == "" || !newer(best, r)) {
				best = r
			}
		}
		if best.Region != "" {
			return best, true
		}
	}
	return Row{}, false
}

// newer reports whether a goes before b.
func newer(a, b Row) bool {
	if !a.ValidFrom.Equal(b.ValidFrom) {
		return a.ValidFrom.After(b.ValidFrom)
	}
	return a.Sourced.After(b.Sourced)
}

// Stale are the regions whose price at that time was looked up more than 90
// days before, in order.
func (t *Table) Stale(at time.Time) []Rates {
	var old []Rates
	for _, region := range t.Regions(at) {
		if row, ok := t.row(region, at); ok && row.Stale(at) {
			old = append(old, row.Rates)
		}
	}
	return old
}

// Version names the sheets that t is made of, the first that goes first.
func (t *Table) Version() string {
	var all []string
	for _, r := range slices.Backward(slices.Concat(t.aws, t.own)) {
		if !slices.Contains(all, r.Version) {
			all = append(all, r.Version)
		}
	}
	return strings.Join(all, ", ")
}
