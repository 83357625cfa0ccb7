package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Notices say which notices a desktop shows. The zero value is what is usual.
type Notices struct {
	Off    bool   // none at all
	Quiet  string // hours without any, as in "22:00-07:30"; "" is none
	Undone bool   // not that a long call has ended well
	rest   []field
}

// CheckQuiet reports why a text is not the hours of [Notices].
func CheckQuiet(hours string) error {
	if hours == "" {
		return nil
	}
	const clock = "15:04"
	wrong := fmt.Errorf("%q are no hours without notices: write them as 22:00-07:30", hours)
	if len(hours) != len("22:00-07:30") || hours[5] != '-' {
		return wrong
	}
	from, err := time.Parse(clock, hours[:5])
	if err != nil {
		return wrong
	}
	to, err := time.Parse(clock, hours[6:])
	if err != nil || from.Equal(to) {
		return wrong
	}
	return nil
}

func (n *Notices) decode(raw json.RawMessage) error {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	all, err := fieldsOf(raw)
	if err != nil {
		return err
	}
	done := true
	n.rest, err = take(all, map[string]any{"off": &n.Off, "quiet": &n.Quiet, "done": &done})
	n.Undone = !done
	return err
}

func (n *Notices) encode() (json.RawMessage, error) {
	return object([]entry{{"off", n.Off, !n.Off}, {"quiet", n.Quiet, n.Quiet == ""}, {"done", false, !n.Undone}}, n.rest)
}
