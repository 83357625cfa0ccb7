package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/awsauth"
)

type profilesImportCommand struct {
	asJSON
	Names  []string `arg:"" optional:"" name:"name"`
	From   string   `placeholder:"DIR"`
	As     string   `placeholder:"NAME"`
	Region string   `placeholder:"REGION"`
	Shared bool
	Undo   bool
	Yes    bool `short:"y"`
}

// An importRow is a profile of the files, for programs.
type importRow struct {
	awsauth.Found
	Imported string   `json:"imported,omitempty"` // name of ours that uses it
	Error    string   `json:"error,omitempty"`
	Warnings []string `json:"warnings"`
}

// An importedRow is what was done, for programs.
type importedRow struct {
	Name    string      `json:"name"`
	Profile string      `json:"profile,omitempty"`
	Action  string      `json:"action"` // "moved", "shared", "restored"
	Files   []app.Moved `json:"files"`
}

// Run is "arenero profiles import".
func (c *profilesImportCommand) Run() error {
	switch {
	case c.As != "" && len(c.Names) != 1:
		return usagef("--as is for one profile alone")
	case c.Undo && len(c.Names) == 0:
		return usagef("--undo needs the names of profiles")
	case c.Undo && (c.As != "" || c.From != "" || c.Shared || c.Region != ""):
		return usagef("--undo takes names alone")
	}
	return withProfiles(c.JSON, func(s *profilesSession) error {
		if c.Undo {
			return c.undo(s)
		}
		files, err := app.AWSFiles(c.From)
		if err != nil {
			return err
		}
		found, problems, err := awsauth.Scan(s.ctx, files)
		if err != nil {
			return err
		}
		if len(c.Names) == 0 {
			return c.list(s, files, found, problems)
		}
		return c.take(s, files, found)
	})
}

func (c *profilesImportCommand) list(s *profilesSession, files awsauth.Files, found []awsauth.Found, problems []awsauth.Problem) error {
	all, _, err := s.All()
	if err != nil {
		return err
	}
	out := []importRow{}
	rows := [][]string{strings.Split(s.say("profiles.import.columns"), "|")}
	for _, f := range found {
		r := importRow{Found: f, Imported: app.ImportedAs(f, all), Warnings: []string{}}
		if f.Err != nil {
			r.Error = f.Err.Error()
		}
		if f.LongLived {
			r.Warnings = append(r.Warnings, s.say("profiles.import.long-lived"))
		}
		out = append(out, r)
		row := []string{f.Name, string(f.Kind), f.Region, f.File + ":" + strconv.Itoa(f.Line), r.Imported, strings.Join(append(r.Warnings, r.Error), " ")}
		for i := range row {
			row[i] = cmp.Or(printable(strings.TrimSpace(row[i])), "-")
		}
		rows = append(rows, row)
	}
	if c.JSON {
		if problems == nil {
			problems = []awsauth.Problem{}
		}
		return writeJSON(os.Stdout, map[string]any{"profiles": out, "problems": problems})
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, "!", printable(p.String()))
	}
	if len(out) == 0 {
		fmt.Fprintln(os.Stderr, s.say("profiles.import.none", "files", files.Config+", "+files.Credentials))
		return nil
	}
	return writeTable(os.Stdout, rows)
}

// take makes profiles of ours of those that are named.
func (c *profilesImportCommand) take(s *profilesSession, files awsauth.Files, found []awsauth.Found) error {
	out := []importedRow{}
	err := each(c.Names, c.JSON, func(name string) error {
		i := slices.IndexFunc(found, func(f awsauth.Found) bool { return f.Name == name })
		if i < 0 {
			var have []string
			for _, f := range found {
				have = append(have, f.Name)
			}
			return errors.New(s.say("profiles.import.unknown", "profile", name, "have", cmp.Or(strings.Join(have, ", "), "-")))
		}
		row, err := c.one(s, files, found[i])
		if err == nil {
			out = append(out, row)
		}
		return s.explain(err)
	})
	if c.JSON {
		if failed := writeJSON(os.Stdout, out); failed != nil {
			return failed
		}
	}
	return err
}

func (c *profilesImportCommand) one(s *profilesSession, files awsauth.Files, f awsauth.Found) (importedRow, error) {
	row := importedRow{Name: f.Name, Profile: cmp.Or(c.As, f.Name), Action: "shared", Files: []app.Moved{}}
	if f.Err != nil {
		return row, f.Err
	}
	p := app.Profile{Profile: awsauth.Profile{Name: row.Profile, Kind: awsauth.KindShared, SharedProfile: f.Name}}
	if f.Region == "" {
		p.Region = c.Region
	}
	if f.Kind != awsauth.KindKeys || c.Shared {
		if c.From != "" {
			return row, errors.New(s.say("profiles.import.elsewhere", "profile", f.Name))
		}
		if err := s.put(p, true); err != nil {
			return row, err
		}
		if !c.JSON {
			fmt.Println(s.say("profiles.import.shared", "profile", row.Profile))
		}
		return row, nil
	}
	p.Kind, p.SharedProfile, p.Region = awsauth.KindKeys, "", cmp.Or(f.Region, c.Region)
	if p.Region == "" {
		return row, &usageError{errors.New(s.say("profiles.import.region", "profile", f.Name))}
	}
	if err := app.CheckProfile(p); err != nil {
		return row, err
	}
	for _, at := range f.Keys {
		if err := s.consent(c.Yes, "profiles.import.ask", "profile", f.Name, "file", at.File, "line", strconv.Itoa(at.Line)); err != nil {
			return row, err
		}
	}
	data, err := json.Marshal(app.Move{Files: files, Shared: f.Name, Profile: p})
	if err != nil {
		return row, err
	}
	raw, err := s.engine(control.ProfileRequest{Action: control.ProfileMove, Name: p.Name, Data: data}, nil)
	if err != nil {
		return row, err
	}
	row.Action = "moved"
	if err := json.Unmarshal(raw, &row.Files); err != nil {
		return row, err
	}
	if c.JSON {
		return row, nil
	}
	status, err := s.keychain()
	for _, m := range row.Files {
		fmt.Println(s.say("profiles.import.moved", "profile", p.Name, "where", s.say("profiles.import.in."+cmp.Or(status.Backend, "system")), "file", m.File))
	}
	return row, err
}

func (c *profilesImportCommand) undo(s *profilesSession) error {
	out := []importedRow{}
	err := each(c.Names, c.JSON, func(name string) error {
		if err := s.consent(c.Yes, "profiles.import.undo.ask", "profile", name); err != nil {
			return err
		}
		raw, err := s.engine(control.ProfileRequest{Action: control.ProfileRestore, Name: name}, nil)
		if err != nil {
			return s.explain(err)
		}
		row := importedRow{Name: name, Action: "restored"}
		if err := json.Unmarshal(raw, &row.Files); err != nil {
			return err
		}
		out = append(out, row)
		if c.JSON {
			return nil
		}
		for _, m := range row.Files {
			key := "profiles.import.back.spliced"
			switch {
			case m.Whole:
				key = "profiles.import.back.whole"
			case m.Gone:
				key = "profiles.import.back.gone"
			}
			fmt.Println(s.say(key, "file", m.File))
		}
		return nil
	})
	if c.JSON {
		if failed := writeJSON(os.Stdout, out); failed != nil {
			return failed
		}
	}
	return err
}
