package ui_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// bothOf runs a test in each language, with further parts of the texts.
func bothOf(t *testing.T, test func(t *testing.T, tx assets.Texts)) {
	t.Helper()
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) {
			test(t, assets.Load(language, ui.Texts, ui.SpendTexts, ui.ActivityTexts))
		})
	}
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestDollarsNeverHideAnAmount(t *testing.T) {
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		for m, want := range map[sandbox.Micro][2]string{
			0: {"$0.00", "0,00 US$"}, 1: {"$0.000001", "0,000001 US$"}, 4_321: {"$0.004321", "0,004321 US$"},
			123_456: {"$0.1235", "0,1235 US$"}, 12_345_678: {"$12.35", "12,35 US$"},
		} {
			if got := ui.Dollars(tx, m); got != in(tx, want[0], want[1]) {
				t.Errorf("Dollars(%d) = %q, want %q", m, got, in(tx, want[0], want[1]))
			}
		}
		if got, want := ui.AllDollars(tx, 12_345_678), in(tx, "$12.345678", "12,345678 US$"); got != want {
			t.Errorf("AllDollars = %q, want %q", got, want)
		}
		if a, b := ui.DollarsBeside(tx, 10_000_001, 10_000_000), ui.Dollars(tx, 10_000_000); a == b {
			t.Errorf("amounts that differ are both told as %q", a)
		}
	})
}

