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
	own   []Sheet // of the user; they go first
	aws   []Sheet
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

// With adds what AWS says, as [Fetch] returns it. Of two sheets that price a
// region, the one goes that was looked up later.
func (t *Table) With(s Sheet) *Table {
	return &Table{t.plus(s.Sizes), t.own, append(slices.Clip(t.aws), s)}
}

// Override adds what the user says, which goes before what AWS does, and before
// what was added earlier.
func (t *Table) Override(s Sheet) *Table {
	return &Table{t.plus(s.Sizes), append(slices.Clip(t.own), s), t.aws}
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
	for _, s := range slices.Concat(t.own, t.aws) {
		for _, r := range s.Rows {
			if !at.Before(r.ValidFrom) {
				all = append(all, r.Region)
			}
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
	row, ok := t.Row(region, at)
	return row.Rates, ok
}

// Row is the price of a region at that time with where it is from, and whether
// it is known.
func (t *Table) Row(region string, at time.Time) (Row, bool) {
	for _, s := range slices.Backward(t.own) {
		if row, ok := s.row(region, at); ok {
			return row, true
		}
	}
	var best Row
	found := false
	for _, s := range t.aws {
		if row, ok := s.row(region, at); ok && (!found || !row.Sourced.Before(best.Sourced)) {
			best, found = row, true
		}
	}
	return best, found
}

// row is the last one of a region that is valid by then.
func (s Sheet) row(region string, at time.Time) (best Row, ok bool) {
	for _, r := range s.Rows {
		if r.Region == region && !at.Before(r.ValidFrom) && (!ok || r.ValidFrom.After(best.ValidFrom)) {
			best, ok = r, true
		}
	}
	return best, ok
}

// Stale are the prices at that time that were looked up more than 90 days
// before, in the order of their regions.
func (t *Table) Stale(at time.Time) []Rates {
	var old []Rates
	for _, region := range t.Regions(at) {
		if row, ok := t.Row(region, at); ok && row.Stale(at) {
			old = append(old, row.Rates)
		}
	}
	return old
}

// Version names the sheets that t is made of, the one that goes first first.
func (t *Table) Version() string {
	var all []string
	for _, s := range slices.Backward(slices.Concat(t.aws, t.own)) {
		all = append(all, s.Version)
	}
	return strings.Join(all, ", ")
}
