package ui

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// An entryRow is an entry for programs.
type entryRow struct {
	At       time.Time        `json:"at"`
	Kind     string           `json:"kind"`
	Severity sandbox.Severity `json:"severity"`
	Text     string           `json:"text"`
	Sandbox  string           `json:"sandbox,omitempty"`
	Name     string           `json:"name,omitempty"`
	Host     string           `json:"host,omitempty"`
	Profile  string           `json:"profile,omitempty"`
	Token    string           `json:"token,omitempty"`
	Command  string           `json:"command,omitempty"`
	Exit     *int             `json:"exit_code,omitempty"`
	Ended    *time.Time       `json:"ended_at,omitempty"`
	Error    *sandbox.Error   `json:"error,omitempty"`
	Data     map[string]any   `json:"data,omitempty"`
	Event    string           `json:"event,omitempty"` // id
}

func rowOf(e Entry) entryRow {
	r := entryRow{
		At: e.At, Kind: e.Kind, Severity: e.Severity, Text: e.Text, Sandbox: e.Sandbox, Name: e.Name, Host: e.Host, Profile: e.Profile, Token: e.By,
	}
	if e.Event != nil {
		r.Event, r.Data = e.Event.ID, e.Event.Data
	}
	if c := e.Call; c != nil {
		r.Command, r.Exit, r.Error = c.Text, c.Code, c.Failed
		if !c.Ended.IsZero() {
			r.Ended = &c.Ended
		}
	}
	return r
}

// WriteJSONLines writes entries, one a line. What calls said is not among them.
func WriteJSONLines(w io.Writer, all []Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range all {
		if err := enc.Encode(rowOf(e)); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV writes entries for a spreadsheet. No cell is one that it would run:
// names and commands are given by agents.
func WriteCSV(w io.Writer, all []Entry) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"at", "kind", "severity", "text", "sandbox", "name", "host", "profile", "token", "command", "exit_code", "ended_at"}}
	for _, e := range all {
		r := rowOf(e)
		exit, ended := "", ""
		if r.Exit != nil {
			exit = strconv.Itoa(*r.Exit)
		}
		if r.Ended != nil {
			ended = r.Ended.Format(time.RFC3339Nano)
		}
		row := []string{r.At.Format(time.RFC3339Nano), r.Kind, string(r.Severity), r.Text, r.Sandbox, r.Name, r.Host, r.Profile, r.Token, r.Command, exit, ended}
		for i := range row {
			row[i] = plainCell(row[i])
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}

// plainCell is a text that no spreadsheet takes for a formula.
func plainCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}
