package ui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/assets"
)

// A PriceGroup is regions that ask the same, and what they ask.
type PriceGroup struct {
	Regions string // names of all of them
	Rows    [][]string
}

// PriceTitles are the titles of the columns of a [PriceGroup].
func PriceTitles(tx assets.Texts) []string {
	return []string{tx.Get("spend.sizes.memory"), tx.Get("spend.sizes.vcpu"), tx.Get("spend.sizes.base"), tx.Get("spend.sizes.peak")}
}

// PriceGroups are what sandboxes cost, the sizes of a region in order. Regions
// with the same prices, as most have them, are told of once.
func PriceGroups(tx assets.Texts, all []control.SizePrice) []PriceGroup {
	var regions []string
	rows := map[string][]control.SizePrice{} // of a region
	for _, p := range all {
		if rows[p.Region] == nil {
			regions = append(regions, p.Region)
		}
		rows[p.Region] = append(rows[p.Region], p)
	}
	same := func(a, b control.SizePrice) bool {
		a.Region = b.Region
		return a == b
	}
	var out []PriceGroup
	var firsts []string // a region of each
	for _, r := range regions {
		slices.SortFunc(rows[r], func(a, b control.SizePrice) int { return a.SizeMiB - b.SizeMiB })
		i := slices.IndexFunc(firsts, func(first string) bool { return slices.EqualFunc(rows[first], rows[r], same) })
		if i >= 0 {
			out[i].Regions += ", " + printable(r)
			continue
		}
		g := PriceGroup{Regions: printable(r)}
		for _, p := range rows[r] {
			g.Rows = append(g.Rows, []string{SizeText(p.SizeMiB), vcpuText(tx, p.MilliVCPU), Dollars(tx, p.Base), Dollars(tx, p.Peak)})
		}
		out, firsts = append(out, g), append(firsts, r)
	}
	return out
}

// vcpuText is a number of vCPUs.
func vcpuText(tx assets.Texts, milli int) string {
	return strings.Replace(strconv.FormatFloat(float64(milli)/1000, 'f', -1, 64), ".", tx.Get("tray.money.point"), 1)
}