func TestDaysOf(t *testing.T) {
	for _, tt := range []struct {
		zone, now, name, from, until string
	}{
		{"UTC", "2026-11-29T15:04:05", ui.RangeToday, "2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z"},
		{"UTC", "2026-11-29T15:04:05", ui.RangeYesterday, "2026-11-28T00:00:00Z", "2026-11-29T00:00:00Z"},
		{"UTC", "2026-11-29T15:04:05", ui.RangeWeek, "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		{"UTC", "2026-11-29T15:04:05", ui.RangeUsual, "2026-10-31T00:00:00Z", "2026-11-30T00:00:00Z"},
		{"UTC", "2026-01-05T00:00:00", ui.RangeMonth, "2026-01-01T00:00:00Z", "2026-01-06T00:00:00Z"},
		{"UTC", "2026-01-31T00:00:00", ui.RangeLastMonth, "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		{"UTC", "2026-11-29T15:04:05", ui.RangeCustom, "2026-10-31T00:00:00Z", "2026-11-30T00:00:00Z"},
		// a day of 25 hours, and one of 23
		{"Europe/Madrid", "2026-10-25T12:00:00", ui.RangeToday, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		{"Europe/Madrid", "2026-03-29T12:00:00", ui.RangeToday, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		// clocks go from 00:00 to 01:00: the day begins at 01:00
		{"America/Santiago", "2026-09-06T12:00:00", ui.RangeToday, "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
		{"America/Santiago", "2026-09-06T12:00:00", ui.RangeYesterday, "2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z"},
		// clocks go from 24:00 back to 23:00
		{"America/Santiago", "2026-04-04T12:00:00", ui.RangeToday, "2026-04-04T03:00:00Z", "2026-04-05T04:00:00Z"},
		// 00:00 comes twice: the day begins at the first
		{"America/Havana", "2026-11-01T12:00:00", ui.RangeToday, "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
	} {
		t.Run(tt.zone+" "+tt.now+" "+tt.name, func(t *testing.T) {
			now, err := time.ParseInLocation("2006-01-02T15:04:05", tt.now, zone(t, tt.zone))
			if err != nil {
				t.Fatal(err)
			}
			d := ui.DaysOf(tt.name, now)
			if got := d.From.UTC().Format(time.RFC3339); got != tt.from {
				t.Errorf("they begin at %s, want %s", got, tt.from)
			}
			if got := d.Until.UTC().Format(time.RFC3339); got != tt.until {
				t.Errorf("they end at %s, want %s", got, tt.until)
			}
		})
	}
}

// TestBucketsHaveNoGap holds that the parts of a range are all of it, each once,
// whatever clocks do meanwhile.
func TestBucketsHaveNoGap(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Madrid", "America/Santiago", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu"} {
		loc := zone(t, name)
		for _, days := range []int{1, 30, 62, 63, 400, 800, 3650} {
			now := time.Date(2026, 11, 29, 12, 0, 0, 0, loc)
			d, err := ui.ParseDays(now.AddDate(0, 0, 1-days).Format(time.DateOnly), now.Format(time.DateOnly), now)
			if err != nil {
				t.Fatal(err)
			}
			all := ui.Buckets(d)
			at := d.From
			for _, b := range all {
				if !b.From.Equal(at) || !b.Until.After(b.From) {
					t.Fatalf("%s, %d days: a part is from %s to %s, and the one before ends at %s", name, days, b.From, b.Until, at)
				}
				at = b.Until
			}
			if !at.Equal(d.Until) {
				t.Errorf("%s, %d days: the parts end at %s, not at %s", name, days, at, d.Until)
			}
			if days <= 62 && len(all) != days {
				t.Errorf("%s: %d days have %d parts", name, days, len(all))
			}
			if days > 62 && len(all) > 125 {
				t.Errorf("%s: %d days have %d parts", name, days, len(all))
			}
		}
	}
}

func TestParseDays(t *testing.T) {
	for _, tt := range []struct {
		first, last string
		want        error
	}{
		{"2026-11-01", " 2026-11-28 ", nil},
		{"2026-11-29", "2026-11-29", nil},
		{"2026-11-29", "2026-12-31", nil}, // what is yet to come is empty
		{"yesterday", "2026-11-29", ui.ErrDay},
		{"2026-11-29", "2026-11-31", ui.ErrDay},
		{"2026-11-29", "2026-11-28", ui.ErrOrder},
		{"2026-11-30", "2026-11-30", ui.ErrFuture},
		{"2006-11-29", "2026-11-29", ui.ErrLong},
	} {
		if _, err := ui.ParseDays(tt.first, tt.last, noon); !errors.Is(err, tt.want) {
			t.Errorf("ParseDays(%q, %q): %v, want %v", tt.first, tt.last, err, tt.want)
		}
	}
}

func TestScale(t *testing.T) {
	for most, want := range map[sandbox.Micro]ui.Scale{
		0: {1, 1}, 1: {1, 1}, 7: {8, 2}, 40: {40, 10}, 41: {60, 20}, 999_999: {1_000_000, 500_000}, 1_000_001: {1_500_000, 500_000},
	} {
		if got := ui.ScaleOf(most); got != want {
			t.Errorf("ScaleOf(%d) = %v, want %v", most, got, want)
		}
	}
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		got := ui.ScaleOf(7_000).Marks(tx)
		want := []string{in(tx, "$0.000", "0,000 US$"), in(tx, "$0.002", "0,002 US$"), in(tx, "$0.004", "0,004 US$"), in(tx, "$0.006", "0,006 US$"), in(tx, "$0.008", "0,008 US$")}
		if !slices.Equal(got, want) {
			t.Errorf("the marks are %q, want %q", got, want)
		}
	})
}

func TestPartsKeepPaidAndWouldApart(t *testing.T) {
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		snap := sandbox.Snapshot{At: noon, Sandboxes: []sandbox.Sandbox{
			awake(func(b *sandbox.Sandbox) { b.Key, b.Host, b.Cost.Total, b.PerHour = "l", "Cursor", 5, 3600 }),
			awake(func(b *sandbox.Sandbox) { b.Key, b.Profile, b.Cost.Total, b.PerHour = "a", "work", 70, 7200 }),
			awake(func(b *sandbox.Sandbox) { b.Key, b.Profile, b.Cost.Total, b.Orphan = "o", "work", 1000, true }),
			awake(func(b *sandbox.Sandbox) {
				b.Key, b.Profile, b.Cost.Total, b.State = "e", "work", 1000, sandbox.Terminated
			}),
		}}
		lives := ui.Lives(snap, map[string]string{"a": "Claude Code"}, noon.Add(10*time.Second))
		hosts := ui.Parts(tx, sandbox.SpendByHost, []sandbox.SpendRow{
			{Key: "Cursor", Would: 40, Sandboxes: 2}, {Key: "", Cost: sandbox.Cost{Total: 30}, Sandboxes: 1}, {Key: "Claude Code", Cost: sandbox.Cost{Total: 10}, Sandboxes: 3},
		}, lives)
		type row struct {
			label        string
			total, would sandbox.Micro
		}
		var got []row
		for _, p := range hosts {
			got = append(got, row{p.Label, p.Total(), p.WouldTotal()})
		}
		want := []row{{"Claude Code", 100, 0}, {in(tx, "No app", "Ninguna app"), 30, 0}, {"Cursor", 0, 55}}
		if !slices.Equal(got, want) {
			t.Errorf("by app: %v, want %v", got, want)
		}
		profiles := ui.Parts(tx, sandbox.SpendByProfile, []sandbox.SpendRow{{Key: "local", Would: 40, Sandboxes: 2}, {Key: "work", Cost: sandbox.Cost{Total: 40}, Sandboxes: 4}}, lives)
		sum := ui.Sum{}
		for _, p := range profiles {
			sum = sum.Plus(p.Sum)
		}
		if sum.Spent != 40 || sum.Running != 90 || sum.Would != 40 || sum.WouldRun != 15 || sum.Sandboxes != 6 {
			t.Errorf("by profile in all: %+v", sum)
		}
		if note, want := ui.RunningNote(tx, sum), in(tx, "$0.00009 of it so far", "De ello, 0,00009 US$ hasta ahora"); !strings.HasPrefix(note, want) {
			t.Errorf("what runs is told as %q", note)
		}
		if note := ui.WouldNote(tx, sum); !strings.Contains(note, in(tx, "in AWS: $0.000055", "en AWS: 0,000055 US$")) {
			t.Errorf("what local ones would cost is told as %q", note)
		}
	})
}

func TestBars(t *testing.T) {
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		days := ui.Buckets(ui.DaysOf(ui.RangeWeek, noon))
		sums := make([]ui.Sum, len(days))
		sums[5] = ui.SumOf([]sandbox.SpendRow{{Cost: sandbox.Cost{Total: 1_230_000}, Would: 400, Sandboxes: 1}})
		bars := ui.Bars(days, sums, []ui.Live{{Profile: "work", Cost: 50}, {Profile: "local", Local: true, Cost: 7}}, noon)
		if got, want := bars[5].Sentence(tx), in(tx, "Sat 28 Nov 2026: $1.23 spent · free here, $0.0004 in AWS · 1 sandbox", "sáb 28 nov 2026: 1,23 US$ gastados · gratis aquí, 0,0004 US$ en AWS · 1 sandbox"); got != want {
			t.Errorf("yesterday: %q, want %q", got, want)
		}
		if got, want := bars[0].Sentence(tx), in(tx, "Mon 23 Nov 2026: nothing", "lun 23 nov 2026: nada"); got != want {
			t.Errorf("the first day: %q, want %q", got, want)
		}
		if b := bars[6]; b.Running != 50 || b.WouldRun != 7 {
			t.Errorf("what lives is not in the bar of today: %+v", b)
		}
		if b := bars[5]; b.Running != 0 {
			t.Errorf("what lives is in the bar of yesterday: %+v", b)
		}
	})
}

