package ui_test

import (
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

func TestParseEnd(t *testing.T) {
	now := time.Date(2026, 11, 29, 17, 10, 20, 0, time.FixedZone("there", -3*3600))
	day := func(d, h, m int) time.Time { return time.Date(2026, 11, d, h, m, 0, 0, now.Location()) }
	for _, tt := range []struct {
		text string
		want time.Time // zero: it is neither
	}{
		{"18:00", day(29, 18, 0)},
		{" 9:05 ", day(30, 9, 5)},
		{"17:10", day(30, 17, 10)},
		{"18.30", day(29, 18, 30)},
		{"45 min", now.Add(45 * time.Minute)},
		{"45m", now.Add(45 * time.Minute)},
		{"45 minutos", now.Add(45 * time.Minute)},
		{"2 h", now.Add(2 * time.Hour)},
		{"2 HORAS", now.Add(2 * time.Hour)},
		{"1,5 h", now.Add(90 * time.Minute)},
		{"1.5h", now.Add(90 * time.Minute)},
		{"1 h 20 min", now.Add(80 * time.Minute)},
		{"1h20", now.Add(80 * time.Minute)},
		{"", time.Time{}},
		{"45", time.Time{}},
		{"24:00", time.Time{}},
		{"12:60", time.Time{}},
		{"0 min", time.Time{}},
		{"-5 min", time.Time{}},
		{"tomorrow", time.Time{}},
		{"999999 h", time.Time{}},
	} {
		at, err := ui.ParseEnd(tt.text, now)
		if !at.Equal(tt.want) || (err == nil) == tt.want.IsZero() {
			t.Errorf("%q: %v, %v, want %v", tt.text, at, err, tt.want)
		}
	}
}

// A time of the day is on the clock of the computer, also in the night in which
// that is changed.
func TestParseEndAcrossClockChange(t *testing.T) {
	madrid, err := time.LoadLocation("Europe/Madrid")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 10, 25, 0, 30, 0, 0, madrid)
	at, err := ui.ParseEnd("06:00", now)
	if err != nil || at.Sub(now) != 6*time.Hour+30*time.Minute {
		t.Errorf("%v from now, %v", at.Sub(now), err)
	}
}

func TestPlanEnd(t *testing.T) {
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		local := awake(func(b *sandbox.Sandbox) { b.EndsAt = noon.Add(2 * time.Hour) })
		aws := local
		aws.Profile, aws.PerHour, aws.Extendable = "work", 120_000, noon.Add(3*time.Hour)
		unpriced := aws
		unpriced.PerHour = 0
		for _, tt := range []struct {
			name string
			b    sandbox.Sandbox
			text string
			want ui.EndPlan
		}{
			{"earlier, for nothing", local, "13:00", ui.EndPlan{
				At: noon.Add(time.Hour), Text: in(tx, "It ends at 13:00, in 1 h. That is 1 h earlier than so far.", "Termina a las 13:00, en 1 h. Es 1 h antes que hasta ahora."),
				Cost: in(tx, "It costs nothing: it is on this computer", "No cuesta nada: está en este equipo"),
			}},
			{"later than it can", local, "14:01", ui.EndPlan{
				Problem: in(tx, "It ends at 14:00 in any case, in 2 h: its life was fixed when it was made, so it can only end earlier", "Termina de todos modos a las 14:00, en 2 h: su vida se fijó al crearlo, así que solo puede terminar antes"),
			}},
			{"earlier, for less", aws, "30 min", ui.EndPlan{
				At: noon.Add(30 * time.Minute), Text: in(tx, "It ends at 12:30, in 30 min. That is 1 h 30 min earlier than so far.", "Termina a las 12:30, en 30 min. Es 1 h 30 min antes que hasta ahora."),
				Cost: in(tx, "Up to $0.18 less, if it would have run all that time", "Hasta 0,18 US$ menos, si hubiera funcionado todo ese tiempo"),
			}},
			{"put off again, for more", aws, "2,5 h", ui.EndPlan{
				At: noon.Add(150 * time.Minute), Text: in(tx, "It ends at 14:30, in 2 h 30 min. That is 30 min later than so far.", "Termina a las 14:30, en 2 h 30 min. Es 30 min después que hasta ahora."),
				Cost: in(tx, "Up to $0.06 more, if it runs all that time", "Hasta 0,06 US$ más, si funciona todo ese tiempo"),
			}},
			{"put off too far", aws, "15:30", ui.EndPlan{
				Problem: in(tx, "It can end at 15:00 at the latest, in 3 h: its life was fixed when it was made", "Puede terminar como muy tarde a las 15:00, en 3 h: su vida se fijó al crearlo"),
			}},
			{"as it is", aws, "14:00", ui.EndPlan{
				At: noon.Add(2 * time.Hour), Text: in(tx, "It ends at 14:00, in 2 h. That is when it ends already.", "Termina a las 14:00, en 2 h. Es cuando termina ya ahora."),
			}},
			{"tomorrow is too late", aws, "11:00", ui.EndPlan{
				Problem: in(tx, "It can end at 15:00 at the latest, in 3 h: its life was fixed when it was made", "Puede terminar como muy tarde a las 15:00, en 3 h: su vida se fijó al crearlo"),
			}},
			{"without a price", unpriced, "13:00", ui.EndPlan{
				At: noon.Add(time.Hour), Text: in(tx, "It ends at 13:00, in 1 h. That is 1 h earlier than so far.", "Termina a las 13:00, en 1 h. Es 1 h antes que hasta ahora."),
				Cost: in(tx, "What that changes of its cost is not known", "No se sabe qué cambia eso de su coste"),
			}},
			{"no time", local, "soon", ui.EndPlan{
				Problem: in(tx, "A time, as in 18:30, or how long from now, as in 45 min or 2 h", "Una hora, como 18:30, o cuánto falta, como 45 min o 2 h"),
			}},
		} {
			if got := ui.PlanEnd(tx, tt.b, tt.text, noon); got != tt.want {
				t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
			}
		}
	})
}

// What is offered can be done, and is read as it is meant.
func TestEndChoices(t *testing.T) {
	bothPages(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			name       string
			now        time.Time
			ends, last time.Duration // from now
			want       []string
		}{
			{"much", noon, 8 * time.Hour, 0, []string{"15 min", "1 h", "18:00"}},
			{"not until the evening", noon.Add(10 * time.Minute), 3 * time.Hour, 0, []string{"15 min", "1 h", "15:00"}},
			{"extendable", noon, time.Hour, 2*time.Hour + 20*time.Minute, []string{"15 min", "1 h", "14:00", "14:20"}},
			{"little", noon.Add(20 * time.Minute), 10 * time.Minute, 0, nil},
			{"over midnight", noon.Add(11 * time.Hour), 3 * time.Hour, 0, []string{"15 min", "1 h", "02:00"}},
		} {
			b := awake(func(b *sandbox.Sandbox) { b.EndsAt = tt.now.Add(tt.ends) })
			if tt.last > 0 {
				b.Extendable = tt.now.Add(tt.last)
			}
			var got []string
			for _, c := range ui.EndChoices(tx, b, tt.now) {
				got = append(got, c.Value)
				if p := ui.PlanEnd(tx, b, c.Value, tt.now); p.Problem != "" || c.Label == "" {
					t.Errorf("%s: %q: %s", tt.name, c.Label, p.Problem)
				}
			}
			if len(got) != len(tt.want) {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
				continue
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
				}
			}
		}
	})
}
