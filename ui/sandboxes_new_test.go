package ui_test

import (
	"slices"
	"testing"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

func template(name, region string, mib int, hour sandbox.Micro) sandbox.Template {
	return sandbox.Template{Name: name, ARN: "arn:aws:lambda:" + region + ":1:microvm-image:" + name, Version: "1", SizeMiB: mib, PerHour: hour}
}

func TestTemplateFilter(t *testing.T) {
	all := []sandbox.Template{
		template("small", "us-east-1", 1024, 60_000), template("large", "us-east-1", 8192, 500_000), template("far", "us-west-2", 2048, 126_000), {Name: "unknown"},
	}
	for _, tt := range []struct {
		name string
		by   ui.TemplateFilter
		want []string
	}{
		{"all", ui.TemplateFilter{}, []string{"small", "large", "far", "unknown"}},
		{"memory", ui.TemplateFilter{LeastMiB: 2048}, []string{"large", "far"}},
		{"price", ui.TemplateFilter{MostPerHour: 126_000}, []string{"small", "far"}},
		{"region", ui.TemplateFilter{Region: "us-east-1"}, []string{"small", "large"}},
		{"all of them", ui.TemplateFilter{LeastMiB: 2048, MostPerHour: 126_000, Region: "us-east-1"}, nil},
	} {
		var got []string
		for _, s := range tt.by.Of(all) {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTemplateOptions(t *testing.T) {
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		labels := func(known []control.SizePrice, all ...sandbox.Template) (out [3][]string) {
			for i, options := range ui.TemplateOptions(tx, all, known) {
				for _, o := range options {
					out[i] = append(out[i], o.Label)
					if len(o.Filter.Of(all)) == 0 {
						t.Errorf("%q leaves nothing", o.Label)
					}
				}
			}
			return out
		}
		small, large := template("small", "us-east-1", 1024, 60_000), template("large", "us-east-1", 8192, 500_000)
		if got := labels(nil, small); got[0] != nil || got[1] != nil || got[2] != nil {
			t.Errorf("of one template there is a choice: %q", got)
		}
		got := labels([]control.SizePrice{{SizeMiB: 8192, MilliVCPU: 4000}}, small, large)
		want := [3][]string{
			{in(tx, "Any memory", "Cualquier memoria"), in(tx, "8 GiB, 4 vCPU or more", "8 GiB, 4 vCPU o más")},
			{in(tx, "Any price", "Cualquier precio"), in(tx, "Up to $0.06 an hour", "Hasta 0,06 US$ por hora")},
			nil,
		}
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%q, want %q", got[i], want[i])
			}
		}
		got = labels(nil, small, large, template("far", "us-west-2", 1024, 60_000))
		if want := []string{in(tx, "Any region", "Cualquier región"), "us-east-1", "us-west-2"}; !slices.Equal(got[2], want) || got[0][1] != in(tx, "8 GiB or more", "8 GiB o más") {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestWhyTemplate(t *testing.T) {
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		small, large := template("small", "us-east-1", 1024, 60_000), template("large", "us-east-1", 8192, 500_000)
		set, used, once, idle := large, large, large, large
		set.Default, used.Used, once.Used, idle.Version = true, 38, 1, ""
		for _, tt := range []struct {
			t    sandbox.Template
			of   []sandbox.Template
			want string
		}{
			{set, []sandbox.Template{set, small}, in(tx, "Proposed because it is the one set for this place", "Propuesta por ser la configurada para este lugar")},
			{used, []sandbox.Template{used, small}, in(tx, "Proposed because you have used it 38 times", "Propuesta porque la has usado 38 veces")},
			{once, []sandbox.Template{once, small}, in(tx, "Proposed because you have used it before", "Propuesta porque ya la has usado")},
			{large, []sandbox.Template{large}, in(tx, "The only one that there is", "La única que hay")},
			{small, []sandbox.Template{small, large}, in(tx, "Proposed because it costs the least", "Propuesta por ser la más barata")},
			{large, []sandbox.Template{large, small}, in(tx, "Proposed because it can be started now", "Propuesta porque se puede iniciar ya")},
			{idle, []sandbox.Template{idle}, in(tx, "It can't be started yet: none of its versions is active", "Aún no se puede iniciar: ninguna de sus versiones está activa")},
		} {
			if got := ui.WhyTemplate(tx, tt.t, tt.of); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		}
	})
}

func TestPriceGroups(t *testing.T) {
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		p := func(region string, mib, vcpu int, base, peak sandbox.Micro) control.SizePrice {
			return control.SizePrice{Region: region, SizeMiB: mib, MilliVCPU: vcpu, Base: base, Peak: peak}
		}
		got := ui.PriceGroups(tx, []control.SizePrice{
			p("us-east-1", 2048, 1000, 126_000, 504_000), p("us-east-1", 512, 250, 31_500, 126_000),
			p("us-west-2", 512, 250, 31_500, 126_000), p("us-west-2", 2048, 1000, 126_000, 504_000),
			p("eu-west-1", 512, 250, 40_000, 160_000),
		})
		want := []ui.PriceGroup{
			{"us-east-1, us-west-2", [][]string{
				{"512 MiB", in(tx, "0.25", "0,25"), in(tx, "$0.0315", "0,0315 US$"), in(tx, "$0.126", "0,126 US$")},
				{"2 GiB", "1", in(tx, "$0.126", "0,126 US$"), in(tx, "$0.504", "0,504 US$")},
			}},
			{"eu-west-1", [][]string{{"512 MiB", in(tx, "0.25", "0,25"), in(tx, "$0.04", "0,04 US$"), in(tx, "$0.16", "0,16 US$")}}},
		}
		if len(got) != len(want) {
			t.Fatalf("%q, want %q", got, want)
		}
		for i := range want {
			if got[i].Regions != want[i].Regions || !slices.EqualFunc(got[i].Rows, want[i].Rows, slices.Equal[[]string]) {
				t.Errorf("%q, want %q", got[i], want[i])
			}
		}
		if n := len(ui.PriceTitles(tx)); n != len(got[0].Rows[0]) {
			t.Errorf("%d titles of %d columns", n, len(got[0].Rows[0]))
		}
	})
}