func TestParseDollars(t *testing.T) {
	for text, want := range map[string]sandbox.Micro{
		"12": 12_000_000, "12.50": 12_500_000, "12,5": 12_500_000, " $3 ": 3_000_000, "3 US$": 3_000_000, "USD 3": 3_000_000, "0": 0, "0.005": 5_000, "0,125": 125_000, "0.000001": 1,
	} {
		if got, err := ui.ParseDollars(text); err != nil || got != want {
			t.Errorf("ParseDollars(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"": ui.ErrAmount, "ten": ui.ErrAmount, "-1": ui.ErrAmount, "1e3": ui.ErrAmount, "1.0000001": ui.ErrAmount,
		"1,000": ui.ErrThousands, "1.000": ui.ErrThousands, "1,000.50": ui.ErrThousands, "1.000,50": ui.ErrThousands,
	} {
		if got, err := ui.ParseDollars(text); !errors.Is(err, want) {
			t.Errorf("ParseDollars(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestBudgetRows(t *testing.T) {
	micro := func(m sandbox.Micro) *sandbox.Micro { return &m }
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		rows := ui.BudgetRows(tx, []sandbox.Budget{
			{Level: sandbox.LevelGrant, Owner: "g1", Limit: micro(1_000_000), Period: sandbox.PeriodDay, Spent: 500_000, Held: 350_000},
			{Level: sandbox.LevelGrant, Owner: "gone", Limit: micro(1_000_000), Period: sandbox.PeriodDay},
			{Level: sandbox.LevelGrant, Owner: sandbox.GrantOwner, Spent: 77, Period: sandbox.PeriodNone},
			{Level: sandbox.LevelProfile, Owner: "work", Limit: micro(2_000_000), Period: sandbox.PeriodMonth, Spent: 2_500_000, OverLimit: true},
			{Level: sandbox.LevelGrant, Owner: "g2", Spent: 77, Period: sandbox.PeriodNone},
			{Level: sandbox.LevelProfile, Owner: "local", Limit: micro(1), Period: sandbox.PeriodNone},
		}, map[string]ui.BudgetOwner{"g1": {Name: "bot", RunsOut: noon.Add(90 * time.Minute)}, "gone": {Name: "old", Gone: true}}, noon)
		type row struct {
			title, text, left, runs string
			gauge                   ui.Gauge
		}
		var got []row
		for _, r := range rows {
			got = append(got, row{r.Title, r.Text, r.Left, r.Runs, r.Gauge})
		}
		want := []row{
			{in(tx, "Everything", "Todo"), in(tx, "$0.00 spent, no limit", "0,00 US$ gastados, sin límite"), "", "", ""},
			{in(tx, "Profile work", "Perfil work"), in(tx, "$2.50 of $2.00 a month", "2,50 US$ de 2,00 US$ al mes"), in(tx, "Over its limit: nothing new starts", "Límite superado: no empieza nada nuevo"), "", ui.GaugeBad},
			{
				in(tx, "Token bot", "Token bot"), in(tx, "$0.50 of $1.00 a day, and $0.35 held for what runs", "0,50 US$ de 1,00 US$ al día, y 0,35 US$ retenidos por lo que está en marcha"),
				in(tx, "$0.15 left", "Quedan 0,15 US$"), in(tx, "At this pace it runs out in 1 h 30 min", "A este ritmo se acaba en 1 h 30 min"), ui.GaugeWarn,
			},
			{in(tx, "Token g2", "Token g2"), in(tx, "$0.000077 spent, no limit", "0,000077 US$ gastados, sin límite"), "", "", ""},
		}
		if !slices.Equal(got, want) {
			t.Errorf("the budgets are\n%q\nwant\n%q", got, want)
		}
	})
}

func TestRaisesBudget(t *testing.T) {
	micro := func(m sandbox.Micro) *sandbox.Micro { return &m }
	of := func(m *sandbox.Micro, p sandbox.Period) sandbox.Budget {
		return sandbox.Budget{Limit: m, Period: p}
	}
	for _, tt := range []struct {
		old, changed sandbox.Budget
		want         bool
	}{
		{of(nil, sandbox.PeriodNone), of(micro(5), sandbox.PeriodDay), false},
		{of(micro(5), sandbox.PeriodDay), of(micro(4), sandbox.PeriodDay), false},
		{of(micro(5), sandbox.PeriodDay), of(micro(6), sandbox.PeriodDay), true},
		{of(micro(5), sandbox.PeriodDay), of(nil, sandbox.PeriodDay), true},
		{of(micro(5), sandbox.PeriodMonth), of(micro(5), sandbox.PeriodDay), true},
		{of(micro(5), sandbox.PeriodDay), of(micro(5), sandbox.PeriodNone), false},
	} {
		if got := ui.RaisesBudget(tt.old, tt.changed); got != tt.want {
			t.Errorf("RaisesBudget(%v, %v) = %v", tt.old, tt.changed, got)
		}
	}
}

func TestMeaning(t *testing.T) {
	micro := func(m sandbox.Micro) *sandbox.Micro { return &m }
	old := sandbox.Budget{Spent: 3_000_000, Held: 1}
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			changed sandbox.Budget
			want    string
		}{
			{sandbox.Budget{}, in(tx, "Nothing limits this", "Ya nada limita")},
			{sandbox.Budget{Limit: micro(5_000_000), Period: sandbox.PeriodNone}, in(tx, "At most $5.00 in all, ever.", "Como mucho 5,00 US$ en total, para siempre.")},
			{sandbox.Budget{Limit: micro(3_000_000), Period: sandbox.PeriodDay}, in(tx, "At most $3.00 on each day, from 00:00 UTC. More is spent and held than that already ($3.000001)", "Como mucho 3,00 US$ cada día, desde las 00:00 UTC. Ya se ha gastado y retenido más que eso (3,000001 US$)")},
			{sandbox.Budget{Limit: micro(9_000_000), Period: sandbox.PeriodMonth}, in(tx, "At most $9.00 in each month", "Como mucho 9,00 US$ cada mes")},
			{sandbox.Budget{Limit: micro(9_000_000), Period: sandbox.PeriodWeek}, in(tx, "At most $9.00 in each week", "Como mucho 9,00 US$ cada semana")},
		} {
			if got := ui.Meaning(tx, old, tt.changed); !strings.HasPrefix(got, tt.want) {
				t.Errorf("Meaning = %q, want %q", got, tt.want)
			}
		}
	})
}

