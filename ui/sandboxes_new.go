package ui

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A TemplateFilter is which templates are wanted; what is zero or "" does not
// matter.
type TemplateFilter struct {
	LeastMiB    int
	MostPerHour sandbox.Micro
	Region      string
}

// Of are those of all that are wanted, in their order. One whose size or price is
// not known is not wanted by who minds.
func (f TemplateFilter) Of(all []sandbox.Template) (out []sandbox.Template) {
	for _, t := range all {
		switch {
		case t.SizeMiB < f.LeastMiB:
		case f.MostPerHour > 0 && (t.PerHour == 0 || t.PerHour > f.MostPerHour):
		case f.Region != "" && templateRegion(t) != f.Region:
		default:
			out = append(out, t)
		}
	}
	return out
}

// templateRegion is the region in the ARN of a template.
func templateRegion(t sandbox.Template) string {
	if parts := strings.Split(t.ARN, ":"); len(parts) > 3 && parts[0] == "arn" {
		return printable(parts[3])
	}
	return ""
}

// A TemplateOption is a value to filter by, and how it reads.
type TemplateOption struct {
	Filter TemplateFilter
	Label  string
}

// TemplateOptions are what can be filtered by: memory, with the vCPUs that come
// with it as far as prices tell, then price, then region. Where there is no choice there is no option;
// else the first one is that it does not matter.
func TemplateOptions(tx assets.Texts, all []sandbox.Template, known []control.SizePrice) (out [3][]TemplateOption) {
	sizes, prices, regions := map[int]bool{}, map[sandbox.Micro]bool{}, map[string]bool{}
	for _, t := range all {
		if t.SizeMiB > 0 {
			sizes[t.SizeMiB] = true
		}
		if t.PerHour > 0 {
			prices[t.PerHour] = true
		}
		if r := templateRegion(t); r != "" {
			regions[r] = true
		}
	}
	if len(sizes) > 1 {
		out[0] = append(out[0], TemplateOption{Label: tx.Get("sandboxes.new.memory.any")})
		for _, mib := range slices.Sorted(maps.Keys(sizes))[1:] { // the least one has all of them
			label := tx.Get("sandboxes.new.memory.least", "memory", SizeText(mib))
			if i := slices.IndexFunc(known, func(p control.SizePrice) bool { return p.SizeMiB == mib }); i >= 0 {
				label = tx.Get("sandboxes.new.memory.vcpu", "memory", SizeText(mib), "vcpu", vcpuText(tx, known[i].MilliVCPU))
			}
			out[0] = append(out[0], TemplateOption{TemplateFilter{LeastMiB: mib}, label})
		}
	}
	if len(prices) > 1 {
		out[1] = append(out[1], TemplateOption{Label: tx.Get("sandboxes.new.price.any")})
		all := slices.Sorted(maps.Keys(prices))
		for _, p := range all[:len(all)-1] {
			out[1] = append(out[1], TemplateOption{TemplateFilter{MostPerHour: p}, tx.Get("sandboxes.new.price.most", "amount", Dollars(tx, p))})
		}
	}
	if len(regions) > 1 {
		out[2] = append(out[2], TemplateOption{Label: tx.Get("sandboxes.new.region.any")})
		for _, r := range slices.Sorted(maps.Keys(regions)) {
			out[2] = append(out[2], TemplateOption{TemplateFilter{Region: r}, r})
		}
	}
	return out
}

// WhyTemplate says why a template is the one that is proposed of some, in a line.
func WhyTemplate(tx assets.Texts, t sandbox.Template, of []sandbox.Template) string {
	cheapest := t.PerHour > 0
	for _, other := range of {
		cheapest = cheapest && (other.Version == "" || other.PerHour == 0 || other.PerHour >= t.PerHour)
	}
	switch {
	case t.Version == "":
		return tx.Get("sandboxes.new.why.unready")
	case t.Default:
		return tx.Get("sandboxes.new.why.default")
	case t.Used == 1:
		return tx.Get("sandboxes.new.why.used.one")
	case t.Used > 1:
		return tx.Get("sandboxes.new.why.used", "n", strconv.Itoa(t.Used))
	case len(of) == 1:
		return tx.Get("sandboxes.new.why.only")
	case cheapest:
		return tx.Get("sandboxes.new.why.cheap")
	}
	return tx.Get("sandboxes.new.why.first")
}
