package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

func TestEndForm(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		for _, look := range []string{"light", "dark"} {
			for _, size := range []fyne.Size{{Width: 1040, Height: 680}, {Width: 640, Height: 480}} {
				t.Run(fmt.Sprint(language, look, size.Width), func(t *testing.T) {
					v, w := screen(t, language, look, size)
					b := boxes(4)[3]
					b.PerHour = 130_000
					var asked []time.Time
					f := NewEndForm(v.env, func() sandbox.Sandbox { return b }, func(at time.Time, done func(string)) {
						asked = append(asked, at)
						done(map[bool]string{true: "", false: "it is ending"}[len(asked) > 1])
					})
					name := fmt.Sprintf("end-%s-%s-%v-", language, look, size.Width)
					snap(t, w, name+"first")
					test.Tap(f.task.ok)
					if len(asked) != 0 || f.at.problem.Text == "" {
						t.Errorf("with nothing filled in it asks for %v, and says %q", asked, f.at.problem.Text)
					}
					f.at.entry.SetText("23:30")
					if !f.at.problem.Visible() || f.result.Visible() {
						t.Error("it does not say that this is too late")
					}
					snap(t, w, name+"late")
					test.Tap(f.quick[0])
					if f.at.problem.Visible() || !f.result.Visible() || !strings.Contains(f.cost.Text, "0") {
						t.Errorf("of a time that can be: %q, %q", f.result.Text, f.cost.Text)
					}
					snap(t, w, name+"good")
					test.Tap(f.task.ok)
					if len(asked) != 1 || !asked[0].Equal(boxNoon.Add(15*time.Minute)) || f.task.done {
						t.Errorf("asked for %v; a refusal ends it: %v", asked, f.task.done)
					}
					snap(t, w, name+"refused")
					test.Tap(f.task.ok)
					if !f.task.done {
						t.Error("what is done does not end it")
					}
				})
			}
		}
	}
}