func TestQuoteFacts(t *testing.T) {
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			name string
			q    sandbox.Quote
			want []string // values that are told
			not  []string
		}{
			{
				"fits",
				sandbox.Quote{Profile: "work", Region: "us-east-1", Template: "arn:aws:x:img", Version: "3", SizeMiB: 2048, Life: 3600, Idle: 300, Hold: 400_000, Expected: 100_000, Fits: true, Prices: "p1", Sourced: "2026-11-01"},
				[]string{in(tx, "yes", "sí"), in(tx, "$0.40", "0,40 US$"), in(tx, "$0.10", "0,10 US$"), "1 h", "5 min", "2 GiB", "work, us-east-1", "img 3", in(tx, "p1, as of 2026-11-01", "p1, del 2026-11-01")},
				nil,
			},
			{
				"too much",
				sandbox.Quote{Profile: "work", Life: 7200, Hold: 400_000, Expected: 100_000, Level: "profile", Longest: 1800},
				[]string{in(tx, "no: the profile's budget is too small", "no: el presupuesto del perfil es demasiado pequeño"), "30 min", in(tx, "never", "nunca")},
				nil,
			},
			{"nothing fits", sandbox.Quote{Profile: "work", Life: 7200}, []string{in(tx, "no: it may not live that long", "no: no puede vivir tanto"), in(tx, "nothing", "nada")}, nil},
			{
				"local",
				sandbox.Quote{Profile: "local", Local: true, Life: 3600, Hold: 400_000, Expected: 100_000, Fits: true, Hint: "idle_short"},
				[]string{in(tx, "nothing: it is on this computer", "nada: está en este equipo"), in(tx, "This computer", "Este equipo"), in(tx, "with so short an idle time", "con un tiempo de silencio tan corto")},
				nil,
			},
			{
				"unpriced",
				sandbox.Quote{Profile: "work", Unpriced: true, Life: 3600, Fits: true},
				[]string{in(tx, "not known: there is no price", "no se sabe: no hay precio")},
				[]string{in(tx, "$0.00", "0,00 US$")},
			},
		} {
			all := ui.QuoteFacts(tx, tt.q)
			told := func(text string) bool {
				return slices.ContainsFunc(all, func(f ui.Fact) bool { return strings.HasPrefix(f.Value, text) })
			}
			for _, w := range tt.want {
				if !told(w) {
					t.Errorf("%s: %q is not told: %v", tt.name, w, all)
				}
			}
			for _, w := range tt.not {
				if told(w) {
					t.Errorf("%s: %q is told: %v", tt.name, w, all)
				}
			}
			for _, f := range all {
				if strings.HasPrefix(f.Name, "spend.") || strings.HasPrefix(f.Value, "spend.") {
					t.Errorf("%s: %v has no text", tt.name, f)
				}
			}
		}
	})
}

