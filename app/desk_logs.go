package app

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// Logs are the logs there are, with their last lines.
func (g *gate) Logs(ctx context.Context, q control.LogQuery) ([]control.Log, error) {
	return owned(ctx, g, func() ([]control.Log, error) { return logTails(q) })
}

const (
	logTail   = 16 << 10 // how much of the end of a log is shown
	logSearch = 1 << 20  // how much of it is looked through for lines of a level
)

// logLevels are the levels as logs have them, those that matter least first.
var logLevels = []string{control.LevelDebug, control.LevelInfo, control.LevelWarning, control.LevelError}

func logTails(q control.LogQuery) ([]control.Log, error) {
	least := slices.Index(logLevels, strings.ToUpper(q.Level))
	if q.Level != "" && least < 0 {
		return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "there is no level " + q.Level + " of logs: use DEBUG, INFO, WARNING or ERROR", Details: map[string]any{"field": "level"}}
	}
	dir, err := logDir()
	if err != nil {
		return nil, deskError(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return nil, deskError(err)
	}
	slices.Sort(found)
	out := []control.Log{}
	for _, path := range found {
		if q.Name != "" && q.Name != filepath.Base(path) {
			continue
		}
		room := int64(logTail)
		if least > 0 {
			room = logSearch
		}
		tail, err := lastOf(path, room)
		if errors.Is(err, fs.ErrNotExist) { // it was turned meanwhile
			continue
		}
		if err != nil {
			return nil, deskError(err)
		}
		if least > 0 {
			tail = linesFrom(tail, least)
		}
		out = append(out, control.Log{Name: filepath.Base(path), Path: path, Tail: tail})
	}
	return out, nil
}

// linesFrom are the last lines of a log that are of a level of [logLevels], or of a
// worse one. What has no level, as what a program says when it dies, goes with
// what is before it, and at the beginning with nothing.
func linesFrom(text string, least int) string {
	var out bytes.Buffer
	in := false
	for line := range strings.Lines(text) {
		if level, ok := levelOf(line); ok {
			in = level >= least
		}
		if in {
			out.WriteString(line)
		}
	}
	kept := out.String()
	if len(kept) > logTail {
		kept = kept[len(kept)-logTail:]
		if _, rest, ok := strings.Cut(kept, "\n"); ok {
			kept = rest
		}
	}
	return kept
}

// levelOf is where the level of a line stands in [logLevels]. One that is worse
// than all of these, or in between, counts as the one below.
func levelOf(line string) (level int, ok bool) {
	_, rest, ok := strings.Cut(" "+line, " level=")
	if !ok {
		return 0, false
	}
	name, _, _ := strings.Cut(rest, " ")
	name, _, _ = strings.Cut(strings.TrimSpace(name), "+")
	if name == "WARN" {
		name = control.LevelWarning
	}
	if name == "CRITICAL" {
		name = control.LevelError
	}
	level = slices.Index(logLevels, name)
	return level, level >= 0
}
