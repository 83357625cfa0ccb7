package app

import (
	"runtime"
	"strings"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/assets"
)

// A DoctorReport is what a doctor says, for programs.
type DoctorReport struct {
	Version       string            `json:"version"`
	Build         string            `json:"build"`
	OS            string            `json:"os"`
	Arch          string            `json:"arch"`
	Versions      map[string]string `json:"versions"` // of our programs
	Profile       string            `json:"profile"`
	Region        *string           `json:"region"` // null: not known, and so below
	Account       *string           `json:"account"`
	PrincipalKind *string           `json:"principal_kind"`
	Checks        []DoctorRow       `json:"checks"`
	Launched      *string           `json:"launched_sandbox_id"`
	ExitCode      int               `json:"exit_code"`
}

// A DoctorRow is what one check came to.
type DoctorRow struct {
	Name    string         `json:"name"`
	Status  string         `json:"status"` // "OK", "WARN", "FAIL", "SKIP"
	Summary string         `json:"summary"`
	Remedy  string         `json:"remedy"`
	Details map[string]any `json:"details"`
	Elapsed int64          `json:"elapsed_ms"`
}

// Report is a diagnosis for programs, with what people read of it in the language
// of tx, which must have the parts that [DoctorParts] names.
func (d Diagnosis) Report(tx assets.Texts, version, build string) DoctorReport {
	out := DoctorReport{
		Version: version, Build: build, OS: runtime.GOOS, Arch: runtime.GOARCH, Versions: d.Programs, Profile: d.Profile,
		Region: orNull(d.Region), Account: orNull(d.Account), PrincipalKind: orNull(d.PrincipalKind), Launched: orNull(d.Launched), Checks: []DoctorRow{},
	}
	if d.Failed() {
		out.ExitCode = 1
	}
	for _, f := range d.Findings {
		row := DoctorRow{Name: f.Name, Status: strings.ToUpper(string(f.Level)), Summary: f.What.In(tx), Details: f.Details, Elapsed: f.Took.Milliseconds()}
		if f.Remedy.Key != "" {
			row.Remedy = f.Remedy.In(tx)
		}
		problems := []map[string]string{}
		for _, each := range f.Problems {
			problem := map[string]string{"status": strings.ToUpper(string(each.Level)), "cause": each.What.In(tx), "id": each.What.Key}
			if each.Remedy.Key != "" {
				problem["remedy"] = each.Remedy.In(tx)
			}
			problems = append(problems, problem)
		}
		row.Details["problems"] = problems
		out.Checks = append(out.Checks, row)
	}
	return out
}

// orNull is a text, or nil for none.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// DoctorParts are the parts of the translation that findings are in.
func DoctorParts() []string { return []string{hostconf.Texts, "verbs", DoctorTexts, KeychainTexts} }