func TestOrderTexts(t *testing.T) {
	settled := sandbox.Micro(1_234)
	bothOf(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			name        string
			o           sandbox.Order
			cost, would string
		}{
			{"settled", sandbox.Order{State: sandbox.OrderSettled, Settled: &settled}, in(tx, "$0.001234", "0,001234 US$"), ""},
			{"open", sandbox.Order{State: sandbox.OrderRunning, Cost: sandbox.Cost{Total: 99}}, in(tx, "$0.000099 so far", "0,000099 US$ hasta ahora"), ""},
			{"local", sandbox.Order{State: sandbox.OrderSettled, Local: true, Would: 50}, in(tx, "free", "gratis"), in(tx, "$0.00005", "0,00005 US$")},
			{"local, open", sandbox.Order{State: sandbox.OrderRunning, Local: true, Cost: sandbox.Cost{Total: 60}}, in(tx, "free", "gratis"), in(tx, "$0.00006", "0,00006 US$")},
			{"unpriced", sandbox.Order{State: sandbox.OrderSettled, Unpriced: true, Settled: new(sandbox.Micro)}, in(tx, "not known", "no se sabe"), ""},
			{"released", sandbox.Order{State: sandbox.OrderReleased}, in(tx, "$0.00", "0,00 US$"), ""},
		} {
			if got := ui.OrderCost(tx, tt.o); got != tt.cost {
				t.Errorf("%s: costs %q, want %q", tt.name, got, tt.cost)
			}
			if got := ui.OrderWould(tx, tt.o); got != tt.would {
				t.Errorf("%s: would cost %q, want %q", tt.name, got, tt.would)
			}
		}
		facts := ui.OrderFacts(tx, sandbox.Order{
			ID: "k", State: sandbox.OrderSettled, Settled: &settled, Profile: "work", Region: "us-east-1", Grant: "g1", Burst: sandbox.BurstBaseline, SizeMiB: 512,
			Cost:    sandbox.Cost{Compute: 1_000, Launch: 200, Cycles: 30, Storage: 4, Total: 1_234},
			AskedAt: noon, StartedAt: noon, EndedAt: noon.Add(time.Hour), EndReason: "spontaneous", Idle: 300, Prices: "p1", Template: "arn:x:img", Version: "2",
		}, map[string]string{"g1": "bot"}, noon)
		var values []string
		for _, f := range facts {
			values = append(values, f.Value)
			if strings.HasPrefix(f.Name, "spend.") || strings.HasPrefix(f.Value, "spend.") {
				t.Errorf("%v has no text", f)
			}
		}
		for _, want := range []string{in(tx, "$0.001", "0,001 US$"), in(tx, "$0.0002", "0,0002 US$"), in(tx, "$0.00003", "0,00003 US$"), in(tx, "$0.000004", "0,000004 US$"), "bot", "img 2", "512 MiB", "1 h"} {
			if !slices.Contains(values, want) {
				t.Errorf("%q is not told: %q", want, values)
			}
		}
	})
}
